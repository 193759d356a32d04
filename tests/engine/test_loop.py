"""The loop on the scripted backend: every state a request can be in, and everything that can go wrong in it."""

import queue
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.loop import EngineLoop, LoopMessage
from layadesk.engine.scripted_backend import ScriptedBackend, ScriptedExpert
from layadesk.protocol.commands import Cancel, Configure, CountTokens, Generate, LoadModel, Shutdown, UnloadModel
from layadesk.protocol.events import (
    EngineEvent,
    EngineStats,
    Failed,
    Finished,
    Loading,
    ModelLoaded,
    ModelLoading,
    ModelUnloaded,
    PromptBuilt,
    Queued,
    TextDelta,
    TokensCounted,
)
from layadesk.protocol.scripted import FaultKind, ScriptedFault, ScriptedOptions
from tests.fakes.engine_running import GREEDY, PATIENCE_S, RunningEngine, expert

Start = Callable[..., RunningEngine]

ECHO = ScriptedOptions(text=None)
SLOW = ScriptedOptions(text="slow " * 500, decode_tps=200)


def failing(kind: FaultKind, **fault: object) -> ScriptedBackend:
    return ScriptedBackend(ScriptedOptions(text=None, faults=(ScriptedFault(kind, **fault),)))  # type: ignore[arg-type]  # by name


def failing_together(kind: FaultKind, *, times: int) -> ScriptedBackend:
    """A fault that meets all requests in one step: they wait for one load, and a token takes longer than a prompt."""
    fault = ScriptedFault(kind, at_token=10, times=times)
    return ScriptedBackend(ScriptedOptions(text=None, decode_tps=100, load_s=0.05, faults=(fault,)))


# ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_requests_are_each_answered_with_their_own_text(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_parallel=3))
    texts = [f"message {i} ünïcode 🦊 " + "x" * i for i in range(20)]
    for i, text in enumerate(texts):
        engine.ask(text, request_id=str(i))
    assert [engine.finished(str(i)).text for i in range(20)] == texts


def test_the_beginning_of_a_stop_string_at_the_end_of_an_answer_is_text(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    assert engine.finished(engine.ask("a < b <", sampling=replace(GREEDY, stop=("<end>",)))).text == "a < b <"


def test_who_must_wait_is_told_how_many_are_before_him(start_engine: Start, any_file: str) -> None:  # H02
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, n_parallel=1))
    first = engine.ask()
    engine.wait_text(first, 1)
    second, third = engine.ask(), engine.ask()
    assert engine.wait_for(second, Queued).position == 0
    assert engine.wait_for(third, Queued).position == 1
    engine.cancel(first)
    engine.wait_for(second, PromptBuilt)
    engine.wait(Queued, lambda event: event.request_id == third and event.position == 0)


@pytest.mark.parametrize(
    ("sampling", "parameter"),
    [
        (SamplingParams(temperature=-1.0), "temperature"),
        (SamplingParams(stop=tuple(str(i) for i in range(10_000))), "stop"),
        (SamplingParams(max_tokens=0), "max_tokens"),
    ],
)
def test_a_bad_parameter_fails_that_request_alone(
    start_engine: Start, any_file: str, sampling: SamplingParams, parameter: str
) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    bad, good = engine.ask("bad", sampling=sampling), engine.ask("good")
    error = engine.failed(bad).error
    assert error.code is ErrorCode.BAD_PARAMETER
    assert error.facts["parameter"] == parameter
    assert engine.finished(good).text == "good"


def test_an_unknown_expert_is_named_with_those_that_are_known(start_engine: Start, any_file: str) -> None:  # H07
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    error = engine.failed(engine.ask(model_id="nobody")).error
    assert error.code is ErrorCode.UNKNOWN_EXPERT
    assert error.facts == {"expert": "nobody", "known": "expert"}


def test_a_request_before_any_configuration_fails(start_engine: Start) -> None:
    engine = start_engine(ScriptedBackend(ECHO))
    assert engine.failed(engine.ask()).error.code is ErrorCode.UNKNOWN_EXPERT


