"""The words of the product as frozen values, and the decisions that need nothing else.

May import: the standard library, without I/O, threads, clock or randomness. Thread: any.
First file to read: `chat.py`, then `inference.py`.
"""
