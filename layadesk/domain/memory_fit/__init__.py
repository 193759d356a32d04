"""What an expert costs in memory, known before it is loaded: the bill, the verdict on a machine, and the ways out.

Pure, like all of `domain`. The same functions stand behind the command line, the window, the router's filter and the
HTTP server. First file to read: `bill.py`, then `plans.py`.
"""