def test_nothing_said_fails_before_an_expert_is_loaded_for_it(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    assert engine.failed(engine.ask("  \n")).error.code is ErrorCode.EMPTY_PROMPT
    assert engine.failed(engine.ask([PromptMessage(Role.SYSTEM, "x")])).error.code is ErrorCode.EMPTY_PROMPT
    assert not any(isinstance(event, ModelLoading) for event in engine.events)


def test_a_prompt_longer_than_the_context_fails_with_both_numbers(start_engine: Start, any_file: str) -> None:
    """Reported faults G02, G11."""
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=256))
    error = engine.failed(engine.ask("x" * 5000)).error
    assert error.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED
    assert error.facts["n_ctx"] == 256


def test_the_queue_has_an_end(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, n_parallel=1), n_queue_max=2)
    first = engine.ask()
    engine.wait_text(first, 1)
    waiting = [engine.ask(), engine.ask()]
    for request_id in waiting:
        engine.wait_for(request_id, Queued)
    error = engine.failed(engine.ask()).error
    assert error.code is ErrorCode.QUEUE_FULL
    assert error.facts == {"n_waiting": 2, "maximum": 2}
    engine.cancel(waiting[0])
    engine.finished(waiting[0])
    engine.wait_for(engine.ask(), Queued)


def test_a_second_request_with_the_same_id_fails_without_disturbing_the_first(
    start_engine: Start, any_file: str
) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file))
    engine.ask(request_id="twice", sampling=replace(GREEDY, max_tokens=30))
    engine.wait_text("twice", 3)
    engine.ask("another", request_id="twice")
    refusal = engine.wait(Failed)
    assert refusal.request_id is None, "addressed to the id, it would end the first request for everyone who listens"
    assert refusal.error.code is ErrorCode.DUPLICATE_REQUEST
    assert refusal.error.facts == {"request": "twice"}
    assert engine.finished("twice").text == ("slow " * 10)[:30]
    assert (
        engine.finished(engine.ask("again", request_id="other", sampling=replace(GREEDY, max_tokens=3))).text == "slo"
    )


def test_an_id_may_be_used_again_after_its_end(any_file: str) -> None:
    events: list[EngineEvent] = []
    inbox: queue.SimpleQueue[LoopMessage] = queue.SimpleQueue()
    loop = EngineLoop(ScriptedBackend(ECHO), inbox, events.append, set_phase=lambda _phase, _step: None)
    request = Generate("id", "expert", (PromptMessage(Role.USER, "hello"),), GREEDY)
    inbox.put(Configure((expert(any_file),)))
    inbox.put(request)
    inbox.put(Cancel("id"))
    inbox.put(request)
    inbox.put(Shutdown())
    loop.run()
    assert [type(event) for event in events if isinstance(event, Finished | Failed)] == [Finished, Finished]


# ── cancel ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_cancel_of_an_unknown_or_ended_request_is_silent(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    engine.cancel("nobody")
    ended = engine.ask("x")
    engine.finished(ended)
    n_events = len(engine.of(ended))
    engine.cancel(ended)
    engine.finished(engine.ask("y"))
    assert len(engine.of(ended)) == n_events
    assert engine.of("nobody") == []


def test_cancel_while_it_waits_for_a_slot(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, n_parallel=1))
    running = engine.ask()
    engine.wait_text(running, 1)
    waiting = engine.ask()
    engine.wait_for(waiting, Queued)
    engine.cancel(waiting)
    end = engine.finished(waiting)
    assert (end.finish_reason, end.text) == (FinishReason.CANCELLED, "")
    assert not any(isinstance(event, PromptBuilt) for event in engine.of(waiting))


@pytest.mark.parametrize("command", [Cancel("r0"), UnloadModel("expert"), Shutdown()])
def test_a_prefill_is_called_off_in_the_middle_of_its_step(
    start_engine: Start, any_file: str, command: LoopMessage
) -> None:
    an_hour = ScriptedOptions(text="answer", prefill_tps=64 / 3600)
    engine = start_engine(ScriptedBackend(an_hour), expert(any_file, n_ctx=4096))
    request_id = engine.ask("x" * 3000)
    engine.wait_for(request_id, PromptBuilt)
    engine.send(command)
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED


