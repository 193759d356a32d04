"""Experts that answer on another machine, or in another program: any OpenAI-compatible endpoint.

What a user must be able to see of them is here: an id that says "remote" wherever it stands, the host that gets the
words, and what has to be said before an address is taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import SplitResult, urlsplit

from layadesk.domain import server
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.strengths import Strengths

REMOTE_PREFIX: Final = "remote:"  # in ids, so that lists, logs and old messages keep the mark after the entry is gone
MAX_URL: Final = 2000
_CALL: Final = "/chat/completions"


@dataclass(frozen=True, slots=True)
class RemoteExpert:
    """One entry of the pool. `model` is what the server calls it; `n_ctx` None and no `strengths` are not known.

    The key is not here: it lies in the system's keyring, see `settings/key_store.py`.
    """

    model_id: str
    name: str
    base_url: str
    model: str
    n_ctx: int | None = None
    strengths: Strengths | None = None

    @property
    def host(self) -> str:
        """Who gets the words: host and port as they stand in the address."""
        return host_of(self.base_url)

    @property
    def stays_here(self) -> bool:
        """Whether the server is a program on this machine."""
        return is_loopback(self.base_url)


class EndpointRemark(StrEnum):
    """What has to be said of an address; `ui/texts` has the sentence."""

    PLAIN_HTTP = "plain_http"  # everyone on the way can read along
    THIS_MACHINE = "this_machine"


@dataclass(frozen=True, slots=True)
class RemoteState:
    """What the last look at a server found. `is_up` None: nobody has looked yet. `models`: what it says it serves."""

    is_up: bool | None = None
    error: ErrorReport | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointTest:
    """What a test of an address found: whether it answers, what it serves, and the first words of a tiny answer."""

    state: RemoteState
    serves_model: bool | None = None
    said: str = ""
    took_ms: float | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


def is_remote(model_id: str) -> bool:
    """Whether an id is that of a remote expert; also of one that was removed."""
    return model_id.startswith(REMOTE_PREFIX)


def checked_url(text: str) -> str:
    """A base URL as it is kept: without what users paste along. Raises BAD_ENDPOINT.

    `https://host` becomes `https://host/v1`, where OpenAI's own API and its copies lie.
    """
    url = text.strip().rstrip("/").removesuffix(_CALL)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise fail(ErrorCode.BAD_ENDPOINT, url=_shown(text), detail=str(error)) from error
    flaw = _flaw(url, parts)
    if flaw:
        raise fail(ErrorCode.BAD_ENDPOINT, url=_shown(text), detail=flaw)
    return f"{url}/v1" if not parts.path.strip("/") else url


def _flaw(url: str, parts: SplitResult) -> str:
    if parts.scheme not in ("http", "https"):
        return "it must begin with http:// or https://"
    if not parts.hostname or len(url) > MAX_URL or any(c.isspace() or not c.isprintable() for c in url):
        return "it names no host"
    if parts.username is not None or parts.password is not None:
        return "name and password do not belong into it"
    return "it must not hold ? or #" if parts.query or parts.fragment else ""


def host_of(base_url: str) -> str:
    """`api.example.com:8000`; the whole text where there is no host in it."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return base_url
    if not host:
        return base_url
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def origin_of(base_url: str) -> str:
    """`https://api.example.com:8000`: what a key belongs to."""
    return f"{base_url.partition('://')[0].lower()}://{host_of(base_url)}"


def is_loopback(base_url: str) -> bool:
    """Whether the server that it names is on this machine."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return False
    return host.endswith(".localhost") or server.is_loopback(host)


def remarks_on(base_url: str) -> tuple[EndpointRemark, ...]:
    """What has to be said of it."""
    if is_loopback(base_url):
        return (EndpointRemark.THIS_MACHINE,)
    return (EndpointRemark.PLAIN_HTTP,) if base_url.lower().startswith("http://") else ()


def _shown(url: str) -> str:
    """Without what may be a password."""
    head, at, tail = url.partition("@")
    return (f"{head.partition('//')[0]}//…@{tail}" if at else url)[:120]
