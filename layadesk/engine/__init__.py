"""The engine process: llama.cpp, its scheduler, and the text that comes out of it.

May import: protocol, domain, paths; llama_cpp in `llama_library.py` and `llama_backend.py` alone. Entered only through
`workers/spawn.py`. Threads: the child's main thread owns every llama context ("decode"); an inbox and an outbox thread
own the pipe; a prompt thread renders templates. First file to read: `main.py`, then `loop.py`.
"""
