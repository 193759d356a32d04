"""One expert at work without any thread, so that Hypothesis can drive it: whatever happens, the texts are right."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import FinishReason, LoadParams, MemoryUse, PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.engine.backend import DecodeOutcome, Sampler
from layadesk.engine.batch import Batch
from layadesk.engine.cell_files import SavedCells
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.fair_share import OWN_STINT_S, STINT_S
from layadesk.engine.kept_cells import IDLE_BYTES_SHARE
from layadesk.engine.moe_watch import MoeWatch
from layadesk.engine.prompt import Prompt
from layadesk.engine.request_events import RequestEvents
from layadesk.engine.scripted_backend import ScriptedBackend, ScriptedExpert
from layadesk.engine.sequence import Marks, Sequence, SequenceState
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import EngineEvent, Failed, Finished, RequestEvent
from layadesk.protocol.scripted import ScriptedOptions
from tests.fakes.engine_running import GREEDY
from tests.invariants import check_request

Outcomes = list[str]


class Moody:
    """A scripted expert whose decodes go wrong in the ways they may: `moods` tells one after the other."""

    def __init__(self, expert: ScriptedExpert, moods: Outcomes) -> None:
        self._expert = expert
        self._moods = moods
        self.facts = expert.facts

    def decode(self, batch: Batch, should_abort: Callable[[], bool] | None) -> DecodeOutcome:
        mood = self._moods.pop(0) if self._moods else "ok"
        if mood == "no_slot":
            return DecodeOutcome.NO_SLOT
        if mood == "failed" and len(set(batch.seq_ids)) > 1:  # a passing fault; one alone would rightly fail
            return DecodeOutcome.FAILED
        if mood.startswith("abort"):  # the first part has been computed, as after some of llama.cpp's smaller batches
            n_kept = int(mood.removeprefix("abort")) * len(batch) // 4
            part = Batch(*(column[:n_kept] for column in (batch.tokens, batch.positions, batch.seq_ids)))  # type: ignore[arg-type]  # in this order
            part.wants_logits = [False] * n_kept
            if n_kept:
                assert self._expert.decode(part, None) is DecodeOutcome.OK
            return DecodeOutcome.ABORTED
        return self._expert.decode(batch, should_abort)

    def __getattr__(self, name: str) -> object:
        return getattr(self._expert, name)


class Shelf:
    """The disk without a disk: what is saved is read when the lab says so."""

    def __init__(self) -> None:
        self.saved: dict[str, SavedCells] = {}
        self.asked: list[tuple[int, str]] = []

    def has_room(self) -> bool:
        return True

    def has(self, _fingerprint: str, conversation_id: str) -> bool:
        return conversation_id in self.saved

    def save(self, _fingerprint: str, conversation_id: str, cells: SavedCells) -> None:
        self.saved[conversation_id] = cells

    def read(self, order: int, _model_id: str, _fingerprint: str, conversation_id: str) -> None:
        self.asked.append((order, conversation_id))


@dataclass
class Lab:
    """A runner with what it needs. `step_s` is what a step takes by its clock."""

    expert: ScriptedExpert
    moods: Outcomes = field(default_factory=list)
    step_s: float = 0.0
    now: float = 0.0
    events: list[EngineEvent] = field(default_factory=list)
    open: dict[str, Sequence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.was_refused = "no_slot" in self.moods

        def forget(one: Sequence) -> None:
            del self.open[one.request_id]

        spec = ExpertSpec("e", "", LoadParams())
        moody = Moody(self.expert, self.moods)
        events = RequestEvents(self.events.append, lambda: self.now, forget)
        self.shelf = Shelf()
        moe = MoeWatch(self.events.append, self.clock)
        self.runner = ExpertRunner(spec, moody, events, moe, clock=self.clock, load_s=0.0, keeper=self.shelf)  # type: ignore[arg-type]  # by __getattr__, and a fake
        self.request_events = events

    def clock(self) -> float:
        self.now += self.step_s
        return self.now

    def arrive(
        self,
        order: int,
        text: str,
        sampling: SamplingParams = GREEDY,
        history: tuple[PromptMessage, ...] = (),
        conversation_id: str = "",
        client: str = "",
    ) -> None:
        messages = (*history, PromptMessage(Role.USER, text))
        request = Generate(str(order), "e", messages, sampling, conversation_id=conversation_id, client=client)
        one = Sequence(request, order, Marks(0.0))
        self.open[one.request_id] = one
        prompt = self.runner.prompts.build(messages, sampling.max_tokens)
        self.runner.add(one, prompt)

    def cancel(self, request_id: str) -> None:
        one = self.open[request_id]
        self.runner.remove(one)
        self.request_events.finished(one, FinishReason.CANCELLED)

    def read_disk(self) -> None:
        asked, self.shelf.asked = self.shelf.asked, []
        for order, conversation_id in asked:
            self.runner.restored(order, self.shelf.saved.get(conversation_id), 0.0)

    def step(self) -> None:
        if not self.runner.scheduler.has_work:
            self.read_disk()
        step = self.runner.begin_step(is_shared=False)
        if step is not None:
            self.runner.compute(step, lambda: False)
            self.runner.end_step(step, lambda: False)
        assert self.expert.n_cells_used == self.runner.scheduler.pool.n_used, "cells leaked"

    def forget_all(self) -> None:
        while self.runner.scheduler.pool.drop_oldest():
            pass
        self.runner.kept.apply_ops()

    def run(self) -> None:
        n_steps = 0
        while not self.runner.scheduler.is_idle:
            self.step()
            n_steps += 1
            assert n_steps < 20_000, "no end"

    def end(self, order: int) -> Finished | Failed:
        own = [e for e in self.events if isinstance(e, RequestEvent) and e.request_id == str(order)]
        check_request(own, str(order))
        end = own[-1]
        assert isinstance(end, Finished | Failed)
        return end


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ScriptedExpert]:
    path = tmp_path_factory.mktemp("model") / "any.gguf"
    path.touch()

    def load_expert(
        text: str | None = None, *, n_swa: int = 0, can_rewind: bool = True, **params: int
    ) -> ScriptedExpert:
        spec = ExpertSpec("e", str(path), LoadParams(**params))  # type: ignore[arg-type]  # numbers all
        options = ScriptedOptions(text=text, n_swa=n_swa, can_rewind=can_rewind)
        return ScriptedBackend(options).load(spec, lambda _fraction: True)

    return load_expert


actions = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 60)),
        st.tuples(st.just("turn"), st.integers(0, 5)),
        st.tuples(st.just("again"), st.integers(0, 5)),
        st.tuples(st.just("cancel"), st.integers(0, 5)),
        st.tuples(st.just("step"), st.integers(1, 12)),
        st.tuples(st.sampled_from(["run", "rest", "forget"]), st.just(0)),
    ),
    min_size=1,
    max_size=30,
)
moods = st.lists(st.sampled_from(["ok", "ok", "ok", "no_slot", "failed", "abort0", "abort1", "abort2", "abort3"]))
kinds = st.sampled_from([{}, {"n_swa": 24}, {"n_swa": 8}, {"can_rewind": False}])


@dataclass
class Talk:
    """Conversations with the lab: what was asked, and what the answer must be, namely the question itself."""

    lab: Lab
    asked: dict[int, tuple[PromptMessage, ...]] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)  # the first turn of the same conversation
    cancelled: set[int] = field(default_factory=set)

    def act(self, order: int, action: str, n: int) -> None:
        ended = [old for old in self.asked if str(old) not in self.lab.open]
        if action == "arrive":
            self.ask(order, order, (), f"{order}é🦊" + "abcdefghij"[order % 10] * n)
        elif action == "turn" and n < len(ended):  # go on from an answer
            old = self.asked[ended[n]]
            answer = self.lab.end(ended[n])
            text = answer.text if isinstance(answer, Finished) else ""
            self.ask(order, self.first[ended[n]], (*old, PromptMessage(Role.ASSISTANT, text)), f"{order} and then?")
        elif action == "again" and n < len(ended):  # ask the same, or something else in its place
            *history, last = self.asked[ended[n]]
            self.ask(order, self.first[ended[n]], tuple(history), last.text + "?" * (order % 2))
        elif action == "cancel" and n < len(self.lab.open):
            request_id = list(self.lab.open)[n]
            self.cancelled.add(int(request_id))
            self.lab.cancel(request_id)
        else:
            self.let_pass(action, n)

    def let_pass(self, action: str, n: int) -> None:
        if action == "run":
            self.lab.run()
        elif action == "rest":
            while self.lab.runner.kept.save_next():
                pass
        elif action == "forget":
            self.lab.forget_all()
        elif action == "step":
            for _ in range(n):
                if not self.lab.runner.scheduler.is_idle:
                    self.lab.step()

    def ask(self, order: int, first: int, history: tuple[PromptMessage, ...], text: str) -> None:
        try:
            conversation_id, client = (str(first) if first % 3 else ""), f"client {order % 4}"
            self.lab.arrive(order, text, history=history, conversation_id=conversation_id, client=client)
        except LayaDeskError:  # CONTEXT_LENGTH_EXCEEDED
            del self.lab.open[str(order)]
            return
        self.asked[order] = (*history, PromptMessage(Role.USER, text))
        self.first[order] = first

    def check(self, n_ctx: int) -> None:
        for order, messages in self.asked.items():
            text = messages[-1].text
            end = self.lab.end(order)
            assert isinstance(end, Finished), end
            if order in self.cancelled:
                assert text.startswith(end.text)
            elif end.finish_reason is FinishReason.LENGTH:  # the context is full, or it was refused when it was alone
                assert text.startswith(end.text)
                assert end.timings.n_prompt + end.timings.n_decoded == n_ctx or self.lab.was_refused
            else:
                assert end.text == text
            assert end.timings.n_cached < end.timings.n_prompt or end.timings.n_prompt == 0


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    actions,
    moods,
    st.integers(120, 400),
    st.integers(1, 4),
    st.integers(0, 4),
    kinds,
    st.sampled_from([0.0, STINT_S / 4, STINT_S, OWN_STINT_S]),
)
def test_whatever_happens_every_answer_is_what_it_would_be_alone(
    load: Callable[..., ScriptedExpert],
    actions: list[tuple[str, int]],
    moods: Outcomes,
    n_ctx: int,
    n_parallel: int,
    n_kept: int,
    kind: dict[str, int],
    step_s: float,
) -> None:
    lab = Lab(load(n_ctx=n_ctx, n_parallel=n_parallel, n_kept=n_kept, n_batch=48, **kind), list(moods), step_s)
    talk = Talk(lab)
    for order, (action, n) in enumerate(actions):
        talk.act(order, action, n)
    lab.run()
    assert lab.open == {}
    lab.forget_all()
    assert lab.expert.n_cells_used == 0
    talk.check(n_ctx)


def test_a_next_turn_computes_only_what_is_new(load: Callable[..., ScriptedExpert]) -> None:
    lab = Lab(load(n_ctx=600))
    first, answer = PromptMessage(Role.USER, "hello"), PromptMessage(Role.ASSISTANT, "hello")
    lab.arrive(1, "hello")
    lab.run()
    lab.arrive(2, "and then?", history=(first, answer))
    lab.run()
    times = lab.end(2).timings  # type: ignore[union-attr]  # Finished
    n_answer = len("hello")
    assert times.n_cached == lab.end(1).timings.n_prompt + n_answer  # type: ignore[union-attr]  # Finished
    assert times.n_cached > 25


@pytest.mark.parametrize("kind", [{"n_swa": 8}, {"can_rewind": False}])
def test_an_answer_asked_for_again_goes_on_from_the_checkpoint_before_it(
    load: Callable[..., ScriptedExpert], kind: dict[str, int]
) -> None:
    lab = Lab(load(n_ctx=600, **kind))
    question = "a question of many words, which nobody wants to be read twice"
    lab.arrive(1, question)
    lab.run()
    lab.arrive(2, question)
    lab.run()
    times = lab.end(2).timings  # type: ignore[union-attr]  # Finished
    n_head = len("<assistant\n")  # one token opens the turn
    assert times.n_cached == times.n_prompt - n_head
    assert lab.end(2).text == question  # type: ignore[union-attr]  # Finished


def test_a_preempted_answer_goes_on_with_its_own_sampler_and_half_a_character(
    load: Callable[..., ScriptedExpert],
) -> None:
    lab = Lab(load(n_ctx=150, n_parallel=2, n_batch=64))
    lab.arrive(1, "x" * 40)
    lab.arrive(2, "🦊" * 10)
    second = lab.open["2"]
    seen = set()
    while lab.open:
        lab.step()
        seen.add((second.state, second.sampler is None))
    assert (SequenceState.WAITING, False) in seen, "it was preempted, and its sampler waited with it"
    assert [lab.end(order).text for order in (1, 2)] == ["x" * 40, "🦊" * 10]  # type: ignore[union-attr]  # Finished


def test_a_fault_in_the_text_of_one_request_does_not_reach_the_others(
    load: Callable[..., ScriptedExpert], caplog: pytest.LogCaptureFixture
) -> None:
    expert = load(n_ctx=600, n_parallel=2)
    lab = Lab(expert)
    lab.arrive(1, "good")
    lab.arrive(2, "bad")

    words = "words of the message"

    def push(_piece: bytes) -> str:
        raise RuntimeError(words)

    lab.open["2"].stream.push = push  # type: ignore[method-assign, assignment]  # a bug
    lab.run()
    failed = lab.end(2)
    assert isinstance(failed, Failed)
    assert failed.error.code is ErrorCode.INTERNAL
    assert isinstance(lab.end(1), Finished)
    assert "request 2 failed" in caplog.text
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text


def test_numbers_a_request_leaves_open_are_those_of_the_catalogue_then_those_of_the_file(
    load: Callable[..., ScriptedExpert],
) -> None:
    scripted = load()
    scripted.facts = replace(scripted.facts, recommended=SamplingDefaults(temperature=0.9, top_k=7))
    lab = Lab(scripted)
    lab.runner.spec = replace(lab.runner.spec, sampling=SamplingDefaults(temperature=0.3, top_p=0.5))
    sampled: list[SamplingParams] = []

    def new_sampler(sampling: SamplingParams, seed: int) -> Sampler:
        sampled.append(sampling)
        return scripted.new_sampler(sampling, seed)

    lab.runner.expert.new_sampler = new_sampler  # type: ignore[method-assign]  # to see what it is given
    lab.arrive(1, "open", SamplingParams(top_p=0.75))
    lab.run()
    lab.arrive(2, "asked", SamplingParams(temperature=0.0))
    lab.run()
    assert [(one.temperature, one.top_k, one.top_p) for one in sampled] == [(0.3, 7, 0.75), (0.0, 7, 0.5)]


def test_where_no_end_is_wanted_the_end_of_a_turn_in_plain_text_is_none(load: Callable[..., ScriptedExpert]) -> None:
    lab = Lab(load())
    lab.runner.prompts.stops = ("<|im_end|>",)
    for order, ignore_eos in ((1, False), (2, True)):
        lab.arrive(order, "yes<|im_end|>no", replace(GREEDY, ignore_eos=ignore_eos))
        lab.run()
    assert [lab.end(order).text for order in (1, 2)] == ["yes", "yes<|im_end|>no"]  # type: ignore[union-attr]  # Finished


def test_the_token_that_a_template_writes_after_an_answer_ends_one(load: Callable[..., ScriptedExpert]) -> None:
    """Reported fault G21."""
    lab = Lab(load())
    for order, ignore_eos in ((1, False), (2, True)):
        lab.arrive(order, "yes!no", replace(GREEDY, ignore_eos=ignore_eos))
        lab.runner.prompts.end_tokens = frozenset(b"!")
        lab.run()
    ends = [lab.end(order) for order in (1, 2)]
    assert [end.text for end in ends] == ["yes", "yes!no"]  # type: ignore[union-attr]  # Finished
    assert ends[0].finish_reason is FinishReason.STOP  # type: ignore[union-attr]  # Finished


def test_a_doubled_token_would_be_noticed(load: Callable[..., ScriptedExpert]) -> None:
    lab = Lab(load(n_ctx=600))
    lab.arrive(1, "hello")
    one = lab.open["1"]
    while one.n_decoded < 2:
        lab.step()
    one.tokens.append(one.tokens[-1])
    lab.step()
    failed = lab.end(1)
    assert isinstance(failed, Failed), "or the scripted backend proves nothing"


def test_a_stop_string_the_prompt_builder_asks_for_is_used(load: Callable[..., ScriptedExpert]) -> None:
    lab = Lab(load("Yes.<|im_end|>\n<|im_start|>user", n_ctx=600))
    lab.runner.prompts.stops = ("<|im_end|>",)
    lab.arrive(1, "hello")
    lab.run()
    assert lab.end(1).text == "Yes."  # type: ignore[union-attr]  # Finished


def test_a_prompt_of_the_whole_context_but_one_gets_one_token(load: Callable[..., ScriptedExpert]) -> None:
    lab = Lab(load("abc", n_ctx=100, n_batch=64))
    one = Sequence(Generate("1", "e", (), GREEDY), 1, Marks(0.0))
    lab.open["1"] = one
    lab.runner.add(one, Prompt([65] * 99, 0))
    lab.run()
    end = lab.end(1)
    assert isinstance(end, Finished)
    assert (end.text, end.finish_reason) == ("a", FinishReason.LENGTH)


def test_the_file_of_a_scripted_expert_must_exist(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="model_file_missing"):
        ScriptedBackend().load(ExpertSpec("e", str(tmp_path / "nothing")), lambda _fraction: True)


@pytest.mark.parametrize(
    ("n_cells", "n_running", "stays"),
    [(150, 1, ["talk 4"]), (300, 1, ["talk 3", "talk 4"]), (300, 2, ["talk 4"]), (600, 2, ["talk 3", "talk 4"])],
)
def test_idle_cells_may_stay_as_far_as_they_are_small_beside_the_weights_and_few_run(
    load: Callable[..., ScriptedExpert], n_cells: int, n_running: int, stays: list[str]
) -> None:
    scripted = load(n_ctx=1000)
    weights_bytes = IDLE_BYTES_SHARE * n_cells
    scripted.facts = replace(scripted.facts, memory=MemoryUse(weights_bytes=weights_bytes, kv_bytes=1000))
    lab = Lab(scripted)
    for order in range(1, 5):
        lab.arrive(order, f"{order}" * 60, conversation_id=f"talk {order}")
        lab.run()
    others = [f"another {n}" for n in range(n_running)]
    for n, other in enumerate(others):
        lab.arrive(9 + n, f"hi {n}", conversation_id=other)
    lab.run()
    assert [row.conversation_id for row in lab.runner.scheduler.pool.kept] == [*stays, *others]


@pytest.mark.parametrize("has_rested", [True, False])
def test_idle_cells_do_not_stay_in_the_way_of_others_and_come_back_from_the_disk(
    load: Callable[..., ScriptedExpert], has_rested: bool
) -> None:
    lab = Lab(load(n_ctx=1000))
    for order in range(1, 5):
        lab.arrive(order, f"{order}" * 60, conversation_id=f"talk {order}")
        lab.run()
        while has_rested and lab.runner.kept.save_next():
            pass
    lab.arrive(9, "hi", conversation_id="another")
    lab.run()
    kept = {row.conversation_id for row in lab.runner.scheduler.pool.kept}
    assert kept == {"another"}
    assert set(lab.shelf.saved) >= {"talk 1", "talk 2", "talk 3"}
    lab.arrive(10, "1" * 60, conversation_id="talk 1")
    lab.run()
    times = lab.end(10).timings  # type: ignore[union-attr]  # Finished
    assert times.n_prompt - times.n_cached == 1, "it came back from the disk"
