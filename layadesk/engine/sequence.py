"""One token stream in the engine: everything about one `Generate`, from its arrival to its terminal event."""

from dataclasses import dataclass, field
from enum import Enum, auto

from layadesk.domain.inference import Timings
from layadesk.engine.backend import Sampler
from layadesk.engine.cell_pool import Row
from layadesk.engine.loop_detector import LoopDetector
from layadesk.engine.pulse import Pulse
from layadesk.engine.text_stream import TextStream
from layadesk.engine.thinking import budget_of
from layadesk.protocol.commands import Generate


class SequenceState(Enum):
    """Where a sequence stands. Moves only downwards, but for preemption (RUNNING to WAITING)."""

    AWAITING_EXPERT = auto()
    PREPARING = auto()  # its prompt is with the prompt thread
    WAITING = auto()  # for a slot or for cells
    RUNNING = auto()
    ENDED = auto()


@dataclass(slots=True)
class Marks:
    """When things happened, seconds of the engine's clock; None where they did not."""

    arrived: float
    expert_ready: float | None = None
    admitted: float | None = None
    prefill_began: float | None = None
    load_s: float | None = None
    restore_s: float | None = None
    tokenize_s: float | None = None
    stopped: float | None = None  # since when it waits in mid-answer
    prefill_stopped_s: float = 0.0
    decode_stopped_s: float = 0.0


@dataclass(slots=True, eq=False)
class Sequence:
    """All state of one generation. Identity counts, not value. Decode thread.

    `tokens` is the prompt and what was generated, `n_past` how many of them are in the KV cache: prefill, decode and
    the second prefill after a preemption are all "n_past catches up with tokens", so a preempted sequence loses
    nothing. `row` is its place in the cache while it runs. `order` is the arrival number; the higher, the younger.
    `checkpoint_at` is how many tokens come before the answer's own turn, 0 where no state is to be kept there.
    `n_reached` tokens were in the cache once. `stint_s` is what it has computed since it got its place, without what it
    had computed before; `left_row` is where it means to go on after that.
    """

    request: Generate
    order: int
    marks: Marks
    n_ctx: int = 0
    state: SequenceState = SequenceState.AWAITING_EXPERT
    tokens: list[int] = field(default_factory=list)
    n_prompt: int = 0
    n_dropped: int = 0
    n_cached: int = 0
    n_decoded: int = 0
    n_reached: int = 0
    stint_s: float = 0.0
    row: Row | None = None
    left_row: Row | None = None
    checkpoint_at: int = 0
    is_restoring: bool = False
    sampler: Sampler | None = None
    stream: TextStream = field(default_factory=TextStream)
    pulse: Pulse = field(default_factory=Pulse)
    loops: LoopDetector = field(default_factory=LoopDetector)
    grammar: str | None = None
    closing: tuple[int, ...] = ()
    n_thinking: int = 0
    reported_position: int | None = None
    has_reported_load: bool = False
    has_reported_prompt: bool = False
    n_reported_prefill: int = 0

    @property
    def request_id(self) -> str:
        """The app's id."""
        return self.request.request_id

    @property
    def model_id(self) -> str:
        """The expert asked for."""
        return self.request.model_id

    @property
    def conversation_id(self) -> str:
        """What it is a turn of; empty for a request of its own."""
        return self.request.conversation_id

    @property
    def client(self) -> str:
        """Among whom turns are shared fairly: each conversation of the window, each client of the server."""
        return self.request.client or self.request.conversation_id

    @property
    def slot(self) -> int | None:
        """The library's number of its sequence, while it runs."""
        return None if self.row is None else self.row.slot

    @property
    def n_past(self) -> int:
        """How many of its tokens are in the KV cache."""
        return 0 if self.row is None else len(self.row.tokens)

    @property
    def n_to_checkpoint(self) -> int:
        """How many tokens may be computed before a state is to be kept; all where none is."""
        left = self.checkpoint_at - self.n_past
        return left if left > 0 else self.n_pending

    @property
    def n_pending(self) -> int:
        """Tokens not yet in the KV cache; exactly 1 while decoding."""
        return len(self.tokens) - self.n_past

    @property
    def is_begun(self) -> bool:
        """Whether something of it was computed, now or in an earlier stint."""
        return self.n_reached > 0

    @property
    def is_decoding(self) -> bool:
        """Whether the next step is a single token whose successor someone waits for."""
        return self.n_decoded > 0 and self.n_pending == 1

    @property
    def is_full(self) -> bool:
        """Whether the answer must end here: its own limit, or the context."""
        limit = self.request.sampling.max_tokens
        return len(self.tokens) >= self.n_ctx or (limit is not None and self.n_decoded >= limit)

    @property
    def is_thinking_over_budget(self) -> bool:
        """Whether the thoughts must be closed now, with the tokens in `closing`."""
        limit = budget_of(self.request.thinking)
        return limit is not None and self.stream.is_thinking and self.n_thinking >= limit

    def stopped(self, now: float) -> None:
        """It has given up its place, or had to, and waits."""
        if self.marks.admitted is not None and self.marks.stopped is None:
            self.marks.stopped = now

    def goes_on(self, now: float) -> None:
        """It has got its place, perhaps again."""
        marks = self.marks
        marks.admitted = marks.admitted or now
        if marks.stopped is None:
            return
        if self.pulse.first is None:
            marks.prefill_stopped_s += now - marks.stopped
        else:
            marks.decode_stopped_s += now - marks.stopped
        marks.stopped = None

    def timings(self, now: float) -> Timings:
        """Where the time went so far."""
        marks, pulse = self.marks, self.pulse
        waited = (marks.admitted if marks.admitted is not None else now) - marks.arrived
        queue_s = max(0.0, waited - (marks.load_s or 0.0) - (marks.tokenize_s or 0.0) - (marks.restore_s or 0.0))
        return Timings(
            queue_ms=(queue_s + marks.prefill_stopped_s + marks.decode_stopped_s) * 1000,
            load_ms=_ms(0.0, marks.load_s),
            restore_ms=_ms(0.0, marks.restore_s),
            tokenize_ms=_ms(0.0, marks.tokenize_s),
            prefill_ms=_ms(marks.prefill_began, pulse.first, marks.prefill_stopped_s),
            ttft_ms=_ms(marks.arrived, pulse.first),
            decode_ms=_ms(pulse.first, pulse.last, marks.decode_stopped_s),
            sample_ms=pulse.sample_ms,
            detokenize_ms=pulse.text_ms,
            gap_p50_ms=pulse.gap_ms(0.5),
            gap_p95_ms=pulse.gap_ms(0.95),
            gap_max_ms=pulse.gap_ms(1.0),
            total_ms=(now - marks.arrived) * 1000,
            n_prompt=self.n_prompt,
            n_cached=self.n_cached,
            n_decoded=self.n_decoded,
            n_thinking=self.n_thinking,
            n_ctx=self.n_ctx,
        )


def _ms(begin: float | None, end: float | None, stopped_s: float = 0.0) -> float | None:
    return None if begin is None or end is None else max(0.0, end - begin - stopped_s) * 1000
