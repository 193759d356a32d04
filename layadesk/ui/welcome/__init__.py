"""What is shown when nothing but the starter is there: which models suit this machine, and one button.

May import: bridge, widgets, theme, texts, use cases, domain. Thread: the GUI thread. First file to read:
`welcome_panel.py`.
"""
