"""How the bundled router is made: its rows, their labels, what is done to prompts, and the fit."""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from layadesk.domain.routing_labels import TASKS
from layadesk.router.training.distort import GREETINGS, Side, distorted, paste, typos
from layadesk.router.training.labelling import LabelledBy, Labels, join, read_labelling
from layadesk.router.training.rows import PROJECT, Row, project_rows, source_rows
from layadesk.router.training.splits import SOURCE_FOLDS, WRITER_FOLDS, pasted_of, without_sources, without_writers

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project() -> list[Row]:
    return project_rows()


def test_the_projects_prompts_cover_every_task_in_both_languages(project: list[Row]) -> None:
    counts = Counter((row.lang, row.task) for row in project)
    assert len(project) >= 5000
    assert all(counts[lang, task] >= 100 for lang in ("en", "zh") for task in TASKS), counts
    assert all(row.card and row.writer and row.source == PROJECT for row in project)
    assert len({row.row_id for row in project}) == len(project)
    labelling = read_labelling()
    assert labelling is not None
    assert labelling.n[LabelledBy.TWO_LABELLERS] >= 2000


def test_a_fold_leaves_out_whole_writers_and_whole_sources(project: list[Row]) -> None:
    left_out: set[str] = set()
    for fold in range(WRITER_FOLDS):
        train, test = without_writers(project, fold)
        assert not {row.writer for row in train} & {row.writer for row in test}
        assert not {row.card for row in train} & {row.card for row in test}
        left_out |= {row.writer for row in test}
    assert left_out == {row.writer for row in project}
    assert not SOURCE_FOLDS[0] & SOURCE_FOLDS[1]
    rows = source_rows()
    assert SOURCE_FOLDS[0] | SOURCE_FOLDS[1] <= {row.source for row in rows}
    for fold_sources in SOURCE_FOLDS:
        train, test = without_sources(rows, fold_sources)
        assert len(train) + len(test) == len(rows)
        assert {row.task for row in test} >= set(TASKS), "each class is in what is left out"
    licences = (REPO / "layadesk" / "router" / "training" / "LICENSES.md").read_text("utf-8")
    unlisted = {row.source for row in rows if f"| {row.source} |" not in licences}
    assert not unlisted


def test_labels_that_two_agree_on_stay_and_the_rest_is_counted() -> None:
    prompts = [{"id": str(k), "text": f"t{k}", "lang": "en", "card": "c", "writer": "w"} for k in range(4)]
    card = {"task": "code", "domain": "programming", "effort": "light"}
    cards = dict.fromkeys("0123", card)
    first: Labels = {"0": card, "1": {**card, "domain": "math"}, "2": {**card, "effort": "heavy", "domain": "law"}}
    second: Labels = {"0": card, "1": {**card, "task": None}}
    rows, labelling = join(prompts, cards, first, second)
    heads = [sorted({"task", "domain", "effort"} & set(row)) for row in rows]
    assert heads == [["domain", "effort", "task"], ["task"], ["task"]], "the second prompt has neither task nor domain"
    assert [row["labelled_by"] for row in rows] == ["two labellers", "a labeller and the card", "the card"]
    assert labelling.n == {"two labellers": 2, "a labeller and the card": 1, "the card": 1}
    assert labelling.labellers_differ == {"task": 0.5, "domain": 0.5, "effort": 0.0}


def test_distortions_keep_the_request_and_are_the_same_for_the_same_seed() -> None:
    pasted = {"en": ["The committee met on Tuesday."], "zh": ["委员会星期二开会。"]}
    text = "translate this into German please"
    first, second = ([distorted(text, "en", pasted, random.Random(k)) for k in range(200)] for _ in "12")
    assert first == second
    sides = {side for _, side in first}
    assert sides == set(Side)
    for changed, side in first:
        if side is Side.FIRST:
            assert changed.startswith(text)
        if side is Side.LAST:
            assert changed.endswith(text)
    assert len(paste(text, pasted["en"], random.Random(1), n_chars=4000, after=True)) > 4000
    broken = typos("a long enough sentence with letters " * 20, random.Random(1), 0.05)
    assert broken != "a long enough sentence with letters " * 20
    assert set(GREETINGS) == {"en", "zh"}


def test_pastes_are_of_many_kinds(project: list[Row]) -> None:
    found = pasted_of(project)
    assert all(len(set(texts)) > 500 for texts in found.values())


FIT = """
import json, numpy as np, torch
torch.set_num_threads(1)
from layadesk.router.training.rows import Row
from layadesk.router.training import fit as F
from layadesk.router.training.fit import Recipe, fit, network_of, scores_of
words = {"code": "write python function parse", "math": "solve equation integral sum", "chat": "hello how are you"}
texts = [(task, k, " ".join(said.split()[k % 3:])) for task, said in words.items() for k in range(30)]
rows = [Row(f"{task}{k}", f"{text} {k}", "en", task, None, "a") for task, k, text in texts]
pasted = {"en": ["the weather was bad and nobody came to the meeting."], "zh": ["天气"]}
recipe = Recipe(vocabulary=2000, epochs=3, batch=16)
one, two = fit(rows, pasted, recipe), fit(rows, pasted, recipe)
texts = ["solve the equation", "hello. how are you?", "parse it\\n\\nThe weather was bad.\\nNobody came."]
ours = scores_of(one, texts)
seen = F.bags(texts)
numbers = torch.from_numpy(one.vocabulary.numbers(seen.ids)).long()
table = np.vstack((one.table, np.zeros((1, one.table.shape[1]), np.float32)))
weights = [table, one.bias, np.append(one.vocabulary.idf, np.float32(0))]
theirs, _ = F.forward(tuple(map(torch.from_numpy, weights)), F._batch(seen, numbers, np.arange(3)))
from layadesk.domain.routing_labels import TASKS
print(json.dumps({
    "same": bool((one.table == two.table).all()),
    "difference": float(np.abs(ours - theirs.numpy()).max()),
    "tasks": [TASKS[k] for k in ours[:, :12].argmax(1)],
}))
"""


def test_a_fit_is_the_same_each_time_and_the_program_computes_what_was_trained() -> None:
    """In a process of its own: torch's objects stay out of the other tests."""
    done = subprocess.run(
        [sys.executable, "-c", FIT], cwd=REPO, capture_output=True, text=True, check=True, timeout=100
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["same"]
    assert found["difference"] < 0.02, "half floats differ a little"
    assert found["tasks"] == ["math", "chat", "code"]
