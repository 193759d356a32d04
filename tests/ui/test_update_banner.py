"""The notice of a new version: quiet, closed for good by its cross, and its page opened only after a question."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from layadesk import __version__
from layadesk.settings import definitions
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.widgets.banner import Banner
from layadesk.usecases.update_file import Asked, UpdateFile
from layadesk.usecases.watch_updates import WatchUpdates
from tests.ui.conftest import Stage
from tests.ui.hands import click

FEED = "https://releases.example/latest"
PAGE = "https://example.org/layadesk/9.0"


def banner(stage: Stage) -> Banner:
    found = stage.window.findChild(Banner, "banner-update")
    assert found is not None
    return found


def found_before(stage: Stage, page: str = PAGE) -> WatchUpdates:
    """As after a request that has found a new version."""
    house = stage.house
    UpdateFile(Path(house.settings_root) / "updates.json").write(
        Asked(FEED, "releases.example", 1_800_000_000.0, version="9.0", page=page)
    )
    house.settings.set(definitions.UPDATE_FEED, FEED)
    house.settings.set(definitions.UPDATE_NOTICE, True)
    house.updates.feed.publish(house.updates.notice)
    stage.settle()
    return house.updates


def test_without_news_there_is_nothing(stage: Stage) -> None:
    assert banner(stage).isHidden()
    stage.house.updates.feed.publish(None)
    stage.settle()
    assert banner(stage).isHidden()


def test_it_says_which_version_and_who_was_asked_in_both_languages(stage: Stage) -> None:
    found_before(stage)
    said = f"LayaDesk 9.0 is there; this is {__version__}. releases.example was asked, as you wanted."
    assert (banner(stage).isHidden(), banner(stage).text()) == (False, said)
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    assert "9.0" in banner(stage).text()
    assert "releases.example" in banner(stage).text()
    assert banner(stage).text() != said
    assert banner(stage).action.text() == "查看详情…"
    stage.appearance.choose_language(ENGLISH)


def test_its_page_is_opened_only_after_a_question_that_shows_the_address(stage: Stage) -> None:
    found_before(stage)
    assert stage.window.findChild(QMessageBox) is None
    click(banner(stage).action)
    box = stage.window.findChild(QMessageBox)
    assert box is not None
    assert box.informativeText() == PAGE
    box.close()


def test_without_a_page_there_is_nothing_to_press(stage: Stage) -> None:
    found_before(stage, page="")
    assert not banner(stage).isHidden()
    assert banner(stage).action.isHidden()


def test_its_cross_closes_it_for_this_version(stage: Stage) -> None:
    updates = found_before(stage)
    click(banner(stage).cross)
    assert banner(stage).isHidden()
    assert updates.notice is None
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    assert banner(stage).isHidden()
    stage.appearance.choose_language(ENGLISH)


def test_switching_it_off_takes_it_away(stage: Stage) -> None:
    updates = found_before(stage)
    stage.house.settings.set(definitions.UPDATE_NOTICE, False)
    updates.feed.publish(updates.notice)
    stage.settle()
    assert banner(stage).isHidden()


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_the_switch_cannot_be_used_before_there_is_an_address_and_says_so(stage: Stage, language: str) -> None:
    stage.appearance.choose_language(language)
    stage.window.show_page(Destination.SETTINGS)
    stage.settle()
    rows = stage.window.settings_page.rows
    switch, address = rows["updates.notice"], rows["updates.feed"]
    said = switch.description.text()
    assert not switch.editor.isEnabled()
    assert address.name.text() in said
    assert switch.editor.accessibleDescription() == said
    stage.house.settings.set(definitions.UPDATE_FEED, FEED)
    assert switch.editor.isEnabled()
    assert address.name.text() not in switch.description.text()
    stage.house.settings.reset(definitions.UPDATE_FEED)
    assert not switch.editor.isEnabled()
    stage.appearance.choose_language(ENGLISH)