def test_the_others_go_on_where_they_were_when_a_prefill_beside_them_is_cancelled(
    start_engine: Start, any_file: str
) -> None:
    engine = start_engine(
        ScriptedBackend(ScriptedOptions(text="0123456789" * 5, prefill_tps=200)), expert(any_file, n_ctx=4096)
    )
    first = engine.ask("short")
    engine.wait_text(first, 2)
    second = engine.ask("x" * 3000)
    engine.wait_for(second, PromptBuilt)
    engine.wait_text(first, 4)
    engine.cancel(second)
    assert engine.finished(second).finish_reason is FinishReason.CANCELLED
    assert engine.finished(first).text == "0123456789" * 5


def test_cancel_while_its_prompt_is_built(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=400_000))
    engine.load("expert")
    request_id = engine.ask("x" * 300_000)
    for n in (2, 3):  # after the second answer the loop has been round once since it took the request
        engine.send(LoadModel("expert"))
        engine.wait_count(ModelLoaded, n)
    assert engine.of(request_id) == [], "the prompt takes most of a second"
    engine.cancel(request_id)
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    assert engine.finished(engine.ask("next")).text == "next"


def test_cancel_while_its_expert_is_loaded_calls_the_load_off(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(load_s=3600)), expert(any_file))
    request_id = engine.ask()
    engine.wait(Loading, lambda event: event.request_id == request_id and event.fraction > 0)
    engine.cancel(request_id)
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    other = engine.ask()
    engine.wait(Loading, lambda event: event.request_id == other and event.fraction > 0)


def test_a_load_goes_on_as_long_as_one_request_waits_for_it(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text=None, load_s=0.5)), expert(any_file))
    first, second = engine.ask("first"), engine.ask("second")
    engine.wait_for(second, Loading)
    engine.cancel(first)
    assert engine.finished(first).finish_reason is FinishReason.CANCELLED
    assert engine.finished(second).text == "second"
    assert len(engine.loads_begun) == 1


# ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.logs_warnings
def test_a_decode_that_fails_for_one_sequence_fails_that_request_alone(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing(FaultKind.DECODE_ERROR, contains="poison", at_token=3), expert(any_file))
    texts = [f"a harmless text of some length {i}" for i in range(3)]
    good = [engine.ask(text) for text in texts[:2]]
    bad = engine.ask("poison in here")
    good.append(engine.ask(texts[2]))
    assert engine.failed(bad).error.code is ErrorCode.DECODE_FAILED
    assert engine.text(bad) == "poi"
    assert [engine.finished(request_id).text for request_id in good] == texts


def test_a_decode_that_fails_once_is_made_again_without_loss(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing_together(FaultKind.DECODE_ERROR, times=1), expert(any_file))
    texts = [f"a text of some length {i}" for i in range(3)]
    asked = [engine.ask(text) for text in texts]
    assert [engine.finished(request_id).text for request_id in asked] == texts


def test_a_library_without_room_preempts_and_loses_nothing(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing_together(FaultKind.NO_SLOT, times=2), expert(any_file))
    texts = [f"a text of some length {i}" for i in range(3)]
    asked = [engine.ask(text) for text in texts]
    assert [engine.finished(request_id).text for request_id in asked] == texts


def test_one_alone_for_whom_there_is_no_room_ends_with_length(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing(FaultKind.NO_SLOT, at_token=4), expert(any_file))
    end = engine.finished(engine.ask("some text"))
    assert (end.finish_reason, end.text) == (FinishReason.LENGTH, "some")


def test_when_the_pool_is_too_small_for_all_everyone_still_gets_his_whole_answer(
    start_engine: Start, any_file: str
) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=320, n_parallel=4))
    texts = [f"{i}" * 100 for i in range(6)]
    asked = [engine.ask(text) for text in texts]
    assert [engine.finished(request_id).text for request_id in asked] == texts
    assert engine.wait(EngineStats, lambda stats: stats.n_running == 0).kv_used == 0


