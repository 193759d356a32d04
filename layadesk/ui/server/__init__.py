"""The Server page: other programs ask here as they would ask OpenAI. GUI thread; may import widgets, markup, texts.

Read `server_page.py` first.
"""
