"""One loaded expert at work: plan, decode, sample, tell. A request that fails, fails alone."""

import logging
import secrets
from collections.abc import Callable
from dataclasses import replace

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.inference import FinishReason
from layadesk.domain.models import ExpertSpec
from layadesk.domain.sampling_defaults import resolve
from layadesk.engine.backend import DecodeOutcome, Expert
from layadesk.engine.cell_files import SavedCells
from layadesk.engine.cell_keeper import CellKeeper
from layadesk.engine.decode_step import Step, StepWork
from layadesk.engine.failure_trace import trace_of
from layadesk.engine.kept_cells import KeptCells
from layadesk.engine.moe_watch import MoeWatch
from layadesk.engine.pace import StepPace
from layadesk.engine.prompt import Prompt, PromptBuilder
from layadesk.engine.request_events import RequestEvents
from layadesk.engine.reuse import cut_back, reuse_rule, take_checkpoint
from layadesk.engine.sampling import seed_of
from layadesk.engine.scheduler import Plan, Scheduler, Share
from layadesk.engine.sequence import Sequence
from layadesk.engine.text_stream import TextStream
from layadesk.engine.tool_calls import ToolCallSplitter, offered_by
from layadesk.protocol.commands import Cancel, Shutdown, UnloadModel
from layadesk.protocol.events import ExpertUse

log = logging.getLogger(__name__)


