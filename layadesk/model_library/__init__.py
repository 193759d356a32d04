"""Models in the catalogue, in files, and on this disk.

May import: domain, paths, msgspec, huggingface_hub. Threads: any; the list of models is changed under one lock, which
other processes respect too. First file to read: `inventory.py`, then `gguf_header.py` (what a file must be).
"""
