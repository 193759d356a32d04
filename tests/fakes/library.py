"""A model library on a temporary disk, with a catalogue of small models that a fake hub serves."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from layadesk.domain.downloads import Download, DownloadState
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.download_list import DownloadList
from layadesk.model_library.hub import Hub, HubRules
from layadesk.model_library.install import Installer
from layadesk.model_library.inventory import Inventory
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.verify import Verifier
from layadesk.paths import DataPaths
from layadesk.usecases.download_models import DownloadRooms, Downloads
from tests.fakes.fake_hub import FakeHub, Served
from tests.fakes.gguf_files import gguf_bytes

REPO = "acme/tiny-GGUF"
FILE = "tiny-Q4_K_M.gguf"
SIZE = 3_000_000
WAIT_S = 20.0
TOKEN = "hf_secret"


def big_gguf(n_bytes: int = SIZE, *, seed: int = 1) -> bytes:
    """A valid header and as many bytes after it that are not all alike."""
    front = gguf_bytes()
    block = bytes((number * seed) % 251 for number in range(65536))
    return front + (block * (n_bytes // len(block) + 1))[: max(0, n_bytes - len(front))]


@dataclass
class Shelf:
    """`home` may see the token and is believed about sums; `rules` may be changed at any time."""

    paths: DataPaths
    home: FakeHub
    rules: HubRules
    entries: list[dict[str, Any]] = field(default_factory=list)
    reserve_bytes: int = 0
    n_parallel: int = 2
    opened: list[Downloads] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.catalogues = Catalogues(shipped=self.paths.catalogue)
        self.disk = LibraryDisk(lambda: self.paths.models, lambda: self.reserve_bytes)
        self.inventory = Inventory(self.paths, self.catalogues)

    def offer(self, model_id: str = "tiny", *parts: tuple[str, Served], **facts: Any) -> None:
        """Put a model into the catalogue; its parts are files of `REPO` unless facts say otherwise."""
        listed = [{"path": path, "size_bytes": len(one.data), "sha256": one.sha256} for path, one in parts]
        entry: dict[str, Any] = {
            "model_id": model_id,
            "name": model_id.title(),
            "source": f"huggingface:{REPO}",
            "license": "mit",
            "languages": ["en"],
            "note": "",
            "files": [{"quantization": "Q4_K_M", "parts": listed}],
        }
        self.entries.append(entry | facts)
        self.paths.root.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema_version": 2, "models": self.entries})
        self.paths.catalogue.write_text(text, encoding="utf-8")

    def serve(self, data: bytes | None = None, **facts: Any) -> Served:
        """The usual model, on the hub and in the catalogue."""
        served = self.home.add(REPO, FILE, big_gguf() if data is None else data)
        self.offer("tiny", (FILE, served), **facts)
        return served

    def open(self) -> Downloads:
        """As a program that starts: it finds what the last one left."""
        rooms = DownloadRooms(
            self.catalogues,
            Hub(lambda: self.rules),
            self.disk,
            Installer(self.inventory, self.disk, Verifier(self.catalogues, self.inventory, self.disk)),
            DownloadList(self.paths.downloads),
            lambda: self.n_parallel,
            retry_s=(0.01, 0.02, 0.02),
        )
        self.opened.append(Downloads(rooms))
        return self.opened[-1]

    @property
    def staged(self) -> list[Path]:
        """What unfinished downloads have on disk."""
        return sorted(path for path in (self.paths.models / ".downloads").rglob("*.part"))


def wait_for(downloads: Downloads, which: str, fits: Callable[[Download], bool]) -> Download:
    """The row as soon as it fits."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        row = downloads.find(which)
        if row is not None and fits(row):
            return row
        time.sleep(0.005)
    pytest.fail(f"it stayed {downloads.find(which)}")


def ended(downloads: Downloads, which: str) -> Download:
    """The row when it has ended or paused."""
    last = (DownloadState.INSTALLED, DownloadState.FAILED, DownloadState.PAUSED)
    return wait_for(downloads, which, lambda row: row.state in last)
