"""What a load would take, from llama.cpp itself: the model without its weights, the context without its buffers.

`no_alloc` reads the metadata alone and reports the sizes of exactly the buffers that the real load makes, per device.
In a process of its own (`dry_run_main.py`), because a hostile file may end it.
"""

import os
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis, MemoryBill
from layadesk.engine.llama_buffers import made_buffers
from layadesk.engine.llama_context import ContextNumbers, context_numbers
from layadesk.engine.llama_facts import has_large_state
from layadesk.engine.llama_library import (
    LlamaLibrary,
    first_error,
    is_out_of_memory,
    n_offloaded_layers,
    native,
)
from layadesk.engine.llama_params import LOAD_MODE_NONE, context_params, model_params


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
        sizes = made_buffers(context, lines)
        vocab = native.llama_model_get_vocab(self._model)
        output = 4 * int(native.llama_vocab_n_tokens(vocab)) * n_outputs
        if numbers.uses_mmap:
            sizes.weights[CPU] = sizes.weights.get(CPU, 0) + sizes.repacked  # the map holds those weights once more
        devices = sizes.devices(output_bytes=output)
        n_layers = int(native.llama_model_n_layer(self._model)) + 1
        basis = Basis.REPORTED if self._allocates else Basis.DRY_RUN
        return MemoryBill(devices, n_offloaded_layers(lines), n_layers, basis)
