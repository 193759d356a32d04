"""Every setting, declared once; its file, checked and saved whole.

May import: domain, paths, msgspec. Thread: any; changes are announced on the caller's thread.
First file to read: `definitions.py`.
"""