@pytest.mark.logs_warnings
def test_a_load_that_fails_fails_its_requests_and_may_be_tried_again(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing(FaultKind.LOAD_ERROR, at_load=True, times=1), expert(any_file))
    first, second = engine.ask("first"), engine.ask("second")
    for request_id in (first, second):
        error = engine.failed(request_id).error
        assert error.code is ErrorCode.MODEL_LOAD_FAILED
        assert error.facts["detail"]
    assert engine.finished(engine.ask("third")).text == "third"


@pytest.mark.logs_warnings
def test_a_missing_file_is_named(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file + ".gone"))
    error = engine.failed(engine.ask()).error
    assert error.code is ErrorCode.MODEL_FILE_MISSING
    assert error.facts["path"] == any_file + ".gone"


def test_an_unforeseen_exception_ends_the_loop_instead_of_going_unnoticed(any_file: str) -> None:
    engine = RunningEngine(failing(FaultKind.RAISE, at_token=1), expert(any_file))
    engine.ask("hello")
    assert isinstance(engine.died_of, RuntimeError)


# ── experts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_experts_answer_at_the_same_time(start_engine: Start, any_file: str) -> None:
    engine = start_engine(
        ScriptedBackend(SLOW), expert(any_file, model_id="a"), expert(any_file, model_id="b", n_ctx=2048)
    )
    short = replace(GREEDY, max_tokens=60)
    first, second = engine.ask(model_id="a", sampling=short), engine.ask(model_id="b", sampling=short)
    engine.wait_text(first, 5)
    engine.wait_text(second, 5)
    assert not any(isinstance(event, Finished) for event in engine.events)
    assert engine.finished(first).text == engine.finished(second).text
    stats = engine.wait(EngineStats, lambda stats: stats.n_running == 0)
    assert stats.kv_size == 1024 + 2048


def test_a_running_answer_goes_on_while_another_expert_is_loaded(start_engine: Start, any_file: str) -> None:
    options = ScriptedOptions(text="slow " * 500, decode_tps=200, load_s=0.4)
    engine = start_engine(ScriptedBackend(options), expert(any_file, model_id="a"), expert(any_file, model_id="b"))
    running = engine.ask(model_id="a")
    engine.wait_text(running, 5)
    engine.ask(model_id="b")
    loading = engine.wait(ModelLoading, lambda event: event.model_id == "b")
    n_before = len(engine.text(running))
    engine.wait(ModelLoaded, lambda event: event.loaded.model_id == "b")
    assert loading.fraction == 0.0
    assert len(engine.text(running)) - n_before > 10


def test_a_third_expert_takes_the_place_of_the_idle_one_used_longest_ago(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), *(expert(any_file, model_id=name) for name in "abc"))
    for name in "abab":
        engine.finished(engine.ask("x", model_id=name))
    engine.finished(engine.ask("x", model_id="c"))
    assert engine.wait(ModelUnloaded).model_id == "a"
    assert engine.finished(engine.ask("still here", model_id="b")).text == "still here"
    assert sum(isinstance(event, ModelUnloaded) for event in engine.events) == 1


def test_an_expert_that_generates_is_never_unloaded_for_another(start_engine: Start, any_file: str) -> None:
    backend = ScriptedBackend(ScriptedOptions(text="0123456789" * 3, decode_tps=100))
    engine = start_engine(backend, expert(any_file, model_id="a"), expert(any_file, model_id="b"), n_loaded_max=1)
    first = engine.ask(model_id="a")
    engine.wait_text(first, 1)
    second = engine.ask(model_id="b")
    engine.wait_for(second, Queued)
    late = engine.ask(model_id="a")  # must not keep b waiting for ever
    assert engine.finished(first).text == engine.finished(second).text == engine.finished(late).text
    order = [event for event in engine.events if isinstance(event, ModelUnloaded | Finished)]
    assert [getattr(event, "request_id", None) or event.model_id for event in order] == [  # type: ignore[union-attr]  # one of both
        first,
        "a",
        second,
        "b",
        late,
    ]


