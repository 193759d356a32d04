"""llama.cpp as a backend: loading, decoding and sampling through its C functions, each guarded before the call.

Many mistakes are an abort() of the whole process there: more tokens than `n_batch`, more outputs than `n_outputs_max`,
sampling a row without logits, two threads in one context. `check_batch` and the checks here keep them out.
"""

import ctypes
import logging
import os
from collections.abc import Callable
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import DecodeOutcome, LoadCancelled
from layadesk.engine.batch import Batch, BatchLimits, check_batch
from layadesk.engine.llama_context import ContextNumbers, context_numbers
from layadesk.engine.llama_facts import read_facts
from layadesk.engine.llama_library import LlamaLibrary, first_error, is_out_of_memory, native
from layadesk.engine.llama_sampler import LlamaSampler
from layadesk.engine.sampling import sampler_chain

log = logging.getLogger(__name__)

_LOAD_MODE_AUTO, _LOAD_MODE_NONE = -1, 0
_DECODED, _NO_SLOT, _ABORTED = 0, 1, 2  # what llama_decode returns; negative is an error


class LlamaBackend:
    """llama.cpp in this process."""

    name = "llama"

    def __init__(self, library: LlamaLibrary | None = None) -> None:
        self._library = library or LlamaLibrary()
        self.devices = self._library.devices
        self.supports_gpu_offload = self._library.supports_gpu_offload

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> "LlamaExpert":
        """See Backend."""
        numbers = context_numbers(spec.params)
        if not os.path.isfile(spec.path):
            raise fail(ErrorCode.MODEL_FILE_MISSING, path=spec.path)
        with self._library.log.capture() as lines:
            model = _load_model(spec, numbers, on_progress)
            if model is None:
                raise _load_failure(spec, lines)
            refusal = _refusal_of_kind(model)
            context = None if refusal else native.llama_init_from_model(model, _context_params(numbers))
            if not context:
                native.llama_model_free(model)
                raise refusal or _load_failure(spec, lines)
            return LlamaExpert(model, context, lines)


class LlamaExpert:
    """One model and its one context. See Expert for threads."""

    def __init__(self, model: Any, context: Any, lines: list[tuple[int, str]]) -> None:
        self._model = model
        self._context = context
        self._memory = native.llama_get_memory(context)
        self._vocab = native.llama_model_get_vocab(model)
        self.facts = read_facts(model, context, lines)
        facts = self.facts
        self._limits = BatchLimits(facts.n_batch, facts.n_seq_max, facts.n_vocab, facts.n_seq_max)
        self._batch = native.llama_batch_init(facts.n_batch, 0, 1)
        self._rows: frozenset[int] = frozenset()
        self._piece = ctypes.create_string_buffer(256)
        self._should_abort: Callable[[], bool] | None = None
        self._abort_callback = native.ggml_abort_callback(self._asked_to_abort)
        self._no_callback = native.ggml_abort_callback()

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """See Expert."""
        if not self.facts.has_vocabulary:
            raise fail(ErrorCode.GGUF_NO_VOCABULARY)  # an abort() there
        encoded = text.encode("utf-8", "replace")
        size = len(encoded) + 8
        tokens = (native.llama_token * size)()
        n = native.llama_tokenize(self._vocab, encoded, len(encoded), tokens, size, False, parse_special)
        if n < 0:
            size = -n
            tokens = (native.llama_token * size)()
            n = native.llama_tokenize(self._vocab, encoded, len(encoded), tokens, size, False, parse_special)
        if n < 0:
            raise fail(ErrorCode.INTERNAL, reason="tokenize", value=n)
        return list(tokens[:n])

    def piece(self, token: int) -> bytes:
        """See Expert."""
        if not self.facts.has_vocabulary:
            return b""
        n = native.llama_token_to_piece(self._vocab, token, self._piece, len(self._piece), 0, False)
        if n < 0:
            self._piece = ctypes.create_string_buffer(-n)
            n = native.llama_token_to_piece(self._vocab, token, self._piece, len(self._piece), 0, False)
        return self._piece.raw[: max(0, n)]

    def is_eog(self, token: int) -> bool:
        """See Expert."""
        return self.facts.has_vocabulary and bool(native.llama_vocab_is_eog(self._vocab, token))

    def decode(self, batch: Batch, should_abort: Callable[[], bool] | None) -> DecodeOutcome:
        """See Expert. Without `should_abort` no callback is installed, and the decode runs without Python in it."""
        self._rows = frozenset()
        check_batch(batch, self._limits, lambda seq_id: self.seq_pos_max(seq_id) + 1)
        self._fill(batch)
        self._should_abort = should_abort
        callback = self._no_callback if should_abort is None else self._abort_callback
        native.llama_set_abort_callback(self._context, callback, None)
        code = native.llama_decode(self._context, self._batch)
        if code == _DECODED:
            native.llama_synchronize(self._context)  # a GPU has only been asked so far
            self._rows = frozenset(row for row, wanted in enumerate(batch.wants_logits) if wanted)
            return DecodeOutcome.OK
        if code == _NO_SLOT:
            return DecodeOutcome.NO_SLOT
        return DecodeOutcome.ABORTED if code == _ABORTED else DecodeOutcome.FAILED

    def new_sampler(self, sampling: SamplingParams, seed: int) -> "LlamaSampler":
        """See Expert."""
        return LlamaSampler(sampler_chain(sampling, seed), self.facts.n_vocab, self._sample)

    def seq_remove(self, seq_id: int, from_position: int = 0) -> None:
        """See Expert."""
        native.llama_memory_seq_rm(self._memory, seq_id, from_position if from_position > 0 else -1, -1)

    def seq_pos_max(self, seq_id: int) -> int:
        """See Expert."""
        return int(native.llama_memory_seq_pos_max(self._memory, seq_id))

    def close(self) -> None:
        """See Expert."""
        if self._context is None:
            return
        native.llama_batch_free(self._batch)
        native.llama_free(self._context)
        native.llama_model_free(self._model)
        self._context = self._model = self._memory = self._vocab = None

    def _sample(self, chain: Any, row: int) -> int:
        if row not in self._rows:
            raise fail(ErrorCode.DECODE_FAILED, reason="row without logits", value=row)  # an abort() there
        return int(native.llama_sampler_sample(chain, self._context, row))

    def _fill(self, batch: Batch) -> None:
        native_batch = self._batch
        n = len(batch)
        native_batch.n_tokens = n
        ctypes.memmove(native_batch.token, (native.llama_token * n)(*batch.tokens), 4 * n)
        ctypes.memmove(native_batch.pos, (native.llama_pos * n)(*batch.positions), 4 * n)
        ctypes.memmove(native_batch.logits, bytes(batch.wants_logits), n)
        for row, seq_id in enumerate(batch.seq_ids):
            native_batch.n_seq_id[row] = 1
            native_batch.seq_id[row][0] = seq_id

    def _asked_to_abort(self, _user_data: Any) -> bool:
        try:
            return self._should_abort is not None and self._should_abort()
        except Exception:
            log.exception("the question whether to abort failed")  # and may not be raised through native frames
            return True


