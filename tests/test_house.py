"""The walls of the house: sizes, docstrings, the map, forbidden words and calls, and import contracts that can fail."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
PACKAGE = REPO / "layadesk"
MAX_LINES = 350
HEAVY = ("PySide6", "huggingface_hub", "llama_cpp", "numpy", "pyqtgraph", "torch")
EMPTY_WORDS = {"manager", "helper", "util", "common", "misc", "base", "info", "data", "handler", "do", "perform"}
# in pieces, so that this file does not name them
REGISTRY_HOSTS = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("registry", "npmjs"), ("deb", "debian"))
]
MACHINE_PATHS = [f"/{folder}/" for folder in ("work", "farm", "root", "tmp/w")] + [f"{'.' * 2}/shared"]


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (REPO / folder).rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def contracts() -> list[dict[str, object]]:
    linter = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return list(linter["contracts"])


# ── sizes, docstrings, names ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", modules("layadesk", "packaging"), ids=named)
def test_a_module_holds_one_idea(path: Path) -> None:
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= MAX_LINES, f"{named(path)} has {n_lines} lines; past {MAX_LINES} it holds two ideas"


def room_folders() -> list[Path]:
    return sorted({path.parent for path in modules("layadesk")})


@pytest.mark.parametrize("folder", room_folders(), ids=named)
def test_every_room_says_what_it_is_for(folder: Path) -> None:
    entry = folder / "__init__.py"
    assert entry.is_file(), f"import-linter does not see {named(folder)} without an __init__.py"
    assert ast.get_docstring(ast.parse(entry.read_text(encoding="utf-8"))), f"{named(entry)} has no docstring"


def test_no_module_is_named_by_a_word_that_says_nothing() -> None:
    stems = {
        named(path): {word.rstrip("s") for word in path.stem.strip("_").split("_")} for path in modules("layadesk")
    }
    assert not {name: words & EMPTY_WORDS for name, words in stems.items() if words & EMPTY_WORDS}


def drawn_map(text: str) -> list[str]:
    return re.findall(r"^ *(\w+(?: \| \w+)*) {2,}\S", text, re.MULTILINE)


@pytest.mark.parametrize("place", ["layadesk/__init__.py", "README.md"])
def test_the_map_is_the_layers_contract(place: str) -> None:
    layers = next(one["layers"] for one in contracts() if one["type"] == "layers" and one["containers"] == ["layadesk"])
    assert drawn_map((REPO / place).read_text(encoding="utf-8")) == layers


# ── what must not be in the source ────────────────────────────────────────────────────────────────────────────────────


def text_files() -> Iterator[tuple[str, str]]:
    kept = [REPO / name for name in ("README.md", "models.json", "pyproject.toml", ".ci/run", ".gitignore")]
    kept += [path for folder in ("layadesk", "packaging", "tests", "assets") for path in (REPO / folder).rglob("*")]
    for path in kept:
        if path.is_file() and "__pycache__" not in path.parts:
            try:
                yield named(path), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_nothing_names_a_package_registry_or_a_path_of_one_machine() -> None:
    forbidden = REGISTRY_HOSTS + MACHINE_PATHS
    found = [f"{name}: {word}" for name, text in text_files() for word in forbidden if word in text]
    assert not found


def dangers(tree: ast.Module) -> Iterator[str]:
    """Ways in which data from outside could become code."""
    loaders = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in loaders)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in loaders:
            yield str(node.module)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            shell = any(word.arg == "shell" and ast.unparse(word.value) != "False" for word in node.keywords)
            if called in {"eval", "exec", "compile", "yaml.load", "os.system", "os.popen"} or shell:
                yield called


@pytest.mark.parametrize(
    "source",
    [
        "eval(x)",
        "exec(x)",
        "import pickle",
        "from marshal import loads",
        "yaml.load(x)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_the_search_for_dangerous_calls_finds_them(source: str) -> None:
    assert list(dangers(ast.parse(source)))


def test_no_data_from_outside_can_become_code() -> None:
    found = {named(path): list(dangers(ast.parse(path.read_text(encoding="utf-8")))) for path in modules("layadesk")}
    assert not {name: calls for name, calls in found.items() if calls}


def test_the_entry_module_imports_nothing_heavy_because_every_spawned_child_imports_it_again() -> None:
    code = f"import sys, layadesk.__main__; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# ── import contracts: green here, red where a violation is planted ────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Plant:
    """Source written into files of a copy of the package, which must break `contract`."""

    contract: str
    files: dict[str, str]


ROOMS = "Rooms: imports point down the house only"
WINDOW = "Inside the window: shell over pages over bridge over widgets over theme"
DOOR = "The two children have one door"
LLAMA = "Only the adapters touch llama.cpp"
TORCH = "Only the router touches torch and laya"
QT = "Qt stays in the window"
NATIVE = "Native inference stays behind the door"
DOMAIN = "The domain is standard library only, without I/O, threads or a clock"
BOOKS = "The children keep no books and serve no web"
FRONT = "Front rooms speak to use cases, never past them"
CYCLES = "No cycles anywhere"

PLANTS = {
    "a room reaches up": Plant(ROOMS, {"store/planted.py": "import layadesk.usecases"}),
    "two side rooms know each other": Plant(ROOMS, {"telemetry/planted.py": "import layadesk.store"}),
    "an upward import for types only": Plant(
        ROOMS, {"domain/planted.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import layadesk.store"}
    ),
    "a new file beside the rooms": Plant(ROOMS, {"planted.py": ""}),
    "a new room": Plant(ROOMS, {"planted/__init__.py": ""}),
    "the theme knows the shell": Plant(WINDOW, {"ui/theme/planted.py": "import layadesk.ui.shell"}),
    "two pages know each other": Plant(WINDOW, {"ui/chat/planted.py": "import layadesk.ui.monitor"}),
    "a new file in the window": Plant(WINDOW, {"ui/planted.py": ""}),
    "the engine entered by a side door": Plant(DOOR, {"usecases/planted.py": "import layadesk.engine"}),
    "the router entered by a side door": Plant(DOOR, {"workers/planted.py": "import layadesk.router"}),
    "llama.cpp outside the adapters": Plant(LLAMA, {"engine/planted.py": "import llama_cpp"}),
    "torch in the engine": Plant(TORCH, {"engine/planted.py": "import torch"}),
    "Qt in the engine": Plant(QT, {"engine/planted.py": "from PySide6 import QtCore"}),
    "charts in telemetry": Plant(QT, {"telemetry/planted.py": "import pyqtgraph"}),
    "torch inside a function of the window": Plant(NATIVE, {"ui/chat/planted.py": "def late():\n    import torch"}),
    "a thread in the domain": Plant(DOMAIN, {"domain/planted.py": "import threading"}),
    "a library in the domain": Plant(DOMAIN, {"domain/planted.py": "import msgspec"}),
    "a database in the engine": Plant(BOOKS, {"engine/planted.py": "import sqlite3"}),
    "downloads in the router": Plant(BOOKS, {"router/planted.py": "import huggingface_hub"}),
    "a page reads the store": Plant(FRONT, {"ui/chat/planted.py": "import layadesk.store"}),
    "the API sends commands": Plant(FRONT, {"api_server/planted.py": "import layadesk.protocol.commands"}),
    "a cycle inside a room": Plant(
        CYCLES,
        {
            "store/planted_a.py": "import layadesk.store.planted_b",
            "store/planted_b.py": "import layadesk.store.planted_a",
        },
    ),
}


def broken_contracts(root: Path) -> tuple[set[str], str]:
    """Runs import-linter on the package in `root`; the names of the broken contracts, and all it printed."""
    code = "import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint())"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=root,
        env={**os.environ, "COLUMNS": "200", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    verdicts = re.findall(r"^(.*\S) (KEPT|BROKEN)\b.*$", done.stdout, re.MULTILINE)
    assert len(verdicts) == len(contracts()), done.stdout + done.stderr
    return {name for name, verdict in verdicts if verdict == "BROKEN"}, done.stdout


@pytest.fixture
def copied_house(tmp_path: Path) -> Path:
    """The package and its contracts in a place where something may be planted."""
    shutil.copytree(PACKAGE, tmp_path / "layadesk", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_import_contract_is_kept() -> None:
    broken, output = broken_contracts(REPO)
    assert not broken, output


def test_every_contract_has_a_plant_that_would_break_it() -> None:
    assert {plant.contract for plant in PLANTS.values()} == {one["name"] for one in contracts()}


@pytest.mark.parametrize("what", PLANTS)
def test_a_planted_violation_is_caught(what: str, copied_house: Path) -> None:
    plant = PLANTS[what]
    for name, source in plant.files.items():
        path = copied_house / "layadesk" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""Planted."""\n{source}\n', encoding="utf-8")
    broken, output = broken_contracts(copied_house)
    assert plant.contract in broken, output
