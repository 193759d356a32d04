"""The engine process: llama.cpp, its scheduler, and the text that comes out of it.

May import: protocol, domain, paths; llama_cpp in `llama_library.py` alone. Entered only through `workers/spawn.py`.
Threads: the child's main thread owns every llama context ("decode"); an inbox and an outbox thread own the pipe; a
prompt thread renders templates and tokenises; a loader thread brings experts into memory.
First file to read: `main.py`, then `loop.py`.
"""
