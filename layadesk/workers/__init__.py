"""The app's side of the two children: start, watch, talk, restart, and leave nothing behind.

May import: engine.main and router.main in `spawn.py` alone, protocol, domain, paths. Threads: one per child
("engine-client", "router-client"), which waits on [pipe, process sentinel, alarm], owns all state and makes every
terminal event; and one per line that writes ("engine-writer"), so that a full pipe holds up neither the window nor the
reading. First file to read: `supervisor.py`, then `engine_client.py`.
"""
