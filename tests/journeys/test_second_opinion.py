"""Two real experts draft and one writes the answer, in a real window, routed by a Laya checkpoint; each phase stops."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.window_program import REPO, WindowProgram, wait_for, window_program
from tests.journeys.conftest import import_model
from tests.journeys.test_first_answer import KEEP, n_colours

pytestmark = [pytest.mark.window, pytest.mark.llama, pytest.mark.timeout(240)]

N_TOKENS = 24


@pytest.fixture
def two_experts(tmp_path: Path, smol_gguf: Path, gemma_gguf: Path) -> Path:
    """SmolLM2 by default, Gemma beside it; a Laya checkpoint with random weights routes, slowly."""
    data_dir = tmp_path / "data"
    import_model(data_dir, smol_gguf)
    import_model(data_dir, gemma_gguf)
    laya = tmp_path / "laya"
    subprocess.run(
        [sys.executable, "-m", "tests.fakes.tiny_laya", str(laya)], cwd=REPO, check=True, capture_output=True
    )
    values = {
        "sampling.max_tokens": N_TOKENS,
        "sampling.temperature": 0.0,
        "inference.n_ctx": 1024,
        "router.topk": 2,
        "router.model": f"laya:{laya}",
        "router.deadline_ms": 3000,
        "models.default_expert": smol_gguf.stem,
    }
    (data_dir / "settings.json").write_text(json.dumps({"schema": 1, "values": values}), encoding="utf-8")
    return data_dir


def routes(program: WindowProgram) -> list[dict[str, object]]:
    found = program.rows("select route from message where role = 'assistant' order by created_at")
    return [json.loads(str(route)) for (route,) in found if route is not None]


def test_both_drafts_and_the_final_answer_are_made_and_kept_and_each_phase_can_be_stopped(
    display: str, two_experts: Path, tmp_path: Path
) -> None:
    with window_program(display, two_experts) as program:
        program.wait_until_shown()
        program.type("Name three colours of the sea.")
        program.press("Return")
        assert program.wait_answer(0, "complete")
        (first,) = routes(program)
        drafts = first["drafts"]
        assert isinstance(drafts, list)
        assert {draft["expert"] for draft in drafts} == {first["expert"], first["second"]}
        assert first["wanted_router"] or str(first["router_id"]).startswith("laya:")
        screen = Path(os.environ[KEEP]) if os.environ.get(KEEP) else tmp_path
        program.screenshot(screen / "second-opinion.png", (0, 0, 1200, 780))
        assert n_colours(screen / "second-opinion.png") > 100

        program.type("Tell me about whales.")
        program.press("Return")
        wait_for(lambda: len(routes(program)) == 2 or None, "the route of the second answer")
        program.press("Escape")  # in the first draft
        program.wait_answer(1, "cancelled")
        program.type("Tell me about foxes.")
        program.press("Return")
        wait_for(lambda: (len(routes(program)) == 3 and routes(program)[2]["drafts"]) or None, "the first draft")
        program.press("Escape")  # in the second draft
        program.wait_answer(2, "cancelled")
        program.type("Say yes.")
        program.press("Return")
        assert program.wait_answer(3, "complete")
        assert program.quit() == 0
