"""Every setting, declared once; its file, checked on reading and saved whole.

May import: domain, paths, protocol.feed. Threads: any; changes are announced on the thread that makes them, and the
file is written behind by a thread "settings" that lives for one save.
First file to read: `definitions.py`, then `settings.py`.
"""
