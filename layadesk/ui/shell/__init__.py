"""The window around the pages: columns, banners, the menu of options, shortcuts.

May import: the pages, bridge, widgets, theme, texts, language, use cases. Thread: the GUI thread. First file to read:
`main_window.py`.
"""
