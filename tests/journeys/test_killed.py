"""Processes killed in the middle of an answer: what is left on disk, what goes on, and that nothing is left running."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.fakes.window_program import WindowProgram, left_after, wait_for, window_program
from tests.journeys.conftest import script

pytestmark = pytest.mark.window

TOKENS_PER_S = 100.0
LONG_TEXT = "".join(f"{n:05d} " for n in range(5000))


def first_text(program: WindowProgram) -> str:
    """The first text of the first answer that is on disk."""
    return wait_for(lambda: next((text for _, text in program.answers() if text), None), "text on disk")


def ask(program: WindowProgram, text: str) -> None:
    """Type and send."""
    program.type(text)
    program.press("Return")


def test_a_killed_engine_costs_the_rest_of_one_answer_and_nothing_else(
    display: str, scripted_data: Path, tmp_path: Path
) -> None:
    engine = script(tmp_path, text=LONG_TEXT, decode_tps=TOKENS_PER_S)
    with window_program(display, scripted_data, "--engine", engine) as program:
        program.wait_until_shown()
        ask(program, "count")
        first_text(program)
        victim = program.engine_pid()
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
        text = program.wait_answer(0, "failed")
        assert text
        assert LONG_TEXT.startswith(text)
        (error,) = program.rows("select error from message where role = 'assistant'")
        assert "engine_died" in str(error)
        wait_for(lambda: program.engine_pid() not in {None, victim}, "the engine to come back")
        ask(program, "again")
        wait_for(lambda: len(program.answers()) == 2 and program.answers()[1][1], "the next answer")


def test_a_killed_program_loses_at_most_a_second_of_text_and_leaves_no_process(
    display: str, scripted_data: Path, tmp_path: Path
) -> None:
    engine = script(tmp_path, text=LONG_TEXT, decode_tps=TOKENS_PER_S)
    with window_program(display, scripted_data, "--engine", engine) as program:
        program.wait_until_shown()
        ask(program, "count")
        n_before = len(first_text(program))
        began = time.monotonic()
        threading.Event().wait(2.5)  # no event: this is how long the answer goes on
        family = program.family()
        elapsed = time.monotonic() - began
        program.kill()
        assert len(family) >= 3
        assert left_after(family, 1.0) == []
    ((status, text),) = program.answers()
    assert status == "streaming"
    assert LONG_TEXT.startswith(text)
    n_made = n_before + elapsed * TOKENS_PER_S * 0.8  # the script's speed, less what its steps cost
    assert len(text) >= n_made - 1.0 * TOKENS_PER_S

    with window_program(display, scripted_data, "--engine", engine) as again:
        again.wait_until_shown()
        assert again.wait_answer(0, "interrupted") == text
        assert again.rows("select text from message where role = 'user'") == [("count",)]


def test_a_killed_router_is_not_felt_in_the_chat(display: str, scripted_data: Path, tmp_path: Path) -> None:
    engine = script(tmp_path, text="a short answer")
    with window_program(display, scripted_data, "--engine", engine) as program:
        program.wait_until_shown()
        victim = wait_for(program.router_pid, "the router's pid file")
        os.kill(victim, signal.SIGKILL)
        ask(program, "hello")
        assert program.wait_answer(0, "complete") == "a short answer"
        wait_for(lambda: program.router_pid() not in {None, victim}, "the router to come back")
        ask(program, "again")
        assert program.wait_answer(1, "complete") == "a short answer"


def test_closing_in_mid_answer_keeps_its_text_and_leaves_no_process(
    display: str, scripted_data: Path, tmp_path: Path
) -> None:
    engine = script(tmp_path, text=LONG_TEXT, decode_tps=TOKENS_PER_S)
    with window_program(display, scripted_data, "--engine", engine) as program:
        program.wait_until_shown()
        ask(program, "count")
        first_text(program)
        family = program.family()
        assert program.quit() == 0
    assert left_after(family, 1.0) == []
    ((status, text),) = program.answers()
    assert status == "cancelled"
    assert text
    assert LONG_TEXT.startswith(text)
