"""A refused load in the window: what it says, its buttons, and the line before Send."""

from functools import partial

from layadesk.domain.chat import MessageStatus
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import bill_of
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import Other, PlanKind, Resident, Task, outlook, with_others
from layadesk.ui.chat.price_watch import price_words
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.usecases.load_gate import LoadOutlook
from tests.domain.memory_fit.facts import GIB, dense
from tests.fakes.examples import REFUSED, load_outlook
from tests.ui.conftest import Stage


def test_the_line_before_send_says_who_answers_what_it_costs_and_who_has_to_go() -> None:
    fits = price_words("coder-7b", load_outlook(23, n_ctx=8192))
    assert fits.startswith("→ coder-7b · needs ")
    assert fits.endswith(" GiB RAM · about 4.0 s to load")
    assert " GiB CUDA0 + " in fits
    idle = Resident("chat-8b", {"CUDA0": 10 * GIB}, is_idle=True)
    assert "unloads chat-8b" in price_words("coder-7b", load_outlook(4, idle, n_ctx=8192))
    refused = price_words("coder-7b", load_outlook(9))
    assert "does not fit" in refused
    assert "free 9.0 GiB" in refused
    assert price_words("coder-7b", None) == "→ coder-7b · is loaded first"


def test_a_refused_answer_shows_the_numbers_and_its_ways_out_as_buttons(stage: Stage) -> None:
    loads, panel = stage.house.loads, stage.window.page.refusal
    loads.outlooks["smol"] = load_outlook(9)
    loads.outlook_feed.publish(load_outlook(9))
    first = stage.send("Hello")
    assert panel.isHidden()
    stage.house.finish(first, MessageStatus.FAILED, REFUSED)
    stage.qtbot.waitUntil(lambda: not panel.isHidden())
    assert "free 9.0 GiB" in panel.text()
    texts = [button.text() for button in panel.buttons()]
    assert texts[0].startswith(("KV cache as", "A context of"))
    assert texts[-1] == "Load it anyway"
    panel.buttons()[0].click()
    ((model_id, plan),) = loads.chosen
    assert (model_id, plan.judgement.may_load) == ("smol", True)
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))  # the answer is made again
    assert panel.isHidden()


def with_other(*, is_installed: bool) -> LoadOutlook:
    """An expert too large for this machine, and a small one, here or in the catalogue."""
    machine = MachineMemory(64 * GIB, 12 * GIB)
    tasks = [
        Task(partial(bill_of, one), machine, LoadParams(n_ctx=2048), n_layers=33)
        for one in (dense(layer_bytes=900 * 2**20), dense(n_layer=4))
    ]
    other = Other(PlanKind.OTHER_EXPERT, "Tiny", tasks[1], "tiny", is_installed=is_installed)
    return LoadOutlook("smol", False, with_others(outlook(tasks[0]), [other]))


def test_another_installed_expert_answers_at_once_and_that_is_no_correction_of_the_route(stage: Stage) -> None:
    panel = stage.window.page.refusal
    stage.house.loads.outlook_feed.publish(with_other(is_installed=True))
    asked: list[tuple[str, str]] = []
    panel.other_requested.connect(lambda answer_id, expert: asked.append((answer_id, expert)))
    first = stage.send("Hello")
    stage.house.finish(first, MessageStatus.FAILED, REFUSED)
    stage.qtbot.waitUntil(lambda: not panel.isHidden())
    assert panel.buttons()[0].text().startswith("Tiny instead · ")
    panel.buttons()[0].click()
    assert [expert for _, expert in asked] == ["tiny"]
    assert panel.isHidden()


def test_a_model_of_the_catalogue_that_would_fit_leads_to_its_card(stage: Stage) -> None:
    panel = stage.window.page.refusal
    stage.house.loads.outlook_feed.publish(with_other(is_installed=False))
    stage.house.finish(stage.send("Hello"), MessageStatus.FAILED, REFUSED)
    stage.qtbot.waitUntil(lambda: not panel.isHidden())
    wanted: list[str] = []
    panel.library_requested.connect(wanted.append)
    assert panel.buttons()[0].text().endswith("to be downloaded first")
    panel.buttons()[0].click()
    assert wanted == ["tiny"]
    assert not panel.isHidden()  # the refusal stands until there is another answer
    assert stage.window.pages.current is Destination.MODELS


def test_load_it_anyway_is_the_last_button_and_is_passed_on(stage: Stage) -> None:
    loads, panel = stage.house.loads, stage.window.page.refusal
    loads.outlook_feed.publish(load_outlook(9))
    stage.house.finish(stage.send("Hello"), MessageStatus.FAILED, REFUSED)
    stage.qtbot.waitUntil(lambda: not panel.isHidden())
    panel.buttons()[-1].click()
    assert loads.waived == ["smol"]
    assert loads.chosen == []


def test_the_panel_speaks_the_language_of_the_window(stage: Stage) -> None:
    panel = stage.window.page.refusal
    stage.house.loads.outlook_feed.publish(load_outlook(9))
    stage.house.finish(stage.send("Hello"), MessageStatus.FAILED, REFUSED)
    stage.qtbot.waitUntil(lambda: not panel.isHidden())
    stage.house.settings.set("ui.language", "zh_CN")
    stage.appearance.apply()
    stage.qtbot.waitUntil(lambda: panel.buttons()[-1].text() == "仍然加载")
    assert "放不下" in panel.text()


def test_the_hint_below_the_composer_names_the_price(stage: Stage) -> None:
    stage.house.loads.outlook_feed.publish(load_outlook(23, n_ctx=8192))
    stage.settle()
    assert "→ SmolLM2 135M · needs " in stage.window.page.composer.hint.text()
