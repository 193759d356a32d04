"""The OpenAI-compatible HTTP server: a peer of the window over the same use cases. The room stands empty so far.

May import: usecases, settings, protocol events, domain. Thread: its own asyncio loop.
"""
