"""The header of a model on a server: read from its first megabytes, and safe from servers that lie or never end."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.model_library import byte_source
from layadesk.model_library.byte_source import RangeReply, RangeSource
from layadesk.model_library.gguf_header import read_header, read_source
from layadesk.model_library.http_ranges import HttpRanges, shown_address
from layadesk.model_library.model_facts import model_facts
from layadesk.model_library.remote_model import read_remote_model
from tests.fakes.gguf_files import Tensor, chat_metadata, gguf_bytes
from tests.fakes.range_server import Answer, Asked, Write, closed_port, head, honest, serving

MIB = 2**20
WHOLE = gguf_bytes(chat_metadata(), tensors=[Tensor("token_embd.weight", (32, 1000))])


def refusal(address: str, deadline_s: float = 5.0) -> LayaDeskError:
    with pytest.raises(LayaDeskError) as caught:
        read_remote_model(address, lambda one: HttpRanges(one, deadline_s=deadline_s))
    return caught.value


def reason_of(answer: Answer, deadline_s: float = 5.0) -> object:
    with serving(answer) as server:
        error = refusal(server.address + "/a.gguf", deadline_s)
    assert error.code is ErrorCode.REMOTE_FILE_UNREADABLE
    return error.facts["reason"]


def test_a_header_on_a_server_is_the_header_of_the_file_and_the_weights_are_not_fetched(tmp_path: Path) -> None:
    words = [f"<{i}>" + "x" * 40 for i in range(150_000)]  # some 8 MB: more than one window
    content = gguf_bytes(
        chat_metadata(tokenizer__ggml__tokens=words), tensors=[Tensor("token_embd.weight", (32, 200_000))]
    )
    (tmp_path / "a.gguf").write_bytes(content)
    here = read_header(tmp_path / "a.gguf")
    with serving(honest({"/a.gguf": content}, 'ETag: "1"')) as server:
        (there,) = read_remote_model(server.address + "/a.gguf")
    assert (there.tensors, there.metadata, there.n_vocab, there.size_bytes) == (
        here.tensors, here.metadata, here.n_vocab, here.size_bytes,
    )  # fmt: skip
    assert model_facts(there) == model_facts(here)
    assert len(content) > 30 * MIB
    assert server.n_sent < 15 * MIB
    assert [one.first for one in server.asked] == sorted({one.first for one in server.asked})


def test_long_arrays_of_numbers_are_stepped_over_without_being_fetched() -> None:
    content = gguf_bytes(chat_metadata(tokenizer__ggml__scores=[0.0] * (8 * MIB)), tensors=[Tensor("a")])
    with serving(honest({"/a.gguf": content})) as server:
        read_remote_model(server.address + "/a.gguf")
    assert len(content) > 32 * MIB
    assert server.n_sent < 9 * MIB


def test_all_shards_of_a_model_are_read(tmp_path: Path) -> None:
    def shard(number: int, *names: str) -> bytes:
        split = {"split.no": number, "split.count": 2, "split.tensors.count": 3}
        return gguf_bytes(dict(chat_metadata()) | split, tensors=[Tensor(name) for name in names])

    files = {
        "/m/x-00001-of-00002.gguf": shard(0, "token_embd.weight"),
        "/m/x-00002-of-00002.gguf": shard(1, "blk.0.a", "b"),
    }
    with serving(honest(files)) as server:
        headers = read_remote_model(server.address + "/m/x-00002-of-00002.gguf")
    assert [one.split_no for one in headers] == [0, 1]
    del files["/m/x-00002-of-00002.gguf"]
    with serving(honest(files)) as server:
        assert refusal(server.address + "/m/x-00001-of-00002.gguf").facts["detail"] == "HTTP 404"


def test_what_is_wrong_with_the_file_itself_is_said_as_for_a_file_here() -> None:
    cases = {
        b"<html>not here</html>" * 9: ErrorCode.GGUF_NOT_GGUF,
        b"GGUF" + b"\xff" * 400: ErrorCode.GGUF_VERSION,
        WHOLE[:9000]: ErrorCode.GGUF_TRUNCATED,
        gguf_bytes(n_keys=2**60): ErrorCode.GGUF_DAMAGED,
    }
    for content, code in cases.items():
        with serving(honest({"/a.gguf": content})) as server:
            assert refusal(server.address + "/a.gguf").code is code


def replies(*headers: str, status: str = "206 Partial Content", body: bytes = WHOLE) -> Answer:
    return lambda asked, write: write(head(status, *headers) + body)


END = len(WHOLE) - 1
WRONG: dict[str, tuple[Answer, str]] = {
    "the whole file instead of a part": (replies(f"Content-Length: {len(WHOLE)}", status="200 OK"), "no_ranges"),
    "no word of which part": (replies(f"Content-Length: {len(WHOLE)}"), "wrong_range"),
    "another part": (replies(f"Content-Range: bytes 512-{END + 512}/{len(WHOLE) + 512}"), "wrong_range"),
    "a part without a total": (replies(f"Content-Range: bytes 0-{END}/*"), "wrong_range"),
    "a part past the total": (replies(f"Content-Range: bytes 0-{END}/100"), "wrong_range"),
    "a part that ends before it begins": (replies("Content-Range: bytes 0-0/0"), "wrong_range"),
    "more than was asked for": (replies("Content-Range: bytes 0-99999999/999999999"), "wrong_range"),
    "less than was asked for": (replies(f"Content-Range: bytes 0-99/{len(WHOLE)}"), "wrong_range"),
    "numbers of a thousand digits": (replies(f"Content-Range: bytes 0-{'9' * 1000}/{'9' * 1000}"), "wrong_range"),
    "a compressed part": (
        replies(f"Content-Range: bytes 0-{END}/{len(WHOLE)}", "Content-Encoding: gzip"),
        "wrong_range",
    ),
    "a body that is shorter than it says": (
        replies(f"Content-Range: bytes 0-{END}/{len(WHOLE)}", body=WHOLE[:1000]),
        "connection",
    ),
    "no HTTP at all": (lambda asked, write: write(b"SSH-2.0-OpenSSH\r\n"), "connection"),
    "nothing": (lambda asked, write: None, "connection"),
    "not there": (honest({}), "status"),
    "not allowed": (replies("Content-Length: 0", status="401 Unauthorized", body=b""), "status"),
    "past the end": (replies("Content-Range: bytes */0", status="416 Range Not Satisfiable", body=b""), "status"),
    "a redirect to itself": (replies("Location: /a.gguf", "Content-Length: 0", status="302 Found"), "redirects"),
    "a redirect to a file": (replies("Location: file:///etc/passwd", status="302 Found"), "connection"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_reply_that_is_not_what_was_asked_for_is_refused(name: str) -> None:
    answer, reason = WRONG[name]
    assert reason_of(answer) == reason


def endless(first: bytes, piece: bytes, pause_s: float) -> Answer:
    def answer(asked: Asked, write: Write) -> None:
        write(first)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            write(piece)
            time.sleep(pause_s)

    return answer


def test_a_body_without_end_is_read_no_further_than_was_asked() -> None:
    place = f"Content-Range: bytes 0-{4 * MIB - 1}/{999 * MIB}"
    front = head("206 Partial Content", place) + WHOLE[:4096]
    with serving(endless(front, b"\0" * 65536, 0)) as server:
        (header,) = read_remote_model(server.address + "/a.gguf")
        n_sent = server.n_sent
    assert header.n_tensors == 1
    assert n_sent < 40 * MIB  # what was on its way when the connection was closed


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (head("206 Partial Content", f"Content-Range: bytes 0-{END}/{len(WHOLE)}"), b"G"),
        (b"HTTP/1.1 206 Partial Content\r\n", b"X: y\r\n"),
        (b"", b"H"),
        (head("302 Found", "Location: /b.gguf", "Content-Length: 99999999"), b"x"),
    ],
    ids=["body", "headers", "status line", "body of a redirect"],
)
def test_a_server_that_sends_a_byte_now_and_then_is_given_up_in_time(first: bytes, piece: bytes) -> None:
    began = time.monotonic()
    assert reason_of(endless(first, piece, 0.02), deadline_s=0.5) in ("timeout", "redirects")
    assert time.monotonic() - began < 10


def test_a_server_that_is_silent_is_given_up_in_time() -> None:
    is_over = threading.Event()

    def answer(asked: Asked, write: Write) -> None:
        is_over.wait(20)

    try:
        assert reason_of(answer, deadline_s=0.4) == "timeout"
    finally:
        is_over.set()


def test_an_address_where_nobody_listens_or_that_is_none_is_said() -> None:
    for address in (closed_port() + "/a.gguf", "http://[", "http:///x", "https://127.0.0.1:99999/x"):
        error = refusal(address)
        assert (error.code, error.facts["reason"]) == (ErrorCode.REMOTE_FILE_UNREADABLE, "connection")


def test_a_redirect_is_followed_with_the_range() -> None:
    def answer(asked: Asked, write: Write) -> None:
        if asked.path == "/a.gguf":
            write(head("302 Found", "Location: /b/c.gguf?key=1", "Content-Length: 0"))
        else:
            honest({"/b/c.gguf?key=1": WHOLE})(asked, write)

    with serving(answer) as server:
        (header,) = read_remote_model(server.address + "/a.gguf")
        assert header.path == server.address + "/a.gguf"
        assert [one.path for one in server.asked] == ["/a.gguf", "/b/c.gguf?key=1"]


def test_what_may_be_secret_in_an_address_is_not_shown() -> None:
    assert shown_address("https://me:word@host.example:8443/a/b.gguf?token=1#x") == "https://host.example:8443/a/b.gguf"


# ── whatever fetches the ranges ───────────────────────────────────────────────────────────────────────────────────────


def source(fetch: Callable[[int, int], RangeReply]) -> RangeSource:
    return RangeSource("there", fetch)


def test_a_file_that_changes_between_two_ranges_is_refused() -> None:
    content = WHOLE + b"\0" * 8 * MIB
    for changed in (RangeReply(5 * MIB, content[5 * MIB :][:64], len(content), "b"), RangeReply(5 * MIB, b"x" * 64, 1)):
        answers = [RangeReply(0, content[: 4 * MIB], len(content), "a"), changed]
        remote = source(lambda offset, n, rest=answers: rest.pop(0))  # type: ignore[misc]
        with pytest.raises(LayaDeskError) as refused:
            remote.read_at(5 * MIB, 64)
        assert refused.value.facts["reason"] == "changed"


def test_what_is_fetched_of_one_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_source, "MAX_FETCHED_BYTES", 6 * MIB)
    n_fetched = 0

    def fetch(offset: int, n: int) -> RangeReply:
        nonlocal n_fetched
        n_fetched += n
        zeros = b"\0" * n
        front = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
        keys = (1).to_bytes(8, "little") + b"a" + (9).to_bytes(4, "little") + (8).to_bytes(4, "little")
        head_bytes = front + keys + (2**22).to_bytes(8, "little")  # an array of four million empty strings
        return RangeReply(offset, (head_bytes + zeros)[:n] if offset == 0 else zeros, 2**40)

    with pytest.raises(LayaDeskError) as refused:
        read_source(source(fetch))
    assert refused.value.facts["reason"] == "too_much"
    assert n_fetched <= 6 * MIB
