"""Conversations as files, and files as text: export and import, ours and other programs', and attachments.

May import: domain. Threads: any; reads and writes files and blocks. First file to read: `reading.py`. Every file is
hostile input: bounded in size, nothing in it is trusted to be of its type, and one bad record never hides the rest.
"""
