"""A backend without a model: every byte is a token, every answer is written beforehand. For tests and `--engine
scripted`.

It keeps the same promises as llama.cpp, and checks those of its caller: what it answers follows from the tokens in its
own cells, so a lost, doubled or misplaced token shows in the text.
"""

import os
import signal
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable
from itertools import count

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import MemoryUse, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import DecodeOutcome, ExpertFacts, LoadCancelled
from layadesk.engine.batch import Batch, BatchLimits, check_batch
from layadesk.engine.json_grammar import grammar_of
from layadesk.engine.scripted_cells import ANSWER_HEAD, BOS, END, EOG, TURN, ScriptedCells, last_end
from layadesk.protocol.events import BackendModule
from layadesk.protocol.scripted import FaultKind, ScriptedFault, ScriptedOptions

N_VOCAB = 260
CONTROL_TEXTS = {"<|bos|>": BOS, "<|eog|>": EOG, "<|turn|>": TURN, "<|end|>": END}
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message.role }}\n{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
_POLL_S = 0.005


class ScriptedBackend:
    """Loads scripted experts. Any file will do, as long as it is there."""

    name = "scripted"
    devices = ("script",)
    modules: tuple[BackendModule, ...] = ()
    supports_gpu_offload = False

    def __init__(self, options: ScriptedOptions | None = None) -> None:
        self._options = options or ScriptedOptions()
        self._faults = _Faults(self._options.faults)

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> "ScriptedExpert":
        """See Backend; takes `load_s`."""
        if not os.path.isfile(spec.path):
            raise fail(ErrorCode.MODEL_FILE_MISSING, path=spec.path)
        fault = self._faults.of_load(spec.model_id)
        if fault is not None:
            act_out(fault.kind)
            raise fail(ErrorCode.MODEL_LOAD_FAILED, expert=spec.model_id, detail="the script says so")
        began = time.monotonic()
        fraction = 0.0
        while fraction < 1.0:
            elapsed = time.monotonic() - began
            fraction = 1.0 if self._options.load_s <= 0 else min(1.0, elapsed / self._options.load_s)
            if not on_progress(fraction):
                raise LoadCancelled
            if fraction < 1.0:
                time.sleep(_POLL_S)
        return ScriptedExpert(spec, self._options, self._faults)


class ScriptedExpert:
    """One scripted expert with its own cells."""

    def __init__(self, spec: ExpertSpec, options: ScriptedOptions, faults: "_Faults") -> None:
        params = spec.params
        self.facts = ExpertFacts(
            architecture="scripted",
            n_ctx=params.n_ctx,
            n_ctx_seq=params.n_ctx,
            n_ctx_train=params.n_ctx,
            n_layer=1,
            n_gpu_layers=0,
            n_vocab=N_VOCAB,
            n_seq_max=params.n_parallel + params.n_kept,
            n_batch=min(params.n_batch, params.n_ctx),
            memory=MemoryUse(kv_bytes=params.n_ctx),
            chat_template=TEMPLATE,
            bos_token=BOS,
            bos_text="<|bos|>",
            eos_text="<|eog|>",
            adds_bos=True,
            control_texts=CONTROL_TEXTS,
            can_rewind=options.can_rewind,
            n_swa=options.n_swa,
            n_parallel=params.n_parallel,
            needs_checkpoints=not options.can_rewind or options.n_swa > 0,
            fingerprint=f"scripted {spec.path}",
            devices=frozenset(params.devices or ScriptedBackend.devices),
        )
        self._model_id = spec.model_id
        self._options = options
        self._faults = faults
        self._limits = BatchLimits(self.facts.n_batch, params.n_parallel, N_VOCAB, self.facts.n_seq_max)
        self._cells: dict[int, ScriptedCells] = {}
        self._numbers = count()
        self._rows: dict[int, tuple[ScriptedCells, int]] = {}  # of the last batch: where a row's sequence ended then
        self.is_closed = False

    @property
    def n_cells_used(self) -> int:
        """Cells in use, as the backend counts them."""
        return len({number for cells in self._cells.values() for number in cells.numbers})

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """One token a byte, and the four control tokens."""
        if not parse_special:
            return list(text.encode())
        tokens: list[int] = []
        at = 0
        while at < len(text):
            control = next((name for name in CONTROL_TEXTS if text.startswith(name, at)), None)
            tokens += list(text[at].encode()) if control is None else [CONTROL_TEXTS[control]]
            at += 1 if control is None else len(control)
        return tokens

    def schema_grammar(self, schema: str) -> str:
        """The schema itself, where it is one."""
        return grammar_of(schema, str)

    def piece(self, token: int) -> bytes:
        """The byte; nothing for control tokens."""
        return bytes([token]) if token < 256 else b""

    def is_eog(self, token: int) -> bool:
        """Whether it is the end token."""
        return token == EOG

    def decode(self, batch: Batch, should_abort: Callable[[], bool] | None) -> DecodeOutcome:
        """See Expert."""
        check_batch(batch, self._limits, lambda seq_id: self.seq_pos_max(seq_id) + 1)
        fault = self._faults.of_step(self._model_id, self._about_to_get(batch)) if self._options.faults else None
        if fault is not None:
            act_out(fault.kind)
            return DecodeOutcome.NO_SLOT if fault.kind is FaultKind.NO_SLOT else DecodeOutcome.FAILED
        if self.n_cells_used + len(batch) > self.facts.n_ctx:
            return DecodeOutcome.NO_SLOT
        if self._takes_too_long(batch, should_abort):
            return DecodeOutcome.ABORTED
        self._rows = {}
        for row, (token, seq_id) in enumerate(zip(batch.tokens, batch.seq_ids, strict=True)):
            cells = self._cells.setdefault(seq_id, ScriptedCells())
            cells.append(token, next(self._numbers), n_swa=self.facts.n_swa)
            if batch.wants_logits[row]:
                self._rows[row] = (cells, len(cells.tokens))
        return DecodeOutcome.OK

    def look_at_gates(self, *, is_on: bool) -> None:
        """It has none."""

    def moe_choices(self) -> None:
        """It has no gates."""

    def profile(self, n_past: int, beat: Callable[[], None]) -> ComputeProfile:
        """It computes nothing."""
        raise fail(ErrorCode.BAD_PARAMETER, parameter="engine", value="scripted", known="llama")

    def new_sampler(self, sampling: SamplingParams, seed: int) -> "ScriptedSampler":
        """The answer is fixed, so all samplers agree."""
        return ScriptedSampler(self._next_token)

    def seq_remove(self, seq_id: int, from_position: int = 0) -> None:
        """See Expert. A recurrent state that is cut is gone, as in llama.cpp."""
        cells = self._cells.get(seq_id)
        if cells is None or from_position >= len(cells.tokens):
            return
        cells.cut(from_position if self.facts.can_rewind else 0)
        if not cells.tokens:
            del self._cells[seq_id]

    def seq_copy(self, source: int, target: int, n_tokens: int) -> None:
        """See Expert."""
        copied = self._cells[source].copy()
        assert target not in self._cells, "the target is not empty"
        assert self.facts.can_rewind or n_tokens == len(copied.tokens), "a state cannot be copied in part"
        copied.cut(n_tokens)
        self._cells[target] = copied

    def seq_pos_min(self, seq_id: int) -> int:
        """See Expert."""
        cells = self._cells.get(seq_id)
        return -1 if cells is None else cells.n_forgotten

    def seq_pos_max(self, seq_id: int) -> int:
        """See Expert."""
        cells = self._cells.get(seq_id)
        return -1 if cells is None else len(cells.tokens) - 1

    def save_state(self, seq_id: int, *, is_partial: bool = False) -> bytes:
        """See Expert. A partial state is told from a whole one by its first number."""
        cells = self._cells.get(seq_id)
        return b"" if cells is None else array("i", [is_partial, cells.n_forgotten, *cells.tokens]).tobytes()

    def load_state(self, seq_id: int, state: bytes, *, is_partial: bool = False) -> bool:
        """See Expert. Whole states of another expert, and partial ones without the rest, are refused."""
        numbers = array("i")
        numbers.frombytes(state)
        saved_partially, n_forgotten, tokens = bool(numbers[0]), numbers[1], numbers[2:].tolist()
        old = self._cells.pop(seq_id, None)
        if saved_partially is not is_partial:
            return False
        if is_partial:
            if old is None or old.tokens[: len(tokens)] != tokens:
                return False
            old.n_forgotten = 0
            old.cut(len(tokens))
        elif self.n_cells_used + len(tokens) > self.facts.n_ctx:
            return False
        restored = old if old is not None and is_partial else ScriptedCells()
        for token in tokens[len(restored.tokens) :]:
            restored.append(token, next(self._numbers), n_swa=0)
        restored.n_forgotten = n_forgotten
        self._cells[seq_id] = restored
        return True

    def close(self) -> None:
        """See Expert."""
        self.is_closed = True
        self._cells.clear()

    def _next_token(self, row: int) -> int:
        cells, n_then = self._rows.get(row, (None, 0))
        if cells is None or len(cells.tokens) != n_then:
            raise fail(ErrorCode.DECODE_FAILED, reason="row without logits", value=row)
        return cells.next_token(self._options.text)

    def _about_to_get(self, batch: Batch) -> list[tuple[int, bytes]]:
        """For each sequence that is about to get a token: its number in the answer, and the text so far."""
        due = []
        for row, wants in enumerate(batch.wants_logits):
            if wants:
                seq_id = batch.seq_ids[row]
                old = self._cells[seq_id].tokens if seq_id in self._cells else []
                tokens = old + [t for t, owner in zip(batch.tokens, batch.seq_ids, strict=True) if owner == seq_id]
                n_made = len(tokens) - last_end(tokens, ANSWER_HEAD)
                due.append((n_made, bytes(t for t in tokens if t < 256)))
        return due

    def _takes_too_long(self, batch: Batch, should_abort: Callable[[], bool] | None) -> bool:
        """Let the time pass that this batch takes; True when it was aborted meanwhile."""
        n_prefill = len(batch) - sum(batch.wants_logits)
        seconds = n_prefill / self._options.prefill_tps if self._options.prefill_tps > 0 else 0.0
        if self._options.decode_tps > 0:
            seconds += 1.0 / self._options.decode_tps
        ends = time.monotonic() + seconds
        while True:
            if should_abort is not None and should_abort():
                return True
            left = ends - time.monotonic()
            if left <= 0:
                return False
            time.sleep(left if should_abort is None else min(left, _POLL_S))


class ScriptedSampler:
    """Reads the script."""

    def __init__(self, next_token: Callable[[int], int]) -> None:
        self._next_token = next_token

    def sample(self, row: int, *, is_free: bool = False) -> int:
        """See Sampler."""
        return self._next_token(row)

    def close(self) -> None:
        """Nothing to free."""


class _Faults:
    """Which faults are due, and how often each has happened."""

    def __init__(self, faults: tuple[ScriptedFault, ...]) -> None:
        self._faults = faults
        self._n_seen: Counter[int] = Counter()

    def of_load(self, model_id: str) -> ScriptedFault | None:
        """The fault of loading an expert."""
        return self._first(lambda fault: fault.at_load, model_id)

    def of_step(self, model_id: str, told: list[tuple[int, bytes]]) -> ScriptedFault | None:
        """The fault of a step that makes these tokens."""
        return self._first(
            lambda fault: (
                not fault.at_load and any(n == fault.at_token and fault.contains.encode() in text for n, text in told)
            ),
            model_id,
        )

    def _first(self, applies: Callable[[ScriptedFault], bool], model_id: str) -> ScriptedFault | None:
        for i, fault in enumerate(self._faults):
            if fault.model_id in (None, model_id) and self._n_seen[i] < fault.times and applies(fault):
                self._n_seen[i] += 1
                return fault
        return None


def act_out(kind: FaultKind) -> None:
    """Do what ends or stops the process; return for what is only an error."""
    match kind:
        case FaultKind.EXIT:
            os._exit(3)
        case FaultKind.ABORT:
            os.abort()
        case FaultKind.KILL:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        case FaultKind.HANG:
            threading.Event().wait()
        case FaultKind.RAISE:
            raise RuntimeError("the script says so")
        case FaultKind.DECODE_ERROR | FaultKind.NO_SLOT | FaultKind.LOAD_ERROR:
            return
