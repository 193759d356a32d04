"""The stand-in for NVIDIA's library, compiled once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.telemetry.nvml import NvmlSensor
from tests.fakes.nvml_library import FakeDriver, build_library, put_in_place


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver of today."""
    return build_library(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def old_nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver without versioned calls."""
    return build_library(tmp_path_factory.mktemp("nvml-old"), "-DFAKE_NVML_OLD")


@pytest.fixture
def driver(nvml_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """The stand-in in the place of NVIDIA's library."""
    put_in_place(nvml_library, monkeypatch)
    return FakeDriver(tmp_path, monkeypatch)


@pytest.fixture
def sensor(driver: FakeDriver, tmp_path: Path) -> Iterator[NvmlSensor]:
    """The sensor on it, with nothing on the PCI bus and no namespaces."""
    found = NvmlSensor(sys_root=tmp_path / "sys", proc_root=tmp_path / "proc", platform="linux")
    yield found
    found.close()
