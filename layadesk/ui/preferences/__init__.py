"""The Settings page: every setting of the table, settings of other programs, shortcuts.

May import: bridge, widgets, theme, texts, settings, use cases. Thread: the GUI thread. First file to read:
`settings_page.py`.
"""
