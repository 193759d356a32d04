"""Small parts that know nothing of chats or models; each paints itself from the palette and has an accessible name.

May import: theme, texts, Qt. Thread: the GUI thread. First file to read: `icon_button.py`.
"""
