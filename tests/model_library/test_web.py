"""Requests to hubs: whom the token is shown to, which way redirects may lead, and which proxy is used."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.model_library.web import Stop, Token, host_of, make_client, opened

TOKEN = Token("secret", "https://hub.example", "HF_TOKEN")


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("https://hub.example/a", True),
        ("https://HUB.example:443/a", True),
        ("http://hub.example/a", False),
        ("https://hub.example:8443/a", False),
        ("https://hub.example.evil.org/a", False),
        ("https://evil.org/hub.example", False),
        ("https://hub.example@evil.org/", False),
        ("https://cdn.hub.example/a", False),
    ],
)
def test_the_token_is_shown_to_its_own_origin_alone(url: str, is_shown: bool) -> None:
    assert bool(TOKEN.headers(url)) is is_shown


def test_a_host_is_named_without_a_password() -> None:
    assert host_of("https://me:secret@hub.example:8443/path?token=x") == "hub.example:8443"
    assert host_of("https://hub.example/") == "hub.example"


class Server:
    """Answers each path as told, and counts who came through it as a proxy."""

    def __init__(self) -> None:
        self.locations: dict[str, str] = {}
        self.seen: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Silent."""

            def do_GET(self) -> None:
                outer.seen.append(self.path)
                location = outer.locations.get(self.path)
                self.send_response(302 if location else 200)
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


def get(url: str, proxy: str = "") -> int:
    with make_client(proxy, stall_s=5) as client, opened(client, url, {}, None, Stop()) as response:
        return response.status_code


@pytest.fixture(autouse=True)
def no_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.casefold(), raising=False)


def test_redirects_that_never_end_are_left(server: Server) -> None:
    server.locations = {"/a": "/b", "/b": "/a"}
    with pytest.raises(LayaDeskError) as caught:
        get(f"{server.url}/a")
    assert caught.value.code is ErrorCode.HUB_UNREACHABLE
    assert len(server.seen) < 20


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/x", "file:///etc/passwd"])
def test_a_redirect_leads_to_the_web_only(server: Server, location: str) -> None:
    server.locations = {"/a": location}
    with pytest.raises(LayaDeskError) as caught:
        get(f"{server.url}/a")
    assert caught.value.facts["reason"] == f"redirect to {location.partition(':')[0]}"


def test_the_proxy_of_the_setting_is_used(server: Server) -> None:
    assert get("http://hub.invalid/file", proxy=server.url) == 200
    assert server.seen == ["http://hub.invalid/file"]


def test_the_proxy_of_the_environment_is_used_and_no_proxy_counts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    assert get("http://hub.invalid/file") == 200
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert get(f"{server.url}/direct") == 200
    assert get(f"{server.url}/direct", proxy="http://127.0.0.1:9") == 200  # the loopback is never asked for elsewhere
    assert server.seen == ["http://hub.invalid/file", "/direct", "/direct"]


def test_a_socks_proxy_can_be_set() -> None:
    with make_client("socks5://127.0.0.1:9", stall_s=1) as client, pytest.raises(httpx2.ConnectError):
        client.get("http://hub.invalid/")


def test_stopping_wakes_who_waits_for_bytes() -> None:
    ours, theirs = socket.socketpair()
    stop = Stop()
    stop.watch(ours)
    threading.Timer(0.05, stop.set).start()
    ours.settimeout(10)
    assert ours.recv(1) == b""
    assert stop.is_set
    ours.close()
    theirs.close()
