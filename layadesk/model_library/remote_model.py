"""What a model on a server says about itself: the first megabytes of each of its files, and never the weights."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin, urlsplit

from layadesk.domain.errors import ErrorCode, fail
from layadesk.model_library.byte_source import Fetch, RangeSource
from layadesk.model_library.gguf_header import GgufHeader, check_chat_model, read_source
from layadesk.model_library.http_ranges import HttpRanges, shown_address
from layadesk.model_library.shards import check_shards, shard_names

MAX_REMOTE_SHARDS: Final = 64


def is_address(text: str) -> bool:
    """Whether it names a file on a server."""
    return text.casefold().startswith(("http://", "https://"))


def read_remote_model(address: str, fetch_of: Callable[[str], Fetch] = HttpRanges) -> tuple[GgufHeader, ...]:
    """Read and check a model by the address of any of its files: the header of each, the first one first.

    Raises REMOTE_FILE_UNREADABLE, and what `read_header`, `check_chat_model` and `check_shards` raise. Blocks for a
    round trip or two a file; stops there, the weights are not asked for.
    """
    header = _header(address, fetch_of)
    if header.split_count == 1:
        check_chat_model(header)
        return (header,)
    path = urlsplit(address).path
    names = shard_names(path.rpartition("/")[2], header)
    if len(names) > MAX_REMOTE_SHARDS:
        raise fail(ErrorCode.GGUF_DAMAGED, path=header.path, reason="split_number", value=len(names))
    query = urlsplit(address).query
    headers = []
    for number, name in enumerate(names):
        is_known = number == header.split_no
        further = urljoin(address, name) + (f"?{query}" if query else "")
        headers.append(header if is_known else _header(further, fetch_of))
        if number == 0:
            check_chat_model(headers[0])
    check_shards(headers)
    return tuple(headers)


def _header(address: str, fetch_of: Callable[[str], Fetch]) -> GgufHeader:
    return read_source(RangeSource(shown_address(address), fetch_of(address)))
