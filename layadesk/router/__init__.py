"""The router process: the decision model that reads each request.

May import: protocol, domain, paths; torch and laya here alone. Entered only through `workers/spawn.py`.
Threads: the child's main thread owns the model; an inbox and an outbox thread own the pipe.
First file to read: `main.py`, then `decision_model.py`. For measuring from outside: `Router`.
"""

from layadesk.router.pretrained import Router

__all__ = ["Router"]
