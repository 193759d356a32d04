"""Engines and backends for the tests of this folder."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend
from layadesk.engine.scripted_backend import ScriptedBackend
from layadesk.protocol.scripted import ScriptedOptions
from tests.fakes.engine_running import RunningEngine


@dataclass(frozen=True)
class BackendCase:
    """A backend and a file it can load."""

    backend: Backend
    path: str

    def scripted_as(self, **options: object) -> Backend:
        """The scripted backend with other options; a real model says what it says."""
        if not isinstance(self.backend, ScriptedBackend):
            return self.backend
        return ScriptedBackend(ScriptedOptions(**options))  # type: ignore[arg-type]  # by name


@pytest.fixture
def any_file(tmp_path: Path) -> str:
    """A file that the scripted backend takes for a model; its name has all that paths may have."""
    path = tmp_path / "mon modèle 模型 🦊.gguf"
    path.touch()
    return str(path)


@pytest.fixture
def start_engine() -> Iterator[Callable[..., RunningEngine]]:
    """Start engine loops; each is closed after the test, and its promises are checked then."""
    running: list[RunningEngine] = []

    def start(backend: Backend, *experts: ExpertSpec, **options: Any) -> RunningEngine:
        running.append(RunningEngine(backend, *experts, **options))
        return running[-1]

    yield start
    for engine in running:
        engine.close()


@pytest.fixture(scope="session")
def llama_backend() -> Backend:
    """llama.cpp, loaded once: its log has one listener per process."""
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # tests share the cores with others
    from layadesk.engine.llama_backend import LlamaBackend

    return LlamaBackend()


@pytest.fixture(params=["scripted", pytest.param("llama", marks=pytest.mark.llama)])
def any_backend(request: pytest.FixtureRequest) -> BackendCase:
    """Each backend with a model for it; what holds for one must hold for the other."""
    if request.param == "scripted":
        return BackendCase(ScriptedBackend(), request.getfixturevalue("any_file"))
    return BackendCase(request.getfixturevalue("llama_backend"), str(request.getfixturevalue("smol_gguf")))
