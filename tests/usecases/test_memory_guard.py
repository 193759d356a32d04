"""The guard: it pauses, offers, and as a last resort unloads; switched off it only warns."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

import pytest

from layadesk.domain.hardware import EngineWork, HardwareSample
from layadesk.domain.inference import MemoryUse
from layadesk.domain.machine_alerts import Danger
from layadesk.domain.models import InstalledModel, LoadedModel
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.memory_guard import LAST_RESORT_S, GuardState, MemoryGuard
from layadesk.workers.engine_client import EngineClient
from tests.fakes.usecases import expert

GIB = 2**30
WRITING = EngineWork(n_running=1)


class FakeParts:
    """The engine, the answers and the pool as far as the guard asks them."""

    def __init__(self) -> None:
        one = LoadedModel("big", "llama", 2048, 2048, 30, 0, 100, 1, 5.0, "gguf", MemoryUse())
        self.loaded: MappingProxyType[str, LoadedModel] = MappingProxyType({"big": one})
        self.done: list[str] = []
        big = expert("big", name="Big")
        self.models: tuple[InstalledModel, ...] = (
            replace(big, size_bytes=8 * GIB),
            replace(expert("small", name="Small"), size_bytes=GIB),
            replace(expert("medium", name="Medium"), size_bytes=4 * GIB),
        )

    def unload(self, model_id: str) -> None:
        self.done.append(f"unload {model_id}")

    def pause(self) -> None:
        self.done.append("pause")

    def resume(self) -> None:
        self.done.append("resume")

    def present(self) -> tuple[InstalledModel, ...]:
        return self.models

    def configure_engine(self) -> None:
        self.done.append("configure")


class Bench:
    """A guard whose machine a test plays."""

    def __init__(self, folder: Path) -> None:
        self.parts = FakeParts()
        self.settings = Settings(DataPaths(folder))
        self.samples: Feed[HardwareSample] = Feed()
        self.states: list[GuardState] = []
        self.now = 0.0
        self.guard = MemoryGuard(
            self.samples,
            answers=cast("AnswerRequest", self.parts),
            engine=cast("EngineClient", self.parts),
            pool=cast("ExpertPool", self.parts),
            settings=self.settings,
        )
        self.guard.feed.subscribe(self.states.append)

    def pass_time(self, seconds: float, *, available: float, work: EngineWork = WRITING) -> None:
        """Samples of a machine of 64 GiB with so many GiB left."""
        for _ in range(int(seconds * 4)):
            self.now += 0.25
            self.samples.publish(HardwareSample(self.now, 64 * GIB, int(available * GIB), work=work))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_warning_is_told_and_nothing_is_done(bench: Bench) -> None:
    bench.pass_time(30, available=5)
    assert [alert.danger for alert in bench.guard.state.alerts] == [Danger.RAM]
    assert bench.parts.done == []
    assert len(bench.guard.episodes()) == 1


def test_when_memory_runs_out_new_work_waits_and_goes_on_when_it_is_back(bench: Bench) -> None:
    bench.pass_time(3, available=1)
    assert (bench.guard.state.is_pausing, bench.parts.done) == (True, ["pause"])
    bench.pass_time(20, available=40)
    assert (bench.guard.state.is_pausing, bench.parts.done) == (False, ["pause", "resume"])


@pytest.mark.logs_warnings
def test_as_a_last_resort_the_expert_is_unloaded_and_that_is_said_until_it_is_read(bench: Bench) -> None:
    bench.pass_time(LAST_RESORT_S, available=1)
    assert "unload big" not in bench.parts.done
    bench.pass_time(3, available=1)
    assert bench.parts.done == ["pause", "unload big"]
    assert bench.guard.state.unloaded == ("big",)
    bench.parts.loaded = MappingProxyType({})
    bench.pass_time(20, available=40, work=EngineWork())
    assert bench.guard.state == GuardState(unloaded=("big",))
    assert bench.parts.done[-1] == "resume"
    bench.guard.acknowledge()
    assert bench.guard.state == GuardState()


def test_new_work_goes_on_when_memory_is_no_longer_critical_though_it_is_still_short(bench: Bench) -> None:
    bench.pass_time(3, available=1)
    assert bench.parts.done == ["pause"]
    bench.pass_time(9, available=5)
    assert bench.guard.state.is_pausing
    bench.pass_time(2, available=5)
    assert bench.parts.done == ["pause", "resume"]
    assert [alert.danger for alert in bench.guard.state.alerts] == [Danger.RAM]
    bench.pass_time(1, available=1)
    assert bench.parts.done == ["pause", "resume", "pause"]


def test_weights_that_are_back_in_ram_are_no_reason_to_unload(bench: Bench) -> None:
    reading = EngineWork(n_running=1, reads_mapped_weights=True)
    for second in range(60):
        is_short = second < 6  # seen as critical from the fifth second on
        bench.samples.publish(
            HardwareSample(
                float(second),
                64 * GIB,
                40 * GIB,
                weights_bytes=10 * GIB,
                weights_resident_bytes=(5 if is_short else 9) * GIB,
                weights_evicted_bytes=5 * GIB if is_short else 0,
                work=reading,
            )
        )
    assert bench.parts.done == ["pause", "resume"]
    assert bench.guard.state == GuardState()


def test_lack_of_memory_that_is_not_ours_stops_nothing(bench: Bench) -> None:
    bench.pass_time(60, available=1, work=EngineWork())
    assert bench.parts.done == []


def test_switched_off_it_only_warns(bench: Bench) -> None:
    bench.settings.set(definitions.GUARD_ENABLED, False)
    bench.pass_time(60, available=1)
    assert bench.guard.state.alerts
    assert bench.parts.done == []
    bench.settings.set(definitions.GUARD_ENABLED, True)
    bench.pass_time(1, available=1)
    bench.settings.set(definitions.GUARD_ENABLED, False)
    bench.pass_time(1, available=1)
    assert bench.parts.done == ["pause", "resume"]


def test_what_can_be_done_is_offered(bench: Bench) -> None:
    relief = bench.guard.relief()
    assert (relief.n_ctx, relief.smaller, relief.loaded) == (4096, "small", ("big",))
    bench.guard.shrink_context()
    assert bench.settings.get(definitions.N_CTX) == 4096
    assert bench.parts.done == ["configure", "unload big"]
    bench.guard.use_smaller()
    assert bench.settings.get(definitions.DEFAULT_EXPERT) == "small"
    bench.settings.set(definitions.N_CTX, 1024)
    bench.parts.models = bench.parts.models[:1]
    relief = bench.guard.relief()
    assert (relief.n_ctx, relief.smaller) == (None, None)


def test_states_are_told_once_and_not_with_each_sample(bench: Bench) -> None:
    bench.pass_time(60, available=40)
    assert bench.states == []
