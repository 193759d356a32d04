"""A backend without a model: every byte is a token, every answer is written beforehand. For tests and `--engine
scripted`.

It keeps the same promises as llama.cpp, and checks those of its caller: what it answers follows from the tokens in its
own cells, so a lost, doubled or misplaced token shows in the text.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import MemoryUse, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import DecodeOutcome, ExpertFacts, LoadCancelled
from layadesk.engine.batch import Batch, BatchLimits, check_batch
from layadesk.protocol.scripted import FaultKind, ScriptedFault, ScriptedOptions

BOS, EOG, TURN, END = 256, 257, 258, 259  # beyond the 256 bytes
N_VOCAB = 260
CONTROL_TEXTS = {"<|bos|>": BOS, "<|eog|>": EOG, "<|turn|>": TURN, "<|end|>": END}
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message.role }}\n{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
_ANSWER_HEAD = [TURN, *b"assistant\n"]
_POLL_S = 0.005


class ScriptedBackend:
    """Loads scripted experts. Any file will do, as long as it is there."""

    name = "scripted"
    devices = ("script",)
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
            n_seq_max=params.n_parallel,
            n_batch=min(params.n_batch, params.n_ctx),
            memory=MemoryUse(kv_bytes=params.n_ctx),
            chat_template=TEMPLATE,
            bos_token=BOS,
            bos_text="<|bos|>",
            eos_text="<|eog|>",
            adds_bos=True,
            control_texts=CONTROL_TEXTS,
        )
        self._model_id = spec.model_id
        self._options = options
        self._faults = faults
        self._limits = BatchLimits(self.facts.n_batch, params.n_parallel, N_VOCAB, params.n_parallel)
        self._cells: dict[int, _Cells] = {}
        self._rows: dict[int, tuple[_Cells, int]] = {}  # of the last batch: where a row's sequence ended then
        self.is_closed = False

    @property
    def n_cells_used(self) -> int:
        """Cells in use, as the backend counts them."""
        return sum(len(cells.tokens) for cells in self._cells.values())

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
            cells = self._cells.setdefault(seq_id, _Cells())
            cells.tokens.append(token)
            if batch.wants_logits[row]:
                self._rows[row] = (cells, len(cells.tokens))
        return DecodeOutcome.OK

    def new_sampler(self, sampling: SamplingParams, seed: int) -> "ScriptedSampler":
        """The answer is fixed, so all samplers agree."""
        return ScriptedSampler(self._next_token)

    def seq_remove(self, seq_id: int, from_position: int = 0) -> None:
        """See Expert."""
        cells = self._cells.get(seq_id)
        if cells is not None:
            cells.cut(from_position)
            if not cells.tokens:
                del self._cells[seq_id]

    def seq_pos_max(self, seq_id: int) -> int:
        """See Expert."""
        cells = self._cells.get(seq_id)
        return -1 if cells is None else len(cells.tokens) - 1

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
                n_made = len(tokens) - _last_end(tokens, _ANSWER_HEAD)
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


class _Cells:
    """The tokens of one sequence, and how much of the answer in them has been compared with the script."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self._begin: int | None = None  # where the answer begins
        self._script = b""
        self._n_right = 0

    def cut(self, length: int) -> None:
        """Keep the first `length` tokens."""
        del self.tokens[length:]
        if self._begin is not None and length < self._begin:
            self._begin = None
            self._n_right = 0
        elif self._begin is not None:
            self._n_right = min(self._n_right, length - self._begin)

    def next_token(self, text: str | None) -> int:
        """What follows. INTERNAL where the cells hold another answer than the one that was given."""
        if self._begin is None:
            self._begin = _last_end(self.tokens, _ANSWER_HEAD)
            self._script = _said_last(self.tokens[: self._begin]) if text is None else text.encode()
        new = self.tokens[self._begin + self._n_right :]
        if new != list(self._script[self._n_right : self._n_right + len(new)]):
            raise fail(ErrorCode.INTERNAL, reason="the cells hold another answer than the one that was given")
        self._n_right += len(new)
        return self._script[self._n_right] if self._n_right < len(self._script) else EOG


class ScriptedSampler:
    """Reads the script."""

    def __init__(self, next_token: Callable[[int], int]) -> None:
        self._next_token = next_token

    def sample(self, row: int) -> int:
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


def _said_last(prompt: list[int]) -> bytes:
    """The last user message of a prompt."""
    begin = _last_end(prompt, [TURN, *b"user\n"])
    end = prompt.index(END, begin) if END in prompt[begin:] else len(prompt)
    return bytes(token for token in prompt[begin:end] if token < 256)


def _last_end(tokens: list[int], pattern: list[int]) -> int:
    """Where the last occurrence of `pattern` ends; the end of `tokens` where there is none."""
    for start in range(len(tokens) - len(pattern), -1, -1):
        if tokens[start : start + len(pattern)] == pattern:
            return start + len(pattern)
    return len(tokens)
