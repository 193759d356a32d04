"""Which release is the newest: one request to a list of releases, as GitHub has them, and nothing sent with it.

It goes the way of the downloads, with their proxy, but under the program's bare name: neither its version nor anything
else of this machine is in it. Of the answer two things are taken: what the newest release is called, and its page.
"""

import time
from collections.abc import Iterable

import httpx2
import msgspec
from packaging.version import InvalidVersion, Version

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail, from_report
from layadesk.domain.releases import Release
from layadesk.domain.remote import host_of, is_loopback
from layadesk.model_library.web import Stop, Transient, make_client, opened, transient

MAX_BYTES = 4 * 2**20  # GitHub's list of thirty releases with their notes is a tenth of that
DEADLINE_S = 60.0
_HEADERS = {"User-Agent": "LayaDesk", "Accept": "application/json"}
_MAX_PAGE = 600
_MAX_TAG = 60


class _Entry(msgspec.Struct):
    tag_name: str = ""
    html_url: str | None = None
    draft: bool = False
    prerelease: bool = False


def newest_release(address: str, proxy: str, stop: Stop) -> Release | None:
    """Ask once; None where the list holds no finished release. Blocks up to about a minute and a half.

    Raises HUB_UNREACHABLE with the host and the reason, and Stopped.
    """
    host = host_of(address)
    if not address.startswith("https://") and not is_loopback(address):
        raise _useless(host, "not an https address")
    try:
        with make_client(proxy) as client, opened(client, address, _HEADERS, None, stop) as response:
            if response.status_code != httpx2.codes.OK:
                raise _useless(host, f"HTTP {response.status_code}")
            content = _read(response, address, stop)
    except Transient as error:
        raise from_report(error.report) from error
    except (httpx2.InvalidURL, ValueError) as error:
        raise _useless(host, str(error)[:200]) from error
    try:
        found = msgspec.json.decode(content, type=_Entry | list[_Entry])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _useless(host, "its answer is no list of releases") from error
    return _newest(found if isinstance(found, list) else [found])


def _read(response: httpx2.Response, address: str, stop: Stop) -> bytes:
    """The whole answer, however slowly it comes, within bounds of size and time."""
    content = bytearray()
    end = time.monotonic() + DEADLINE_S
    try:
        for piece in response.iter_raw():
            content += piece
            if len(content) > MAX_BYTES or time.monotonic() > end:
                raise _useless(host_of(address), "its answer has no end")
    except (httpx2.TransportError, httpx2.StreamError, OSError) as error:
        stop.check()
        raise transient(error, address) from error
    stop.check()  # a connection that is broken off looks like one that has ended
    return bytes(content)


def _newest(entries: Iterable[_Entry]) -> Release | None:
    found = [(version, entry) for entry in entries if (version := _version(entry)) is not None]
    if not found:
        return None
    version, entry = max(found, key=lambda pair: pair[0])
    return Release(str(version), _page(entry.html_url or ""))


def _version(entry: _Entry) -> Version | None:
    """Of a release that is meant for everybody."""
    if entry.draft or entry.prerelease or len(entry.tag_name) > _MAX_TAG:
        return None
    try:
        version = Version(entry.tag_name)
    except InvalidVersion:
        return None
    return None if version.is_prerelease else version


def _page(address: str) -> str:
    """An address to be shown and opened, or nothing: who answers may be anybody."""
    is_plain = len(address) <= _MAX_PAGE and address.isprintable() and " " not in address
    return address if address.startswith("https://") and is_plain else ""


def _useless(host: str, reason: str) -> LayaDeskError:
    return fail(ErrorCode.HUB_UNREACHABLE, host=host, reason=reason)
