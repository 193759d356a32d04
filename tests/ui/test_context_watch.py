"""What the window says of the context before anything is sent."""

from layadesk.domain.context_budget import ContextCount
from tests.ui.conftest import Stage
from tests.ui.hands import type_text


def write(stage: Stage, text: str, found: ContextCount | None) -> None:
    stage.house.counts.found = found
    type_text(stage.window.page.composer.text_box, text)
    stage.qtbot.waitUntil(lambda: stage.house.counts.asked[-1:] == [text])
    stage.settle()


def test_what_is_written_is_counted_after_a_moment_and_an_estimate_says_that_it_is_one(stage: Stage) -> None:
    gauge = stage.window.page.header.gauge
    write(stage, "Hello", ContextCount("smol", 40, 40, 0, 8192, is_exact=False))
    assert gauge.text() == "context about 40 of 8.2k"
    assert stage.house.counts.asked == ["Hello"], "once, and not for every key"
    stage.window.page.composer.set_text("")
    assert gauge.isHidden()


def test_an_exact_count_stands_without_a_reservation(stage: Stage) -> None:
    write(stage, "Hello", ContextCount("smol", 7_600, 7_600, 0, 8192, is_exact=True))
    assert stage.window.page.header.gauge.text() == "context 7.6k of 8.2k, almost full"
    assert stage.window.page.composer.warning.text() == ""


def test_what_will_be_left_out_is_said_with_both_numbers_before_sending(stage: Stage) -> None:  # G02
    write(stage, "Hello", ContextCount("smol", 9_120, 7_000, 4, 8192, is_exact=True))
    warning = stage.window.page.composer.warning
    assert warning.text() == (
        "4 older messages will be left out: 9,120 tokens and an answer exceed the context of 8,192."
    )
    stage.window.page.composer.set_text("")
    assert warning.text() == ""


def test_a_message_that_is_too_long_is_said_to_be_before_it_is_sent(stage: Stage) -> None:
    write(stage, "Hello", ContextCount("smol", 9_120, 9_120, 0, 8192, is_exact=True, fits=False))
    assert "too long: it has 9,120 tokens, and the context holds 8,192" in stage.window.page.composer.warning.text()


def test_while_an_answer_is_made_its_own_numbers_stand_there(stage: Stage) -> None:
    answer_id = stage.send("Hello")
    stage.house.prompt(answer_id, n_prompt=120)
    stage.settle()
    type_text(stage.window.page.composer.text_box, "next")
    assert stage.window.page.header.gauge.text() == "context 120 of 8.2k"
    stage.house.counts.found = ContextCount("smol", 300, 300, 0, 8192, is_exact=True)
    stage.house.finish(answer_id)
    stage.qtbot.waitUntil(lambda: stage.house.counts.asked == ["next"])
    stage.settle()
    assert stage.window.page.header.gauge.text() == "context 300 of 8.2k"
