"""The page that says what is wrong, why, and what to do.

May import: bridge, widgets, theme, texts, use cases, domain. Thread: the GUI thread. First file to read:
`health_page.py`.
"""
