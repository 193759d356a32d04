"""The bundled router: its weights as they ship, damaged weights, odd requests, and what was learned here."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.paths import assets_dir
from layadesk.protocol.options import RouterOptions
from layadesk.router import Router
from layadesk.router.bundled import BundledRouter
from layadesk.router.calibration import Learned
from layadesk.router.learned_file import read_learned
from layadesk.router.main import load_decision_model
from layadesk.router.network import FACTS_FILE, WEIGHTS_FILE, load_network
from layadesk.router.pieces import cut
from layadesk.router.reading import read

SHIPPED = assets_dir() / "router"


@pytest.fixture(scope="module")
def router() -> BundledRouter:
    return BundledRouter(SHIPPED)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for name in (WEIGHTS_FILE, FACTS_FILE):
        shutil.copy(SHIPPED / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Write a Python function that merges two sorted lists", "code"),
        ("用 Python 写一个函数，合并两个有序列表", "code"),
        ("Translate this into German: I will be late tomorrow", "translate"),
        ("把这句话翻译成英文：我明天会迟到", "translate"),
        ("Solve 3x + 7 = 22 for x", "math"),
        ("解方程 3x+7=22", "math"),
        ("hello, how are you today?", "chat"),
        ("你好呀，今天过得怎么样", "chat"),
    ],
)
def test_plain_requests_of_both_languages_are_told_apart(router: BundledRouter, text: str, task: str) -> None:
    answer = router.answer(text, ())
    assert max(answer.task_probs, key=lambda name: answer.task_probs[name]) == task


@pytest.mark.parametrize("text", ["", "   ", "😀", "\x00", "?!", "\ud800"])
def test_a_request_without_words_gets_an_honest_low_confidence(router: BundledRouter, text: str) -> None:
    answer = router.answer(text, ())
    assert max(answer.task_probs.values()) < 0.3
    assert max(answer.domain_probs.values()) < 0.3


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "x = 1\n" * 50_000,
        "你好" * 100_000,
        "مرحبا",
        "ｗｒｉｔｅ ａ ｐｏｅｍ",
        "a\x00b",
        "A" * 300_000 + "=",
    ],
)
def test_any_text_gets_distributions_that_sum_to_one(router: BundledRouter, text: str) -> None:
    answer = router.answer(text, ("earlier",))
    assert (tuple(answer.task_probs), tuple(answer.domain_probs)) == (TASKS, DOMAINS)
    assert math.isclose(sum(answer.task_probs.values()), 1.0, abs_tol=1e-6)
    assert answer.complexity in range(1, 6)
    assert answer.forward_ms is not None
    assert answer.forward_ms <= answer.route_ms


def test_the_same_text_has_the_same_answer(router: BundledRouter) -> None:
    first, second = (router.answer("Plan a weekend in Lisbon", ()) for _ in range(2))
    assert first.task_probs == second.task_probs


def test_one_can_measure_with_tokenising_and_forward_apart() -> None:
    opened = Router.from_pretrained("bundled", device="cpu")
    inputs = opened.tokenize("sum this up\n\nThe weather was bad. Nobody came. The shop closed early.")
    scores = opened.forward(inputs)
    assert scores.shape == (len(TASKS) + len(DOMAINS),)
    assert opened.gates(inputs).shape == (inputs.n_sentences,)
    assert 0 < opened.network.n_bytes < 40e6
    with pytest.raises(LayaDeskError):
        Router.from_pretrained("bundled", device="cuda")


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(LayaDeskError) as caught:
        load_network(tmp_path)
    assert (caught.value.code, caught.value.facts["path"]) == (
        ErrorCode.ROUTER_MODEL_MISSING,
        str(tmp_path / WEIGHTS_FILE),
    )


def test_truncated_foreign_and_inconsistent_weights_are_refused(copied: Path) -> None:
    whole = (copied / WEIGHTS_FILE).read_bytes()
    arrays = dict(np.load(copied / WEIGHTS_FILE))
    flawed = [whole[: len(whole) // 2], b"", b"PK\x03\x04 nonsense", b"GGUF" + bytes(1000)]
    for content in flawed:
        (copied / WEIGHTS_FILE).write_bytes(content)
        assert _code(copied) is ErrorCode.ROUTER_MODEL_DAMAGED
    for name, wrong in (
        ("table", arrays["table"][:, :-1]),
        ("table", np.full_like(arrays["table"], np.nan)),
        ("mass", -arrays["mass"]),
        ("bias", arrays["bias"][:-1]),
        ("buckets", arrays["buckets"] + np.uint32(1 << 30)),
        ("buckets", arrays["buckets"].astype(np.int64)),
        ("buckets", np.array([object()], dtype=object)),
    ):
        np.savez(copied / WEIGHTS_FILE, **{**arrays, name: wrong})
        assert _code(copied) is ErrorCode.ROUTER_MODEL_DAMAGED, name


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 99}',
        "\xff",
        '{"format": 1, "tasks": ["a"], "domains": [], "version": "x"}',
        "[" * 9999,
    ],
)
def test_facts_that_do_not_belong_to_the_weights_are_refused(copied: Path, content: str) -> None:
    (copied / FACTS_FILE).write_text(content, "latin-1")
    assert _code(copied) is ErrorCode.ROUTER_MODEL_DAMAGED


def test_a_temperature_out_of_bounds_is_refused(copied: Path) -> None:
    fields = json.loads((copied / FACTS_FILE).read_text("utf-8"))
    fields["temperatures"]["task"]["en"] = 0
    (copied / FACTS_FILE).write_text(json.dumps(fields), "utf-8")
    assert _code(copied) is ErrorCode.ROUTER_MODEL_DAMAGED


@pytest.mark.logs_warnings
def test_a_router_without_usable_weights_has_no_opinion_and_says_why(tmp_path: Path) -> None:
    model = load_decision_model(RouterOptions("bundled", "", str(tmp_path)))
    answer = model.answer("write a poem", ())
    assert (answer.router_id, answer.wanted, answer.wanted_lack) == ("none", "bundled", "router_model_missing")


def test_what_was_learned_here_moves_probabilities_and_effort() -> None:
    plain, taught = (
        BundledRouter(SHIPPED),
        BundledRouter(SHIPPED, Learned({"advise": 3.0}, {"task": 1.0}, {"advise": 2.0})),
    )
    text = "where should we eat tonight"
    before, after = plain.answer(text, ()), taught.answer(text, ())
    assert after.task_probs["advise"] > before.task_probs["advise"]
    assert (after.complexity or 0) > (before.complexity or 0)


@pytest.mark.logs_warnings
def test_a_damaged_file_of_what_was_learned_is_as_good_as_none(tmp_path: Path) -> None:
    file = tmp_path / "learned.json"
    for content in (
        "",
        "[]",
        '{"format": 2}',
        '{"format": 1, "offsets": []}',
        '{"format": 1, "offsets": {"code": "x"}}',
    ):
        file.write_text(content)
        assert read_learned(file) == Learned()
    file.write_text('{"format": 1, "offsets": {"code": 99, "cooking": 1}, "factors": {"task": 0.01}}')
    assert read_learned(file) == Learned({"code": 4.0}, {"task": 0.2}, {})


def test_a_paste_counts_less_than_the_request_around_it(router: BundledRouter) -> None:
    prose = "The committee met on Tuesday in the town hall. " * 30
    for text in (f"Translate the following into French\n\n{prose}", f"{prose}\n\nTranslate the above into French"):
        gates = router.network.gates(cut(read(text)))
        asks = 0 if text.startswith("Translate") else len(gates) - 1
        assert gates[asks] == pytest.approx(1.0)
        assert (
            max(router.answer(text, ()).task_probs, key=lambda t: router.answer(text, ()).task_probs[t]) == "translate"
        )


def _code(directory: Path) -> ErrorCode:
    with pytest.raises(LayaDeskError) as caught:
        load_network(directory)
    return caught.value.code
