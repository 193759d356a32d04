"""Conversations on disk: SQLite in WAL mode, migrations, backups, and what happens when the disk refuses.

May import: domain, paths, protocol.feed, msgspec, sqlite3. Threads: "store" makes every change, in order;
"store-read" reads on a connection of its own; "store-backup" lives for one backup.
First file to read: `store.py`, then `home.py` (disk or memory) and `schema.py`.
"""
