"""Text of messages on screen: Markdown, code, formulas, thinking; a state machine over the stream, then Qt views.

May import: bridge, widgets, theme, texts. Thread: the GUI thread; formulas and the colours of code are computed on one
thread beside it. First file to read: `message_body.py`; the pure part is `thinking.py`, `blocks.py` and `syntax.py`.
"""
