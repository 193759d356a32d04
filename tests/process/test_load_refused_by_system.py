"""A load that was let through, and then the system has no memory: an address-space limit stands for it."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import LoadParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.worker_state import WorkerState
from layadesk.protocol.events import Failed, Finished
from layadesk.protocol.options import EngineOptions
from layadesk.ui.texts.errors import explain
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import start_engine
from tests.fakes.workers_lab import EngineLab, engine_lab

pytestmark = [
    pytest.mark.llama,
    pytest.mark.logs_warnings,
    pytest.mark.skipif(sys.platform != "linux", reason="prlimit on another process is Linux's"),
]
MIB = 2**20
NEEDS_BYTES = 8 * 2**30
ROOM_BYTES = 256 * MIB  # beyond what the engine has mapped when it has loaded the first expert
N_CTX = 2**18  # KV cells of several GiB


class Engine:
    """Starts the real engine and remembers the processes."""

    def __init__(self, tmp_path: Path) -> None:
        self.pids: list[int] = []
        self._options = EngineOptions("llama", str(tmp_path / "logs"), str(tmp_path / "cache"), None)

    def __call__(self) -> ChildProcess:
        child = start_engine(self._options)
        self.pids.append(child.pid)
        return child

    def limit_address_space(self) -> None:
        """The process may map only a little more than it has mapped now."""
        process = psutil.Process(self.pids[-1])
        limit = process.memory_info().vms + ROOM_BYTES
        process.rlimit(psutil.RLIMIT_AS, (limit, limit))


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


@pytest.fixture
def lab(engine: Engine, tmp_path: Path, smol_gguf: Path) -> Iterator[EngineLab]:
    params = LoadParams(n_ctx=512, n_parallel=1, n_kept=1)
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure(
            (
                ExpertSpec("small", str(smol_gguf), params),
                ExpertSpec("greedy", str(smol_gguf), replace(params, n_ctx=N_CTX), needs_bytes=NEEDS_BYTES),
            )
        )
        yield lab


def test_it_fails_once_with_numbers_and_the_engine_and_its_other_expert_live_on(lab: EngineLab, engine: Engine) -> None:
    assert isinstance(lab.ask("small", max_tokens=2).wait_end(), Finished)
    engine.limit_address_space()
    end = lab.ask("greedy", max_tokens=2).wait_end()
    assert isinstance(end, Failed)
    assert end.error.code is ErrorCode.OUT_OF_MEMORY
    assert end.error.facts["expert"] == "greedy"
    assert end.error.facts["needs_bytes"] == NEEDS_BYTES
    free = end.error.facts["free_bytes"]
    assert isinstance(free, int)
    assert free > 0
    assert "alloc" in str(end.error.facts["detail"])
    assert "needed 8.0 GiB, RAM free " in explain(end.error).detail
    assert isinstance(lab.ask("small", max_tokens=2).wait_end(), Finished)
    assert len(engine.pids) == 1
    assert lab.client.status.state is WorkerState.READY
    assert not lab.client.is_suspect("greedy"), "it may be asked again when there is more room"
