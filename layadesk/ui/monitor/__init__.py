"""The machine, live: RAM, swap and VRAM, and how much of each is ours.

May import: bridge, widgets, theme, texts, use cases, domain. pyqtgraph and numpy are imported by the charts alone
(`timeline_view.py` and what it needs), after the window is on screen.
Thread: the GUI thread. First file to read: `resource_panel.py`.
"""
