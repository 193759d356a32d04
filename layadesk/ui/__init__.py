"""The window: the only room that imports Qt.

May import: usecases, settings, protocol events, domain, paths. Thread: the GUI thread alone; what comes from other
threads enters through `bridge.py`. First file to read: `application.py`, then `shell/main_window.py`.
"""
