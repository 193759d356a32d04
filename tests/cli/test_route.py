"""`layadesk route` and `layadesk bench router` as a shell sees them."""

import json

from tests.cli.conftest import Shell

FIELDS = {
    "id", "task", "task_probs", "complexity", "domain", "domain_probs", "language", "confidence", "expert", "ranking",
    "reason", "route_ms", "forward_ms", "router", "effort_signs", "folds",
}  # fmt: skip


def test_a_text_is_routed_without_any_expert(shell: Shell) -> None:
    found = shell.run("route", "Write a Python function that merges two sorted lists").json
    assert set(found) == FIELDS
    assert (found["task"], found["domain"], found["language"], found["expert"]) == ("code", "programming", "en", None)
    assert found["router"] == "bundled"
    assert 0 < found["confidence"] <= 1
    assert 1 <= found["complexity"] <= 5


def test_a_file_is_routed_line_by_line_and_its_flawed_lines_are_named(shell: Shell) -> None:
    shell.install()
    file = shell.folder / "prompts.jsonl"
    texts = ["解方程 3x+7=22", "", "😀", "a\u0000b", "x" * 300_000, "\ud800"]
    lines = [json.dumps({"id": f"p{k}", "text": text}) for k, text in enumerate(texts)]
    file.write_text("\n".join([*lines, "no json", '{"id": 1}', '{"id": 2, "text": 3}', ""]), "utf-8")
    done = shell.run("route", "--file", str(file))
    routed = [json.loads(line) for line in done.out.splitlines()]
    assert [one["id"] for one in routed] == [f"p{k}" for k in range(len(texts))]
    assert (routed[0]["task"], routed[0]["language"]) == ("math", "zh")
    assert {one["expert"] for one in routed} == {"tiny"}
    assert routed[2]["confidence"] < 0.3
    assert (done.status, len(done.err.splitlines())) == (1, 3)
    assert "line 7" in done.err


def test_a_second_run_says_the_same(shell: Shell) -> None:
    file = shell.folder / "prompts.jsonl"
    file.write_text(
        "".join(json.dumps({"id": str(k), "text": f"Write {k} lines about tea {k}"}) + "\n" for k in range(50))
    )
    first, second = (
        [json.loads(line) for line in shell.run("route", "--file", str(file)).out.splitlines()] for _ in "12"
    )
    timeless = [{k: v for k, v in one.items() if not k.endswith("_ms")} for one in first]
    assert timeless == [{k: v for k, v in one.items() if not k.endswith("_ms")} for one in second]
    assert len(timeless) == 50


def test_another_router_can_be_asked_for_and_an_unknown_one_is_refused_in_words(shell: Shell) -> None:
    found = shell.run("route", "hello", "--router", "none").json
    assert (found["task"], found["router"]) == (None, "none")
    missing = shell.run("route", "--file", str(shell.folder / "nowhere.jsonl"))
    assert missing.status == 1
    assert "nowhere.jsonl" in missing.err
    assert shell.run("route").status == 2


def test_the_bench_gives_percentiles_idle_and_while_an_expert_writes(shell: Shell) -> None:
    shell.install()
    shell.script(text="word " * 200_000, decode_tps=500.0)
    found = shell.run("bench", "router", "-n", "24", "--json").json
    idle, busy = found["rounds"]
    assert found["corrections"] == {"right": 0, "n": 0}
    assert (idle["n"], idle["busy_with"], busy["busy_with"]) == (24, None, "tiny")
    for times in (idle, busy):
        assert 0 < times["forward"]["p50"] <= times["work"]["p50"] <= times["end_to_end"]["p99"]
        assert times["rss_bytes"] > 10_000_000


def test_without_corrections_there_is_nothing_to_learn_and_each_command_says_so(shell: Shell) -> None:
    assert "too few corrections" in shell.run("router", "calibrate").err
    assert "nothing to take back" in shell.run("router", "undo").err
    assert shell.run("router", "export", str(shell.folder / "out.jsonl"), "--json").json["n"] == 0
    assert shell.run("router", "stats", "--json").json["n_routes"] == 0
