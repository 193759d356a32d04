"""The HTTP server as the rest of the program sees it: where it stands, and what it was asked."""

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.errors import ErrorReport

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


class ServerState(StrEnum):
    """Whether programs can ask."""

    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """`host` and `port` are where it listens, or was told to; `error` why it does not."""

    state: ServerState
    host: str
    port: int
    error: ErrorReport | None = None

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request in the log of the server; never what was said in it.

    `at` is seconds since the epoch, `client` the name a program gives itself. `expert` and the tokens are None where
    no expert answered; `status` is the HTTP status, `code` what went wrong.
    """

    at: float
    client: str
    path: str
    status: int
    ms: float
    expert: str | None = None
    n_prompt: int | None = None
    n_decoded: int | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class KeyHash:
    """What is kept of an API key. `tail` are its last four characters, to tell keys apart."""

    salt: bytes
    digest: bytes
    tail: str


@dataclass(frozen=True, slots=True)
class Listening:
    """What to listen with. `key_hash` None asks for no key; `origins` are web pages that may ask."""

    host: str
    port: int
    key_hash: KeyHash | None = None
    origins: tuple[str, ...] = ()


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach the address, by its spelling alone; no name is looked up."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
