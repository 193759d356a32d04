"""Trouble of the machine on screen: cause, one action, one message for each episode."""

import pytest

from layadesk.domain.alert_watch import Alert
from layadesk.domain.machine_alerts import Danger, Severity
from layadesk.ui.shell.alert_banner import AlertBanner
from layadesk.ui.texts.alerts import alert_words
from layadesk.usecases.memory_guard import GuardState, Relief
from tests.ui.conftest import Stage

REREAD = Alert(Danger.REREAD, Severity.WARN, 5.0, 120.0 * 2**20)
RAM = Alert(Danger.RAM, Severity.CRITICAL, 6.0, 2.1)


def banner(stage: Stage) -> AlertBanner:
    found = stage.window.findChild(AlertBanner)
    assert isinstance(found, AlertBanner)
    return found


def tell(stage: Stage, *alerts: Alert, **rest: object) -> None:
    stage.house.guard.feed.publish(GuardState(alerts, **rest))  # type: ignore[arg-type] # by name
    stage.settle()


def test_a_warning_says_its_cause_and_what_to_do_and_goes_when_it_is_over(stage: Stage) -> None:
    assert banner(stage).isHidden()
    tell(stage, REREAD)
    assert banner(stage).text() == (
        "Files are read again from the disk at 120 MiB/s: the expert's weights do not fit into RAM beside the rest. "
        "Close other programs, or use a smaller expert or a shorter context."
    )
    tell(stage)
    assert banner(stage).isHidden()


def test_a_warning_that_was_closed_comes_back_only_when_it_is_worse(stage: Stage) -> None:
    tell(stage, REREAD)
    banner(stage).cross.click()
    tell(stage, REREAD)
    assert banner(stage).isHidden()
    tell(stage, Alert(Danger.REREAD, Severity.CRITICAL, 5.0, 300.0 * 2**20))
    assert not banner(stage).isHidden()
    tell(stage)
    tell(stage, REREAD)  # a new episode
    assert not banner(stage).isHidden()


def test_while_new_answers_wait_it_says_so_and_offers_three_ways_out(stage: Stage) -> None:
    stage.house.guard.offered = Relief(4096, "smol", ("big",))
    tell(stage, RAM, is_pausing=True)
    assert banner(stage).text().endswith("New answers wait until there is memory again.")
    banner(stage).menu().aboutToShow.emit()
    actions = banner(stage).menu().actions()
    assert [action.text() for action in actions] == [
        "Shorten the context to 4096 tokens and load again",
        "Move to the smaller expert SmolLM2 135M",
        "Stop and unload now; the text is kept",
    ]
    for action in actions:
        action.trigger()
    assert stage.house.guard.chosen == ["shrink", "smaller", "unload"]


def test_what_was_unloaded_is_told_until_it_is_read(stage: Stage) -> None:
    tell(stage, unloaded=("smol",))
    assert banner(stage).text().startswith("Memory ran out, so SmolLM2 135M was stopped and unloaded")
    banner(stage).cross.click()
    assert stage.house.guard.chosen == ["acknowledge"]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("danger", list(Danger))
def test_every_danger_has_words(stage: Stage, danger: Danger, language: str) -> None:
    stage.appearance.choose_language(language)
    text = alert_words(Alert(danger, Severity.WARN, 0.0, 0.5))
    stage.appearance.choose_language("en")
    assert len(text) > 15
    assert "{" not in text
    assert text.isascii() == (language == "en")
