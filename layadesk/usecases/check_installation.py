"""Is everything there that a first answer needs? Findings with facts; the sentences are made where they are shown."""

import importlib.metadata
import os
import platform
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from layadesk.domain.errors import Fact
from layadesk.domain.models import Origin
from layadesk.domain.worker_state import WorkerState, WorkerStatus
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from layadesk.protocol.events import EngineReady
from layadesk.usecases.update_file import Asked
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient

PACKAGES = (
    "PySide6-Essentials",
    "llama-cpp-python",
    "torch",
    "numpy",
    "psutil",
    "nvidia-ml-py",
    "pyqtgraph",
    "huggingface-hub",
    "msgspec",
    "jinja2",
)
START_TIMEOUT_S = 40.0
LOW_DISK_BYTES = 2 * 2**30


class Check(StrEnum):
    """What is looked at; `ui/texts.py` has the sentences."""

    PYTHON = "python"
    PACKAGES = "packages"
    OLD_PYNVML = "old_pynvml"
    DATA_DIR = "data_dir"
    DISK = "disk"
    ENGINE = "engine"
    DEVICES = "devices"
    MODULES = "modules"
    GPU_OFFLOAD = "gpu_offload"
    ROUTER = "router"
    EXPERTS = "experts"
    STARTER = "starter"
    UPDATES = "updates"


class Level(StrEnum):
    """`WARN` works but not as well as it could; `FAIL` stands in the way of an answer."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and what was found."""

    check: Check
    level: Level
    facts: Mapping[str, Fact] = field(default_factory=dict)


class CheckInstallation:
    """Runs all checks; starts the engine and the router for it. Blocks for some seconds."""

    def __init__(
        self,
        paths: DataPaths,
        inventory: Inventory,
        engine: EngineClient,
        router: RouterClient,
        *,
        asked_for_updates: Callable[[], Asked | None],
    ) -> None:
        """`asked_for_updates` is None while nobody may be asked."""
        self._data_dir = paths.root
        self._inventory = inventory
        self._engine = engine
        self._router = router
        self._asked_for_updates = asked_for_updates

    def __call__(self) -> tuple[Finding, ...]:
        """The findings in the order in which they should be mended."""
        return (
            _python(),
            *_packages(),
            *_data_dir(self._data_dir),
            *self._children(),
            *self._experts(),
            _updates(self._asked_for_updates()),
        )

    def _children(self) -> list[Finding]:
        engine = _settled(self._engine)
        router = _settled(self._router)
        ready = self._engine.ready
        findings = [_worker(Check.ENGINE, engine, ready)]
        if engine.state is WorkerState.READY and ready is not None:
            findings += [_devices(ready), *_modules(ready), _gpu_offload(ready)]
        findings.append(_worker(Check.ROUTER, router, None))
        return findings

    def _experts(self) -> list[Finding]:
        models = self._inventory.list()
        missing = [model.model_id for model in models if not model.is_present]
        starter = next((model for model in models if model.origin is Origin.STARTER), None)
        level = Level.FAIL if not models or len(missing) == len(models) else Level.WARN if missing else Level.OK
        return [
            Finding(Check.EXPERTS, level, {"n": len(models), "missing": ", ".join(missing)}),
            Finding(
                Check.STARTER,
                Level.OK if starter is not None and starter.is_present else Level.WARN,
                {"path": None if starter is None else starter.path},
            ),
        ]


def _python() -> Finding:
    supported = (3, 11) <= sys.version_info[:2] <= (3, 13)
    facts: dict[str, Fact] = {"version": platform.python_version(), "system": platform.platform()}
    return Finding(Check.PYTHON, Level.OK if supported else Level.FAIL, facts)


def _packages() -> list[Finding]:
    versions: dict[str, Fact] = {}
    for name in PACKAGES:
        versions[name] = _version(name)
    level = Level.OK if all(versions.values()) else Level.FAIL
    findings = [Finding(Check.PACKAGES, level, versions)]
    old = _version("pynvml")
    if old is not None:
        findings.append(Finding(Check.OLD_PYNVML, Level.WARN, {"version": old}))
    return findings


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _data_dir(data_dir: Path) -> list[Finding]:
    facts: dict[str, Fact] = {"path": str(data_dir)}
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        probe = data_dir / f"write-probe-{os.getpid()}"
        try:
            probe.write_bytes(b"x")
        finally:
            probe.unlink(missing_ok=True)
        free = shutil.disk_usage(data_dir).free
    except OSError as error:
        return [Finding(Check.DATA_DIR, Level.FAIL, facts | {"detail": error.strerror or str(error)})]
    level = Level.WARN if free < LOW_DISK_BYTES else Level.OK
    return [Finding(Check.DATA_DIR, Level.OK, facts), Finding(Check.DISK, level, {"free_bytes": free})]


def _settled(client: EngineClient | RouterClient) -> WorkerStatus:
    """The state of a child once it is ready, crashed or given up; what it is now when that takes too long."""
    settled = threading.Event()
    final = {WorkerState.READY, WorkerState.WAITING, WorkerState.GIVEN_UP}

    def on_status(status: WorkerStatus) -> None:
        if status.state in final:
            settled.set()

    unsubscribe = client.status_feed.subscribe(on_status)
    try:
        if client.status.state not in final:
            settled.wait(START_TIMEOUT_S)
        return client.status
    finally:
        unsubscribe()


def _worker(check: Check, status: WorkerStatus, ready: EngineReady | None) -> Finding:
    facts: dict[str, Fact] = {"state": str(status.state)}
    if status.exit is not None:
        facts |= {"exit": str(status.exit.kind), "detail": status.exit.detail}
    if ready is not None:
        facts |= {"backend": ready.backend, "self_test_ms": round(ready.self_test_ms, 1)}
    return Finding(check, Level.OK if status.state is WorkerState.READY else Level.FAIL, facts)


def _devices(ready: EngineReady) -> Finding:
    return Finding(Check.DEVICES, Level.OK, {"devices": ", ".join(ready.devices)})


def _modules(ready: EngineReady) -> list[Finding]:
    """Not being used is no fault of a module: a bundle brings them for machines with and without such a GPU."""
    used = ", ".join(module.name for module in ready.modules if module.problem is None)
    unused = "; ".join(f"{module.name}: {module.problem}" for module in ready.modules if module.problem is not None)
    return [Finding(Check.MODULES, Level.OK, {"used": used, "unused": unused})] if ready.modules else []


def _gpu_offload(ready: EngineReady) -> Finding:
    return Finding(Check.GPU_OFFLOAD, Level.OK, {"supported": ready.supports_gpu_offload})


def _updates(asked: Asked | None) -> Finding:
    """Whom this program has asked by itself, and when: also that it was nobody."""
    if asked is None or not asked.at:
        return Finding(Check.UPDATES, Level.OK, {"is_on": asked is not None})
    level = Level.WARN if asked.problem else Level.OK
    facts: dict[str, Fact] = {"is_on": True, "host": asked.host, "at": asked.at}
    return Finding(Check.UPDATES, level, facts | {"version": asked.version or None, "detail": asked.problem or None})
