"""The command line as a shell sees it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gguf_files import write_gguf

REPO = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its one JSON object."""
        return json.loads(self.out)


class Shell:
    """Runs `layadesk` commands on one data directory, with the scripted engine unless told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self._script: dict[str, object] = {}

    def script(self, **options: object) -> None:
        """What the scripted engine does from now on."""
        self._script = options

    def run(self, *arguments: str, stdin: str = "", engine: str | None = None, **environ: str) -> Done:
        """Run one command."""
        file = self.folder / "script.json"
        file.write_text(json.dumps(self._script), encoding="utf-8")
        command = [sys.executable, "-m", "layadesk", *arguments]
        if arguments and not arguments[0].startswith("-"):
            command += ["--data-dir", str(self.data_dir), "--engine", engine or f"scripted:{file}"]
        done = subprocess.run(
            command,
            cwd=REPO,
            env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en", **environ},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=90,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def install(self, name: str = "tiny") -> None:
        """Import a small stand-in for an expert."""
        file = write_gguf(self.folder / f"{name}.gguf")
        assert self.run("models", "import", str(file)).status == 0


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell on an empty data directory whose path has a space, CJK and an emoji in it."""
    folder = tmp_path / "with space 目录 🦊"
    folder.mkdir()
    return Shell(folder)
