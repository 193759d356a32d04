"""Which prompts are kept from training when a figure is taken: whole sources, whole writers; never single rows."""

import json
import lzma
from collections.abc import Sequence
from typing import Final

from layadesk.router.training.rows import HERE, PROJECT, Row

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
DOCUMENTS_FILE: Final = HERE / "documents.jsonl.xz"
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


def pasted_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What is pasted around requests, by language: prose that was given to work on, whole texts of any kind, documents.

    Mostly prose: with more of the rest the network unlearns what code and premises look like.
    """
    found: dict[str, list[str]] = {}
    for lang, least in _PROSE_CHARS.items():
        own = [row for row in rows if row.lang == lang]
        prose = [
            line[:400]
            for row in own
            if row.task in PROSE_TASKS
            for line in row.text.split("\n")
            if len(line) > least and "?" not in line and "？" not in line
        ]
        whole = [row.text[:800] for row in own if len(row.text) > 2 * least]
        documents = _documents()
        n = max(len(prose), len(whole))
        found[lang] = [*_about(prose, n), *_about(whole, n // 3), *_about(documents, n // 6)]
    return found


def _about(texts: list[str], n: int) -> list[str]:
    return (texts * (n // len(texts) + 1))[:n] if texts else []


def _documents() -> list[str]:
    """Paragraphs of manuals and source code."""
    return [json.loads(line)["text"] for line in lzma.decompress(DOCUMENTS_FILE.read_bytes()).decode().split("\n")[:-1]]
