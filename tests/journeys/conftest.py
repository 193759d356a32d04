"""One X server for all journeys, and data directories with an expert in them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.gguf_files import write_gguf
from tests.fakes.window_program import REPO, x_server

MAX_TOKENS = 80


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The DISPLAY of a virtual screen."""
    with x_server() as name:
        yield name


@pytest.fixture
def starter_data(tmp_path: Path, smol_gguf: Path) -> Path:
    """A data directory as the set-up leaves it: the starter expert and nothing else. Its path is not plain ASCII."""
    data_dir = tmp_path / "data 目录 🦊"
    import_model(data_dir, smol_gguf, "--origin", "starter")
    values = {"sampling.max_tokens": MAX_TOKENS}  # a tiny model may go on and on
    (data_dir / "settings.json").write_text(json.dumps({"schema": 1, "values": values}), encoding="utf-8")
    return data_dir


@pytest.fixture
def scripted_data(tmp_path: Path) -> Path:
    """A data directory with a small file that stands for an expert of the scripted engine."""
    data_dir = tmp_path / "data"
    import_model(data_dir, write_gguf(tmp_path / "tiny.gguf"))
    return data_dir


def import_model(data_dir: Path, file: Path, *arguments: str) -> None:
    """As a user would."""
    command = [sys.executable, "-m", "layadesk", "models", "import", str(file), "--data-dir", str(data_dir), *arguments]
    subprocess.run(command, check=True, cwd=REPO, timeout=60, capture_output=True)


def script(folder: Path, **options: object) -> str:
    """An `--engine` argument for the scripted engine with these ScriptedOptions."""
    file = folder / "script.json"
    file.write_text(json.dumps(options), encoding="utf-8")
    return f"scripted:{file}"
