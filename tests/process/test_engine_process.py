"""The engine client over a real child process that is killed, stopped, garbled and started again."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, LoadParams, PromptMessage, Role
from layadesk.domain.worker_state import ExitKind, WorkerState
from layadesk.protocol.commands import CountTokens, Generate
from layadesk.protocol.events import Failed, Finished, ModelLoaded, ModelLoading, ModelUnloaded, TokensCounted
from layadesk.workers.liveness import Timing
from tests.fakes.workers_lab import HASTY, EngineLab, Starts, engine_lab, is_running, spec
from tests.fakes.workers_listener import Heard

pytestmark = [
    pytest.mark.logs_warnings,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake child uses POSIX signals"),
]

MODEL_EVENTS = ModelLoading | ModelLoaded | ModelUnloaded


def test_a_request_made_before_the_engine_is_ready_is_answered_when_it_is(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        end = lab.ask(max_tokens=3).wait_end()
        assert isinstance(end, Finished)
        assert end.text == "0 1 2 "
        assert lab.client.status.state is WorkerState.READY
        assert lab.client.ready is not None
        assert lab.client.ready.pid == lab.client.status.pid


def test_kill_9_with_four_streams_fails_each_once_keeps_the_text_and_the_next_message_is_answered(
    tmp_path: Path,
) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        streams = [lab.ask("endless") for _ in range(4)]
        so_far = [stream.wait_text(6) for stream in streams]
        killed_at = time.monotonic()
        os.kill(starts.pids[0], signal.SIGKILL)
        assert [stream.wait_failure() for stream in streams] == [ErrorCode.ENGINE_DIED] * 4
        assert all(stream.ended_at - killed_at < 1.0 for stream in streams), "the user is told within a second"
        assert all(stream.check().startswith(text) for stream, text in zip(streams, so_far, strict=True))
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert (ended.kind, ended.detail) == (ExitKind.KILLED, "SIGKILL")
        assert isinstance(lab.ask(max_tokens=2).wait_end(), Finished)
        assert not is_running(starts.pids[0])
        assert len(starts.pids) == 2


def test_the_failure_says_how_the_engine_ended_and_the_status_quotes_its_log(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        os.kill(starts.pids[0], signal.SIGSEGV)
        end = stream.wait_end()
        assert isinstance(end, Failed)
        assert end.error.facts == {"kind": "native_crash", "detail": "SIGSEGV"}
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert any("Segmentation fault" in line for line in ended.log_tail), "faulthandler's words"
        assert len(ended.log_tail) <= 40


def test_after_a_restart_the_engine_is_told_its_experts_again(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        lab.client.configure((spec("a"), spec("b")))
        lab.wait_state(WorkerState.READY)
        os.kill(starts.pids[0], signal.SIGKILL)
        lab.wait_state(WorkerState.WAITING)
        end = lab.ask("count configured", max_tokens=1).wait_end()
        assert isinstance(end, Finished)
        assert end.text == "2 experts"


@pytest.mark.parametrize(("way", "detail"), [("exit 3", "3"), ("signal 6", "SIGABRT")])
def test_a_crash_loop_is_given_up_and_a_button_starts_the_engine_again(tmp_path: Path, way: str, detail: str) -> None:
    starts = Starts(tmp_path, way)
    with engine_lab(starts, tmp_path) as lab:
        held = lab.ask()
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert status.exit.detail == detail
        assert held.wait_failure() is ErrorCode.ENGINE_GAVE_UP
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_GAVE_UP
        assert len(starts.pids) == 4, "more than three crashes"
        starts.ways = [way, "ready"]
        lab.client.restart()
        lab.wait_state(WorkerState.WAITING, times=4)  # the button begins a new count
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)


def test_an_engine_that_cannot_be_started_at_all_is_given_up_too(tmp_path: Path) -> None:
    def no_room() -> None:
        raise BlockingIOError("fork: no room for one more")

    with engine_lab(no_room, tmp_path) as lab:  # type: ignore[arg-type]  # it never returns
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_GAVE_UP
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert status.exit.detail == "BlockingIOError"


def test_a_processor_that_lacks_what_the_build_uses_is_told_and_not_tried_again(tmp_path: Path) -> None:
    starts = Starts(tmp_path, "old processor")
    with engine_lab(starts, tmp_path) as lab:
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_CPU_TOO_OLD
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert (status.exit.kind, status.exit.detail) == (ExitKind.CPU_TOO_OLD, "AVX2, FMA")
        assert len(starts.pids) == 1


@pytest.mark.parametrize("way", ["bad build", "said bad build"])
def test_a_death_in_the_self_test_is_a_bad_build_and_not_tried_again(tmp_path: Path, way: str) -> None:
    starts = Starts(tmp_path, way)
    with engine_lab(starts, tmp_path) as lab:
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_BAD_BUILD
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert status.exit.kind is ExitKind.BAD_BUILD
        assert status.exit.detail == ("SIGSEGV" if way == "bad build" else "71")
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_BAD_BUILD
        assert len(starts.pids) == 1


def test_another_protocol_version_is_refused_at_once(tmp_path: Path) -> None:
    starts = Starts(tmp_path, "old")
    with engine_lab(starts, tmp_path) as lab:
        assert lab.ask().wait_failure() is ErrorCode.PROTOCOL_MISMATCH
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert status.exit.detail == "version 99, not 1"
        assert len(starts.pids) == 1


def test_a_first_word_that_is_no_message_is_refused_at_once(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path, "garbage"), tmp_path) as lab:
        assert lab.ask().wait_failure() is ErrorCode.PROTOCOL_MISMATCH
        lab.wait_state(WorkerState.GIVEN_UP)


def test_garbage_in_mid_stream_ends_the_requests_and_the_engine_comes_back(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        assert lab.ask("garbage").wait_failure() is ErrorCode.ENGINE_DIED
        assert stream.wait_failure() is ErrorCode.ENGINE_DIED
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert ended.kind is ExitKind.PROTOCOL_MISMATCH
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)


def test_half_a_message_does_not_block_the_client_for_ever(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path, timing=HASTY) as lab:
        assert lab.ask("half").wait_failure() is ErrorCode.ENGINE_HUNG
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)


def test_a_stopped_engine_counts_as_hung_and_is_replaced(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path, timing=HASTY) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        os.kill(starts.pids[0], signal.SIGSTOP)
        assert stream.wait_failure() is ErrorCode.ENGINE_HUNG
        assert not is_running(starts.pids[0])
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)


def test_a_decode_step_that_stands_still_counts_as_hung(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path, timing=HASTY) as lab:
        assert lab.ask("stuck").wait_failure() is ErrorCode.ENGINE_HUNG
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert ended.detail == "decode"


def test_a_long_load_is_no_hang(tmp_path: Path) -> None:
    patient_only_with_loads = replace(HASTY, ping_every_s=0.02, silent_s=600.0, stuck_s={"decode": 0.02})
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path, timing=patient_only_with_loads, stop_s=0.0) as lab:
        models: Heard[MODEL_EVENTS] = Heard()
        lab.client.model_feed.subscribe(models)
        lab.client.load("long-load")
        models.wait_for(lambda event: isinstance(event, ModelLoading))
        lab.statuses.refuse_for(0.3, lambda status: status.state is not WorkerState.READY)
        assert len(starts.pids) == 1


def test_a_child_that_never_gets_ready_is_given_up(tmp_path: Path) -> None:
    timing = replace(HASTY, start_s=0.3)
    with engine_lab(Starts(tmp_path, "silent"), tmp_path, timing=timing) as lab:
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_HUNG
        status = lab.wait_state(WorkerState.GIVEN_UP)
        assert status.exit is not None
        assert (status.exit.kind, status.exit.detail) == (ExitKind.HUNG, "starting")


def test_a_full_pipe_to_a_deaf_engine_holds_up_nobody_and_is_a_hang(tmp_path: Path) -> None:
    starts = Starts(tmp_path, "deaf", "ready")
    with engine_lab(starts, tmp_path, timing=replace(HASTY, silent_s=600.0)) as lab:
        lab.wait_state(WorkerState.READY)
        streams = [lab.ask(text="x" * 1_000_000) for _ in range(3)]
        assert [stream.wait_failure() for stream in streams] == [ErrorCode.ENGINE_HUNG] * 3
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert ended.detail == "full pipe"


def test_death_while_loading_makes_that_expert_suspect_until_its_parameters_change(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        expert = spec("crash-on-load")
        lab.client.configure((expert, spec("count")))
        assert lab.ask("crash-on-load").wait_failure() is ErrorCode.ENGINE_DIED
        assert lab.client.is_suspect("crash-on-load")
        assert not lab.client.is_suspect("count")
        assert lab.ask("crash-on-load").wait_failure() is ErrorCode.MODEL_SUSPECT
        assert isinstance(lab.ask("count", max_tokens=1).wait_end(), Finished)
        assert len(starts.pids) == 2, "it was not loaded again by itself"
        lab.client.configure((replace(expert, params=LoadParams(n_ctx=512)), spec("count")))
        assert not lab.client.is_suspect("crash-on-load")
        lab.client.configure((expert, spec("count")))
        assert lab.client.is_suspect("crash-on-load")
        lab.client.clear_suspect("crash-on-load")
        assert lab.ask("crash-on-load").wait_failure() is ErrorCode.ENGINE_DIED


def test_a_crash_before_the_engine_could_say_that_it_loads_makes_that_expert_suspect_too(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        lab.client.configure((spec("crash-unsaid"), spec("count"), spec("endless")))
        lab.ask("crash-unsaid").wait_failure()
        assert lab.client.is_suspect("crash-unsaid")
        lab.client.clear_suspect("crash-unsaid")
        running = lab.ask("endless")
        running.wait_text()
        lab.ask("crash-unsaid").wait_failure()
        assert not lab.client.is_suspect("crash-unsaid"), "nobody can tell whether it was the one or the other"


def test_a_held_request_for_a_suspect_is_not_sent_to_the_next_engine(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path, timing=Timing()) as lab:
        expert = spec("crash-on-load")
        lab.client.configure((expert,))
        assert lab.ask("crash-on-load").wait_failure() is ErrorCode.ENGINE_DIED
        lab.wait_state(WorkerState.WAITING)
        lab.client.configure((replace(expert, params=LoadParams(n_ctx=512)),))
        held = lab.ask("crash-on-load")
        lab.settle()
        assert not held.all
        lab.client.configure((expert,))
        assert held.wait_failure() is ErrorCode.MODEL_SUSPECT
        lab.wait_state(WorkerState.READY, times=2)
        assert len(starts.pids) == 2


def test_a_load_of_its_own_that_brings_the_engine_down_is_told(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        failures: Heard[Failed] = Heard()
        lab.client.failure_feed.subscribe(failures)
        lab.client.configure((spec("crash-on-load"),))
        lab.client.load("crash-on-load")
        failures.wait_for(lambda one: one.model_id == "crash-on-load" and one.error.code is ErrorCode.ENGINE_DIED)
        lab.client.load("crash-on-load")
        failures.wait_for(lambda one: one.model_id == "crash-on-load" and one.error.code is ErrorCode.MODEL_SUSPECT)
        assert len(starts.pids) <= 2  # it was not tried again


def test_what_is_loaded_is_known_and_gone_after_a_death(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        models: Heard[MODEL_EVENTS] = Heard()
        lab.client.model_feed.subscribe(models)
        lab.client.load("load")
        models.wait_for(lambda event: isinstance(event, ModelLoaded))
        assert list(lab.client.loaded) == ["load"]
        os.kill(starts.pids[0], signal.SIGKILL)
        models.wait_for(lambda event: event == ModelUnloaded("load"))
        assert not lab.client.loaded


def test_cancel_ends_a_running_request_and_is_silent_for_others(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        lab.client.cancel("nobody")
        lab.client.cancel(stream.request_id)
        lab.client.cancel(stream.request_id)
        end = stream.wait_end()
        assert isinstance(end, Finished)
        assert end.finish_reason is FinishReason.CANCELLED
        assert lab.client.status.state is WorkerState.READY


def test_a_request_that_is_still_held_can_be_cancelled(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path, "silent"), tmp_path, stop_s=0.0) as lab:
        stream = lab.ask()
        lab.client.cancel(stream.request_id)
        end = stream.wait_end()
        assert isinstance(end, Finished)
        assert end.finish_reason is FinishReason.CANCELLED


def test_a_message_that_cannot_be_sent_fails_alone(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        assert lab.ask(text="half a pair: \ud800").wait_failure() is ErrorCode.BAD_PARAMETER
        assert lab.ask(text="x" * 40_000_000).wait_failure() is ErrorCode.BAD_PARAMETER
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)


def test_a_second_request_of_the_same_id_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        first = lab.ask("endless")
        first.wait_text()
        lab._n -= 1
        assert lab.ask("endless").wait_failure() is ErrorCode.DUPLICATE_REQUEST
        first.wait_text(len(first.wait_text()) + 4)
        lab.client.cancel(first.request_id)
        assert isinstance(first.wait_end(), Finished)


def test_a_listener_that_raises_harms_nobody(tmp_path: Path) -> None:
    with engine_lab(Starts(tmp_path), tmp_path) as lab:

        def broken(_: object) -> None:
            raise ValueError("a bug above")

        message = PromptMessage(Role.USER, "hello")
        lab.client.generate(Generate("broken", "count", (message,)), broken)
        assert isinstance(lab.ask(max_tokens=2).wait_end(), Finished)


def test_stop_lets_a_stream_end_as_cancelled_and_leaves_no_process(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        lab.client.stop()
        end = stream.wait_end()
        assert isinstance(end, Finished)
        assert end.finish_reason is FinishReason.CANCELLED
        assert lab.client.status.state is WorkerState.STOPPED
        assert not is_running(starts.pids[0])
        assert not list((tmp_path / "run").iterdir()), "no pid file is left"
        assert lab.ask().wait_failure() is ErrorCode.ENGINE_DIED


def test_stop_ends_a_stopped_child_by_force(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        os.kill(starts.pids[0], signal.SIGSTOP)
        lab.client.stop(0.1)
        assert stream.wait_failure() is ErrorCode.ENGINE_DIED
        assert not is_running(starts.pids[0])
        assert exit_detail(lab) == "-9"


def test_stop_in_a_long_load_does_not_wait_for_it(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        stream = lab.ask("long-load")
        lab.wait_state(WorkerState.READY)
        lab.client.stop(0.1)
        assert stream.wait_failure() is ErrorCode.ENGINE_DIED
        assert not is_running(starts.pids[0])
        assert exit_detail(lab) == "-15", "SIGTERM was enough"


def exit_detail(lab: EngineLab) -> str:
    ended = lab.client.status.exit
    assert ended is not None
    assert ended.kind is ExitKind.STOPPED_BY_US
    return ended.detail


def test_stop_during_the_start_and_during_the_back_off_leaves_nothing(tmp_path: Path) -> None:
    starting = Starts(tmp_path, "silent")
    with engine_lab(starting, tmp_path) as lab:
        held = lab.ask()
        lab.wait_state(WorkerState.STARTING)
        lab.client.stop(0.1)
        assert held.wait_failure() is ErrorCode.ENGINE_DIED
        assert not any(is_running(pid) for pid in starting.pids)
    crashing = Starts(tmp_path, "exit 3")
    with engine_lab(crashing, tmp_path, timing=Timing()) as lab:
        held = lab.ask()
        lab.wait_state(WorkerState.WAITING)
        lab.client.stop()
        assert held.wait_failure() is ErrorCode.ENGINE_DIED
        assert len(crashing.pids) == 1


def test_restart_replaces_a_running_engine(tmp_path: Path) -> None:
    starts = Starts(tmp_path)
    with engine_lab(starts, tmp_path) as lab:
        stream = lab.ask("endless")
        stream.wait_text()
        lab.client.restart()
        assert isinstance(stream.wait_end(), Finished), "cancelled by the engine on its way out"
        assert isinstance(lab.ask(max_tokens=1).wait_end(), Finished)
        assert len(starts.pids) == 2
        assert not is_running(starts.pids[0])


def test_each_count_is_answered_once_also_when_the_engine_dies_of_it(tmp_path: Path) -> None:
    heard: Heard[TokensCounted] = Heard()
    with engine_lab(Starts(tmp_path), tmp_path) as lab:
        lab.client.count_tokens(CountTokens("early", "a", ()), heard)
        for model_id in ("a", "dies-counting"):
            lab.client.load(model_id)
        lab.wait_state(WorkerState.READY)
        models: Heard[object] = Heard()
        lab.client.model_feed.subscribe(models)
        models.wait_until(lambda _: {"a", "dies-counting"} <= set(lab.client.loaded))
        for count_id, model_id in (("here", "a"), ("away", "b"), ("last", "dies-counting")):
            lab.client.count_tokens(CountTokens(count_id, model_id, ()), heard)
        found = heard.wait_until(lambda all_: len(all_) == 4)
    assert {one.count_id: one.n_whole for one in found} == {"early": None, "here": 7, "away": None, "last": None}
    lab.client.count_tokens(CountTokens("late", "a", ()), heard)
    assert heard.wait_until(lambda all_: len(all_) == 5)[-1].count_id == "late"
