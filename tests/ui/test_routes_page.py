"""The Routes page: shares, figures, the sentence, and what an empty or failing one says."""

import pytest

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.route_counts import DAY_S, N_DAYS, RouteCounts, RouteRecord, counts_of
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.route.routes_page import RoutesPage
from layadesk.ui.shell.navigation_rail import Destination
from tests.fakes.examples import NOW, records
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts


def shown(stage: Stage, found: RouteCounts) -> RoutesPage:
    stage.house.route_counts.found = found
    stage.window.show_page(Destination.ROUTES)
    stage.settle()
    return stage.window.routes_page


def test_shares_and_figures_stand_as_they_were_kept(stage: Stage) -> None:
    page = shown(stage, counts_of(records(3, 2), now=NOW))
    assert page.experts.accessibleDescription() == "SmolLM2 135M 3 · 60 %; coder 2 · 40 %"
    assert page.tasks.accessibleDescription() == "code 3 · 60 %; chat 2 · 40 %"
    assert page.figures()["Routes you corrected"] == "1"
    assert page.figures()["Time to decide, p50 / p95"] == "2.2 ms / 4.2 ms"
    assert page.sentence.text() == "5 answers, 5 of them chosen by the router."


@pytest.mark.parametrize(("was_chosen", "advice"), [(True, "lower the confidence"), (False, "choose Auto")])
def test_a_one_sided_pool_is_told_with_what_to_do(stage: Stage, was_chosen: bool, advice: str) -> None:
    page = shown(stage, counts_of(records(82, 18, was_chosen=was_chosen), now=NOW))
    assert page.sentence.text().startswith("82 % of your requests went to SmolLM2 135M.")
    assert advice in page.sentence.text()


def test_few_routes_are_no_pattern() -> None:
    assert counts_of(records(9, 0), now=NOW).one_sided is None
    assert counts_of(records(10, 0), now=NOW).one_sided == ("smol", 1.0)


def test_days_are_counted_back_from_now() -> None:
    found = counts_of([RouteRecord(NOW - 0.5 * DAY_S, "a"), RouteRecord(NOW - 13.5 * DAY_S, "b"),
                           RouteRecord(NOW - 20 * DAY_S, "c")], now=NOW)  # fmt: skip
    assert len(found.days) == N_DAYS
    assert found.days[-1] == (("a", 1),)
    assert found.days[0] == (("b", 1),)
    assert found.confidence.p50 is None


def test_an_empty_page_says_so_and_leads_to_the_chat(stage: Stage) -> None:
    page = shown(stage, RouteCounts(0))
    assert not page.empty.isHidden()
    page.empty.button.click()
    assert stage.window.pages.current is Destination.CHAT


def test_a_page_that_cannot_be_read_says_why_and_tries_again(stage: Stage) -> None:
    stage.house.route_counts.error = fail(ErrorCode.DATABASE_DAMAGED, path="/x")
    page = shown(stage, RouteCounts(0))
    assert page.empty.button.text() == "Try again"
    stage.house.route_counts.error = None
    stage.house.route_counts.found = counts_of(records(1, 0), now=NOW)
    page.empty.button.click()
    stage.settle()
    assert page.sentence.isVisible()


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_on_the_page_is_cut(stage: Stage, language: str) -> None:
    page = shown(stage, counts_of(records(82, 18), now=NOW))
    stage.appearance.choose_language(language)
    stage.settle()
    cut = cut_texts(page)
    stage.appearance.choose_language(ENGLISH)
    assert cut == []
