"""The README names the commands and options that exist, and no others."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
README = (REPO / "README.md").read_text(encoding="utf-8")
PROMISED = sorted(
    {
        " ".join([*command.split()[:-1], action])
        for command in re.findall(r"^\| `layadesk((?: [a-z|\\]+)+)", README, re.MULTILINE)
        for action in command.split()[-1].replace("\\", "").split("|")
    }
)


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command, "--help"], cwd=REPO, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed_in(text: str) -> set[str]:
    """The subcommands of an argparse help: indented by four, their description behind them or below."""
    return set(re.findall(r"^    ([a-z]+)\b", text, re.MULTILINE))


@pytest.mark.parametrize("command", PROMISED)
def test_a_command_of_the_readme_exists(command: str) -> None:
    assert "usage:" in help_of("-m", "layadesk", *command.split())


def test_every_command_that_exists_is_in_the_readme() -> None:
    existing = listed_in(help_of("-m", "layadesk"))
    grouped = ("models", "bench", "router", "models remote")
    actions = {
        f"{group} {action}" for group in grouped for action in listed_in(help_of("-m", "layadesk", *group.split()))
    }
    assert (existing | actions) - set(grouped) == set(PROMISED)


@pytest.mark.parametrize("command", ["start", "test"])
def test_every_option_of_the_two_commands_is_in_the_readme(command: str) -> None:
    options = set(re.findall(r"--[a-z-]+", help_of("packaging/run.py", command))) - {"--help"}
    assert options
    assert not {option for option in options if option not in README}


def test_the_screenshot_of_the_readme_is_there() -> None:
    assert all((REPO / picture).is_file() for picture in re.findall(r"!\[[^]]*]\(([^)]+)\)", README))
