"""A forward reader for the front of a GGUF file that trusts no number in it.

Nothing is allocated from a count before the count was compared with what the file can hold, arrays are stepped over
without building lists, and the whole work is bounded (`MAX_*`), so a hostile file costs well under two seconds and some
tens of megabytes. Where the bytes come from is the source's business (`byte_source.py`).
The rules are those of llama.cpp's gguf.cpp (0.3.36), so that what passes here does not fail there.
"""

import struct
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail
from layadesk.model_library import gguf_types
from layadesk.model_library.byte_source import ByteSource
from layadesk.model_library.gguf_types import ARRAY, SCALARS, STRING

MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 17
MAX_KEY_BYTES = (1 << 16) - 1
MAX_STRING_BYTES = 1 << 30  # llama.cpp's own limit
MAX_ARRAY_ELEMENTS = 1 << 30  # likewise
MAX_STRINGS_WALKED = 1 << 23  # about a second; the largest vocabularies have 2**18 tokens and as many merges
MAX_HEADER_BYTES = 1 << 28
MAX_VALUE_KEPT_BYTES = 1 << 20  # a longer text is stepped over; chat templates have some 10 kB
MAX_KEPT_BYTES = 1 << 25
MAX_ARRAY_KEPT = 4096  # per-layer arrays; vocabularies are only counted

Scalar = int | float | bool | str
MetaValue = Scalar | tuple[int | float | bool, ...]

