"""One X server for all journeys, data directories with an expert in them, and the Models page before a fake hub."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.fakes.fake_hub import FakeHub
from tests.fakes.gguf_files import write_gguf
from tests.fakes.models_journey import Journey
from tests.fakes.window_program import REPO, x_server

MAX_TOKENS = 80
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "HF_TOKEN")


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


@pytest.fixture
def closed_journey(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Journey]:
    """The hub serves; the program has not been started yet."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        journey = Journey(tmp_path / "data 数据", hub, qapp, qtbot)
        yield journey
        journey.close()
        journey.theme.deleteLater()


@pytest.fixture
def journey(closed_journey: Journey) -> Journey:
    """The same with the window open."""
    closed_journey.open()
    return closed_journey
