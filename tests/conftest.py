"""What every test gets: a fresh home for files, no stray warnings in the log, real small models where they are present.

Order of a whole run: pure tests, rooms, processes, widgets, real windows; the quick ones fail first.
"""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"  # the developer's own is never touched
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # a test that wants a real window starts its own X server

_REPO = Path(__file__).resolve().parent.parent
_MODELS_ENV = "LAYADESK_TEST_MODELS"
_ORDER = (
    ("domain", "protocol", "settings", "packaging"),
    ("paths", "store", "model_library", "telemetry", "usecases"),
    ("engine", "router"),
    ("workers", "process", "cli", "api_server"),
    ("ui",),
    ("screens", "journeys", "window"),
    ("benchmarks",),
)


# The same examples in each run, so that a change is judged and not chance; LAYADESK_EXPLORE=20000 looks for new ones.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile(
    "explore", max_examples=int(os.environ.get("LAYADESK_EXPLORE", "100")), deadline=None
)
hypothesis.settings.load_profile("explore" if "LAYADESK_EXPLORE" in os.environ else "same")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of this file."""
    config.addinivalue_line(
        "markers", "logs_warnings: log records of level WARNING and above are expected in this test"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by what a test costs; the order inside a folder stays."""
    items.sort(key=_cost)


def _cost(item: pytest.Item) -> int:
    if item.get_closest_marker("window") is not None:
        return len(_ORDER)
    parts = item.path.relative_to(_REPO / "tests").parts
    return next((rank for rank, folders in enumerate(_ORDER) if parts[0] in folders), 0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB; the test is skipped where it cannot be had."""
    from tests.fakes.small_disk import small_disk_at  # here, so that this file can be tried in a folder of its own

    with small_disk_at(tmp_path / "disk") as folder:
        yield folder


@pytest.fixture(autouse=True)
def fresh_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's data, cache and settings directories lie in an empty folder; the user's own are never touched."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    if sys.platform == "darwin":
        monkeypatch.setenv("HOME", str(home))
    if sys.platform == "win32":
        monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(home / "local"))
    return home


class _StrayRecords(logging.Handler):
    """Keeps what was logged at WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called by the logging module, on any thread."""
        self.records.append(record)


@pytest.fixture(autouse=True)
def no_stray_log_records(request: pytest.FixtureRequest) -> Iterator[None]:
    """A record ≥ WARNING fails the test, unless it asked for `caplog` or carries the marker `logs_warnings`."""
    stray = _StrayRecords()
    logging.getLogger().addHandler(stray)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(stray)
    expected = "caplog" in request.fixturenames or request.node.get_closest_marker("logs_warnings") is not None
    if stray.records and not expected:
        lines = "\n".join(f"{one.levelname} {one.name}: {one.getMessage()}" for one in stray.records)
        pytest.fail(f"the log holds records that this test does not expect:\n{lines}", pytrace=False)


def _model_file(name: str) -> Path:
    path = Path(os.environ.get(_MODELS_ENV) or _REPO / ".cache" / "test-models") / name
    if not path.is_file():
        pytest.skip(f"{path} is not there ({_MODELS_ENV}); `python packaging/run.py test` fetches it")
    return path


@pytest.fixture(scope="session")
def smol_gguf() -> Path:
    """SmolLM2-135M-Instruct Q4_1: 98 MB, English, the starter expert."""
    return _model_file("smollm2.gguf")


@pytest.fixture(scope="session")
def gemma_gguf() -> Path:
    """Gemma 3 270M Q4_K_M: 253 MB, another architecture and vocabulary than the starter expert."""
    return _model_file("gemma3-270m.gguf")
