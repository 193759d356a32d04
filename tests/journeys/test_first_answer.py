"""From the first start to a finished answer of the real starter expert, in a real window, by keyboard alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.fakes.window_program import REPO, WindowProgram, left_after, window_program

pytestmark = [pytest.mark.window, pytest.mark.llama]

KEEP = "LAYADESK_KEEP_SCREENS"  # a directory: where `assets/screens/` is made anew


def n_colours(file: Path) -> int:
    """How many different colours a picture has; an empty or unpainted window has a handful."""
    image = QImage(str(file))
    return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})


def test_the_first_start_leads_to_a_finished_answer_by_keyboard_alone(
    display: str, starter_data: Path, tmp_path: Path
) -> None:
    with window_program(display, starter_data) as program:
        program.wait_until_shown()
        program.type("Name three colours.")
        program.press("Return")
        first = program.wait_answer(0, "complete")
        assert len(first) > 10
        program.type("And three animals?")
        program.press("Return")
        second = program.wait_answer(1, "complete")
        assert second
        screen = tmp_path / "first-answer.png"
        program.screenshot(screen, (0, 0, 1200, 780))
        assert n_colours(screen) > 100
        if os.environ.get(KEEP):
            program.screenshot(Path(os.environ[KEEP]) / "first-answer.png", (0, 0, 1200, 780))
        family = program.family()
        assert len(family) >= 3
        assert program.quit() == 0
    assert left_after(family, 1.0) == []
    (route, timings, expert), *_ = program.rows("select route, timings, expert_id from message where role='assistant'")
    assert json.loads(str(route))["reason"] == "only_expert"
    assert json.loads(str(timings))["n_decoded"] > 3
    assert expert == "smollm2-135m-instruct"


def stopped_story(program: WindowProgram) -> str:
    """What stands in an answer that Escape stopped after its first words."""
    program.wait_until_shown()
    program.type("Write a very long story about the sea.")
    program.press("Return")
    program.wait_answer(0, "streaming")
    while not program.answers()[0][1]:
        program.wait_answer(0, "streaming")
    program.press("Escape")
    return program.wait_answer(0, "cancelled")


def test_escape_stops_the_answer_and_its_text_is_kept(display: str, starter_data: Path) -> None:
    with window_program(display, starter_data) as program:
        text = stopped_story(program)
        assert text
        program.type("Good. Say yes.")
        program.press("Return")
        assert program.wait_answer(1, "complete")


def test_a_stopped_answer_is_gone_on_with_by_keyboard_and_grows_in_the_same_message(
    display: str, starter_data: Path, tmp_path: Path
) -> None:
    with window_program(display, starter_data) as program:
        begun = stopped_story(program)
        # Back from the message field: attach, menu, again, copy, "Answer again", "Continue".
        program.press(*["shift+Tab"] * 6, "space")
        whole = program.wait_answer(0, "complete")
        if os.environ.get(KEEP):
            program.screenshot(Path(os.environ[KEEP]) / "continued.png", (0, 0, 1200, 780))
        assert whole.startswith(begun)
        assert len(whole) > len(begun)
        assert len(program.answers()) == 1
        second = subprocess.run(
            [sys.executable, "-m", "layadesk", "--data-dir", str(starter_data)],
            env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
            cwd=REPO,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        assert "it is open already" in second.stderr
    ((timings,),) = program.rows("select timings from message where role='assistant'")
    told = json.loads(str(timings))
    assert told["n_before"] > 0
    assert told["n_prompt"] - told["n_cached"] <= 2, "what was written lies in cells"
