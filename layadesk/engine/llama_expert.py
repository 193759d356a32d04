"""One model of llama.cpp at work: decoding, sampling and its cells, each call guarded before it is made.

Many mistakes are an abort() of the whole process there: more tokens than `n_batch`, more outputs than `n_outputs_max`,
sampling a row without logits, two threads in one context. `check_batch` and the checks here keep them out.
"""

import ctypes
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import SamplingParams
from layadesk.engine.backend import DecodeOutcome, ExpertFacts
from layadesk.engine.batch import Batch, BatchLimits, check_batch
from layadesk.engine.json_grammar import grammar_of
from layadesk.engine.llama_library import json_schema_to_gbnf, native
from layadesk.engine.llama_moe import MoeTap
from layadesk.engine.llama_profile import profile
from layadesk.engine.llama_sampler import LlamaSampler
from layadesk.engine.moe_choices import MoeChoices
from layadesk.engine.own_memory import give_back
from layadesk.engine.sampling import biases, sampler_chain
from layadesk.engine.top_candidates import Logits

log = logging.getLogger(__name__)

_DECODED, _NO_SLOT, _ABORTED = 0, 1, 2  # what llama_decode returns; negative is an error
_WHOLE, _PARTIAL = 0, 1  # LLAMA_STATE_SEQ_FLAGS_*


