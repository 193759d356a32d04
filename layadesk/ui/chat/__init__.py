"""Conversations: the list, the transcript, the composer.

May import: bridge, widgets, theme, texts, use cases, domain. Thread: the GUI thread. First file to read:
`chat_page.py`, then `transcript_view.py`.
"""