_U64 = struct.Struct("<Q").unpack_from


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor as the file describes it. `shape[0]` is the length of a row; `offset` counts from the data section."""

    name: str
    type_id: int
    shape: tuple[int, ...]
    offset: int
    size_bytes: int

    @property
    def type_name(self) -> str:
        """The ggml type, for instance `Q4_K`."""
        return gguf_types.TENSOR_TYPES[self.type_id].name

    @property
    def n_elements(self) -> int:
        """Parameters in it."""
        product = 1
        for extent in self.shape:
            product *= extent
        return product


class GgufReader:
    """Reads `source` from its start to the end of the tensor list. One thread; raises what the source raises, too."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._path = source.name
        self._size = source.size_bytes
        self._window = b""
        self._window_at = 0
        self._at = 0
        self._strings_walked = 0
        self._kept_bytes = 0

    @property
    def position(self) -> int:
        """Bytes consumed so far."""
        return self._at

    def damaged(self, reason: str, **facts: Fact) -> LayaDeskError:
        """The error for a file that contradicts itself."""
        return fail(ErrorCode.GGUF_DAMAGED, path=self._path, reason=reason, **facts)

    def truncated(self, needed_bytes: int, **facts: Fact) -> LayaDeskError:
        """The error for a file that ends too early; `needed_bytes` is at least what a whole one has."""
        return fail(
            ErrorCode.GGUF_TRUNCATED, path=self._path, size_bytes=self._size, needed_bytes=needed_bytes, **facts
        )

    def take(self, n: int) -> bytes:
        """The next `n` bytes; `n` must be a size of the format or already bounded."""
        start = self._reach(n)
        self._at += n
        return self._window[start : start + n]

    def rewind(self, position: int) -> None:
        """Go back to an earlier position."""
        self._at = position

    def number(self, code: str) -> int:
        """The next integer; `code` is `I` or `Q`."""
        value: int = struct.unpack("<" + code, self.take(4 if code == "I" else 8))[0]
        return value

    def text(self, limit: int, what: str) -> str:
        """The next length-prefixed string, at most `limit` bytes long. Bytes that are no UTF-8 are shown escaped."""
        length = self.number("Q")
        if length > limit:
            raise self.damaged("long_string", what=what, length=length)
        return self.take(length).decode("utf-8", "backslashreplace")

    def metadata(self, n: int) -> tuple[dict[str, MetaValue], dict[str, int]]:
        """`n` keys: the values kept, and the length of each array (kept or not)."""
        values: dict[str, MetaValue] = {}
        lengths: dict[str, int] = {}
        seen: set[str] = set()
        for _ in range(n):
            key = self.text(MAX_KEY_BYTES, "key")
            if not key:
                raise self.damaged("empty_key")  # llama.cpp #24884: older builds abort on it
            if key in seen:
                raise self.damaged("duplicate_key", key=key)
            seen.add(key)
            self._keep(len(key))
            value_type = self.number("I")
            value = self._array(key, lengths) if value_type == ARRAY else self._value(key, value_type)
            if value is not None:
                values[key] = value
        return values, lengths

    def tensors(self, n: int) -> tuple[TensorEntry, ...]:
        """`n` tensor descriptions, with the checks of gguf.cpp but those of their place in the file."""
        entries: list[TensorEntry] = []
        names: set[str] = set()
        for _ in range(n):
            entry = self._tensor()
            if entry.name in names:
                raise self.damaged("duplicate_tensor", tensor=entry.name)
            names.add(entry.name)
            entries.append(entry)
        return tuple(entries)

    def _tensor(self) -> TensorEntry:
        name = self.text(gguf_types.MAX_TENSOR_NAME, "tensor name")
        n_dimensions = self.number("I")
        if n_dimensions > gguf_types.MAX_DIMENSIONS:
            raise self.damaged("dimensions", tensor=name, value=n_dimensions)
        *extents, type_id, offset = struct.unpack(f"<{n_dimensions}QIQ", self.take(8 * n_dimensions + 12))
        shape = tuple(extents)
        n_elements = 1
        for extent in shape:
            n_elements *= extent
        if n_elements >= 2**63 or any(extent >= 2**63 for extent in shape):
            raise self.damaged("shape", tensor=name)
        try:
            size = gguf_types.tensor_bytes(type_id, shape)
        except KeyError as error:
            raise self.damaged("tensor_type", tensor=name, value=type_id) from error
        except ValueError as error:
            raise self.damaged("row_length", tensor=name, value=shape[0] if shape else 1) from error
        return TensorEntry(name, type_id, shape, offset, size)

    def _value(self, key: str, value_type: int) -> Scalar | None:
        if value_type == STRING:
            length = self.number("Q")
            if length > MAX_STRING_BYTES:
                raise self.damaged("long_string", key=key, length=length)
            if length > MAX_VALUE_KEPT_BYTES:
                self._skip(length)
                return None
            self._keep(length)
            return self.take(length).decode("utf-8", "replace")
        scalar = SCALARS.get(value_type)
        if scalar is None:
            raise self.damaged("value_type", key=key, value=value_type)
        code, size = scalar
        value: Scalar = struct.unpack("<" + code, self.take(size))[0]
        return value

    def _array(self, key: str, lengths: dict[str, int]) -> tuple[int | float | bool, ...] | None:
        element_type = self.number("I")
        n = self.number("Q")
        if n > MAX_ARRAY_ELEMENTS:
            raise self.damaged("long_array", key=key, length=n)
        lengths[key] = n
        if element_type == STRING:
            self._skip_strings(n)
            return None
        scalar = SCALARS.get(element_type)
        if scalar is None:  # an array of arrays too: llama.cpp reads none
            raise self.damaged("value_type", key=key, value=element_type)
        code, size = scalar
        if n > MAX_ARRAY_KEPT:
            self._skip(n * size)
            return None
        self._keep(n * 8)
        return struct.unpack(f"<{n}{code}", self.take(n * size))

    def _skip_strings(self, n: int) -> None:
        """Step over `n` length-prefixed strings: the one hot loop, 0.1 µs a string, hence the local names."""
        self._strings_walked += n
        if self._strings_walked > MAX_STRINGS_WALKED:
            raise self.damaged("header_too_large", strings=self._strings_walked)
        self._check(self._at + 8 * n)
        left = n
        while left:
            at, walked = self._reach(8), 0
            window, window_at = self._window, self._window_at
            try:
                for _ in range(left):
                    (length,) = _U64(window, at)
                    at += length + 8
                    walked += 1
            except (struct.error, OverflowError):
                pass  # past the window: go on in the next one, which starts at that string
            if window_at + at > self._size + MAX_STRING_BYTES:
                raise self.damaged("long_string")
            left -= walked
            self._check(window_at + at)
            self._at = window_at + at

    def _skip(self, n: int) -> None:
        self._check(self._at + n)
        self._at += n

    def _keep(self, n: int) -> None:
        self._kept_bytes += n
        if self._kept_bytes > MAX_KEPT_BYTES:
            raise self.damaged("header_too_large", kept_bytes=self._kept_bytes)

    def _check(self, end: int) -> None:
        if end > self._size:
            raise self.truncated(end)
        if end > MAX_HEADER_BYTES:
            raise self.damaged("header_too_large", position=end)

    def _reach(self, n: int) -> int:
        """Where in the window the position is, once the window holds the next `n` bytes."""
        self._check(self._at + n)
        start = self._at - self._window_at
        if start >= 0 and start + n <= len(self._window):
            return start
        self._window = self._source.read_at(self._at, max(n, self._source.window_bytes))
        self._window_at = self._at
        if len(self._window) < n:  # it shrank since its size was taken
            raise self.truncated(self._at + n)
        return 0
