"""The program's start and end: what is imported when, signals, screens and libraries that are not there."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.ui import application
from layadesk.ui.texts.missing_library import missing_library, plain_sentences
from tests.ui.conftest import Stage

REPO = Path(__file__).resolve().parents[2]
HEAVY = ("psutil", "numpy", "pyqtgraph", "llama_cpp", "torch", "pynvml")

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from tests.fakes.usecases import House

house = House(Path(sys.argv[1]))
order = []

def after_first_paint():
    from PySide6.QtWidgets import QApplication
    windows = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    order.append(["painted", len(windows), [name for name in {heavy!r} if name in sys.modules]])
    {then}

def before_quit():
    from PySide6.QtWidgets import QApplication
    order.append(["quitting", len([w for w in QApplication.topLevelWidgets() if w.isVisible()]), []])
    house.close()

from layadesk.ui import application
status = application.run(house.use_cases, after_first_paint=after_first_paint, before_quit=before_quit)
print(json.dumps({{"status": status, "order": order}}))
"""


def run_program(tmp_path: Path, then: str) -> dict[str, object]:
    """A process of its own with the whole window; `then` is what happens after the first paint."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=HEAVY, then=then), str(tmp_path)],
        cwd=REPO,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_the_window_is_painted_before_anything_heavy_is_imported_and_ends_in_order(tmp_path: Path) -> None:
    result = run_program(tmp_path, "QApplication.closeAllWindows()")
    assert result == {"status": 0, "order": [["painted", 1, []], ["quitting", 0, []]]}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM from outside")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_closes_the_window_properly(tmp_path: Path, name: str) -> None:
    """Reported fault E07: what was typed is saved also when the session ends."""
    result = run_program(tmp_path, f"os.kill(os.getpid(), signal.{name})")
    assert result["order"] == [["painted", 1, []], ["quitting", 0, []]]


def test_without_a_screen_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LayaDeskError) as caught:
        application.check_display()
    assert caught.value.code is ErrorCode.NO_DISPLAY


def test_a_library_the_window_system_lacks_is_named_before_qt_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        assert name.endswith("libqxcb.so")
        raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    with pytest.raises(LayaDeskError) as caught:
        application.check_display()
    assert caught.value.code is ErrorCode.QT_MISSING_LIBRARY
    assert caught.value.facts["library"] == "libxcb-cursor.so.0"


@pytest.mark.parametrize("platform", ["offscreen", "minimal"])
def test_a_chosen_platform_without_a_screen_is_let_through(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    application.check_display()


@pytest.mark.parametrize(
    ("said", "library", "package"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file or directory", "libEGL.so.1", "libegl1"),
        ("libxkbcommon-x11.so.0: cannot open shared object", "libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libgthread-2.0.so.0: cannot open shared object file", "libgthread-2.0.so.0", "libglib2.0-0"),
        ("libunheard-of.so.7: cannot open", "libunheard-of.so.7", "libegl1"),
    ],
)
def test_a_missing_library_comes_with_the_line_that_installs_it(said: str, library: str, package: str) -> None:
    error = missing_library(ImportError(said))
    assert error.code is ErrorCode.QT_MISSING_LIBRARY
    assert error.facts["library"] == library
    assert package in str(error.facts["packages"]).split()


@pytest.mark.parametrize(
    ("language", "begins"), [("en_US.UTF-8", "The window cannot be opened"), ("zh_CN.UTF-8", "无法打开窗口")]
)
def test_a_missing_library_is_told_even_where_no_part_of_qt_can_be_loaded(language: str, begins: str) -> None:
    code = (
        "import sys\n"
        "from layadesk.ui.texts.missing_library import missing_library, plain_sentences\n"
        "sys.stdout.reconfigure(encoding='utf-8')\n"
        "print(*plain_sentences(missing_library(ImportError('libEGL.so.1: cannot open'))))\n"
        "print([name for name in sys.modules if name.startswith('PySide6')])\n"
    )
    environ = {**os.environ, "LC_ALL": language, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO, env=environ, capture_output=True, encoding="utf-8", check=False
    )
    sentence, modules = done.stdout.splitlines()
    assert sentence.startswith(begins)
    assert "sudo apt-get install -y libegl1" in sentence
    assert modules == "[]"


def test_both_ways_to_tell_a_missing_library_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from layadesk.ui.texts.errors import explain

    monkeypatch.setenv("LC_ALL", "C")
    error = missing_library(ImportError("libEGL.so.1: cannot open"))
    explanation = explain(error.report)
    assert plain_sentences(error) == (explanation.what, explanation.remedy)


def test_an_error_nobody_caught_is_logged_and_told(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    restore = application.install_excepthook(stage.window.show_failure)
    try:
        error = KeyError("private text")
        sys.excepthook(KeyError, error, None)
    finally:
        restore()
    assert "Something went wrong inside LayaDesk." in stage.window.failure.text()
    assert "private text" not in stage.window.failure.text()
    assert "not caught" in caplog.text


def test_the_application_has_its_name_and_its_icon(qapp: QApplication) -> None:
    application.name_application(qapp)
    assert qapp.applicationName() == "LayaDesk"
    assert not qapp.windowIcon().isNull()