def test_loading_by_command_is_told_and_told_again(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    loaded = engine.load("expert").loaded
    assert (loaded.model_id, loaded.n_parallel, loaded.template) == ("expert", 4, "gguf")
    engine.send(LoadModel("expert"))
    engine.finished(engine.ask("x"))
    assert sum(isinstance(event, ModelLoaded) for event in engine.events) == 2
    assert sum(isinstance(event, ModelLoading) for event in engine.events) == 1


@pytest.mark.logs_warnings
def test_a_load_by_command_that_fails_is_told_with_the_model(start_engine: Start, any_file: str) -> None:
    engine = start_engine(failing(FaultKind.LOAD_ERROR, at_load=True), expert(any_file))
    engine.send(LoadModel("expert"))
    failed = engine.wait(Failed)
    assert (failed.request_id, failed.model_id, failed.error.code) == (None, "expert", ErrorCode.MODEL_LOAD_FAILED)
    engine.send(LoadModel("nobody"))
    assert engine.wait(Failed, lambda event: event.model_id == "nobody").error.code is ErrorCode.UNKNOWN_EXPERT


def test_a_load_by_command_goes_on_when_the_request_that_wanted_it_too_is_cancelled(
    start_engine: Start, any_file: str
) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(load_s=0.3)), expert(any_file))
    engine.send(LoadModel("expert"))
    request_id = engine.ask()
    engine.wait_for(request_id, Loading)
    engine.cancel(request_id)
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    assert engine.wait(ModelLoaded).loaded.model_id == "expert"


def test_unloading_ends_its_requests_as_cancelled_first(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, n_parallel=1))
    running = engine.ask()
    engine.wait_text(running, 2)
    waiting = engine.ask()
    engine.wait_for(waiting, Queued)
    engine.unload()
    assert engine.finished(running).finish_reason is FinishReason.CANCELLED
    assert engine.finished(waiting).finish_reason is FinishReason.CANCELLED
    gone = engine.events.index(engine.wait(ModelUnloaded))
    assert gone > max(engine.events.index(engine.end(request_id)) for request_id in (running, waiting))
    assert engine.wait_text(engine.ask(), 1), "and it comes back when asked"


def test_unloading_what_is_being_loaded_calls_the_load_off(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(load_s=3600)), expert(any_file))
    request_id = engine.ask()
    engine.wait_for(request_id, Loading)
    engine.unload()
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    assert engine.wait(ModelUnloaded).model_id == "expert"


def test_unloading_what_is_not_loaded_is_answered_too(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    engine.send(UnloadModel("expert"))
    assert engine.wait(ModelUnloaded).model_id == "expert"


def test_an_expert_that_is_no_longer_configured_goes(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, model_id="a"), expert(any_file, model_id="b"))
    request_id = engine.ask(model_id="a")
    engine.wait_text(request_id, 2)
    engine.configure(expert(any_file, model_id="b"))
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    assert engine.wait(ModelUnloaded).model_id == "a"
    assert engine.failed(engine.ask(model_id="a")).error.code is ErrorCode.UNKNOWN_EXPERT


def test_new_parameters_wait_for_the_running_answer_and_are_used_for_the_next(
    start_engine: Start, any_file: str
) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="0123456789" * 3, decode_tps=200)), expert(any_file))
    running = engine.ask()
    engine.wait_text(running, 1)
    engine.configure(expert(any_file, n_ctx=2048))
    following = engine.ask()
    assert engine.finished(running).text == "0123456789" * 3
    assert engine.finished(following).timings.n_ctx == 2048
    assert engine.finished(running).timings.n_ctx == 1024


def test_new_parameters_while_it_is_loaded_load_it_anew(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text=None, load_s=0.4)), expert(any_file))
    request_id = engine.ask("x")
    engine.wait(Loading, lambda event: event.fraction > 0)
    engine.configure(expert(any_file, n_ctx=2048))
    assert engine.finished(request_id).timings.n_ctx == 2048


