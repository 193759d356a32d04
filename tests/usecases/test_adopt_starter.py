"""The starter that comes with a bundle: there at the first start, and gone for good once it was removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.app import Core
from layadesk.domain.models import Origin


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    core = Core(tmp_path, engine="scripted")
    yield core
    core.stop()


def test_the_first_run_has_an_expert(core: Core, smol_gguf: Path) -> None:
    core.experts.adopt_starter(smol_gguf)
    (model,) = core.experts.list()
    assert model.origin is Origin.STARTER
    assert [one.model_id for one in core.pool.candidates()] == [model.model_id]
    assert Path(model.path).is_relative_to(core.paths.models)


def test_a_starter_that_was_removed_stays_away(core: Core, smol_gguf: Path) -> None:
    core.experts.adopt_starter(smol_gguf)
    (model,) = core.experts.list()
    core.inventory.remove(model.model_id, delete_file=True)
    core.experts.adopt_starter(smol_gguf)
    assert core.experts.list() == ()


def test_without_a_shipped_starter_nothing_is_made(core: Core) -> None:
    core.experts.adopt_starter(None)
    assert not core.paths.models.exists()


@pytest.mark.logs_warnings
def test_a_damaged_starter_stops_nothing(core: Core, tmp_path: Path) -> None:
    damaged = tmp_path / "starter.gguf"
    damaged.write_bytes(b"GGUF")
    core.experts.adopt_starter(damaged)
    assert core.experts.list() == ()
