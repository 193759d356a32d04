"""Whatever happens in whatever order, every request ends once, in order, with its text; and nothing is left open."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode
from layadesk.domain.worker_state import WorkerState
from layadesk.protocol.events import Finished
from layadesk.workers.child_process import ChildProcess
from tests.fakes.workers_lab import EngineLab, engine_lab, spec
from tests.fakes.workers_listener import PATIENCE_S, RequestListener
from tests.fakes.workers_thread_child import ThreadProcess, quick_engine, start_thread_child

pytestmark = [
    pytest.mark.logs_warnings,
    pytest.mark.skipif(sys.platform == "win32", reason="the thread child's sentinel is a POSIX descriptor"),
]

STEPS = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(["count", "count", "endless", "deadly"])),
    st.tuples(st.just("hear"), st.integers(0, 9)),
    st.tuples(st.just("hear"), st.just(0)),
    st.tuples(st.just("cancel"), st.integers(0, 9)),
    st.tuples(st.just("die"), st.sampled_from([-11, -9, 1, 0])),
    st.tuples(st.sampled_from(["restart", "configure"]), st.just(0)),
)


class Lives:
    """Starts thread children and can end the one that runs."""

    def __init__(self) -> None:
        self.children: list[ChildProcess] = []

    def __call__(self) -> ChildProcess:
        self.children.append(start_thread_child(quick_engine))
        return self.children[-1]

    def die(self, exit_code: int) -> None:
        if self.children:
            process = self.children[-1].process
            assert isinstance(process, ThreadProcess)
            process.die(exit_code)


def take(step: tuple[str, Any], lab: EngineLab, lives: Lives, listeners: list[RequestListener]) -> None:
    match step:
        case ("ask", model_id):
            listeners.append(lab.ask(model_id, max_tokens=None if model_id == "endless" else 3))
        case ("hear", i) if i < len(listeners):
            listeners[i].wait_until(bool)
        case ("cancel", i) if i < len(listeners):
            lab.client.cancel(listeners[i].request_id)
        case ("die", exit_code):
            lives.die(exit_code)
        case ("restart", _):
            lab.client.restart()
        case ("configure", n):
            lab.client.configure(tuple(spec(f"m{i}") for i in range(n)))
        case _:
            pass


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=st.lists(STEPS, max_size=14))
def test_every_request_ends_exactly_once_whatever_happens(tmp_path: Path, steps: list[tuple[str, Any]]) -> None:
    lives, listeners = Lives(), list[RequestListener]()
    with engine_lab(lives, tmp_path) as lab:
        for step in steps:
            take(step, lab, lives, listeners)
    assert lab.client.status.state is WorkerState.STOPPED
    for listener in listeners:
        listener.check()
    assert lab.ask().wait_failure() is ErrorCode.ENGINE_DIED, "after the end too, and at once"
    for child in lives.children:
        assert child.process.exitcode is not None


def test_the_last_words_of_a_child_are_delivered_before_its_death_is_told(tmp_path: Path) -> None:
    for _ in range(30):
        with engine_lab(lambda: start_thread_child(quick_engine), tmp_path) as lab:
            stream = lab.ask("deadly")
            assert stream.wait_failure() is ErrorCode.ENGINE_DIED
            assert stream.check() == "last words"


def test_requests_from_many_threads_while_the_engine_dies_again_and_again(tmp_path: Path) -> None:
    lives = Lives()
    listeners: list[RequestListener] = []
    with engine_lab(lives, tmp_path) as lab:
        lock = threading.Lock()

        def ask_many() -> None:
            for _ in range(10):
                with lock:  # the lab counts, the client needs no lock
                    listener = lab.ask(max_tokens=2)
                    listeners.append(listener)
                listener.wait_end()

        threads = [threading.Thread(target=ask_many) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            lives.die(-11)
            lab.client.restart()
            threads[0].join(0.05)
        for thread in threads:
            thread.join()
    assert len(listeners) == 40
    for listener in listeners:
        listener.check()
    assert any(isinstance(listener.all[-1], Finished) for listener in listeners)


def test_a_listener_may_ask_again_from_its_callback(tmp_path: Path) -> None:
    with engine_lab(lambda: start_thread_child(quick_engine), tmp_path) as lab:
        second: list[RequestListener] = []
        first = lab.ask(max_tokens=1)
        first.wait_end()
        asked = threading.Event()

        def ask_again(_: object) -> None:
            if not second:
                second.append(lab.ask(max_tokens=1))
                lab.client.cancel("unknown")
                asked.set()

        lab.client.status_feed.subscribe(ask_again)
        lab.client.restart()
        assert asked.wait(20)
        assert isinstance(second[0].wait_end(), Finished)


def test_stop_may_be_called_from_a_callback_and_again_and_before_start(tmp_path: Path) -> None:
    with engine_lab(lambda: start_thread_child(quick_engine), tmp_path) as lab:
        lab.client.status_feed.subscribe(lambda _: lab.client.stop())
        lab.client.restart()
        lab.wait_state(WorkerState.STOPPED)
        lab.client.stop()
        lab.client.stop()
    lab = EngineLab(lab.client.__class__(Lives(), log_dir=tmp_path, run_dir=tmp_path / "run"))
    held = lab.ask()
    lab.client.stop()
    assert held.wait_failure() is ErrorCode.ENGINE_DIED
    lab.client.start()
    assert lab.client.status.state is WorkerState.STOPPED


def test_no_descriptor_is_left_after_many_lives(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("reads /proc")

    def live() -> None:
        lives = Lives()
        with engine_lab(lives, tmp_path) as lab:
            lab.ask(max_tokens=1).wait_end()
        for child in lives.children:
            assert isinstance(child.process, ThreadProcess)
            child.process.thread.join(PATIENCE_S)  # it closes its own end

    others = set(threading.enumerate())  # of servers that other tests share
    live()
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        live()
    assert len(set(os.listdir("/proc/self/fd"))) <= len(before)
    left = set(threading.enumerate()) - others
    assert not [thread for thread in left if thread.name.startswith(("engine-", "fake-child"))]
