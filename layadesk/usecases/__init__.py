"""One file per thing a user can do; the feature list of the program.

May import: every room below; no Qt, SQL or sockets of its own. Threads: called from any thread, never blocking
unless a docstring says so; callbacks come on the worker, store or telemetry thread.
First file to read: `send_message.py`.
"""
