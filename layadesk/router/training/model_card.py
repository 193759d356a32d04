"""The card beside the weights: data, licences, figures per class, limits; made by the run that made the weights."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.training.labelling import Labelling, read_labelling
from layadesk.router.training.rows import PROJECT, Row

_HEAD = """# The bundled router

Reads one request and says task (12), domain (9) with probabilities, effort by rules, and the language. Made by
`python -m layadesk.router.training` from the rows in `layadesk/router/training/`; version `{version}`. Licence of the weights:
Apache-2.0, as the project. Runs on numpy alone.

**How it works.** A request is normalised (NFKC, greetings and politeness off), code fences, logs, tables, long quotations and blobs are
folded to a mark with kind and size, and of a long text both ends are read. What is left is cut into sentences and each into hashed
n-grams of characters (2–5) and words (1–3). One table of {n_pieces} pieces holds a weight for each label and one for a gate that says
how much a sentence counts; with a single sentence this is a linear model. Trained with pasted prose before and after requests, typing
mistakes and greetings.

**Effort** is not learned: rules (length asked for, parts, constraints, code, formulae, depth words), because a learned score does no
better than a constant across sources.
"""
_LIMITS = """
## Limits

- All Chinese prompts are of one hand, whatever their `writer` field says, and the English ones of two: figures on "writers left out" are kinder
  than those on strangers will be.
- Both labellings of the project's prompts, and the prompts themselves, were made by the same kind of labeller and writer, so their agreement is
  overstated, and figures on these prompts flatter beside those on other people's.
- Public sources are exam questions, templates and chat logs; labels of many were set by source or rule. The sources left out above are no
  perfect stand-in for what people ask either.
- Languages other than English and Chinese are read but were never measured; their probabilities are softened.
- Medicine, law and finance are recognised by their words; nobody should be routed to a specialist on the domain alone.
- One message is read, without the conversation: follow-ups are the policy's business.
"""


def model_card(rows: Sequence[Row], recipe: Any, results: dict[str, Any], version: str) -> str:
    """The whole card as Markdown."""
    parts = [_HEAD.format(version=version, n_pieces=f"{recipe.vocabulary:,}")]
    parts.append(_data(rows, read_labelling()))
    if results.get("project"):
        parts.append("\n## Figures on the project's prompts, each by a model that saw none of its writer's\n")
        parts.append(_table({"model": results["project"]}))
        parts.append(_recall(results["project"]))
    for number, fold in enumerate(results.get("sources", ()), 1):
        parts.append(f"\n## Figures on sources left out of training, {number}\n\n{', '.join(fold['left_out'])}.\n")
        names = ("model", "baseline", "baseline with the project's prompts")
        parts.append(_table({name: fold[name] for name in names}))
        parts.append(_recall(fold["model"]))
        parts.append(_distorted(fold["distorted"], fold["baseline distorted"]))
    if results.get("sources"):
        parts.append(
            "\nThe baseline is a linear model over the same n-grams of the first 480 and last 160 characters, without folding, gate and"
            " distortions. Recall only of classes with at least 20 examples.\n"
        )
    parts.append(_LIMITS)
    return "".join(parts)


def _data(rows: Sequence[Row], labelling: Labelling | None) -> str:
    counts = Counter((row.lang, row.source == PROJECT) for row in rows)
    text = (
        "\n## Data\n\n"
        f"- Public sources, licences in `layadesk/router/training/LICENSES.md`: {counts['en', False]:,} English and"
        f" {counts['zh', False]:,} Chinese rows. CC-BY and CC-BY-SA sources are credited there.\n"
        f"- Written for the project: {counts['en', True]:,} English and {counts['zh', True]:,} Chinese prompts, from cards"
        " (task × domain × length × register × shape), at least half without the verb that names the task.\n"
    )
    if labelling is not None:
        counts_by = ", ".join(f"{n:,} by {who}" for who, n in labelling.n.items())
        text += (
            f"- Labelled: {counts_by}; the labellers saw neither the card nor each other's labels. What two differ on is dropped, head by head;"
            " where the card is alone, only its task is taken.\n"
            f"- Two labellers differ on: {_rates(labelling.labellers_differ)}. A labeller and the card: {_rates(labelling.card_differs)}.\n"
        )
    return text


def _rates(differ: Mapping[str, float]) -> str:
    return ", ".join(f"{head} {rate:.1%}" for head, rate in differ.items()) or "not measured"


def _table(models: dict[str, dict[str, Any]]) -> str:
    lines = [
        "\n| | language | n | task | macro-F1 | five groups | calibration error | domain | domain macro-F1 |\n|---|---|---|---|---|---|---|---|---|\n"
    ]
    for name, by_language in models.items():
        for lang, found in by_language.items():
            lines.append(
                f"| {name} | {lang} | {found['n']:,} | {found['accuracy']:.3f} | {found['macro_f1']:.3f} | {found['group']:.3f} |"
                f" {found['calibration_error']:.3f} | {found['domain']:.3f} | {found['domain_f1']:.3f} |\n"
            )
    return "".join(lines)


def _recall(by_language: dict[str, Any]) -> str:
    lines = ["\nRecall by class:\n\n"]
    for lang, found in by_language.items():
        lines.append(f"- {lang}, task: {_listed(found['recall'], TASKS)}\n")
        lines.append(f"- {lang}, domain: {_listed(found['domain_recall'], DOMAINS)}\n")
    return "".join(lines)


def _distorted(model: dict[str, Any], baseline: dict[str, Any]) -> str:
    lines = [
        "\n| task accuracy, prompts up to 1,000 characters | en | zh | baseline en | baseline zh |\n|---|---|---|---|---|\n"
    ]
    lines += [
        f"| {name} | {found['en']:.3f} | {found['zh']:.3f} | {baseline[name]['en']:.3f} | {baseline[name]['zh']:.3f} |\n"
        for name, found in model.items()
    ]
    return "".join(lines)


def _listed(shares: dict[str, float], order: Iterable[str]) -> str:
    return ", ".join(f"{name} {shares[name]:.2f}" for name in order if name in shares)
