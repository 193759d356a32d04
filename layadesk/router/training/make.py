"""Make `assets/router/`: measure and calibrate on what is left out, then train on everything and write the card."""

import hashlib
import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.network import Facts, save_network
from layadesk.router.training.distort import greet, paste, typos
from layadesk.router.training.fit import Fitted, Recipe, fit, scores_of
from layadesk.router.training.measure import Figures, best_temperature, figures
from layadesk.router.training.model_card import model_card
from layadesk.router.training.rows import HERE, PROJECT, Row, project_rows, source_rows
from layadesk.router.training.splits import SOURCE_FOLDS, WRITER_FOLDS, pasted_of, without_sources, without_writers

log = logging.getLogger(__name__)

LANGUAGES: Final = ("en", "zh")
BASELINE: Final = Recipe(is_baseline=True, dropout=0.0, epochs=3)
_PASTED_CHARS: Final = 4000
_ROBUST_MOST: Final = 800  # prompts of each language for the distortions
_Distortion = Callable[[str, str, random.Random], str]


def make(out: Path, recipe: Recipe, *, measured: bool) -> None:
    """Write weights, facts and card to `out`. The same rows and recipe give the same files."""
    rows = [row for row in (*source_rows(), *project_rows()) if row.task or row.domain]
    results: dict[str, Any] = {}
    temperatures, held_out = _calibrated(rows, recipe)
    results["project"] = held_out
    if measured:
        results["sources"] = _on_left_out_sources(rows, recipe, temperatures)
    log.info("training on %d rows", len(rows))
    began = time.monotonic()
    fitted = fit(rows, pasted_of(rows), recipe)
    log.info("trained in %.0f s", time.monotonic() - began)
    out.mkdir(parents=True, exist_ok=True)
    vocabulary = fitted.vocabulary
    version = hashlib.sha256(fitted.table.tobytes() + fitted.bias.tobytes()).hexdigest()[:12]
    save_network(out, vocabulary.buckets, fitted.table, vocabulary.idf, fitted.bias, Facts(version, temperatures))
    (out / "MODEL_CARD.md").write_text(model_card(rows, recipe, results, version), "utf-8")
    (out / "figures.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _calibrated(rows: Sequence[Row], recipe: Recipe) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Temperatures by head and language from prompts of writers that training did not see, and the figures on them.

    The figures of one fold are taken with temperatures of the others, so that the calibration error is honest.
    """
    scores, held, fold_of = [], [], []
    n_folds = WRITER_FOLDS if any(row.source == PROJECT for row in rows) else 0
    for fold in range(n_folds):
        train, test = without_writers(rows, fold)
        log.info("writers, fold %d: %d rows for training, %d left out", fold, len(train), len(test))
        scores.append(scores_of(fit(train, pasted_of(train), recipe), [row.text for row in test]))
        held += test
        fold_of += [fold] * len(test)
    if not held:
        return {head: dict.fromkeys(LANGUAGES, 1.5) for head in ("task", "domain")}, {}
    stacked, folds = np.concatenate(scores), np.array(fold_of)
    final = {head: {lang: _temperature(held, stacked, head, lang) for lang in LANGUAGES} for head in ("task", "domain")}
    found: dict[str, Any] = {}
    for lang in LANGUAGES:
        parts = []
        for fold in range(n_folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            others = [held[k] for k in outside]
            t = {head: _temperature(others, stacked[outside], head, lang) for head in ("task", "domain")}
            part = stacked[inside].copy()
            part[:, : len(TASKS)] /= t["task"]
            part[:, len(TASKS) :] /= t["domain"]
            parts.append((inside, part))
        order = np.concatenate([inside for inside, _ in parts])
        cooled = np.concatenate([part for _, part in parts])
        found[lang] = _plain(figures([held[k] for k in order], cooled, lang, {"task": 1.0, "domain": 1.0}))
    return final, found


def _temperature(rows: Sequence[Row], scores: NDArray[np.float32], head: str, lang: str) -> float:
    names = TASKS if head == "task" else DOMAINS
    columns = slice(0, len(TASKS)) if head == "task" else slice(len(TASKS), None)
    label = [row.task if head == "task" else row.domain for row in rows]
    chosen = [k for k, row in enumerate(rows) if row.lang == lang and label[k]]
    wanted = np.array([names.index(label[k] or "") for k in chosen], dtype=np.int64)
    return best_temperature(scores[chosen][:, columns], wanted) if chosen else 1.5


def _on_left_out_sources(
    rows: Sequence[Row], recipe: Recipe, temperatures: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    """Figures of the model and of the baseline, on each fold of sources, also under distortions."""
    found = []
    for left_out in SOURCE_FOLDS:
        train, test = without_sources(rows, left_out)
        log.info("sources: %d rows for training, %d left out", len(train), len(test))
        model = fit(train, pasted_of(train), recipe)
        baseline = fit([row for row in train if row.source != PROJECT], {}, BASELINE)
        with_project = fit(train, {}, BASELINE)
        prose = pasted_of(test)
        found.append(
            {
                "left_out": sorted(left_out),
                "model": _figures(model, test, temperatures),
                "baseline": _figures(baseline, test, temperatures),
                "baseline with the project's prompts": _figures(with_project, test, temperatures),
                "distorted": _distorted(model, test, prose),
                "baseline distorted": _distorted(baseline, test, prose),
            }
        )
    return found


def _figures(fitted: Fitted, rows: Sequence[Row], temperatures: dict[str, dict[str, float]]) -> dict[str, Any]:
    scores = scores_of(fitted, [row.text for row in rows])
    return {
        lang: _plain(figures(rows, scores, lang, {head: by[lang] for head, by in temperatures.items()}))
        for lang in LANGUAGES
    }


def distortions(prose: dict[str, list[str]]) -> dict[str, _Distortion]:
    """Name → what is done to a prompt before it is routed."""
    return {
        "as they are": lambda text, _, __: text,
        "5 % typos": lambda text, _, rng: typos(text, rng, 0.05),
        "greeting": greet,
        "full width": lambda text, _, __: text.translate(_WIDE),
        "4,000 characters pasted after": lambda text, lang, rng: paste(
            text, prose[lang], rng, n_chars=_PASTED_CHARS, after=True
        ),
        "4,000 characters pasted before": lambda text, lang, rng: paste(
            text, prose[lang], rng, n_chars=_PASTED_CHARS, after=False
        ),
    }


_WIDE: Final = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _distorted(fitted: Fitted, rows: Sequence[Row], prose: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """Task accuracy by distortion and language, on prompts of at most 1,000 characters."""
    found: dict[str, dict[str, float]] = {}
    short = [row for row in rows if row.task and len(row.text) <= 1000]
    random.Random(0).shuffle(short)
    chosen = [row for lang in LANGUAGES for row in [one for one in short if one.lang == lang][:_ROBUST_MOST]]
    for name, change in distortions(prose).items():
        rng = random.Random(1)
        scores = scores_of(fitted, [change(row.text, row.lang, rng) for row in chosen])
        right = np.array(
            [TASKS[k] == row.task for k, row in zip(scores[:, : len(TASKS)].argmax(1), chosen, strict=True)]
        )
        found[name] = {lang: round(float(right[[row.lang == lang for row in chosen]].mean()), 3) for lang in LANGUAGES}
    return found


def _plain(found: Figures) -> dict[str, Any]:
    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(one) for name, one in value.items()}
        return round(value, 3) if isinstance(value, float) else value

    return {name: rounded(getattr(found, name)) for name in found.__dataclass_fields__}


def default_out() -> Path:
    """`assets/router` of the source tree."""
    return HERE.parents[2] / "assets" / "router"


def quick(recipe: Recipe) -> Recipe:
    """The same with one pass and a small vocabulary, to see that everything runs."""
    return replace(recipe, epochs=1, vocabulary=8000)
