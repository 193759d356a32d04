"""What is offered instead of an expert that does not fit."""

from pathlib import Path

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import PlanKind, outlook, with_others
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from layadesk.usecases.other_ways import OtherWays, task_of
from layadesk.usecases.price_load import LoadQuestion, PriceLoad
from tests.fakes import gguf_models
from tests.fakes.gguf_models import Shape

GIB = 2**30
WISH = LoadParams(n_ctx=2048)


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    made = Inventory(DataPaths(tmp_path / "data"))
    for name, shape in (("large", Shape(40, 8192, 64, 8, 128, 28672, 260)), ("small", Shape(n_vocab=260))):
        made.import_file(gguf_models.chat_model(tmp_path / f"{name}.gguf", shape))
    return made


def test_a_smaller_installed_expert_comes_before_the_catalogue(inventory: Inventory) -> None:
    price = PriceLoad(None)
    large, small = (next(one for one in inventory.list() if name in one.path) for name in ("large.gguf", "small.gguf"))
    facts, machine = price.facts_of(large.path), MachineMemory(64 * GIB, 20 * GIB)
    question = LoadQuestion(facts, large.path, WISH, machine)
    others = OtherWays(inventory, price, Catalogues())
    offered = list(others.of_installed(large, question))
    assert (offered[0].kind, offered[0].model_id, offered[0].is_installed) == (
        PlanKind.OTHER_EXPERT, small.model_id, True,
    )  # fmt: skip
    assert not any(one.is_installed for one in offered[1:])
    found = with_others(outlook(task_of(facts, WISH, machine)), offered)
    assert [(plan.model_id, plan.is_installed) for plan in found.plans] == [(small.model_id, True)]
    assert found.automatic is None  # another expert is never taken without asking


def test_for_the_smallest_of_all_nothing_is_offered(inventory: Inventory) -> None:
    price = PriceLoad(None)
    small = next(one for one in inventory.list() if "small.gguf" in one.path)
    question = LoadQuestion(price.facts_of(small.path), small.path, WISH, MachineMemory(64 * GIB, GIB))
    assert list(OtherWays(inventory, price, Catalogues()).of_installed(small, question)) == []
