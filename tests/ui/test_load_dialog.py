"""How one expert is loaded, chosen in the window with the memory bill beside it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import bill_of
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import Outlook, Task, outlook
from layadesk.ui.preferences.load_dialog import LoadDialog
from layadesk.ui.shell.navigation_rail import Destination
from tests.domain.memory_fit.facts import GIB, dense
from tests.ui.conftest import Stage
from tests.ui.hands import press
from tests.ui.looks import cut_texts


def outlook_of(params: LoadParams, *, free: int = 64 * GIB) -> Outlook:
    machine = MachineMemory(ram_total_bytes=64 * GIB, ram_available_bytes=free)
    facts = dense()
    return outlook(Task(lambda wish: bill_of(facts, wish, None), machine, params, n_layers=len(facts.layers) + 1))


@pytest.fixture
def dialog(stage: Stage) -> LoadDialog:
    stage.house.load_settings.outlook = outlook_of(LoadParams(n_gpu_layers=0))
    stage.window.show_page(Destination.SETTINGS)
    stage.settle()
    stage.window.settings_page.experts.buttons["smol"].click()
    stage.settle()
    found = stage.window.settings_page.experts.dialog
    assert found is not None
    stage.qtbot.waitUntil(lambda: "fits" in found.bill.text())
    return found


def test_the_bill_stands_beside_the_fields_and_follows_them(dialog: LoadDialog, stage: Stage) -> None:
    assert "RAM: needs" in dialog.bill.text()
    assert dialog.numbers["n_ctx"].value() == 8192
    assert dialog.numbers["n_ctx"].maximum() == 8192, "as long as it was trained for"
    assert not dialog.numbers["n_cpu_moe"].isVisible(), "it is no mixture of experts"
    stage.house.load_settings.outlook = outlook_of(LoadParams(n_gpu_layers=0), free=GIB)
    dialog.numbers["n_ctx"].setValue(4096)
    stage.qtbot.waitUntil(lambda: "does not fit" in dialog.bill.text())
    assert stage.house.load_settings.priced[-1].n_ctx == 4096
    assert cut_texts(dialog) == []
    dialog.reject()


def test_what_is_kept_is_kept_for_this_expert_and_said_in_the_list(dialog: LoadDialog, stage: Stage) -> None:
    dialog.numbers["n_ctx"].setValue(2048)
    dialog.kv.setCurrentIndex(dialog.kv.findData("q8_0"))
    dialog.mapping.setCurrentIndex(2)
    press(dialog.keep_button, Qt.Key.Key_Space)
    stage.qtbot.waitUntil(lambda: "smol" in stage.house.load_settings.own)
    expected = replace(LoadParams(), n_ctx=2048, type_k="q8_0", type_v="q8_0", use_mmap=False)
    assert stage.house.load_settings.own == {"smol": expected}
    stage.settle()
    labels = [label.text() for label in stage.window.settings_page.experts.findChildren(type(dialog.told))]
    assert "chosen by you" in labels


def test_the_planners_values_come_back_with_one_button(dialog: LoadDialog, stage: Stage) -> None:
    stage.house.load_settings.own["smol"] = LoadParams(n_ctx=1024)
    dialog.numbers["n_ctx"].setValue(1024)
    dialog.reset_button.click()
    assert dialog.params() == LoadParams()
    assert not dialog.reset_button.isEnabled()
    dialog.keep_button.click()
    stage.settle()
    assert stage.house.load_settings.own == {}


def test_what_cannot_be_loaded_at_all_is_said_in_words(dialog: LoadDialog, stage: Stage) -> None:
    stage.house.load_settings.outlook = None
    dialog.attention.setCurrentIndex(2)
    stage.qtbot.waitUntil(lambda: "is not possible" in dialog.bill.text())
    dialog.reject()
