"""How much of a model file is in RAM, on real files and with the kernel's answer played."""

import os
import sys
from pathlib import Path

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.cachestat import CacheStat, InCache
from layadesk.telemetry.sensors import HostDraft
from layadesk.telemetry.weights import WeightsInRam
from tests.fakes.roots import MIB


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "model.gguf"
    file.write_bytes(bytes(4 * MIB))
    return str(file)


def reading(sensor: WeightsInRam, now: float = 0.0, mapped: int | None = None) -> tuple[object, object, object]:
    """Total, resident and evicted bytes."""
    draft = HostDraft()
    draft.put("engine_mapped_bytes", mapped)
    sensor.fill(draft, now)
    return draft["weights_bytes"], draft["weights_resident_bytes"], draft["weights_evicted_bytes"]


def test_without_a_mapped_expert_there_are_no_weights_to_look_for() -> None:
    draft = HostDraft()
    WeightsInRam(tuple).fill(draft, 0.0)
    assert (draft["weights_bytes"], draft.reasons["weights_bytes"]) == (None, Why.NOTHING_MAPPED)


def test_a_file_is_counted_once_and_asked_about_once_a_second(model: str) -> None:
    asked: list[int] = []

    def ask(descriptor: int) -> InCache:
        asked.append(descriptor)
        return InCache(3 * MIB, MIB)

    sensor = WeightsInRam(lambda: (model,), ask)
    for now in (0.0, 0.25, 0.5, 0.75, 1.0):
        assert reading(sensor, now) == (4 * MIB, 3 * MIB, MIB)
    assert len(asked) == 2
    sensor.close()


def test_where_the_kernel_cannot_tell_what_the_engine_has_mapped_is_believed(model: str) -> None:
    def ask(descriptor: int) -> InCache:
        raise OSError(38, "no such call")

    sensor = WeightsInRam(lambda: (model,), ask)
    draft = HostDraft()
    draft.put("engine_mapped_bytes", 2 * MIB)
    sensor.fill(draft, 0.0)
    assert (draft["weights_resident_bytes"], draft.reasons["weights_resident_bytes"]) == (2 * MIB, Why.FROM_MAPPINGS)
    assert draft["weights_evicted_bytes"] is None
    sensor.close()


def test_a_file_system_that_hides_its_cache_is_not_believed(model: str) -> None:
    sensor = WeightsInRam(lambda: (model,), lambda descriptor: InCache(0, 0))
    assert reading(sensor, mapped=3 * MIB) == (4 * MIB, 3 * MIB, None)
    sensor.close()


def test_files_are_let_go_when_the_expert_is(model: str) -> None:
    files = [(model,)]
    held: list[int] = []

    def ask(descriptor: int) -> InCache:
        held.append(descriptor)
        return InCache(MIB, 0)

    sensor = WeightsInRam(lambda: files[0], ask)
    reading(sensor)
    files[0] = ()  # type: ignore[assignment] # nothing is loaded any more
    assert reading(sensor, 5.0) == (None, None, None)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(held[0])


def test_a_model_that_the_engine_copied_instead_of_mapping_it_is_not_counted(model: str) -> None:
    answers = iter([False, True])
    sensor = WeightsInRam(lambda: (model,), lambda descriptor: InCache(MIB, 0), lambda path: next(answers))
    assert [reading(sensor, now)[0] for now in (0.0, 9.9, 10.0, 19.0)] == [None, None, 4 * MIB, 4 * MIB]
    sensor.close()


def test_a_file_that_is_gone_is_no_error() -> None:
    assert reading(WeightsInRam(lambda: ("/no/such/model.gguf",), lambda descriptor: InCache(1, 0))) == (
        None,
        None,
        None,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
def test_the_kernel_tells_what_was_just_written(model: str) -> None:
    descriptor = os.open(model, os.O_RDONLY)
    try:
        found = CacheStat()(descriptor)
    except OSError as error:
        pytest.skip(f"this kernel has no cachestat, or does not allow it here: {error}")
    finally:
        os.close(descriptor)
    assert 0 <= found.resident_bytes <= 4 * MIB