def _load_model(spec: ExpertSpec, numbers: ContextNumbers, on_progress: Callable[[float], bool]) -> Any:
    """The model, or None where the library refused it. Raises LoadCancelled."""
    is_cancelled = False

    def tell(fraction: float, _user_data: Any) -> bool:
        nonlocal is_cancelled
        is_cancelled = not on_progress(fraction)
        return not is_cancelled

    params = native.llama_model_default_params()
    params.n_gpu_layers = numbers.n_gpu_layers
    params.load_mode = _LOAD_MODE_AUTO if numbers.uses_mmap else _LOAD_MODE_NONE
    params.progress_callback = native.llama_progress_callback(tell)
    model = native.llama_model_load_from_file(os.fsencode(spec.path), params)  # UTF-8 on Windows too
    if model and not on_progress(1.0):
        native.llama_model_free(model)
        is_cancelled = True
    if is_cancelled:
        raise LoadCancelled
    return model or None


def _context_params(numbers: ContextNumbers) -> Any:
    params = native.llama_context_default_params()
    params.n_ctx = numbers.n_ctx
    params.n_batch = numbers.n_batch
    params.n_ubatch = numbers.n_ubatch
    params.n_seq_max = numbers.n_seq_max
    params.n_outputs_max = numbers.n_seq_max  # left alone, the compute buffer is 5 to 20 times as large
    params.n_threads = numbers.n_threads
    params.n_threads_batch = numbers.n_threads
    params.type_k = numbers.type_k
    params.type_v = numbers.type_v
    params.flash_attn_type = numbers.flash_attn_type
    params.kv_unified = True  # one pool for all sequences instead of an n-th of the context for each
    return params


def _refusal_of_kind(model: Any) -> LayaDeskError | None:
    """What cannot chat: llama_decode would fail or abort."""
    if native.llama_model_has_encoder(model) or not native.llama_model_has_decoder(model):
        return fail(ErrorCode.GGUF_NOT_CHAT, detail="encoder")
    if native.llama_model_is_diffusion(model):
        return fail(ErrorCode.GGUF_NOT_CHAT, detail="diffusion")
    return None


def _load_failure(spec: ExpertSpec, lines: list[tuple[int, str]]) -> LayaDeskError:
    code = ErrorCode.OUT_OF_MEMORY if is_out_of_memory(lines) else ErrorCode.MODEL_LOAD_FAILED
    return fail(code, expert=spec.model_id, path=spec.path, detail=first_error(lines))
