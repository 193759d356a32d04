"""The two commands and what they pass on."""

import os
from pathlib import Path

import pytest

from setup_steps.checks import check_environment, checks
from setup_steps.commands import data_dir_of, parse
from setup_steps.torch_build import NO_TORCH_INDEX


def test_start_without_arguments_decides_everything_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYADESK_TORCH_INDEX", raising=False)
    options = parse(["start"])
    assert (options.command, options.backend, options.torch_index) == ("start", "auto", NO_TORCH_INDEX)
    assert not any((options.rebuild, options.no_window, options.ignore_missing, options.passed_on))


def test_what_stands_after_the_dashes_is_passed_on_untouched() -> None:
    options = parse(["start", "--backend", "cpu", "--", "--data-dir", "a b", "--backend", "x"])
    assert options.backend == "cpu"
    assert options.passed_on == ("--data-dir", "a b", "--backend", "x")


def test_the_environment_can_name_the_torch_index_and_an_option_overrules_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYADESK_TORCH_INDEX", "https://torch.example/cpu")
    assert parse(["test"]).torch_index == "https://torch.example/cpu"
    assert parse(["test", "--torch-index", "none"]).torch_index == "none"


@pytest.mark.parametrize("arguments", [[], ["begin"], ["start", "--backend", "rocm"], ["test", "--no-window"]])
def test_unknown_words_are_bad_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("passed_on", "data_dir"),
    [
        ((), None),
        (("--data-dir", "my data"), "my data"),
        (("ask", "hello", "--data-dir=my data"), "my data"),
        (("--data-dir",), None),
    ],
)
def test_the_starter_goes_where_the_window_will_look(passed_on: tuple[str, ...], data_dir: str | None) -> None:
    assert data_dir_of(passed_on) == data_dir


def test_the_quick_checks_come_first_and_pytest_gets_its_arguments() -> None:
    names = [check.name for check in checks(["-q"])]
    assert names == ["ruff format", "ruff check", "lint-imports", "mypy", "pytest"]
    assert checks(["-q"])[-1].arguments == ("-m", "pytest", "-q")


@pytest.mark.parametrize(
    ("n_cores", "spread"),
    [(None, ()), (1, ()), (2, ("-n", "2")), (64, ("-n", "4"))],
)
def test_the_whole_suite_runs_on_a_few_workers_where_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, n_cores: int | None, spread: tuple[str, ...]
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: n_cores)
    arguments = checks(())[-1].arguments
    assert arguments[:2] == ("-m", "pytest")
    assert arguments[2:4] == spread
    assert ("--max-worker-restart" in arguments) == bool(spread)  # with it a crash ends the run, and is no wait


def test_the_checks_do_not_see_the_python_settings_of_the_newcomer() -> None:
    env = check_environment({"PYTHONPATH": "elsewhere", "QT_QPA_PLATFORM": "xcb", "HOME": "h"}, Path("models"))
    assert env == {"HOME": "h", "LAYADESK_TEST_MODELS": "models", "PYTHONUTF8": "1"}


def test_the_packaging_folder_is_no_package_so_that_it_does_not_hide_the_one_of_that_name() -> None:
    repo = Path(__file__).resolve().parent.parent.parent
    assert (repo / "packaging" / "run.py").is_file()
    assert not (repo / "packaging" / "__init__.py").exists()
