"""Models in the catalogue, in files, and on this disk.

May import: domain, paths, msgspec, huggingface_hub. Threads: any; files are changed under one lock.
First file to read: `inventory.py`, then `gguf_header.py`.
"""
