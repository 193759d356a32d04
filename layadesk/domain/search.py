"""Words found in what was said: the terms of a query, and the few words around a find. Pure."""

from dataclasses import dataclass

from layadesk.domain.inference import Role

EXCERPT_CHARS = 90
MAX_TERMS = 8


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One find. `message_id` and `role` are None for a title. `spans` are start and length in `excerpt`."""

    conversation_id: str
    title: str
    created_at: float
    excerpt: str
    spans: tuple[tuple[int, int], ...] = ()
    message_id: str | None = None
    role: Role | None = None


def terms_of(query: str) -> tuple[str, ...]:
    """What must all be found: the words of a query, and what stands in quotation marks as one. Case does not count."""
    terms: list[str] = []
    for index, part in enumerate(query.replace("“", '"').replace("”", '"').split('"')):
        terms += [part.strip()] if index % 2 else part.split()
    return tuple(dict.fromkeys(term.casefold() for term in terms if term))[:MAX_TERMS]


def excerpt(text: str, terms: tuple[str, ...]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The words around the first find as one line, and where in it the terms stand."""
    folded = _folded(text)
    first = min((at for at in (folded.find(term) for term in terms) if at >= 0), default=0)
    start = max(first - EXCERPT_CHARS // 3, 0)
    if start:
        space = text.find(" ", start, first)
        start = space + 1 if space >= 0 else start
    shown = " ".join(text[start : start + EXCERPT_CHARS].split())
    shown = ("…" if start else "") + shown + ("…" if start + EXCERPT_CHARS < len(text.rstrip()) else "")
    return shown, _spans(_folded(shown), terms)


def _spans(folded: str, terms: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for term in terms:
        at = folded.find(term)
        while at >= 0:
            found.append((at, len(term)))
            at = folded.find(term, at + len(term))
    return tuple(sorted(found))


def _folded(text: str) -> str:
    """Lower case where that does not change the length, so that places in it are places in `text`."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(c if len(c.casefold()) != 1 else c.casefold() for c in text)
