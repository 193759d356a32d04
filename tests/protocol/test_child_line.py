"""A child's end of the line, in real processes: it answers while its main thread is busy, and leaves with the app."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

from layadesk.domain.worker_state import EXIT_PYTHON_ERROR
from layadesk.protocol.channel import Channel
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import EngineCommand, Ping
from layadesk.protocol.events import EngineEvent, Pong, Queued, TextDelta
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import spawn_child

N_TOKENS = 8000


def busy_child(connection: "Connection[Any, Any]", _: None) -> None:
    """Says that it is there, and is deep in a native call from then on."""
    line: ChildLine[EngineCommand, EngineEvent] = ChildLine(connection, EngineCommand)
    line.start()
    line.set_phase("loading", 3)
    line.send(Queued("a", 0))
    threading.Event().wait(600)


def talking_child(connection: "Connection[Any, Any]", made: "Connection[Any, Any]") -> None:
    """Makes 8000 tokens as fast as it can, and says so beside the line."""
    line: ChildLine[EngineCommand, EngineEvent] = ChildLine(connection, EngineCommand)
    line.start()
    for n in range(N_TOKENS):
        line.send(TextDelta("a", f"{n:04} ", n))
    made.send_bytes(b"all")
    line.send(Queued("b", 0))
    line.close(20.0)


@pytest.fixture
def started() -> Iterator[list[ChildProcess]]:
    """The children of one test; none outlives it."""
    children: list[ChildProcess] = []
    yield children
    for child in children:
        child.process.kill()
        assert child.wait_exit_code(20.0) is not None
        child.process.close()
        child.connection.close()


def start(started: list[ChildProcess], target: Any, options: Any = None) -> tuple[ChildProcess, Channel[Any, Any]]:
    child = spawn_child(target, options, name="layadesk-fake")
    started.append(child)
    return child, Channel(child.connection, EngineEvent)


def test_ping_is_answered_while_the_main_thread_sits_in_a_call(started: list[ChildProcess]) -> None:
    _, channel = start(started, busy_child)
    assert channel.receive() == Queued("a", 0)
    channel.send(Ping(5))
    assert channel.receive() == Pong(5, "loading", 3)


def test_a_child_leaves_at_once_when_its_pipe_ends_whatever_it_does(started: list[ChildProcess]) -> None:
    child, channel = start(started, busy_child)
    channel.receive()
    channel.close()
    assert child.wait_exit_code(1.0) == 0


def test_a_child_whose_app_died_while_it_started_leaves_too(started: list[ChildProcess]) -> None:
    child, channel = start(started, busy_child)
    channel.close()
    assert child.wait_exit_code(20.0) == 0


def test_a_command_that_is_no_message_ends_the_child_loudly(started: list[ChildProcess]) -> None:
    child, channel = start(started, busy_child)
    channel.receive()
    child.connection.send_bytes(b"\xc1")
    assert child.wait_exit_code(20.0) == EXIT_PYTHON_ERROR


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_in_the_terminal_is_the_apps_business(started: list[ChildProcess]) -> None:
    child, channel = start(started, busy_child)
    channel.receive()
    os.kill(child.pid, 2)
    for n in range(500):  # longer than it would take to die of it
        channel.send(Ping(n))
        assert isinstance(channel.receive(), Pong)


def test_a_reader_that_sleeps_through_8000_tokens_stalls_nothing_and_loses_nothing(started: list[ChildProcess]) -> None:
    told, made = multiprocessing.Pipe(duplex=False)
    _, channel = start(started, talking_child, made)
    assert told.poll(20.0), "the loop waits for a reader: nobody has read a single token"
    text, n_messages = "", 0
    while isinstance(event := channel.receive(), TextDelta):
        text += event.text
        n_messages += 1
    assert event == Queued("b", 0)
    assert text == "".join(f"{n:04} " for n in range(N_TOKENS))
    assert n_messages < N_TOKENS / 4, "merged on the way"
    told.close()
    made.close()
