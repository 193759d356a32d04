"""The OpenAI-compatible HTTP server: a peer of the window over the same use cases.

May import: usecases, settings, protocol events, domain. Thread: "api", with its own asyncio loop.
First file to read: `application.py` (routes), then `exchange.py` (one request and its answer). `gate.py` says who may
ask, `answers.py` is the bridge from the workers' threads, `shapes.py` the wire format. `usecases/serve.py` switches it.
`responses.py` and `decisions.py` are interfaces of their own beside it.
"""
