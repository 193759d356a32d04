"""The router client over real children: an answer in time, or the word that there is none, exactly once."""

import functools
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from layadesk.domain.routing import RouterAnswer
from layadesk.domain.worker_state import WorkerState, WorkerStatus
from layadesk.protocol.options import RouterOptions
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.router_client import RouterClient
from layadesk.workers.spawn import start_router
from tests.fakes.workers_lab import Starts, engine_lab, is_running, router_lab
from tests.fakes.workers_listener import PATIENCE_S, Heard

pytestmark = [
    pytest.mark.logs_warnings,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake child uses POSIX signals"),
]


def ask(client: RouterClient, text: str = "hello", deadline_s: float = PATIENCE_S) -> "Heard[RouterAnswer | None]":
    heard: Heard[RouterAnswer | None] = Heard()
    client.route(text, ("before",), heard, deadline_s)
    return heard


def answer_of(heard: "Heard[RouterAnswer | None]") -> RouterAnswer | None:
    return heard.wait_until(bool)[0]


def wait_ready(client: RouterClient) -> None:
    statuses: Heard[WorkerStatus] = Heard()
    stop = client.status_feed.subscribe(statuses)
    if client.status.state is not WorkerState.READY:
        statuses.wait_for(lambda status: status.state is WorkerState.READY)
    stop()


def test_the_first_router_has_no_opinion_and_says_so_in_time(tmp_path: Path) -> None:
    with router_lab(functools.partial(start_router, RouterOptions("none", str(tmp_path / "logs"))), tmp_path) as client:
        answer = answer_of(ask(client))
        assert answer is not None
        assert (answer.router_id, answer.task_probs) == ("none", {})
        assert client.ready is not None
        assert client.ready.router_id == "none"


def test_the_time_of_a_question_begins_when_the_router_that_is_starting_is_ready(tmp_path: Path) -> None:
    starts, deadline_s = Starts(tmp_path, router=True), 0.8
    is_late = threading.Event()

    def start_late() -> ChildProcess:
        assert is_late.wait(PATIENCE_S)
        return starts()

    with router_lab(start_late, tmp_path) as client:
        asked_at = time.monotonic()
        heard = ask(client, deadline_s=deadline_s)
        threading.Timer(deadline_s * 1.2, is_late.set).start()
        assert answer_of(heard) == RouterAnswer("fake", 0.1, {"code": 1.0})
        assert heard.times[0] - asked_at > deadline_s


def test_a_router_that_does_not_become_ready_is_waited_for_only_so_long(tmp_path: Path) -> None:
    with router_lab(Starts(tmp_path, "silent", router=True), tmp_path, starting_s=0.4) as client:
        asked_at = time.monotonic()
        hurried, patient = ask(client, deadline_s=0.001), ask(client, deadline_s=0.8)
        assert answer_of(hurried) is None
        assert hurried.times[0] - asked_at >= 0.4
        assert answer_of(patient) is None
        assert patient.times[0] - asked_at >= 0.8
        assert client.status.state is WorkerState.STARTING


def test_an_answer_that_is_too_late_is_dropped(tmp_path: Path) -> None:
    with router_lab(Starts(tmp_path, router=True), tmp_path) as client:
        wait_ready(client)
        late = ask(client, "late", deadline_s=0.05)
        assert answer_of(late) is None
        assert answer_of(ask(client)) is not None, "asked after it, so the late answer has come and gone"
        assert len(late.all) == 1


def test_a_killed_router_takes_no_question_with_it_and_comes_back(tmp_path: Path) -> None:
    starts = Starts(tmp_path, router=True)
    with router_lab(starts, tmp_path) as client, engine_lab(Starts(tmp_path), tmp_path) as lab:
        wait_ready(client)
        open_question = ask(client, "never")
        stream = lab.ask("endless")
        stream.wait_text()
        os.kill(starts.pids[0], signal.SIGKILL)
        assert answer_of(open_question) is None
        length = len(stream.wait_text())
        stream.wait_text(length + 10)  # the chat goes on
        assert answer_of(ask_until_back(client)) is not None
        assert len(starts.pids) == 2
        assert len(open_question.all) == 1


def ask_until_back(client: RouterClient) -> "Heard[RouterAnswer | None]":
    wait_ready(client)
    return ask(client)


def test_a_router_that_dies_of_every_question_is_given_up_and_the_answer_is_none(tmp_path: Path) -> None:
    with router_lab(Starts(tmp_path, router=True), tmp_path) as client:
        statuses: Heard[WorkerStatus] = Heard()
        client.status_feed.subscribe(statuses)
        for _ in range(4):
            wait_ready(client)
            assert answer_of(ask(client, "die")) is None
        statuses.wait_for(lambda status: status.state is WorkerState.GIVEN_UP)
        assert answer_of(ask(client)) is None, "at once, not after the deadline"
        client.restart()
        wait_ready(client)
        assert answer_of(ask(client)) is not None


def test_a_router_that_is_not_started_or_stopped_answers_none(tmp_path: Path) -> None:
    starts = Starts(tmp_path, router=True)
    client = RouterClient(starts, log_dir=tmp_path / "logs", run_dir=tmp_path / "run")
    assert answer_of(ask(client)) is None
    client.start()
    wait_ready(client)
    open_question = ask(client, "never")
    client.stop()
    assert answer_of(open_question) is None
    assert answer_of(ask(client)) is None
    assert not is_running(starts.pids[0])


def test_a_text_that_cannot_be_sent_is_answered_none(tmp_path: Path) -> None:
    with router_lab(Starts(tmp_path, router=True), tmp_path) as client:
        wait_ready(client)
        assert answer_of(ask(client, "half a pair: \ud800")) is None
        assert answer_of(ask(client)) is not None


def test_an_unknown_router_is_given_up_with_its_own_words(tmp_path: Path) -> None:
    start = functools.partial(start_router, RouterOptions("oracle", str(tmp_path / "logs")))
    with router_lab(start, tmp_path) as client:
        statuses: Heard[WorkerStatus] = Heard()
        client.status_feed.subscribe(statuses)
        given_up = statuses.wait_for(lambda status: status.state is WorkerState.GIVEN_UP)
        assert given_up.exit is not None
        assert any("oracle" in line for line in given_up.exit.log_tail)
