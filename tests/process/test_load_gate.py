"""The check before every load, with llama.cpp's own prices and this machine's own memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest

from layadesk.app import Core
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.memory_fit.bill import CPU, Basis
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.routing import OutReason
from layadesk.settings import definitions
from layadesk.usecases.load_gate import LoadOutlook
from layadesk.usecases.load_settings import LoadSettings
from tests.fakes import gguf_models

pytestmark = pytest.mark.llama
WAIT_S = 60.0


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    core = Core(tmp_path / "data")
    try:
        yield core
    finally:
        core.stop()


def install(core: Core, path: Path) -> str:
    return core.experts.import_file(str(path)).result(WAIT_S).model_id


def admitted(core: Core, model_id: str) -> ErrorReport | None:
    decisions: SimpleQueue[ErrorReport | None] = SimpleQueue()
    core.gate.admit(model_id, decisions.put)
    return decisions.get(timeout=WAIT_S)


def test_a_small_expert_is_let_through_and_the_engine_knows_its_price(core: Core, tmp_path: Path) -> None:
    small = install(core, gguf_models.chat_model(tmp_path / "small.gguf"))
    seen: list[LoadOutlook] = []
    core.gate.outlook_feed.subscribe(seen.append)
    assert admitted(core, small) is None
    (found,) = seen
    assert found.outlook is not None
    assert (found.outlook.verdict, found.is_loaded, found.is_refused) == (Verdict.FITS, False, False)
    assert found.outlook.asked.bill.basis is Basis.DRY_RUN
    assert core.gate.last(small) == found


def test_one_that_is_far_too_large_is_refused_with_numbers_and_leaves_the_choice(core: Core, tmp_path: Path) -> None:
    huge = install(core, gguf_models.huge_chat_model(tmp_path / "huge.gguf"))
    assert core.pool.candidates()[0].out is None  # nobody has asked yet
    refusal = admitted(core, huge)
    assert refusal is not None
    assert refusal.code is ErrorCode.LOAD_REFUSED
    facts = refusal.facts
    assert (facts["expert"], facts["device"], facts["item"]) == (huge, CPU, "weights")
    needs, free, reserve, missing = (facts[f"{name}_bytes"] for name in ("needs", "free", "reserve", "missing"))
    assert isinstance(needs, int)
    assert isinstance(free, int)
    assert isinstance(reserve, int)
    assert needs > 2**38
    assert missing == needs + reserve - free
    (candidate,) = core.pool.candidates()
    assert candidate.out is OutReason.DOES_NOT_FIT
    assert candidate.out_facts["needs_bytes"] == needs


def test_load_anyway_really_loads_and_holds_once(core: Core, tmp_path: Path) -> None:  # reported fault A09
    huge = install(core, gguf_models.huge_chat_model(tmp_path / "huge.gguf"))
    core.gate.waive(huge)
    assert admitted(core, huge) is None
    assert admitted(core, huge) is not None
    core.gate.waive_next()
    assert admitted(core, huge) is None


def test_what_nobody_knows_is_said_and_may_be_overridden(core: Core, tmp_path: Path) -> None:  # reported fault A04
    small = install(core, gguf_models.chat_model(tmp_path / "small.gguf"))
    core.machine.read = MachineMemory  # type: ignore[method-assign] # no sensor answers
    refusal = admitted(core, small)
    assert refusal is not None
    assert refusal.code is ErrorCode.LOAD_PRICE_UNKNOWN
    core.gate.waive(small)
    assert admitted(core, small) is None


def test_a_chosen_plan_is_how_the_expert_is_loaded_from_then_on(core: Core, tmp_path: Path) -> None:
    small = install(core, gguf_models.chat_model(tmp_path / "small.gguf"))
    outlook = core.gate.look(small).result(WAIT_S).outlook
    assert outlook is not None
    model = core.pool.installed(small)
    before = core.pool.load_params(model)
    core.gate.choose(small, outlook.asked)
    assert core.pool.load_params(model) == outlook.asked.params == before
    assert core.pool.chosen_params(model) == before


def test_a_file_that_was_damaged_meanwhile_is_refused_for_what_it_is(core: Core, tmp_path: Path) -> None:
    path = gguf_models.chat_model(tmp_path / "small.gguf")
    small = install(core, path)
    path.write_bytes(b"GGUF")
    refusal = admitted(core, small)
    assert refusal is not None
    assert refusal.code is ErrorCode.GGUF_TRUNCATED


def test_what_is_chosen_for_one_expert_is_priced_kept_and_taken_back(core: Core, tmp_path: Path) -> None:
    small = install(core, gguf_models.chat_model(tmp_path / "small.gguf"))
    choices = LoadSettings(core.pool, core.gate)
    found = choices.of(small).result(WAIT_S)
    assert not found.is_own
    assert found.params == found.planned
    wish = replace(found.planned, n_ctx=1024, type_k="q8_0", type_v="q8_0")
    cheap = choices.price(small, wish).result(WAIT_S).asked.bill
    usual = choices.price(small, found.planned).result(WAIT_S).asked.bill
    assert cheap.basis is Basis.DRY_RUN
    assert cheap.on(CPU).kv_bytes < usual.on(CPU).kv_bytes
    choices.keep(small, wish).result(WAIT_S)
    assert core.pool.load_params(core.pool.installed(small)) == wish
    assert choices.experts()[0][1]
    looked = core.gate.look(small).result(WAIT_S).outlook
    assert looked is not None
    assert looked.asked.params == wish
    choices.reset(small)
    assert choices.of(small).result(WAIT_S) == found


def test_a_changed_setting_is_not_held_up_by_what_was_chosen_before_it(core: Core, tmp_path: Path) -> None:
    small = install(core, gguf_models.chat_model(tmp_path / "small.gguf"))
    model = core.pool.installed(small)
    core.pool.choose_params(small, replace(core.pool.load_params(model), n_ctx=600))
    assert core.pool.load_params(model).n_ctx == 600
    core.settings.set(definitions.N_CTX, 700)
    assert core.pool.load_params(model).n_ctx == min(700, model.n_ctx_train or 700)
