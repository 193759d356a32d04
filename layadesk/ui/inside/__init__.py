"""What goes on inside a model: MoE experts at work, and where a token's time goes.

May import: bridge, widgets, theme, texts, use cases, domain. Thread: GUI. First file to read: `inside_page.py`.
"""
