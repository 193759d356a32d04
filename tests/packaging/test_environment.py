"""What the set-up remembers, so that a second run is quick and an interrupted one goes on."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from setup_steps.environment import Environment, Stamp, describe_pip, project_recipe
from setup_steps.machine import Machine
from setup_steps.progress import SetupFailure
from setup_steps.running import LoggedRun
from tests.packaging.machines import machine

PROJECT = '[project]\nname = "a"\ndependencies = ["numpy>=2"]\n[tool.ruff]\nline-length = 120\n'


def test_a_stamp_adds_up_over_the_steps(tmp_path: Path) -> None:
    stamp = Stamp(tmp_path / "stamp.json")
    assert stamp.read() == {}
    stamp.write(identity="3.11")
    stamp.write(llama={"backend": "cpu"})
    assert stamp.read()["identity"] == "3.11"
    assert stamp.read()["llama"] == {"backend": "cpu"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 999, "identity": "x"}'])
def test_a_damaged_or_foreign_stamp_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "stamp.json").write_text(text, encoding="utf-8")
    assert Stamp(tmp_path / "stamp.json").read() == {}


def recipe_of(folder: Path, text: str) -> str:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return project_recipe(folder / "pyproject.toml")


def test_packages_are_installed_anew_when_the_dependencies_change_and_not_when_a_linter_setting_does(
    tmp_path: Path,
) -> None:
    before = recipe_of(tmp_path, PROJECT)
    assert recipe_of(tmp_path, PROJECT.replace("120", "100")) == before
    assert recipe_of(tmp_path, PROJECT.replace("numpy>=2", "numpy>=3")) != before


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("Downloading torch-2.13.0-cp311.whl (890.1 MB)", "downloading torch-2.13.0-cp311.whl (890.1 MB)"),
        ("Collecting filelock (from torch==2.13.0)", "collecting filelock (from torch==2.13.0)"),
        (
            "Building wheel for llama-cpp-python (pyproject.toml): started",
            "building wheel for llama-cpp-python (pyproject.toml)",
        ),
        ("Progress 251658240 of 503316480", "downloading, 50 % of 480 MiB"),
        ("Progress 0 of 0", "downloading, 0 % of 0 MiB"),
        ("Requirement already satisfied: jinja2", None),
    ],
)
def test_what_pip_is_at_is_told_from_its_lines(line: str, state: str | None) -> None:
    assert describe_pip(line) == state


class UnwillingRun(LoggedRun):
    """Every command fails with `output`."""

    def __init__(self, output: str) -> None:
        super().__init__(Path("unused.log"), lambda text: None)
        self._output = output

    def __call__(self, command: object, describe: object = None, **options: object) -> tuple[int, str]:
        """Nothing is started."""
        return 1, self._output


def made_on(here: Machine, repo: Path, output: str) -> SetupFailure:
    with pytest.raises(SetupFailure) as caught:
        Environment(repo, UnwillingRun(output), lambda text: None).ensure(here)
    return caught.value


def test_a_python_without_venv_is_told_which_package_brings_it(tmp_path: Path) -> None:
    failure = made_on(
        machine(), tmp_path, "The virtual environment was not created because ensurepip is not available."
    )
    assert "venv module" in str(failure)
    assert failure.advice[0].startswith("sudo apt-get install python3.")


def test_a_half_made_environment_is_not_left_behind(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    Stamp(tmp_path / ".venv" / "layadesk-setup.json").write()
    made_on(machine(), tmp_path, "[Errno 28] No space left on device")
    assert not (tmp_path / ".venv").exists()


def test_an_environment_that_somebody_else_made_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "precious").write_text("work", encoding="utf-8")
    assert "not made by this script" in str(made_on(machine(), tmp_path, ""))
    assert (tmp_path / ".venv" / "precious").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="locales that are not installed are a matter of POSIX systems")
def test_the_program_starts_from_a_folder_with_chinese_letters_under_a_locale_that_is_not_installed(
    tmp_path: Path,
) -> None:
    repo = tmp_path / "Laya Desk 试"
    venv.create(repo / ".venv", with_pip=False)
    (repo / "layadesk.py").write_text("print('here')", encoding="utf-8")
    environment = Environment(repo, LoggedRun(tmp_path / "log", print), print)
    (site_packages,) = environment.root.glob("lib/python*/site-packages")
    pth = site_packages / "_editable_impl_layadesk.pth"
    pth.write_text(f"{repo}\n", encoding="utf-8")

    def start() -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, "LC_ALL": "xx_XX.UTF-8"}
        env.pop("PYTHONPATH", None)
        return subprocess.run(
            [environment.python, "-m", "layadesk"], env=env, cwd="/", capture_output=True, check=False
        )

    assert b"UnicodeDecodeError" in start().stderr
    environment.make_source_path_relative()
    assert start().stdout == b"here\n"
