"""The look: every colour, distance and size of type, and how they become a palette, a style sheet and icons.

May import: paths, Qt. Thread: the GUI thread. First file to read: `tokens.py`.
"""
