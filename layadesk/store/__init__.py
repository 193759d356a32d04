"""Conversations on disk: SQLite in WAL mode, migrations, backups, and what happens when the disk refuses.

May import: domain, paths, msgspec, sqlite3. Threads: one writer thread for every change, in order; reads on connections
of their own. First file to read: `store.py`, then `schema.py`.
"""
