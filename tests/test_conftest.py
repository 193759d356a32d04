"""What conftest.py promises, tried on a small folder of tests of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import logging
import os
import pytest

def test_stray_warning():
    logging.getLogger("layadesk.store").warning("the disk is slow")

def test_announced_by_caplog(caplog):
    logging.getLogger("layadesk.store").warning("expected")

@pytest.mark.logs_warnings
def test_announced_by_marker():
    logging.getLogger("layadesk.store").error("expected")

def test_information_is_welcome():
    logging.getLogger("layadesk.store").info("saved")

def test_a_model_that_is_absent(smol_gguf):
    raise AssertionError("must have been skipped")

def test_own_home(fresh_home):
    assert os.environ["XDG_DATA_HOME"].startswith(str(fresh_home))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The outcome of a run of TESTS, one line a test, and of two more files that show the order."""
    root = tmp_path_factory.mktemp("other")
    for folder in ("tests/ui", "tests/domain"):
        (root / folder).mkdir(parents=True)
        (root / folder / "test_order.py").write_text("def test_it(): pass\n", encoding="utf-8")
    shutil.copy(Path(__file__).with_name("conftest.py"), root / "tests")
    (root / "tests" / "test_small.py").write_text(TESTS, encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n", encoding="utf-8")
    env = {**os.environ, "LAYADESK_TEST_MODELS": str(root / "nowhere")}
    command = [sys.executable, "-m", "pytest", "-vv", "-ra", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, encoding="utf-8", check=False)
    return done.stdout + done.stderr


def test_a_stray_warning_in_the_log_fails_the_test_that_caused_it(report: str) -> None:
    assert "WARNING layadesk.store: the disk is slow" in report
    assert "ERROR tests/test_small.py::test_stray_warning" in report


@pytest.mark.parametrize("name", ["announced_by_caplog", "announced_by_marker", "information_is_welcome", "own_home"])
def test_what_was_announced_passes(report: str, name: str) -> None:
    assert f"test_{name} PASSED" in report
    assert "1 error" in report.splitlines()[-1]


def test_a_missing_model_skips_and_says_how_to_get_it(report: str) -> None:
    assert "python packaging/run.py test` fetches it" in report


def test_pure_tests_run_before_the_window(report: str) -> None:
    assert report.index("tests/domain/test_order.py") < report.index("tests/ui/test_order.py")