class Stubborn(ScriptedBackend):
    """Does not listen while it loads, as native code in a long call; loads when it is let go."""

    def __init__(self) -> None:
        super().__init__(ECHO)
        self.let_go = threading.Event()

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> ScriptedExpert:
        self.let_go.wait(PATIENCE_S)
        return super().load(spec, lambda _fraction: True)


def test_an_expert_that_comes_after_its_parameters_have_changed_is_loaded_anew(
    start_engine: Start, any_file: str
) -> None:
    backend = Stubborn()
    engine = start_engine(backend, expert(any_file))
    request_id = engine.ask("x")
    engine.wait_for(request_id, Loading)
    engine.configure(expert(any_file, n_ctx=2048))
    engine.send(UnloadModel("nobody"))
    engine.wait(ModelUnloaded)  # the new parameters have been taken
    backend.let_go.set()
    assert engine.finished(request_id).timings.n_ctx == 2048


def test_an_expert_that_comes_after_it_was_to_be_unloaded_goes_again(start_engine: Start, any_file: str) -> None:
    backend = Stubborn()
    engine = start_engine(backend, expert(any_file))
    request_id = engine.ask("x")
    engine.wait_for(request_id, Loading)
    engine.unload()
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED
    backend.let_go.set()
    loaded, unloaded = engine.wait(ModelLoaded), engine.wait(ModelUnloaded)
    assert engine.events.index(loaded) < engine.events.index(unloaded)


def test_configuring_the_same_again_changes_nothing(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file))
    request_id = engine.ask(sampling=replace(GREEDY, max_tokens=40))
    engine.wait_text(request_id, 2)
    engine.configure(expert(any_file))
    assert engine.finished(request_id).finish_reason is FinishReason.LENGTH
    assert not any(isinstance(event, ModelUnloaded) for event in engine.events)


def test_the_app_hears_of_a_load_before_the_native_code_can_die_of_it(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    engine.finished(engine.ask("x"))
    begun_at = engine.loads_begun[0]
    assert any(isinstance(event, ModelLoading) for event in engine.events[:begun_at])


# ── the end, and signs of life ────────────────────────────────────────────────────────────────────────────────────────


def test_shutdown_ends_everything_that_is_open(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file, n_parallel=1))
    running = engine.ask()
    engine.wait_text(running, 2)
    waiting = engine.ask()
    engine.send(Shutdown())
    assert engine.finished(running).finish_reason is FinishReason.CANCELLED
    assert engine.finished(waiting).finish_reason is FinishReason.CANCELLED


def test_shutdown_does_not_wait_for_a_load(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(load_s=3600)), expert(any_file))
    request_id = engine.ask()
    engine.wait_for(request_id, Loading)
    engine.send(Shutdown())
    assert engine.finished(request_id).finish_reason is FinishReason.CANCELLED


def test_the_phase_tells_what_it_does_and_the_step_counter_moves(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="abc", load_s=0.05)), expert(any_file))
    engine.finished(engine.ask("hello"))
    engine.wait(EngineStats, lambda stats: stats.n_running == 0)
    phases = [phase for phase, _step in engine.phases]
    assert phases[0] == "idle"
    assert phases.index("loading") < phases.index("prefill") < phases.index("decode")
    decode_steps = [step for phase, step in engine.phases if phase == "decode"]
    assert decode_steps == sorted(set(decode_steps))
    assert len(decode_steps) == 3


def test_an_idle_engine_is_silent(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    engine.finished(engine.ask("x"))
    engine.wait(EngineStats, lambda stats: stats.n_running == 0)
    n_stats = sum(isinstance(event, EngineStats) for event in engine.events)
    for n in (1, 2, 3):
        engine.send(UnloadModel("nobody"))
        engine.wait_count(ModelUnloaded, n)
    assert sum(isinstance(event, EngineStats) for event in engine.events) == n_stats


def test_statistics_come_twice_a_second_while_it_works(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file))
    request_id = engine.ask(sampling=replace(GREEDY, max_tokens=250))
    stats = engine.wait(EngineStats, lambda stats: stats.n_running == 1 and stats.prefill_tps == 0)
    assert 20 < stats.decode_tps <= 210
    assert 0 < stats.kv_used <= stats.kv_size == 1024
    end = engine.finished(request_id)
    assert end.timings.decode_ms is not None
    told = [event for event in engine.events if isinstance(event, EngineStats)]
    assert len(told) <= 2 + end.timings.decode_ms / 500 + 1
    assert all(isinstance(event, TextDelta) for event in engine.of(request_id)[4:-1])


