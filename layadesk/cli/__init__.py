"""The commands of the README.

May import: app, and every room below for its words. Errors are one line on stderr that says what, why and what to do;
exit status 2 for bad usage, 1 for anything else, 130 after Ctrl-C. First file to read: `main.py`.
"""
