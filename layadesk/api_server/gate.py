"""Who may ask at all, before anything is read: Host, Origin, key; and the note of each request for the log.

A web page of anyone can make the browser of this machine send requests here, also under a name of its own that it lets
point to 127.0.0.1. So the name that was asked for must be ours, and a page must be one that the user has named.
"""

import ipaddress
import logging
import socket
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders

from layadesk.api_server.body import BodyRoom
from layadesk.api_server.connection import MAX_HEAD_BYTES
from layadesk.api_server.failures import Failure
from layadesk.domain.server import LOOPBACK_HOSTS, Listening, ServedRequest, is_loopback
from layadesk.usecases.server_key import is_key

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS: Final = frozenset({"/health"})
_METHODS: Final = "GET, POST, DELETE, OPTIONS"
_MAX_NAME: Final = 60


@dataclass(slots=True)
class Note:
    """What the log will say of a request; filled in on the way."""

    client: str
    path: str = "?"
    expert: str | None = None
    n_prompt: int | None = None
    n_decoded: int | None = None
    code: str | None = None
    status: int = 0


def note_of(scope: Scope) -> Note:
    """The note of the request that is being answered."""
    note: Note = scope["state"]["note"]
    return note


class Gate:
    """The outermost ASGI application."""

    def __init__(self, app: App, plan: Listening, served: Callable[[ServedRequest], None]) -> None:
        self._app = app
        self._plan = plan
        self._served = served
        self._room = BodyRoom()
        self._is_local = is_loopback(plan.host)
        self._names = {*LOOPBACK_HOSTS, plan.host.lower()}
        if not self._is_local:
            own = socket.gethostname().lower()
            self._names |= {own, f"{own}.local", socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        headers = Headers(scope=scope)
        note = Note(_client_name(scope, headers))
        share = self._room.share()
        scope.setdefault("state", {}).update(note=note, body=share)
        origin = headers.get("origin")
        began, at = time.perf_counter(), time.time()

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                note.status = message["status"]
                self._add_headers(MutableHeaders(scope=message), origin)
            await send(message)

        try:
            failure = self._refusal(scope, headers, origin)
            if failure is not None:
                note.code = failure.code
                await send_failure(answer, failure)
            elif scope["method"] == "OPTIONS":
                await _send(answer, 204, b"", {"access-control-allow-methods": _METHODS})
            else:
                await self._app(scope, receive, answer)
        finally:
            share.give_back()
            self._log(note, at, (time.perf_counter() - began) * 1000.0)

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Failure | None:
        if sum(len(name) + len(value) for name, value in headers.raw) > MAX_HEAD_BYTES:  # it came in one piece
            return Failure(431, "header_too_large", f"Headers may have {MAX_HEAD_BYTES} bytes.")
        if not self._is_own_name(headers.getlist("host")):
            return Failure(403, "host_not_allowed", "The Host header does not name this server.")
        if origin is not None and origin not in self._plan.origins:
            return Failure(403, "origin_not_allowed", "Web pages may ask only where their origin is named in LayaDesk.")
        if scope["path"] in OPEN_PATHS or (scope["method"] == "OPTIONS" and origin is not None):
            return None  # a browser sends no key with its question beforehand
        if self._plan.key_hash is not None and not is_key(_key_in(headers), self._plan.key_hash):
            words = "The API key is missing or wrong. Send it as: Authorization: Bearer KEY"
            return Failure(401, "invalid_api_key", words, headers={"www-authenticate": "Bearer"})
        return None

    def _is_own_name(self, given: list[str]) -> bool:
        if len(given) != 1:
            return False
        name = _without_port(given[0].strip().lower())
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._is_local  # no name can be bent to point elsewhere in a number

    def _add_headers(self, headers: MutableHeaders, origin: str | None) -> None:
        headers["cache-control"] = "no-store"
        headers["x-content-type-options"] = "nosniff"
        if origin is not None and origin in self._plan.origins:
            headers["access-control-allow-origin"] = origin
            headers["access-control-allow-headers"] = "*, authorization, content-type"
            headers["access-control-expose-headers"] = "x-layadesk-route, x-layadesk-expert, retry-after"
            headers["access-control-allow-private-network"] = "true"
            headers["vary"] = "origin"

    def _log(self, note: Note, at: float, ms: float) -> None:
        status = note.status or 499  # the client has gone
        log.info("%s %d %.0f ms expert=%s code=%s", note.path, status, ms, note.expert, note.code)
        served = ServedRequest(
            at, note.client, note.path, status, ms, note.expert, note.n_prompt, note.n_decoded, note.code
        )
        self._served(served)


async def send_failure(send: Send, failure: Failure) -> None:
    """Answer with an error."""
    await _send(send, failure.status, failure.body, {"content-type": "application/json", **failure.headers})


async def _send(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    if status != 204:
        pairs.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _key_in(headers: Headers) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return key.strip()
    return headers.get("x-api-key") or headers.get("api-key") or ""


def _client_name(scope: Scope, headers: Headers) -> str:
    """How a program calls itself, without its version, and where it is if that is not here."""
    agent = headers.get("user-agent", "").split("/")[0].split(" ")[0]
    name = "".join(c for c in agent if c.isprintable())[:_MAX_NAME] or "?"
    address = (scope.get("client") or ("?", 0))[0]
    return name if is_loopback(address) else f"{name} {address}"


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
