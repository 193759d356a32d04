"""The buffers that llama.cpp has made, by device: to the byte where it can be asked, else as its log tells them."""

import ctypes
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from layadesk.domain.memory_fit.bill import CPU, DeviceBill
from layadesk.engine.llama_library import buffer_sizes, native

_HOST_BUFFER = re.compile(r"CPU|AMX|.*_Host$|.*_Mapped$")
_REPACKED = re.compile(r"CPU_REPACK|AMX|CPU_AARCH64")


@dataclass(slots=True)
class BufferSizes:
    """Bytes by device: weights, KV, compute; `repacked` are the host's weights in an order of its own."""

    weights: dict[str, int] = field(default_factory=dict)
    context: dict[str, int] = field(default_factory=dict)
    compute: dict[str, int] = field(default_factory=dict)
    repacked: int = 0

    def add(self, buffer_type: str, weights: int, context: int, compute: int) -> None:
        """What one type of buffer holds."""
        device = CPU if _HOST_BUFFER.match(buffer_type) else buffer_type
        for into, n_bytes in ((self.weights, weights), (self.context, context), (self.compute, compute)):
            into[device] = into.get(device, 0) + n_bytes
        if _REPACKED.match(buffer_type):
            self.repacked += weights

    def devices(self, *, output_bytes: int) -> tuple[DeviceBill, ...]:
        """As bills without overhead and margin, the host last; the rows of logits lie there."""
        names = [name for name in self.weights if name != CPU] + [CPU]
        return tuple(
            DeviceBill(
                name,
                weights_bytes=self.weights.get(name, 0),
                kv_bytes=self.context.get(name, 0),
                compute_bytes=self.compute.get(name, 0),
                output_bytes=output_bytes if name == CPU else 0,
            )
            for name in names
        )


def made_buffers(context: Any, lines: list[tuple[int, str]]) -> BufferSizes:
    """What a context and its model hold; `lines` are what the library said meanwhile."""
    return _exact_sizes(context) or _logged_sizes(lines)


def mapped_bytes(lines: list[tuple[int, str]]) -> int:
    """Weights that lie in the mapped file."""
    return sum(n for kind, what, n in buffer_sizes(lines) if what == "model" and kind.endswith("_Mapped"))


def _logged_sizes(lines: list[tuple[int, str]]) -> BufferSizes:
    """From the log, in hundredths of a MiB."""
    sizes = BufferSizes()
    for buffer_type, what, n_bytes in buffer_sizes(lines):
        sizes.add(
            buffer_type,
            n_bytes if what == "model" else 0,
            n_bytes if what in ("KV", "RS") else 0,
            n_bytes if what == "compute" else 0,
        )
    return sizes


def _exact_sizes(context: Any) -> BufferSizes | None:
    """To the byte, where that is possible.

    `llama_get_memory_breakdown` is exported, but is C++: it returns a std::map from buffer types to three sizes. It is
    read as libstdc++ lays it out on x86-64 (colour, parent, left, right, key, three sizes); elsewhere the log serves.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    try:
        breakdown = native._lib._Z26llama_get_memory_breakdownPK13llama_context
        name_of = native._lib.ggml_backend_buft_name
    except AttributeError:
        return None
    breakdown.argtypes, breakdown.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_void_p
    name_of.argtypes, name_of.restype = [ctypes.c_void_p], ctypes.c_char_p
    table = (ctypes.c_uint64 * 6)()
    breakdown(ctypes.addressof(table), ctypes.cast(context, ctypes.c_void_p))
    sizes = BufferSizes()
    for buffer_type, *three in _entries(table[2]):
        sizes.add(name_of(buffer_type).decode("utf-8", "replace"), *three)
    return sizes


def _entries(node: int) -> Iterator[tuple[int, int, int, int]]:
    if node:
        fields = (ctypes.c_uint64 * 8).from_address(node)
        yield from _entries(fields[2])
        yield fields[4], fields[5], fields[6], fields[7]
        yield from _entries(fields[3])
