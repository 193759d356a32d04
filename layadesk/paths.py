"""Where files are: the data directory, and what ships with the program. Nothing else knows."""

import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent


def default_data_dir() -> Path:
    """The per-user data directory of this system, for instance `~/.local/share/LayaDesk`."""
    return Path(platformdirs.user_data_dir("LayaDesk", appauthor=False))


@dataclass(frozen=True, slots=True)
class DataPaths:
    """All places under one data directory. Nothing is created by asking."""

    root: Path

    @property
    def database(self) -> Path:
        """Conversations, routes and messages."""
        return self.root / "layadesk.sqlite3"

    @property
    def backups(self) -> Path:
        """Copies of the database made before each migration."""
        return self.root / "backups"

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.root / "settings.json"

    @property
    def models(self) -> Path:
        """Model files the program installed itself."""
        return self.root / "models"

    @property
    def remote_experts(self) -> Path:
        """The experts that run elsewhere; no keys in it."""
        return self.root / "models" / "remote.json"

    @property
    def keys(self) -> Path:
        """API keys, where the system has no keyring; only its owner may read it."""
        return self.root / "keys.json"

    @property
    def inventory(self) -> Path:
        """The list of installed models, also of those that lie elsewhere."""
        return self.models / "inventory.json"

    @property
    def catalogue(self) -> Path:
        """The user's own catalogue entries, beside those that ship."""
        return self.root / "models.json"

    @property
    def downloads(self) -> Path:
        """The list of downloads, kept over restarts."""
        return self.root / "downloads.json"

    @property
    def expert_table(self) -> Path:
        """What the experts are good at, where the user has set it."""
        return self.models / "experts.json"

    @property
    def router_learned(self) -> Path:
        """What the router has learned from corrections here, and the state before."""
        return self.root / "router" / "learned.json"

    @property
    def server_key(self) -> Path:
        """What is kept of the server's API key."""
        return self.root / "server_key.json"

    @property
    def updates(self) -> Path:
        """When it was last asked for a new version, and what came of it."""
        return self.root / "updates.json"

    @property
    def logs(self) -> Path:
        """`app.log`, `engine.log`, `router.log`, and what native code prints."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Pid files of the children."""
        return self.root / "run"

    @property
    def cache(self) -> Path:
        """What can be made again: the tiny model of the self-test."""
        return self.root / "cache"


def shipped_dir() -> Path:
    """The directory that holds `assets/` and `models.json`: frozen bundle, installed wheel, or source tree."""
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen is not None:
        return Path(frozen)
    installed = _PACKAGE / "_shipped"
    return installed if installed.is_dir() else _PACKAGE.parent


def assets_dir() -> Path:
    """Icons, translations and router weights."""
    return shipped_dir() / "assets"


def shipped_backends() -> tuple[Path, ...]:
    """Backends of ggml (Vulkan, CUDA, ...) that a bundle brings along as modules; a source tree has none."""
    return tuple(sorted(path for path in (shipped_dir() / "backends").glob("*ggml-*") if path.is_file()))


def shipped_starter() -> Path | None:
    """The starter expert that came with the program: bundles have one, a source tree has none."""
    return next(iter(sorted((shipped_dir() / "starter").glob("*.gguf"))), None)


def catalogue_file() -> Path:
    """The catalogue that ships with the program."""
    return shipped_dir() / "models.json"
