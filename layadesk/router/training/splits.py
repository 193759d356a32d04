"""Which prompts are kept from training when a figure is taken: whole sources, whole writers; never single rows."""

from collections.abc import Sequence
from typing import Final

from layadesk.router.training.rows import PROJECT, Row

# Two sets of sources, unlike what training then sees; together they hold every task.
SOURCE_FOLDS: Final = (
    frozenset(
        {
            "lobe-chat-agents", "vicuna80", "self-instruct-seeds", "awesome-chatgpt-prompts-zh", "BBH",
            "AGIEval/logiqa-zh", "AGIEval/gaokao-mathcloze", "chatterbot-corpus", "HumanEval", "Ape210K",
            "AGIEval/gaokao-history",
            "AGIEval/gaokao-biology", "NLU-Evaluation-Data", "AGIEval/lsat-lr",
        }
    ),
    frozenset(
        {
            "user_oriented(hand/model-assisted)", "vicuna80-zh", "hikariming-zh", "awesome-chatgpt-prompts", "LawBench",
            "MATH(AGIEval)", "AGIEval/logiqa-en", "CMATH", "CLINC150", "LCCC-toy(CDial-GPT)", "KdConv", "MBPP",
            "IFEval(rule+model)", "LLaMA-Factory-identity", "mmlu(RouteLLM)", "lawyer-llama",
        }
    ),
)  # fmt: skip
WRITER_FOLDS: Final = 3
PROSE_TASKS: Final = frozenset({"summarise", "extract", "rewrite", "translate"})
_PROSE_CHARS: Final = {"en": 60, "zh": 30}


def without_sources(rows: Sequence[Row], left_out: frozenset[str]) -> tuple[list[Row], list[Row]]:
    """What remains for training, and what is left out."""
    return [row for row in rows if row.source not in left_out], [row for row in rows if row.source in left_out]


def without_writers(rows: Sequence[Row], fold: int) -> tuple[list[Row], list[Row]]:
    """The same by writers of the project: each fold leaves out every third one, with all their cards."""
    writers = sorted({row.writer for row in rows if row.source == PROJECT})
    out = set(writers[fold::WRITER_FOLDS])
    return (
        [row for row in rows if row.source != PROJECT or row.writer not in out],
        [row for row in rows if row.source == PROJECT and row.writer in out],
    )


def prose_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Lines of prose by language, to be pasted around requests: from texts that were given to work on."""
    found: dict[str, list[str]] = {"en": [], "zh": []}
    for row in rows:
        if row.task in PROSE_TASKS:
            found[row.lang] += [
                line[:400]
                for line in row.text.split("\n")
                if len(line) > _PROSE_CHARS[row.lang] and "?" not in line and "？" not in line
            ]
    return found
