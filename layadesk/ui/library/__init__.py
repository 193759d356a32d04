"""The page where models are found, downloaded, checked and removed.

May import: markup, bridge, widgets, theme, texts, use cases, domain. Thread: the GUI thread. First file to read:
`library_page.py`, then `shelf.py`, which asks for everything that is shown.
"""
