"""The newest release, read from what a server on a real socket says, friendly or not."""

import json
import threading

import pytest

from layadesk import __version__
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.releases import Release
from layadesk.model_library import release_feed
from layadesk.model_library.release_feed import newest_release
from layadesk.model_library.web import Stop, Stopped
from tests.fakes.http_peer import Exchange, Script, http_peer

PAGE = "https://example.org/layadesk/releases"


def release(tag: str, page: str | None = PAGE, **more: object) -> dict[str, object]:
    return {"tag_name": tag, "html_url": page, "name": "whatever", "assets": [{"size": 1}], **more}


def asked_for(said: object) -> Release | None:
    with http_peer(lambda exchange: exchange.answer("200 OK", said)) as peer:
        return newest_release(f"{peer.url}/releases", "", Stop())


def refusal(script: Script) -> str:
    """Why it was in vain."""
    with http_peer(script) as peer:
        host = f"127.0.0.1:{peer.port}"
        with pytest.raises(LayaDeskError) as caught:
            newest_release(f"http://{host}/releases", "", Stop())
    report = caught.value.report
    assert (report.code, report.facts["host"]) == (ErrorCode.HUB_UNREACHABLE, host)
    return str(report.facts["reason"])


@pytest.mark.parametrize(
    ("said", "version"),
    [
        (release("v0.2.0"), "0.2.0"),
        ([release("v0.9.0"), release("v0.10.0"), release("0.2.0")], "0.10.0"),
        ([release("v2.0.0", draft=True), release("v1.5.0", prerelease=True), release("v1.4")], "1.4"),
        ([release("v2.0.0rc1"), release("v1.0.post1"), release("1.0")], "1.0.post1"),
        ([release("nightly"), release("v1!" + "9" * 100), release("0.3")], "0.3"),
        ([{}, {"tag_name": "0.3", "html_url": None}], "0.3"),
    ],
)
def test_the_newest_finished_release_counts_in_whatever_order_they_stand(said: object, version: str) -> None:
    found = asked_for(said)
    assert found is not None
    assert found.version == version


@pytest.mark.parametrize("said", [[], [release("nightly")], release("v2.0", draft=True)])
def test_without_a_finished_release_there_is_none(said: object) -> None:
    assert asked_for(said) is None


@pytest.mark.parametrize(
    ("page", "taken"),
    [
        (PAGE, PAGE),
        (None, ""),
        ("http://example.org/", ""),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
        ("https://example.org/\u202egpj.exe", ""),
        ("https://example.org/a b", ""),
        ("https://example.org/" + "x" * 600, ""),
    ],
)
def test_only_a_plain_https_address_is_taken_for_the_page(page: str | None, taken: str) -> None:
    assert asked_for(release("9.0", page)) == Release("9.0", taken)


def test_nothing_is_sent_but_the_request() -> None:
    with http_peer(lambda exchange: exchange.answer("200 OK", release("9.0"))) as peer:
        newest_release(f"{peer.url}/releases?per_page=5", "", Stop())
    (exchange,) = peer.asked
    assert (exchange.method, exchange.path, exchange.body) == ("GET", "/v1/releases?per_page=5", b"")
    assert set(exchange.headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert exchange.headers["user-agent"] == "LayaDesk"
    assert __version__ not in json.dumps(exchange.headers)


def test_it_goes_through_the_proxy_of_the_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy on this machine is asked for a host that exists nowhere."""
    monkeypatch.setattr(release_feed, "is_loopback", lambda address: True)  # plain http, so that the proxy can answer
    with http_peer(lambda exchange: exchange.answer("200 OK", release("9.0"))) as proxy:
        found = newest_release("http://releases.invalid/latest", f"http://127.0.0.1:{proxy.port}", Stop())
    assert found == Release("9.0", PAGE)
    assert [exchange.path for exchange in proxy.asked] == ["http://releases.invalid/latest"]


def test_a_redirect_is_followed() -> None:
    def script(exchange: Exchange) -> None:
        if exchange.path == "/v1/new":
            exchange.answer("200 OK", release("9.0"))
        else:
            exchange.head("302 Found", Location="/v1/new", Content_Length="0")

    with http_peer(script) as peer:
        assert newest_release(f"{peer.url}/old", "", Stop()) == Release("9.0", PAGE)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (lambda exchange: exchange.answer("404 Not Found", {}), "HTTP 404"),
        (lambda exchange: exchange.answer("403 Forbidden", {"message": "rate limit"}), "HTTP 403"),
        (lambda exchange: exchange.answer("200 OK", "hello"), "its answer is no list of releases"),
        (lambda exchange: exchange.answer("200 OK", {"tag_name": 5}), "its answer is no list of releases"),
        (lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 99), "its answer is no list of releases"),
        (lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n\r\n<html>"), "its answer is no list of releases"),
        (lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (5 << 20)), "its answer has no end"),
        (lambda exchange: exchange.head("302 Found", Location="file:///etc/passwd"), "redirect to file"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_releases_is_told_with_its_reason(script: Script, reason: str) -> None:
    assert refusal(script) == reason


def test_a_server_that_dribbles_for_ever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_feed, "DEADLINE_S", -1.0)  # as if it had been going on for long
    assert refusal(lambda exchange: exchange.answer("200 OK", release("9.0"))) == "its answer has no end"


@pytest.mark.parametrize("address", ["http://example.org/releases", "ftp://example.org/", "example.org", "http://["])
def test_an_address_that_others_could_answer_for_is_not_asked(address: str) -> None:
    with pytest.raises(LayaDeskError) as caught:
        newest_release(address, "", Stop())
    assert caught.value.report.facts["reason"] == "not an https address"


@pytest.mark.parametrize(
    ("address", "proxy"), [("https://[", ""), ("https://example.invalid:x/", ""), ("http://127.0.0.1:9/", "nonsense")]
)
def test_an_address_or_a_proxy_that_is_none_is_told(address: str, proxy: str) -> None:
    with pytest.raises(LayaDeskError) as caught:
        newest_release(address, proxy, Stop())
    assert caught.value.report.code is ErrorCode.HUB_UNREACHABLE


def test_nobody_at_the_address_is_told() -> None:
    with http_peer() as peer:
        address = peer.url
    with pytest.raises(LayaDeskError) as caught:
        newest_release(address, "", Stop())
    assert "ConnectError" in str(caught.value.report.facts["reason"])


def test_a_server_that_says_nothing_is_left_at_once_when_it_is_broken_off() -> None:
    stop, has_begun = Stop(), threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.head(kind="application/json")
        exchange.send(b"[")
        has_begun.set()
        exchange.wait_for_hangup()

    def break_off() -> None:
        assert has_begun.wait(10)
        stop.set()

    with http_peer(script) as peer:
        breaker = threading.Thread(target=break_off)
        breaker.start()
        with pytest.raises(Stopped):
            newest_release(peer.url, "", stop)
        breaker.join()
