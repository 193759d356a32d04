"""How patient the program is with a remote server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemoteTiming:
    """Seconds until a connection stands, until the first word (a server may load its model first), between words."""

    connect_s: float = 10.0
    first_token_s: float = 300.0
    stall_s: float = 60.0