# ── going on with an answer ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_stopped_answer_is_gone_on_with_and_only_what_is_new_comes_back(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="one two three four", decode_tps=200)), expert(any_file))
    first = engine.ask("Count.")
    engine.wait_text(first, 6)
    engine.cancel(first)
    begun = engine.finished(first).text
    rest = engine.finished(engine.go_on("Count.", begun))
    assert begun + rest.text == "one two three four"
    assert rest.finish_reason is FinishReason.STOP
    assert rest.timings.n_prompt - rest.timings.n_cached <= 2, "all but the last token lies in cells"


def test_space_at_the_seam_of_an_answer_that_is_gone_on_with_stays(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="one\n\n  two")), expert(any_file))
    assert engine.finished(engine.go_on("Count.", "one")).text == "\n\n  two"


def test_thoughts_are_gone_on_with_as_thoughts(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="<think>\nHm, so.\n</think>\n\nYes.")), expert(any_file))
    end = engine.finished(engine.go_on("Why?", "", thought="Hm,"))
    assert (end.thinking, end.text) == (" so.", "Yes.")


@pytest.mark.parametrize(
    ("messages", "sampling", "reason"),
    [
        ([PromptMessage(Role.USER, "x")], GREEDY, "no answer"),
        (
            [PromptMessage(Role.USER, "x"), PromptMessage(Role.ASSISTANT, "{")],
            replace(GREEDY, json_schema="{}"),
            "grammar",
        ),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused_in_words(
    start_engine: Start, any_file: str, messages: list[PromptMessage], sampling: SamplingParams, reason: str
) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    engine.send(Generate("r", "expert", tuple(messages), sampling, continues=True))
    error = engine.failed("r").error
    assert (error.code, error.facts["reason"]) == (ErrorCode.CANNOT_CONTINUE, reason)


# ── counting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def count(engine: RunningEngine, *texts: str, model_id: str = "expert") -> TokensCounted:
    """What a count finds; the texts are those of a user and an expert in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(PromptMessage(roles[i % 2], text) for i, text in enumerate(texts))
    count_id = f"count of {len(engine.events)}"
    engine.send(CountTokens(count_id, model_id, messages))
    return engine.wait(TokensCounted, lambda event: event.count_id == count_id)


def test_a_count_is_that_of_the_prompt_that_would_be_sent(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=512))
    request_id = engine.ask("hello")
    engine.finished(request_id)
    counted = count(engine, "hello")
    assert counted.n_prompt == counted.n_whole == engine.prompt(request_id).n_prompt
    assert (counted.n_dropped, counted.n_ctx) == (0, 512)


def test_a_count_says_what_would_be_left_out_and_what_is_too_long(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=512))
    engine.load("expert")
    long = count(engine, *["x" * 100] * 9)
    assert long.n_whole is not None
    assert long.n_dropped > 0
    assert long.n_prompt < 512 < long.n_whole
    too_long = count(engine, "x" * 900)
    assert too_long.n_prompt > too_long.n_ctx
    assert too_long.n_dropped == 0


@pytest.mark.parametrize("texts", [("hello",), ("",)])
def test_without_the_expert_in_memory_or_a_prompt_nothing_is_counted_or_loaded(
    start_engine: Start, any_file: str, texts: tuple[str, ...]
) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file))
    if not texts[0]:
        engine.load("expert")
        texts = ("x" * 3_000_000,)
    assert count(engine, *texts).n_whole is None
    assert count(engine, "hello", model_id="nobody").n_whole is None
    assert len(engine.loads_begun) == (len(texts[0]) > 5)
