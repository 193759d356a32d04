"""Why an expert answered, in words."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.inference import MemoryUse, Role, Timings
from layadesk.domain.routing import OutReason, RankedExpert, Route, RouteReason
from layadesk.ui.route.route_panel import RoutePanel
from layadesk.ui.route.share_bars import ProbabilityBars
from layadesk.ui.theme.tokens import GAP_M, PANEL_MIN_WIDTH
from tests.ui.conftest import Stage

NAMES = {"smol": "SmolLM2 135M", "coder": "Coder 7B", "gone": "Gone 3B"}


@pytest.fixture
def panel(qtbot: QtBot) -> RoutePanel:
    panel = RoutePanel(name_of=lambda model_id: NAMES[model_id])
    qtbot.addWidget(panel)
    panel.show()
    return panel


def answer(route: Route | None, status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    return Message("a", "c", "q", Role.ASSISTANT, "text", 0.0, status, route=route)


def test_a_router_without_an_opinion_says_so(panel: RoutePanel) -> None:
    route = Route(
        "smol", RouteReason.NO_OPINION, (RankedExpert("smol", None), RankedExpert("coder", None)), route_ms=0.21
    )
    panel.show_answer(answer(route))
    text = panel.text()
    assert text.startswith("SmolLM2 135M The router had no opinion, so the default expert answers")
    assert text.count("no opinion") == 4  # the reason, and task, complexity and domain
    assert "Decided in 0.2 ms" in text
    assert "SmolLM2 135M chosen" in text
    assert "Coder 7B considered" in text


def test_who_was_out_is_told_with_the_reason(panel: RoutePanel) -> None:
    ranking = (
        RankedExpert("coder", 0.8),
        RankedExpert("smol", None, OutReason.NOT_PINNED),
        RankedExpert("gone", None, OutReason.FILE_MISSING),
    )
    panel.show_answer(answer(Route("coder", RouteReason.PINNED, ranking)))
    text = panel.text()
    assert "You chose this expert" in text
    assert "SmolLM2 135M out: another expert is pinned" in text
    assert "Gone 3B out: its file is missing" in text
    assert "Decided in n/a" in text


def test_an_opinion_is_shown_with_its_probability(panel: RoutePanel) -> None:
    route = Route(
        "coder",
        RouteReason.ROUTER,
        (RankedExpert("coder", 0.8),),
        task="code",
        task_probs={"code": 0.93},
        complexity=3,
        domain="programming",
        domain_probs={"programming": 0.88},
        route_ms=0.31,
    )
    panel.show_answer(answer(route))
    assert "Task code 0.93 Complexity medium Domain programming 0.88 Decided in 0.3 ms" in panel.text()


def test_all_probabilities_have_bars_and_the_costs_stand_below(panel: RoutePanel) -> None:
    route = Route(
        "coder",
        RouteReason.ROUTER,
        (RankedExpert("coder", 0.81), RankedExpert("smol", 0.2)),
        task="code",
        task_probs={"math": 0.03, "code": 0.93, "chat": 0.04},
    )
    timings = Timings(load_ms=1200.0, ttft_ms=400.0)
    panel.show_answer(replace(answer(route), timings=timings, memory=MemoryUse(2**30, 2**29)))
    (bars,) = panel.findChildren(ProbabilityBars)
    assert bars.text() == "code 0.93, chat 0.04, math 0.03"
    for text in ("Coder 7B chosen 0.81", "SmolLM2 135M considered 0.20", "First token 0.4 s", "Memory 1.5 GiB"):
        assert text in panel.text()


@pytest.mark.parametrize("name", ["Smollm2 135M 8k Lc100K Mix1 Ep2", "Smollm2_135M_8k_Lc100K_Mix1_Ep2_and_so_on"])
def test_a_long_name_leaves_the_values_their_room(
    panel: RoutePanel, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(NAMES, "smol", name)
    panel.resize(PANEL_MIN_WIDTH - 2 * GAP_M, 600)
    panel.show_answer(answer(Route("smol", RouteReason.NO_OPINION, (RankedExpert("smol", None),), route_ms=0.2)))
    QApplication.processEvents()
    values = [label for label in panel.findChildren(QLabel) if label.text() in ("no opinion", "chosen", "0.2 ms")]
    assert len(values) == 5
    for value in values:
        assert value.width() >= value.fontMetrics().horizontalAdvance(value.text()), value.text()
        assert value.height() < 2 * value.fontMetrics().height()


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (None, "Who answered, and why, stands here after the first answer."),
        (answer(None, MessageStatus.STREAMING), "Choosing an expert…"),
        (answer(None, MessageStatus.FAILED), "This answer failed before an expert was chosen."),
        (answer(None), "No route was kept for this answer."),
    ],
    ids=["none", "streaming", "failed", "old"],
)
def test_no_route_is_said_in_words(panel: RoutePanel, message: Message | None, says: str) -> None:
    panel.show_answer(message)
    assert panel.text() == says


def test_the_panel_follows_the_conversation_that_is_shown(stage: Stage) -> None:
    answer_id = stage.send("Hello")
    stage.house.route(answer_id, Route("smol", RouteReason.ONLY_EXPERT, (RankedExpert("smol", None),), route_ms=0.2))
    stage.qtbot.waitUntil(lambda: "The only expert there is" in stage.window.panel.route.text())
    stage.house.finish(answer_id)
    stage.settle()
    stage.window.page.show_new()
    assert stage.window.panel.route.text() == "Who answered, and why, stands here after the first answer."
