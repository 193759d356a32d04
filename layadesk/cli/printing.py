"""How results and errors reach the terminal."""

import json
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.paths import DataPaths, shipped_starter

if TYPE_CHECKING:
    from layadesk.app import Core

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


@contextmanager
def running_core(data_dir: Path, engine: str, *, started: bool = True, router: str | None = None) -> "Iterator[Core]":
    """The rooms without a window; the children run inside the block when `started`, `router` for the set one."""
    from layadesk.app import Core  # noqa: PLC0415 - `--help` and bad usage answer without it

    if data_dir.exists() and not data_dir.is_dir():
        raise fail(ErrorCode.DATA_DIR_READ_ONLY, path=str(data_dir))
    core = Core(data_dir, engine=engine, router=router)
    try:
        core.experts.adopt_starter(shipped_starter())
        if started:
            core.start()
        yield core
    finally:
        core.stop()


def print_json(value: Any) -> None:
    """One JSON object on one line; dataclasses and enums as msgspec writes them."""
    print(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def complain(report: ErrorReport, data_dir: Path) -> None:
    """What, why and what to do, on one line of stderr, in the language of the settings."""
    from layadesk.ui.texts.errors import sentence  # noqa: PLC0415 - QtCore only when there is something to say

    speak(data_dir)
    print("layadesk:", harmless(" ".join(sentence(report).split())), file=sys.stderr)


def harmless(text: str) -> str:
    """`text` without what steers a terminal or turns the order of letters: it may come out of a hostile file."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf"} else c for c in text)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns under each other, the first row being their titles."""
    widths = [max(display_width(harmless(row[column])) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [harmless(cell) for cell in row]
        padded = [cell + " " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)]
        print("  ".join(padded).rstrip())


def display_width(text: str) -> int:
    """In the cells of a terminal: a Chinese character takes two, an accent of its own none."""
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def speak(data_dir: Path) -> None:
    """Take the language of the settings for all words from here on."""
    from PySide6.QtCore import QCoreApplication  # noqa: PLC0415

    from layadesk.settings.definitions import UI_LANGUAGE  # noqa: PLC0415
    from layadesk.settings.settings import Settings  # noqa: PLC0415
    from layadesk.ui.language import Language  # noqa: PLC0415

    app = QCoreApplication.instance() or QCoreApplication([])
    Language(app).use(Settings(DataPaths(data_dir)).get(UI_LANGUAGE))
    _kept.append(app)


_kept: list[object] = []  # Qt's application object lives as long as something refers to it
