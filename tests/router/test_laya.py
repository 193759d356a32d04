"""Laya checkpoints: the real package on a tiny checkpoint in its own format, and files that are none."""

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.laya_questions import DOMAINS_OF, QUESTIONS, TASKS_OF
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.paths import assets_dir
from layadesk.protocol.options import RouterOptions
from layadesk.router.excerpt import excerpt
from layadesk.router.laya_files import check, checkpoints
from layadesk.router.laya_model import spread
from layadesk.router.reading import read
from layadesk.workers.spawn import start_router
from tests.fakes.workers_lab import router_lab
from tests.fakes.workers_listener import PATIENCE_S, Heard

REPO = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.logs_warnings


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tiny-laya")
    subprocess.run([sys.executable, "-m", "tests.fakes.tiny_laya", str(out)], cwd=REPO, check=True, capture_output=True)
    return out


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def test_a_router_process_answers_with_the_checkpoint_and_dies_with_it_alone(tiny: Path, tmp_path: Path) -> None:
    options = RouterOptions(
        f"laya:{tiny}", str(tmp_path / "logs"), str(assets_dir() / "router"), deadline_ms=int(PATIENCE_S * 1000)
    )
    with router_lab(functools.partial(start_router, options), tmp_path) as client:
        answers: list[RouterAnswer] = []
        while not answers or answers[-1].wanted_lack == "loading":
            heard: Heard[RouterAnswer | None] = Heard()
            client.route("写一个快速排序函数", ("before",), heard, PATIENCE_S)
            answer = heard.wait_until(bool)[0]
            assert answer is not None, "the bundled router answers while Laya is loaded"
            answers.append(answer)
        answer = answers[-1]
        assert (answer.router_id, answer.wanted, answer.language) == (f"laya:{tiny.name}", None, "zh")
        assert tuple(answer.task_probs) == TASKS
        assert sum(answer.task_probs.values()) == pytest.approx(1.0)
        assert sum(answer.domain_probs.values()) == pytest.approx(1.0)


def test_a_sound_checkpoint_passes_and_several_are_found_by_name(tiny: Path, tmp_path: Path) -> None:
    check(tiny)
    assert dict(checkpoints(tiny)) == {tiny.name: tiny}
    (tmp_path / "multilingual").mkdir()
    for place in (tmp_path, tmp_path / "multilingual"):
        (place / "rl_agent_config.json").write_text("{}")
    assert set(checkpoints(tmp_path)) == {"english", "multilingual"}


@pytest.mark.parametrize(
    "name",
    ["rl_agent_config.json", "model.safetensors", "encoder/config.json", "tokenizer/tokenizer.json"],
)
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    assert refusal(copied) == (ErrorCode.ROUTER_MODEL_MISSING, str(copied / name))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rl_agent_config.json", b"{}"),
        ("rl_agent_config.json", b"\xff\xfe"),
        ("rl_agent_config.json", b"[" * 5000),
        ("encoder/config.json", b"[]"),
        ("tokenizer/tokenizer.json", b"{"),
        ("model.safetensors", b""),
        ("model.safetensors", b"GGUF" + bytes(100)),
        ("model.safetensors", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"),
        ("model.safetensors", b"\x80\x02}q\x00." * 50),
    ],
)
def test_a_foreign_file_is_named(copied: Path, name: str, content: bytes) -> None:
    (copied / name).write_bytes(content)
    assert refusal(copied) == (ErrorCode.ROUTER_MODEL_DAMAGED, str(copied / name))


def test_weights_that_were_cut_off_are_refused_before_they_are_loaded(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert refusal(copied) == (ErrorCode.ROUTER_MODEL_DAMAGED, str(weights))


def test_an_empty_directory_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(LayaDeskError) as caught:
        checkpoints(tmp_path)
    assert caught.value.code is ErrorCode.ROUTER_MODEL_MISSING


def test_the_questions_and_the_tables_name_the_same_labels_and_all_of_ours_are_reached() -> None:
    assert set(QUESTIONS["task"]["criteria"]) == set(TASKS_OF)
    assert set(QUESTIONS["domain"]["criteria"]) == set(DOMAINS_OF)
    assert {ours for shares in TASKS_OF.values() for ours in shares} == set(TASKS)
    assert {ours for shares in DOMAINS_OF.values() for ours in shares} == set(DOMAINS)
    assert spread({"math": 0.5, "code": 0.5}, TASKS_OF, TASKS)["math"] == pytest.approx(0.3)
    json.dumps(QUESTIONS)


def test_the_excerpt_tells_pastes_in_words_and_keeps_both_ends() -> None:
    text = excerpt(read("what is wrong?\n```python\n" + "x = 1\n" * 40 + "```\nthanks"))
    assert "[code: python, 40 lines]" in text
    long = excerpt(read("first words " + "and so on " * 800 + "last words"))
    assert long.startswith("first words")
    assert long.endswith("last words")
    assert len(long) < 1300


def refusal(directory: Path) -> tuple[ErrorCode, object]:
    with pytest.raises(LayaDeskError) as caught:
        check(directory)
    return caught.value.code, caught.value.facts["path"]
