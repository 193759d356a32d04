"""The welcome in an empty chat: what suits this machine, one click for all, and the starter answers meanwhile."""

import pytest

from layadesk.domain.downloads import DownloadState
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.memory_fit.machine import GIB
from layadesk.domain.proposal import Proposal
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.welcome.welcome_panel import WelcomePanel
from layadesk.usecases.look_at_library import Suggested
from tests.fakes.examples import NAMES, PROPOSAL
from tests.fakes.machines import RTX_4090
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts, overlaps


@pytest.fixture
def welcome(stage: Stage) -> WelcomePanel:
    stage.house.look.suggested = Suggested(PROPOSAL, RTX_4090, NAMES, 412 * GIB, 8192)
    stage.house.settings.set("ui.welcome", True)
    stage.window.page.centre.refresh()
    stage.settle()
    return stage.window.models.welcome


def is_shown(stage: Stage) -> bool:
    return stage.window.page.centre.currentWidget() is stage.window.models.welcome


def test_it_reads_the_machine_and_says_what_all_of_it_costs(welcome: WelcomePanel, stage: Stage) -> None:
    assert is_shown(stage)
    text = welcome.text()
    for part in (
        "NVIDIA GeForce RTX 4090, 24.0 GiB · 64.0 GiB RAM",
        "Coder 7B",
        "code · Q4_K_M",
        "4.4 GiB",
        "To download: 6.9 GiB (free on the disk: 412.0 GiB). In memory together: 8.9 GiB CUDA0.",
        "already here",
    ):
        assert part in text
    assert welcome.download.text() == "Download all, 6.9 GiB"
    assert stage.house.look.asked[-1] == (8192, "en")


def test_one_click_downloads_all_and_the_starter_answers_meanwhile(welcome: WelcomePanel, stage: Stage) -> None:
    welcome.download.click()
    stage.settle()
    assert stage.house.downloads.calls == ["start coder:Q4_K_M", "start four:Q4_K_M"]
    stage.house.downloads.step("coder:Q4_K_M", n_bytes_done=round(2.2 * GIB))
    stage.settle()
    assert "31 %, 0 of 2 are here." in welcome.text()
    assert not welcome.download.isVisibleTo(stage.window)
    answer_id = stage.send("Hello")
    stage.house.finish(answer_id)
    stage.settle()
    assert not is_shown(stage)
    stage.window.show_new()
    assert is_shown(stage)
    for which in ("coder:Q4_K_M", "four:Q4_K_M"):
        stage.house.downloads.finish(which)
    stage.settle()
    assert "All of them are here." in welcome.text()
    assert is_shown(stage)


def test_what_stops_a_download_is_said_there_too(welcome: WelcomePanel, stage: Stage) -> None:
    welcome.download.click()
    report = ErrorReport(ErrorCode.DISK_FULL)
    stage.house.downloads.step("coder:Q4_K_M", state=DownloadState.PAUSED, failure=report)
    stage.settle()
    assert "full" in welcome.text()


def test_it_is_put_away_for_good_and_found_again_from_the_models(welcome: WelcomePanel, stage: Stage) -> None:
    welcome.later.click()
    stage.settle()
    assert not is_shown(stage)
    assert stage.house.settings.get("ui.welcome") is False
    stage.window.show_new()
    assert not is_shown(stage)
    stage.window.show_page(Destination.MODELS)
    stage.window.models.page.suggest.click()
    stage.settle()
    assert stage.window.pages.current is Destination.CHAT
    assert is_shown(stage)


def test_somebody_with_experts_is_not_welcomed_again(welcome: WelcomePanel, stage: Stage) -> None:
    stage.house.library.install("coder", "Q4_K_M")
    stage.settle()
    assert not is_shown(stage)


def test_all_models_leads_to_the_page(welcome: WelcomePanel, stage: Stage) -> None:
    welcome.models.click()
    assert stage.window.pages.current is Destination.MODELS


def test_nothing_that_fits_is_said_and_no_button_promises_otherwise(welcome: WelcomePanel, stage: Stage) -> None:
    stage.house.look.suggested = Suggested(Proposal(None), RTX_4090, {}, 412 * GIB, 8192)
    welcome.call()
    stage.settle()
    assert "None of the models in the catalogue fits" in welcome.text()
    assert not welcome.download.isVisibleTo(stage.window)


def test_a_look_that_failed_can_be_tried_again(welcome: WelcomePanel, stage: Stage) -> None:
    stage.house.look.error = fail(ErrorCode.CATALOGUE_DAMAGED, path="/models.json")
    welcome.call()
    stage.settle()
    assert welcome.download.text() == "Try again"
    stage.house.look.error = None
    welcome.download.click()
    stage.settle()
    assert welcome.download.text() == "Download all, 6.9 GiB"


@pytest.mark.parametrize("size", [(900, 600), (1280, 800)], ids=str)
@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_is_cut(welcome: WelcomePanel, stage: Stage, language: str, size: tuple[int, int]) -> None:
    stage.window.panel_button.setChecked(False)
    welcome.download.click()
    stage.appearance.choose_language(language)
    stage.window.resize(*size)
    stage.settle()
    found = [cut_texts(welcome), overlaps(welcome)]
    stage.appearance.choose_language(ENGLISH)
    assert found == [[], []]
