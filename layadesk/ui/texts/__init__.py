"""All sentences about errors, states and figures. Rooms below hand over codes and facts only.

May import: domain, turn events, QtCore (never QtGui: the command line uses this room too). Thread: any.
First file to read: `errors.py`. `missing_library.py` works where not even QtCore can be loaded.
"""
