"""Words for experts that answer elsewhere: their mark, what is wrong with a server, what to know of an address."""

from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.errors import ErrorCode
from layadesk.domain.remote import EndpointRemark, is_loopback
from layadesk.domain.routing import RankedExpert, Route, RouteReason
from layadesk.settings.key_store import KeyPlace
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

translate = QCoreApplication.translate

REMOTE_ERRORS: Final[Mapping[ErrorCode, tuple[str, str]]] = {
    ErrorCode.BAD_ENDPOINT: (
        QT_TRANSLATE_NOOP("errors", "This is not an address of a server: {url}."),
        QT_TRANSLATE_NOOP("errors", "Enter one such as https://api.example.com/v1 or http://localhost:8080/v1."),
    ),
    ErrorCode.REMOTE_NOT_ALLOWED: (
        QT_TRANSLATE_NOOP("errors", "Only remote experts could answer, and Auto may not send anything away."),
        QT_TRANSLATE_NOOP("errors", "Choose the remote expert by name, or allow Auto to use it in the settings."),
    ),
    ErrorCode.REMOTE_UNREACHABLE: (
        QT_TRANSLATE_NOOP("errors", "The server {host} of {subject} cannot be reached."),
        QT_TRANSLATE_NOOP("errors", "Check that it runs, the address and the network; or choose another expert."),
    ),
    ErrorCode.REMOTE_TIMED_OUT: (
        QT_TRANSLATE_NOOP("errors", "The server {host} of {subject} said nothing for {seconds} seconds."),
        QT_TRANSLATE_NOOP("errors", "Try again later, or choose another expert."),
    ),
    ErrorCode.REMOTE_KEY_REFUSED: (
        QT_TRANSLATE_NOOP("errors", "The server {host} does not accept the key of {subject} (HTTP {status})."),
        QT_TRANSLATE_NOOP("errors", "Enter a valid API key for this expert in the settings."),
    ),
    ErrorCode.REMOTE_NOT_FOUND: (
        QT_TRANSLATE_NOOP("errors", "The server {host} does not know the model {model} (HTTP 404)."),
        QT_TRANSLATE_NOOP("errors", "Test the connection in the settings: it lists the models that are there."),
    ),
    ErrorCode.REMOTE_BUSY: (
        QT_TRANSLATE_NOOP("errors", "The server {host} takes no more requests now (HTTP 429)."),
        QT_TRANSLATE_NOOP("errors", "Wait a while, look at your account's limits, or choose another expert."),
    ),
    ErrorCode.REMOTE_REFUSED: (
        QT_TRANSLATE_NOOP("errors", "The server {host} refused the request of {subject} (HTTP {status})."),
        QT_TRANSLATE_NOOP("errors", "The details say why; another expert may take it as it is."),
    ),
    ErrorCode.REMOTE_FAILED: (
        QT_TRANSLATE_NOOP("errors", "The server {host} of {subject} failed (HTTP {status})."),
        QT_TRANSLATE_NOOP("errors", "Try again later, or choose another expert."),
    ),
    ErrorCode.REMOTE_BAD_ANSWER: (
        QT_TRANSLATE_NOOP("errors", "What the server {host} sent is no answer of an OpenAI-compatible server."),
        QT_TRANSLATE_NOOP("errors", "Check the address; it mostly ends in /v1."),
    ),
    ErrorCode.REMOTE_CUT_OFF: (
        QT_TRANSLATE_NOOP("errors", "The connection to {host} ended in mid-answer."),
        QT_TRANSLATE_NOOP("errors", "The text so far is kept. Try again, or choose another expert."),
    ),
    ErrorCode.REMOTE_REDIRECTS: (
        QT_TRANSLATE_NOOP("errors", "The server {host} sends its visitors elsewhere, to {target}; nobody followed."),
        QT_TRANSLATE_NOOP("errors", "If you trust that address, enter it for this expert in the settings."),
    ),
    ErrorCode.REMOTE_LIST_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The list of remote experts, {path}, has an entry that cannot be used ({detail})."),
        QT_TRANSLATE_NOOP("errors", "It is left out until it is mended; the others are there."),
    ),
    ErrorCode.KEY_NOT_KEPT: (
        QT_TRANSLATE_NOOP("errors", "The API key could not be kept, neither in the keyring nor in a file of its own."),
        QT_TRANSLATE_NOOP("errors", "Unlock the keyring, or allow writing to the data folder, and enter it again."),
    ),
}
_REMARKS: Final[Mapping[EndpointRemark, str]] = {
    EndpointRemark.PLAIN_HTTP: QT_TRANSLATE_NOOP(
        "remote",
        "This address is not encrypted (http): everyone on the way can read your messages and the key. Use https.",
    ),
    EndpointRemark.THIS_MACHINE: QT_TRANSLATE_NOOP("remote", "The server is a program on this machine."),
}


def key_place(place: KeyPlace, path: str) -> str:
    """Where a key is kept."""
    if place is KeyPlace.KEYRING:
        return translate("remote", "The key is in the system's keyring.")
    return translate("remote", "There is no usable keyring, so the key is in {path}, which only you may read.").format(
        path=path
    )


def remark(of: EndpointRemark) -> str:
    """What to know of an address."""
    return translate("remote", _REMARKS[of])


def marked(name: str) -> str:
    """A remote expert's name with its mark."""
    return translate("remote", "{name} (remote)").format(name=name)


def marked_with_host(name: str, host: str) -> str:
    """The same with who gets the words."""
    return translate("remote", "{name} (remote: {host})").format(name=name, host=host)


def where_to(host: str) -> str:
    """Before Send, and above an answer: where the words go."""
    if is_loopback(f"http://{host}"):
        return translate("remote", "goes to another program here → {host}").format(host=host)
    return translate("remote", "leaves this machine → {host}").format(host=host)


def route_marks(route: Route, name_of: Callable[[str], str]) -> list[str]:
    """What stands first above an answer: where the words went, and who failed before."""
    marks = [] if route.host is None else [where_to(route.host)]
    if route.reason is RouteReason.FAILED_OVER and route.instead_of is not None:
        marks.append(translate("remote", "in place of {name}, which failed").format(name=name_of(route.instead_of)))
    return marks


def ranked_name(ranked: RankedExpert, name_of: Callable[[str], str]) -> str:
    """An expert of the ranking, with its host where it runs elsewhere."""
    name = name_of(ranked.model_id)
    return name if ranked.host is None else f"{name} → {ranked.host}"
