"""Typed decisions: Jev's wire format, answered by a Laya checkpoint, or refused in words."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from layadesk.settings import definitions
from tests.fakes.served import PATIENCE_S, Served, served

REPO = Path(__file__).resolve().parents[2]
QUESTIONS: dict[str, Any] = {
    "task": {"type": "choice", "instructions": "What is asked?", "criteria": {"code": "write code", "chat": None}},
    "complexity": {"type": "score", "instructions": "How hard?", "criteria": ["easy", "hard"]},
    "urgent": {"type": "noul", "instructions": "Is it urgent?", "criteria": {"true": "now", "false": "later"}},
}


def decide(running: Served, path: str = "/v1/systemone", **fields: Any) -> tuple[int, Any]:
    asked = {"model": "jev-latest", "state": "Please fix my code", "questions": QUESTIONS, **fields}
    return running.post(path, json.dumps(asked).encode())


def test_without_a_checkpoint_it_is_503_in_words(echo: Served) -> None:
    status, answer = decide(echo)
    assert (status, answer["error"]["code"]) == (503, "router_model_missing")
    assert "No decision model is installed" in answer["error"]["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "/etc/passwd"},
        {"model": "gpt-4"},
        {"state": ""},
        {"questions": {}},
        {"questions": {"q": {"type": "vote"}}},
        {"questions": {"q": {"type": "choice", "criteria": {"one": None}}}},
        {"questions": {"q": {"type": "score", "criteria": [str(n) for n in range(11)]}}},
        {"questions": {"q": {"type": "noul", "criteria": {"maybe": None}}}},
        {"questions": {str(n): QUESTIONS["urgent"] for n in range(65)}},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_422(echo: Served, fields: dict[str, Any]) -> None:
    assert decide(echo, **fields)[0] == 422


@pytest.mark.logs_warnings
def test_a_checkpoint_answers_in_the_strict_format_under_both_names(tmp_path: Path) -> None:
    tiny = tmp_path / "tiny"
    subprocess.run(
        [sys.executable, "-m", "tests.fakes.tiny_laya", str(tiny)], cwd=REPO, check=True, capture_output=True
    )
    with served(tmp_path, settings={definitions.ROUTER: f"laya:{tiny}"}) as running:
        until = time.monotonic() + PATIENCE_S * 3
        while (found := decide(running))[0] == 503 and time.monotonic() < until:  # while it is loaded
            assert found[1]["error"]["code"] == "router_away"
            time.sleep(0.2)
        status, answer = found
        assert status == 200
        assert answer["model"].startswith("laya:")
        answers = answer["answers"]
        assert set(answers["task"]) == {"type", "choice", "confidence", "probabilities"}
        assert set(answers["complexity"]) == {"type", "score", "confidence", "probabilities", "legend"}
        assert set(answers["urgent"]) == {"type", "noul"}
        assert sum(answers["task"]["probabilities"].values()) == pytest.approx(1.0, abs=0.01)
        assert answer["usage"]["input_tokens"] > 0
        assert decide(running, "/v1/decisions", state={"request": "你好"}, model="runware-laya")[0] == 422
        assert decide(running, "/v1/decisions", state={"request": "你好"}, model="laya")[0] == 200