class ExpertRunner:
    """An expert, its scheduler and its prompts. Decode thread.

    `n_preparing` counts prompts that are with the prompt thread: until it is 0 the expert must stay in memory.
    `is_leaving` means that it takes no new requests and goes as soon as it may.
    """

    def __init__(
        self,
        spec: ExpertSpec,
        expert: Expert,
        events: RequestEvents,
        moe: MoeWatch,
        *,
        clock: Callable[[], float],
        load_s: float,
        keeper: CellKeeper | None = None,
    ) -> None:
        self.spec = spec
        self.expert = expert
        self.load_s = load_s
        self.prompts = PromptBuilder(expert)
        self.scheduler = Scheduler(expert.facts, usable=reuse_rule(expert))
        self.kept = KeptCells(spec.model_id, expert, self.scheduler.pool, keeper)
        self.n_preparing = 0
        self.is_leaving = False
        self.last_used = clock()
        self._events = events
        self._moe = moe
        self._clock = clock
        self._pace = StepPace()
        self._current: Step | None = None
        self._n_sampled = 0

    @property
    def model_id(self) -> str:
        """The expert's id."""
        return self.spec.model_id

    @property
    def devices(self) -> frozenset[str]:
        """What it computes on."""
        return self.expert.facts.devices

    @property
    def is_idle(self) -> bool:
        """Whether it could be unloaded without harming a request."""
        return self.scheduler.is_idle and self.n_preparing == 0

    @property
    def size_bytes(self) -> int | None:
        """All it takes in memory, as the library reported it; else its price; None where neither is known."""
        return self.expert.facts.memory.total_bytes or self.spec.needs_bytes

    def use(self) -> ExpertUse:
        """What it is doing, for the app."""
        pool = self.scheduler.pool
        n_kept = pool.n_evictable()
        return ExpertUse(
            model_id=self.model_id,
            n_running=len(self.scheduler.running),
            n_waiting=len(self.scheduler.waiting),
            kv_used=pool.n_used - n_kept,
            kv_kept=n_kept,
            kv_size=pool.n_cells,
            size_bytes=self.size_bytes,
            idle_s=0.0 if self.scheduler.running else self._clock() - self.last_used,
        )

    @property
    def is_stepping(self) -> bool:
        """Whether a decode call is on its way: nothing else may touch the expert's cells until it has ended."""
        return self._current is not None

    def is_in_step(self, request_id: str) -> bool:
        """Whether a request's tokens are in the batch that is being decoded right now."""
        return self._current is not None and request_id in self._current.request_ids

    def is_called_off_by(self, message: object) -> bool:
        """Whether what has just arrived makes the batch that is being decoded right now pointless."""
        match message:
            case Shutdown():
                return True
            case Cancel(request_id):
                return self.is_in_step(request_id)
            case UnloadModel(model_id):
                return model_id == self.model_id
            case _:
                return False

    def add(self, one: Sequence, prompt: Prompt) -> None:
        """Let a sequence with a finished prompt wait for its turn."""
        one.n_ctx = self.expert.facts.n_ctx_seq
        self.kept.set_prompt(one, prompt.tokens)
        one.n_dropped = prompt.n_dropped
        one.closing = prompt.closing
        one.grammar = prompt.grammar
        one.stream = TextStream(
            one.request.sampling.stop,
            ends=() if one.request.sampling.ignore_eos else self.prompts.stops,
            marks=self.prompts.marks,
            is_open=prompt.is_thinking,
            is_begun=prompt.is_begun,
            calls=None if one.request.tools is None else ToolCallSplitter(offered_by(one.request.tools)),
        )
        one.is_restoring = self.kept.ask_disk(one)
        self.scheduler.add(one)

    def restored(self, order: int, saved: SavedCells | None, seconds: float) -> None:
        """What the disk had for the sequence with this arrival number; it may begin now."""
        for one in self.scheduler.waiting:
            if one.order == order:
                one.is_restoring = False
                began = self._clock()
                if saved is not None:
                    self.kept.put_back(one, saved)
                one.marks.restore_s = seconds + self._clock() - began

    def remove(self, one: Sequence, *, keeps_cells: bool = True) -> None:
        """Take a sequence out. What it has computed stays for a next turn, as long as nobody needs the room."""
        self.scheduler.remove(one, keeps_cells=keeps_cells)
        self.kept.apply_ops()
        if self.scheduler.running:
            self.kept.thin_out()

    def begin_step(self, *, is_shared: bool) -> Step | None:
        """Plan the next decode call; None where there is nothing to compute. Then `compute`, then `end_step`.

        `is_shared`: another expert's reader waits for the same device.
        """
        self._admit()
        plan = self.scheduler.plan(self._n_slice(is_shared=is_shared))
        self.kept.apply_ops()
        if not plan.shares:
            self._no_room(plan)
            return None
        self._current = self._step_of(plan)
        return self._current

    def compute(self, step: Step, should_abort: Callable[[], bool]) -> None:
        """The decode call itself, on any one thread. `should_abort` is asked there.

        It is asked only while prompts are computed. In a decode it would be asked 500 times a token (once for each node
        of SmolLM2's graph), which costs 2 % of the speed, and the token is there soon anyway.
        """
        self.expert.look_at_gates(is_on=self._moe.is_on)
        began = self._clock()
        try:
            step.outcome = self.expert.decode(step.batch, should_abort if step.has_prompts else None)
        except LayaDeskError as refusal:
            step.outcome, step.error = DecodeOutcome.FAILED, refusal.report
        step.seconds = self._clock() - began

    def end_step(self, step: Step, should_abort: Callable[[], bool]) -> StepWork:
        """What follows from a decode call."""
        self._current = None
        n_prefill = step.plan.n_prefill
        self._follow(step, should_abort)
        self.last_used = self._clock()
        return StepWork(n_prefill, self._n_sampled - step.n_sampled_before)

    def profile(self, n_past: int, beat: Callable[[], None]) -> ComputeProfile:
        """See Expert. Raises EXPERT_BUSY while it answers: the run would wait for nobody, and everybody for it."""
        if not self.is_idle:
            raise fail(ErrorCode.EXPERT_BUSY, expert=self.model_id)
        return self.expert.profile(n_past, beat)

    def close(self) -> None:
        """Free the expert; what it keeps goes to disk. It must be idle."""
        while self.kept.save_next():
            pass
        self.expert.close()

    def _n_slice(self, *, is_shared: bool) -> int:
        prompts = [one for one in self.scheduler.running if one.n_pending > 1]
        if not prompts:
            return 0
        n_decoding = self.scheduler.n_decoding
        return self._pace.n_slice(
            n_decoding=n_decoding,
            is_shared=is_shared or n_decoding > 0,
            position=max(one.n_past for one in prompts),
            n_left=sum(one.n_pending for one in prompts),
        )

    def _admit(self) -> None:
        if not self.scheduler.waiting:
            return
        admitted = self.scheduler.admit()
        self.kept.apply_ops()
        for one in self.scheduler.waiting:
            one.stopped(self._clock())
        if admitted:
            self.kept.thin_out()
        for one in admitted:
            self.kept.admitted(one)
            if not one.has_reported_prompt:
                one.n_cached = one.n_past
            one.goes_on(self._clock())
            self._events.prompt_built(one, self.expert.facts.memory)

    def _step_of(self, plan: Plan) -> Step:
        for share in plan.shares:
            if share.sequence.marks.prefill_began is None:
                share.sequence.marks.prefill_began = self._clock()
        n_decoding = sum(share.sequence.is_decoding for share in plan.shares)
        n_pairs = sum(share.n_tokens * (share.sequence.n_past + share.n_tokens / 2) for share in plan.shares)
        return Step(plan, *plan.batch(), self._n_sampled, n_decoding, n_pairs)

    def _follow(self, step: Step, should_abort: Callable[[], bool]) -> None:
        match step.outcome:
            case DecodeOutcome.OK:
                self._pace.measured(len(step.batch), step.seconds, n_decoding=step.n_decoding, n_pairs=step.n_pairs)
                self._moe.add(self.model_id, self.expert, step)
                self._computed(step)
            case DecodeOutcome.NO_SLOT:
                self._no_room(step.plan)
            case DecodeOutcome.ABORTED:
                self._resync(step.plan)
            case DecodeOutcome.FAILED:
                self._resync(step.plan)
                self._isolate(step.plan, step.error, should_abort)

    def _computed(self, step: Step) -> None:
        self.scheduler.computed(step.plan, step.seconds)
        for share in step.plan.shares:
            take_checkpoint(self.expert, self.scheduler.pool, share.sequence)
        for share, row in zip(step.plan.shares, step.rows, strict=True):
            if share.sequence.n_pending == 0:
                self._advance(share.sequence, row)
            else:
                self._events.prefilled(share.sequence)

    def _advance(self, one: Sequence, row: int) -> None:
        """Draw the next token of a sequence and show what it adds."""
        try:
            self._take_token(one, row)
        except LayaDeskError as failure:
            self._fail(one, failure.report)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is this request's alone
            log.error("request %s failed after decoding: %s", one.request_id, trace_of(error))  # noqa: TRY400  # see there
            self._fail(one, ErrorReport(ErrorCode.INTERNAL, {"reason": "sampling", "detail": type(error).__name__}))

    def _take_token(self, one: Sequence, row: int) -> None:
        if one.sampler is None:
            sampling = resolve(one.request.sampling, self.spec.sampling, self.expert.facts.recommended)
            sampling = replace(sampling, grammar=one.grammar)
            one.sampler = self.expert.new_sampler(sampling, seed_of(sampling, secrets.randbits(32)))
        began = self._clock()
        token = one.sampler.sample(row, is_free=one.stream.is_thinking)
        is_end = self.prompts.is_end(token, takes_marks=not one.request.sampling.ignore_eos)
        one.pulse.beat(began, self._clock(), is_end=is_end)
        if is_end:
            self._end(one, FinishReason.STOP)
            return
        self._n_sampled += 1
        self._append(one, token)
        if one.is_thinking_over_budget:
            for closing in one.closing:
                self._append(one, closing)
        if one.stream.is_stopped:
            self._end(one, FinishReason.STOP)
        elif one.loops.push(token) and one.request.sampling.stops_loops:
            log.info("request %s only repeated itself and was ended", one.request_id)
            self._end(one, FinishReason.LOOP)
        elif one.is_full:
            self._end(one, FinishReason.LENGTH)

    def _append(self, one: Sequence, token: int) -> None:
        """A token more; without its cell so far, so that the next step computes it."""
        one.n_thinking += one.stream.is_thinking
        one.tokens.append(token)
        one.n_decoded += 1
        began = self._clock()
        piece = self.prompts.shown(token, has_tools=one.request.tools is not None)
        shown = one.stream.push(self.expert.piece(token) if piece is None else piece)
        one.pulse.made_text(self._clock() - began)
        self._events.text(one, *shown)

    def _no_room(self, plan: Plan) -> None:
        lonely = self.scheduler.refused(plan)
        self.kept.apply_ops()
        if lonely is not None:
            self._end(lonely, FinishReason.LENGTH)

    def _resync(self, plan: Plan) -> None:
        """Ask what is left of each sequence after a decode that ended in the middle, and go on from there."""
        for share in plan.shares:
            one = share.sequence
            row = one.row
            assert row is not None
            # At most all but one: the row to draw from is lost, so the last token is computed again.
            n_left = cut_back(self.expert, row.slot, len(one.tokens) - 1)
            self.scheduler.pool.grow(row, one.tokens[one.n_past : n_left])
            self.scheduler.pool.cut(row, n_left, is_done=True)

    def _isolate(self, plan: Plan, error: ErrorReport, should_abort: Callable[[], bool]) -> None:
        """Find out whose part made a decode fail: each alone; the one that fails alone is failed."""
        if len(plan.shares) == 1:
            log.warning("decode failed for request %s: %s", plan.shares[0].sequence.request_id, error.facts)
            self._fail(plan.shares[0].sequence, error)
            return
        for share in plan.shares:
            one = share.sequence
            if one.slot is not None:
                alone = self._step_of(Plan([Share(one, min(share.n_tokens, one.n_pending))]))
                self.compute(alone, should_abort)
                self._follow(alone, should_abort)

    def _end(self, one: Sequence, reason: FinishReason) -> None:
        self.remove(one)
        self._events.finished(one, reason)

    def _fail(self, one: Sequence, error: ErrorReport) -> None:
        self.remove(one, keeps_cells=False)
        self._events.failed(one, error)
