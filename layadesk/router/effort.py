"""How much work a good answer takes, by rules: what is asked for, how much of it, and what it is about.

Not learned: across sources a learned score is no better than a constant. Each rule that spoke is named in the route.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from layadesk.router.reading import Reading

_NUMBER_WORDS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "ten": 10,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "十": 10,
}
_LENGTH: Final = re.compile(
    r"(\d[\d,]{0,6}|two|three|four|five|ten|[两三四五十]|[一二三四五六七八九]?[百千万])[ -]*(?:k\b)?\s*-?"
    r"(words?\b|pages?\b|paragraphs?\b|chapters?\b|lines?\b|sentences?\b|个?字(?!段|节|典|符|体|母)|页|段|章|句)"
)
_HAN_NUMBER: Final = {"百": 100, "千": 1000, "万": 10000}
_WORDS_PER: Final = {
    "page": 400,
    "paragraph": 90,
    "chapter": 1500,
    "line": 12,
    "sentence": 18,
    "页": 500,
    "段": 120,
    "章": 2000,
    "句": 25,
}
_DEEP: Final = re.compile(
    r"\b(?:step[- ]by[- ]step|in[- ]depth|detailed?|thorough(?:ly)?|comprehensive|rigorous(?:ly)?|prove|proof|derive|"
    r"derivation|trade-?offs?|architecture|refactor|optimi[sz]e|from scratch|full|complete|production|edge cases|"
    r"compare and contrast|analy[sz]e|critically|design a|implement a)\b"
    r"|逐步|一步一步|详细|深入|全面|系统地?|严格|证明|推导|论证|架构|重构|优化"
    r"|从零|完整|对比分析|权衡|设计一[个套]|实现一个"
)
_SHORT: Final = re.compile(
    r"\b(?:briefly|in brief|short(?:ly)?|quick(?:ly)?|one (?:word|line|sentence)|yes or no|just (?:the|tell)|tl;?dr|"
    r"only the)\b|简短|简单(?:说|讲|回答)|一句话|一个词|直接(?:说|给)|只要(?:答案|结果)|是不是|几个字"
)
_PARTS: Final = re.compile(
    r"(?m)^\s*(?:\d{1,2}[.)、]|[(（][\da-h一二三四五六七八九][)）]|[-*•]\s|[①-⑩])|[?？](?!\s*$)|第[一二三四五六]"
    r"|\b(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|finally)\b,?"
)
_CONSTRAINT: Final = re.compile(
    r"\b(?:must|should|without|at (?:least|most)|no more than|exactly|only|except|make sure|ensure|avoid|include|"
    r"between \d+ and|unless|each|all of|neither|not allowed)\b"
    r"|必须|不能|不要|不得|至少|至多|不超过|要求|确保|避免|包含|只能|除了|每个|其中|同时|且|并且"
)
_FORMULA: Final = re.compile(
    r"\\(?:frac|int|sum|lim|sqrt|alpha|begin)|[∫∑√∞≤≥∂∇∈∀∃]|\$[^$\n]{2,80}\$|\b(?:lim|sin|cos|log|dx|mod)\b"
    r"|[a-z]\s*\^\s*[\d{n]"
)
_HARD: Final = re.compile(
    r"\b(?:theorem|integral|eigen\w+|differential equation|asymptotic|manifold|homomorphism|np-hard|distributed|"
    r"concurren\w+|compiler|kernel|olympiad|competition|phd|graduate)\b|定理|积分|微分方程|特征值|极限|数列"
    r"|圆锥曲线|导数|并发|分布式|编译器|内核|竞赛|奥数|博士|研究生"
)
_BASE: Final[Mapping[str, float]] = {
    "chat": 1.2, "translate": 1.8, "rewrite": 1.9, "summarise": 2.2, "extract": 2.1, "knowledge": 2.2, "advise": 2.5,
    "writing": 2.6, "roleplay": 2.2, "code": 2.8, "math": 2.7, "reasoning": 3.1,
}  # fmt: skip
_MIDDLE: Final = 2.4


@dataclass(frozen=True, slots=True)
class EffortGuess:
    """1–5, and the rules that moved it, as codes with a number where there is one (`length 800`, `parts 3`)."""

    complexity: int
    signs: tuple[str, ...]


def guess_effort(
    reading: Reading, task_probs: Mapping[str, float], raises: Mapping[str, float] | None = None
) -> EffortGuess:
    """Weigh the rules. `raises` are what this installation has learned for a task from answers that went wrong."""
    known = sum(task_probs.values())
    base = _MIDDLE if not known else sum(p * _BASE.get(task, _MIDDLE) for task, p in task_probs.items()) / known
    signs = [*_asked_for(reading.text), *_subject(reading.text), *_size(reading)]
    learned = sum(task_probs.get(task, 0.0) * amount for task, amount in (raises or {}).items())
    if learned >= 0.25:
        signs.append((learned, "learned"))
    score = base + sum(amount for amount, _ in signs)
    return EffortGuess(max(1, min(5, round(score))), tuple(sign for _, sign in signs))


def _asked_for(text: str) -> Iterator[tuple[float, str]]:
    """What the request says about its answer."""
    n_words = asked_length(text)
    if n_words is not None:
        yield _of_length(n_words), f"length {n_words}"
    n_parts = len(_PARTS.findall(text))
    if n_parts >= 2:
        yield min(0.3 * (n_parts - 1), 1.2), f"parts {n_parts}"
    n_constraints = len(_CONSTRAINT.findall(text))
    if n_constraints >= 2:
        yield min(0.18 * (n_constraints - 1), 1.0), f"constraints {n_constraints}"
    deep = set(_DEEP.findall(text))
    if deep:
        yield min(0.5 * len(deep), 1.0), "depth"
    if _SHORT.search(text):
        yield -0.7, "brief"


def _subject(text: str) -> Iterator[tuple[float, str]]:
    if _HARD.search(text):
        yield 0.9, "subject"
    if _FORMULA.search(text):
        yield 0.5, "formula"


def _size(reading: Reading) -> Iterator[tuple[float, str]]:
    """What has to be read for it."""
    for kind, amount in (("code", 0.5), ("log", 0.4), ("table", 0.3)):
        n_lines = sum(fold.n_lines for fold in reading.folds if fold.kind == kind)
        if n_lines:
            yield amount + (0.4 if n_lines > 60 else 0.0), f"{kind} {n_lines}"
    if reading.n_chars > 1500:
        yield 0.4 if reading.n_chars < 6000 else 0.8, f"chars {reading.n_chars}"
    elif reading.n_chars < 25 and not reading.folds:
        yield -0.4, "short"


def asked_length(text: str) -> int | None:
    """How many words (or Chinese characters, two counted as one) the answer shall have; None where nothing is said."""
    found = _LENGTH.search(text)
    if found is None:
        return None
    amount, unit = found[1], found[2].rstrip("s")
    if amount[-1] in _HAN_NUMBER:
        digit = "一二三四五六七八九".find(amount[0]) + 1 if len(amount) > 1 else 1
        number = digit * _HAN_NUMBER[amount[-1]]
    else:
        number = _NUMBER_WORDS.get(amount) or int(amount.replace(",", "") or 0)
    if unit.endswith("字"):
        return number // 2
    return number * _WORDS_PER.get(unit, 1)


def _of_length(n_words: int) -> float:
    if n_words <= 60:
        return -0.5
    return 0.0 if n_words < 250 else 0.7 if n_words < 700 else 1.4
