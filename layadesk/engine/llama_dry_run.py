"""What a load would take, from llama.cpp itself: the model without its weights, the context without its buffers.

`no_alloc` reads the metadata alone and reports the sizes of exactly the buffers that the real load makes, per device.
In a process of its own (`dry_run_main.py`), because a hostile file may end it.
"""

import ctypes
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.engine.llama_context import ContextNumbers, context_numbers
from layadesk.engine.llama_facts import has_large_state
from layadesk.engine.llama_library import (
    LlamaLibrary,
    buffer_sizes,
    first_error,
    is_out_of_memory,
    n_offloaded_layers,
    native,
)
from layadesk.engine.llama_params import LOAD_MODE_NONE, context_params, model_params

_HOST_BUFFER = re.compile(r"CPU|AMX|.*_Host$|.*_Mapped$")
_REPACKED = re.compile(r"CPU_REPACK|AMX|CPU_AARCH64")


@dataclass(slots=True)
class _Sizes:
    """Bytes by device: weights, KV, compute; `repacked` are the host's weights in an order of its own."""

    weights: dict[str, int] = field(default_factory=dict)
    context: dict[str, int] = field(default_factory=dict)
    compute: dict[str, int] = field(default_factory=dict)
    repacked: int = 0

    def add(self, buffer_type: str, weights: int, context: int, compute: int) -> None:
        device = CPU if _HOST_BUFFER.match(buffer_type) else buffer_type
        for into, n_bytes in ((self.weights, weights), (self.context, context), (self.compute, compute)):
            into[device] = into.get(device, 0) + n_bytes
        if _REPACKED.match(buffer_type):
            self.repacked += weights


class DryRun:
    """Prices one file. `allocates`: loads it in earnest instead. The thread that makes it; close it after use."""

    def __init__(self, library: LlamaLibrary, path: str, *, allocates: bool = False) -> None:
        if not os.path.isfile(path):
            raise fail(ErrorCode.MODEL_FILE_MISSING, path=path)
        self._library = library
        self._path = path
        self._allocates = allocates
        self._model: Any = None
        self._placed: tuple[object, ...] | None = None
        self._model_lines: list[tuple[int, str]] = []

    def price(self, params: LoadParams) -> MemoryBill:
        """The bill; the model is read again only where layers go elsewhere. Raises as the load would."""
        has_gpu = self._library.devices.has_gpu and params.n_gpu_layers != 0
        numbers = context_numbers(params, has_gpu=has_gpu)
        self._place(numbers)
        with self._library.log.capture() as lines:
            struct = context_params(numbers, has_large_state=has_large_state(self._model, swa_full=numbers.swa_full))
            context = native.llama_init_from_model(self._model, struct)
            if not context:
                raise self._failure(lines)
            try:
                return self._bill(context, [*self._model_lines, *lines], numbers, n_outputs=int(struct.n_outputs_max))
            finally:
                if not self._allocates:
                    native.llama_free(context)
                else:
                    self._context = context

    def fill(self) -> None:
        """Decode one full step, so that all buffers are really in memory. Only after a price that `allocates`."""
        n_batch = min(int(native.llama_n_ubatch(self._context)), int(native.llama_n_ctx(self._context)))
        batch = native.llama_batch_init(n_batch, 0, 1)
        for i in range(n_batch):
            batch.token[i], batch.pos[i] = 0, i
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
            batch.logits[i] = i == n_batch - 1
        batch.n_tokens = n_batch
        code = native.llama_decode(self._context, batch)
        native.llama_batch_free(batch)
        if code != 0:
            raise fail(ErrorCode.DECODE_FAILED, reason="dry run", value=code)

    def close(self) -> None:
        """Free the model; harmless when repeated."""
        if self._model is not None:
            native.llama_model_free(self._model)
            self._model = self._placed = None

    def _place(self, numbers: ContextNumbers) -> None:
        placed = (numbers.n_gpu_layers, numbers.n_cpu_moe, numbers.tensor_overrides, numbers.devices)
        if self._placed == placed:
            return
        self.close()
        with self._library.log.capture() as lines:
            made = model_params(numbers, self._library.devices, uses_mmap=False, on_progress=lambda *_: True)
            made.struct.load_mode = LOAD_MODE_NONE
            made.struct.no_alloc = not self._allocates
            self._model = native.llama_model_load_from_file(os.fsencode(self._path), made.struct) or None
        if self._model is None:
            raise self._failure(lines)
        self._model_lines = list(lines)
        self._placed = placed

    def _failure(self, lines: list[tuple[int, str]]) -> LayaDeskError:
        code = ErrorCode.OUT_OF_MEMORY if is_out_of_memory(lines) else ErrorCode.MODEL_LOAD_FAILED
        return fail(code, path=self._path, detail=first_error(lines))

    def _bill(
        self, context: Any, lines: list[tuple[int, str]], numbers: ContextNumbers, *, n_outputs: int
    ) -> MemoryBill:
        sizes = _exact_sizes(context) or _logged_sizes(lines)
        vocab = native.llama_model_get_vocab(self._model)
        output = 4 * int(native.llama_vocab_n_tokens(vocab)) * n_outputs
        if numbers.uses_mmap:
            sizes.weights[CPU] = sizes.weights.get(CPU, 0) + sizes.repacked  # the map holds those weights once more
        names = [name for name in sizes.weights if name != CPU] + [CPU]
        devices = tuple(
            DeviceBill(
                name,
                weights_bytes=sizes.weights.get(name, 0),
                kv_bytes=sizes.context.get(name, 0),
                compute_bytes=sizes.compute.get(name, 0),
                output_bytes=output if name == CPU else 0,
            )
            for name in names
        )
        n_layers = int(native.llama_model_n_layer(self._model)) + 1
        basis = Basis.REPORTED if self._allocates else Basis.DRY_RUN
        return MemoryBill(devices, n_offloaded_layers(lines), n_layers, basis)


def _logged_sizes(lines: list[tuple[int, str]]) -> _Sizes:
    """From the log, in hundredths of a MiB."""
    sizes = _Sizes()
    for buffer_type, what, n_bytes in buffer_sizes(lines):
        sizes.add(
            buffer_type,
            n_bytes if what == "model" else 0,
            n_bytes if what in ("KV", "RS") else 0,
            n_bytes if what == "compute" else 0,
        )
    return sizes


def _exact_sizes(context: Any) -> _Sizes | None:
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
    sizes = _Sizes()
    for buffer_type, *three in _entries(table[2]):
        sizes.add(name_of(buffer_type).decode("utf-8", "replace"), *three)
    return sizes


def _entries(node: int) -> Iterator[tuple[int, int, int, int]]:
    if node:
        fields = (ctypes.c_uint64 * 8).from_address(node)
        yield from _entries(fields[2])
        yield fields[4], fields[5], fields[6], fields[7]
        yield from _entries(fields[3])