class LlamaExpert:
    """One model and its one context. See Expert for threads."""

    def __init__(
        self, model: Any, context: Any, facts: ExpertFacts, *, params: Any = None, tap: MoeTap | None = None
    ) -> None:
        self._model = model
        self._context = context
        self._memory = native.llama_get_memory(context)
        self._vocab = native.llama_model_get_vocab(model)
        self.facts = facts
        self._limits = BatchLimits(facts.n_batch, facts.n_parallel, facts.n_vocab, facts.n_seq_max)
        self._batch = native.llama_batch_init(facts.n_batch, 0, 1)
        self._filled_seq_ids: list[int] = []
        self._rows: frozenset[int] = frozenset()
        self._logits_type = ctypes.c_float * facts.n_vocab
        self._piece = ctypes.create_string_buffer(256)
        self._should_abort: Callable[[], bool] | None = None
        self._abort_callback = native.ggml_abort_callback(self._asked_to_abort)
        self._no_callback = native.ggml_abort_callback()
        self._params = params
        self._has_callback = False
        self._known_pieces: dict[int, bytes] = {}
        self._known_ends: dict[int, bool] = {}
        self._tap = tap
        self._choices: MoeChoices | None = None

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

    def schema_grammar(self, schema: str) -> str:
        """See Expert."""
        return grammar_of(schema, json_schema_to_gbnf)

    def piece(self, token: int) -> bytes:
        """See Expert."""
        piece = self._known_pieces.get(token)
        if piece is None:
            piece = self._known_pieces[token] = self._look_up_piece(token)
        return piece

    def _look_up_piece(self, token: int) -> bytes:
        if not self.facts.has_vocabulary:
            return b""
        n = native.llama_token_to_piece(self._vocab, token, self._piece, len(self._piece), 0, False)
        if n < 0:
            self._piece = ctypes.create_string_buffer(-n)
            n = native.llama_token_to_piece(self._vocab, token, self._piece, len(self._piece), 0, False)
        return self._piece.raw[: max(0, n)]

    def is_eog(self, token: int) -> bool:
        """See Expert."""
        is_end = self._known_ends.get(token)
        if is_end is None:
            is_end = self.facts.has_vocabulary and bool(native.llama_vocab_is_eog(self._vocab, token))
            self._known_ends[token] = is_end
        return is_end

    def decode(self, batch: Batch, should_abort: Callable[[], bool] | None) -> DecodeOutcome:
        """See Expert. Without `should_abort` no callback is installed, and the decode runs without Python in it."""
        self._rows, self._choices = frozenset(), None
        check_batch(batch, self._limits, lambda seq_id: self.seq_pos_max(seq_id) + 1)
        self._fill(batch)
        self._should_abort = should_abort
        if self._has_callback != (should_abort is not None):
            self._has_callback = should_abort is not None
            callback = self._abort_callback if self._has_callback else self._no_callback
            native.llama_set_abort_callback(self._context, callback, None)
        if self._tap is not None:
            self._tap.begin(len(batch))
        code = native.llama_decode(self._context, self._batch)
        if code == _DECODED:
            native.llama_synchronize(self._context)  # a GPU has only been asked so far
            self._choices = None if self._tap is None else self._tap.end(batch.wants_logits)
            self._rows = frozenset(row for row, wanted in enumerate(batch.wants_logits) if wanted)
            return DecodeOutcome.OK
        if code == _NO_SLOT:
            return DecodeOutcome.NO_SLOT
        return DecodeOutcome.ABORTED if code == _ABORTED else DecodeOutcome.FAILED

    def look_at_gates(self, *, is_on: bool) -> None:
        """See Expert."""
        if self._tap is not None and self._tap.is_on is not is_on:
            self._tap.is_on = is_on

    def moe_choices(self) -> MoeChoices | None:
        """See Expert."""
        return self._choices

    def profile(self, n_past: int, beat: Callable[[], None]) -> ComputeProfile:
        """See Expert."""
        return profile(self._model, self._params, n_past, beat)

    def new_sampler(self, sampling: SamplingParams, seed: int) -> "LlamaSampler":
        """See Expert."""
        return LlamaSampler(
            sampler_chain(sampling, seed),
            self._vocab,
            self._logits,
            biases=biases(sampling, self._end_tokens()),
            grammar=sampling.grammar,
        )

    def seq_remove(self, seq_id: int, from_position: int = 0) -> None:
        """See Expert."""
        native.llama_memory_seq_rm(self._memory, seq_id, from_position if from_position > 0 else -1, -1)

    def seq_copy(self, source: int, target: int, n_tokens: int) -> None:
        """See Expert. Only with `kv_unified`; it is an abort() otherwise."""
        native.llama_memory_seq_cp(self._memory, source, target, 0, n_tokens if self.facts.can_rewind else -1)

    def seq_pos_min(self, seq_id: int) -> int:
        """See Expert."""
        return int(native.llama_memory_seq_pos_min(self._memory, seq_id))

    def seq_pos_max(self, seq_id: int) -> int:
        """See Expert."""
        return int(native.llama_memory_seq_pos_max(self._memory, seq_id))

    def save_state(self, seq_id: int, *, is_partial: bool = False) -> bytes:
        """See Expert."""
        flags = _PARTIAL if is_partial else _WHOLE
        size = native.llama_state_seq_get_size_ext(self._context, seq_id, flags)
        if size <= 0:
            return b""
        state = (ctypes.c_uint8 * size)()
        n = native.llama_state_seq_get_data_ext(self._context, state, size, seq_id, flags)
        return bytes(memoryview(state)[:n])

    def load_state(self, seq_id: int, state: bytes, *, is_partial: bool = False) -> bool:
        """See Expert."""
        source = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        flags = _PARTIAL if is_partial else _WHOLE
        n = native.llama_state_seq_set_data_ext(self._context, source, len(state), seq_id, flags)
        if n != len(state):
            self.seq_remove(seq_id)
        return bool(n == len(state))

    def close(self) -> None:
        """See Expert."""
        if self._context is None:
            return
        native.llama_batch_free(self._batch)
        native.llama_free(self._context)
        native.llama_model_free(self._model)
        self._context = self._model = self._memory = self._vocab = None
        give_back()

    def _end_tokens(self) -> Iterator[int]:
        """All that end an answer; llama.cpp makes each of them a control token."""
        return (token for token in self.facts.control_texts.values() if self.is_eog(token))

    def _logits(self, row: int) -> Logits:
        """A view of a row's logits, valid until the next decode."""
        if row not in self._rows:
            raise fail(ErrorCode.DECODE_FAILED, reason="row without logits", value=row)  # an abort() there
        found = native.llama_get_logits_ith(self._context, row)
        if not found:
            raise fail(ErrorCode.DECODE_FAILED, reason="row without logits", value=row)
        memory: Any = self._logits_type.from_address(ctypes.addressof(found.contents))
        return np.frombuffer(memory, np.float32)

    def _fill(self, batch: Batch) -> None:
        native_batch = self._batch
        n = len(batch)
        native_batch.n_tokens = n
        ctypes.memmove(native_batch.token, (native.llama_token * n)(*batch.tokens), 4 * n)
        ctypes.memmove(native_batch.pos, (native.llama_pos * n)(*batch.positions), 4 * n)
        ctypes.memmove(native_batch.logits, bytes(batch.wants_logits), n)
        if batch.seq_ids != self._filled_seq_ids:  # mostly the same, step after step
            for row, seq_id in enumerate(batch.seq_ids):
                native_batch.n_seq_id[row] = 1
                native_batch.seq_id[row][0] = seq_id
            self._filled_seq_ids = list(batch.seq_ids)

    def _asked_to_abort(self, _user_data: Any) -> bool:
        try:
            return self._should_abort is not None and self._should_abort()
        except Exception:
            log.exception("the question whether to abort failed")  # and may not be raised through native frames
            return True
