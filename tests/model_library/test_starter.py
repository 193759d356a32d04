"""The starter expert: copied whole or not at all, checked against the catalogue, labelled for what it is."""

import hashlib
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, UserError
from layadesk.domain.models import FilePart, ModelCard, ModelFile, Origin
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from tests.fakes.gguf_files import gguf_bytes, write_gguf


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    return DataPaths(tmp_path / "data 数据")


@pytest.fixture
def inventory(paths: DataPaths) -> Inventory:
    return Inventory(paths)


def starter_card(content: bytes, **changes: object) -> ModelCard:
    """A card for a small stand-in."""
    facts: dict[str, object] = {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    part = FilePart("package/Starter.gguf", **(facts | changes))  # type: ignore[arg-type]  # facts by name
    file = ModelFile("Q4_0", (part,), "python-package:x")
    return ModelCard("starter", "The Starter", "python-package:x", "mit", ("en",), "tiny", (file,))


def test_the_starter_is_copied_checked_and_labelled(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    content = gguf_bytes()
    source = tmp_path / "unpacked.gguf"
    source.write_bytes(content)
    model = inventory.add_starter(source, card=starter_card(content))
    target = paths.models / "starter" / "Starter.gguf"
    assert (model.path, target.read_bytes()) == (str(target), content)
    assert (model.model_id, model.name, model.note) == ("starter", "The Starter", "tiny")
    assert model.origin is Origin.STARTER
    source.unlink()
    assert inventory.add_starter(source, card=starter_card(content)) == model  # done already: the source is not needed
    assert [path.name for path in target.parent.iterdir()] == ["Starter.gguf"]


@pytest.mark.parametrize(("change", "reason"), [({"sha256": "0" * 64}, "sha256"), ({"size_bytes": 5}, "size")])
def test_a_file_that_is_not_the_starter_is_refused_and_leaves_nothing(
    inventory: Inventory, paths: DataPaths, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    source = write_gguf(tmp_path / "unpacked.gguf")
    with pytest.raises(UserError) as caught:
        inventory.add_starter(source, card=starter_card(source.read_bytes(), **change))
    assert (caught.value.code, caught.value.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, reason)
    assert [path for path in paths.models.glob("**/*") if path.is_file()] == []


def test_a_half_copied_starter_is_copied_again(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "unpacked.gguf")
    target = paths.models / "starter" / "Starter.gguf"
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes()[:50])
    inventory.add_starter(source, card=starter_card(source.read_bytes()))
    assert target.read_bytes() == source.read_bytes()


def test_a_starter_that_is_deleted_on_request_is_gone_from_the_disk(
    inventory: Inventory, paths: DataPaths, tmp_path: Path
) -> None:
    source = write_gguf(tmp_path / "unpacked.gguf")
    inventory.add_starter(source, card=starter_card(source.read_bytes()))
    inventory.remove("starter", delete_file=True)
    assert list(paths.models.glob("**/*.gguf")) == []
    assert source.exists()


@pytest.mark.llama
def test_the_real_starter_is_installed_as_the_catalogue_has_it(inventory: Inventory, smol_gguf: Path) -> None:
    model = inventory.add_starter(smol_gguf)
    assert (model.model_id, model.quantization, model.size_bytes) == ("smollm2-135m-instruct", "Q4_1", 98362432)
    assert "English" in model.note
