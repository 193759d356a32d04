"""Why an expert answered.

May import: bridge, widgets, theme, texts, domain. Thread: the GUI thread. First file to read: `route_panel.py`.
"""
