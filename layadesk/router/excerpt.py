"""The excerpt of a request that a Laya checkpoint reads: pastes told in words, the first and the last characters."""

from typing import Final

from layadesk.router.reading import MARKS, PARAGRAPH, Fold, Reading

HEAD_CHARS: Final = 500
TAIL_CHARS: Final = 700
_KIND_OF: Final = {mark: kind for kind, mark in MARKS.items()}


def excerpt(reading: Reading) -> str:
    """`reading.prose` with `[code: python, 40 lines]` in place of each mark; at most about 1,300 characters."""
    text = reading.prose.replace(PARAGRAPH, "\n")
    waiting = {kind: [fold for fold in reading.folds if fold.kind == kind] for kind in MARKS}
    parts: list[str] = []
    for char in text if any(mark in text for mark in _KIND_OF) else ():
        kind = _KIND_OF.get(char)
        parts.append(char if kind is None else _told(kind, waiting[kind].pop(0) if waiting[kind] else None))
    text = "".join(parts) or text
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]} […] {text[-TAIL_CHARS:]}"


def _told(kind: str, fold: Fold | None) -> str:
    if fold is None:
        return f"[{kind}]"
    named = f"{kind}: {fold.language}" if fold.language else kind
    return f"[{named}, {fold.n_lines} lines]"
