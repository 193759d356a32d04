"""What suits a machine, with the catalogue that ships: different machines, different answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.app import Core
from layadesk.domain.memory_fit.machine import GIB, MachineMemory
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import CardKind, Origin
from layadesk.paths import assets_dir
from layadesk.usecases.browse_library import Library, Pricing
from layadesk.usecases.look_at_library import LookAtLibrary, bundled_accuracy
from layadesk.usecases.price_files import PriceFiles
from tests.fakes.machines import CPU_16, RADEON_780M, RTX_4090

N_CTX = 8192


class Rooms:
    """The real library with the real catalogue and planner, on a machine that a test says."""

    def __init__(self, folder: Path) -> None:
        self.core = Core(folder / "data", engine="scripted")
        self.machine = CPU_16
        pricing = Pricing(PriceFiles(self.core.price), lambda: self.machine)
        self.library = Library(self.core.models, self.core.experts, self.core.downloads, pricing, self.core.settings)
        self.look = LookAtLibrary(self.library, assets_dir() / "router" / "figures.json")

    def proposed(self, machine: MachineMemory, language: str = "en") -> list[str]:
        self.machine = machine
        found = self.look.suggest(N_CTX, language=language).result(60)
        return [one.model_id for one in found.proposal.experts]

    def close(self) -> None:
        self.look.close()
        self.library.close()
        self.core.downloads.close()
        self.core.experts.close()


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    rooms = Rooms(tmp_path)
    yield rooms
    rooms.close()


GOLDEN = {
    "4090": (RTX_4090, ["qwen3.8-27b", "qwen3.5-4b"]),
    "780M": (RADEON_780M, ["qwen3.5-9b", "qwen3.5-4b"]),
    "CPU": (CPU_16, ["qwen3.5-4b", "qwen3-4b-instruct-2507"]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_each_machine_is_proposed_what_suits_it(name: str, rooms: Rooms) -> None:
    machine, expected = GOLDEN[name]
    assert rooms.proposed(machine) == expected


def test_what_is_proposed_fits_together_and_the_router_is_the_one_that_was_measured(rooms: Rooms) -> None:
    rooms.machine = RTX_4090
    found = rooms.look.suggest(N_CTX).result(60)
    on_card = next(one for one in found.proposal.together if one.device == "CUDA0")
    assert on_card.total_bytes <= 23.2 * GIB - 0.08 * 24 * GIB
    assert found.proposal.router is not None
    assert (found.proposal.router.router_id, found.proposal.router.download_bytes) == ("bundled", 0)
    assert found.proposal.download_bytes == sum(one.download_bytes or 0 for one in found.proposal.experts)
    assert all(one.model_id in found.names for one in found.proposal.experts)


def test_the_same_model_has_other_badges_on_other_machines(rooms: Rooms) -> None:
    verdicts = []
    for machine in (RTX_4090, RADEON_780M, CPU_16):
        rooms.machine = machine
        asked = (("qwen3.8-27b", "UD-Q4_K_M"), ("qwen3.5-4b", "Q4_K_M"))
        verdicts.append([rooms.library.fit(*one, N_CTX).result(60).verdict for one in asked])
    assert verdicts[0] == [Verdict.FITS, Verdict.FITS]
    assert verdicts[1][0] is not Verdict.FITS
    assert verdicts[2] == [Verdict.REFUSE, Verdict.FITS]


def test_one_look_has_entries_leftovers_and_room(rooms: Rooms) -> None:
    seen = rooms.look().result(60)
    assert {entry.kind for entry in seen.entries} == {CardKind.EXPERT, CardKind.ROUTER}
    assert seen.leftovers == ()
    assert seen.room is not None
    assert not any(model.origin is Origin.DOWNLOADED for entry in seen.entries for model in entry.installed)


def test_the_accuracy_of_the_router_comes_from_its_figures(tmp_path: Path) -> None:
    accuracy = bundled_accuracy(assets_dir() / "router" / "figures.json")
    assert accuracy is not None
    assert 0.6 < accuracy < 0.9
    assert bundled_accuracy(tmp_path / "missing.json") is None
