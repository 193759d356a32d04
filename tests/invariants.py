"""The promises every engine and every client keeps for each request, in one checker for all their tests."""

from collections.abc import Sequence

from layadesk.protocol.events import (
    Failed,
    Finished,
    Loading,
    PrefillProgress,
    PromptBuilt,
    Queued,
    RequestEvent,
    TextDelta,
    ThinkingDelta,
)

_RANK = {
    Queued: 0,
    Loading: 1,
    PromptBuilt: 2,
    PrefillProgress: 3,
    ThinkingDelta: 4,
    TextDelta: 5,
    Finished: 6,
    Failed: 6,
}


def check_request(events: Sequence[RequestEvent], request_id: str, *, has_ended: bool = True) -> str:
    """Assert that `events` are a lawful life of one request, and return its text.

    Order `Queued* Loading* PromptBuilt PrefillProgress* ThinkingDelta* TextDelta* terminal`, exactly one terminal
    event with nothing after it (none yet with `has_ended` False), `n_decoded` never falls, the deltas together equal
    `Finished.text` and `Finished.thinking`.
    """
    assert all(event.request_id == request_id for event in events), "an event of another request"
    ends = [i for i, event in enumerate(events) if isinstance(event, Finished | Failed)]
    assert len(ends) == (1 if has_ended else 0), f"{len(ends)} terminal events: {_names(events)}"
    assert not ends or ends[0] == len(events) - 1, f"something follows the terminal event: {_names(events)}"
    ranks = [_RANK[type(event)] for event in events]
    assert ranks == sorted(ranks), f"out of order: {_names(events)}"
    assert ranks.count(_RANK[PromptBuilt]) <= 1, "more than one PromptBuilt"
    deltas = [event for event in events if isinstance(event, TextDelta | ThinkingDelta)]
    assert not deltas or _RANK[PromptBuilt] in ranks, "text without a prompt"
    counts = [delta.n_decoded for delta in deltas]
    assert counts == sorted(counts), f"n_decoded falls: {counts}"
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    thinking = "".join(delta.text for delta in deltas if isinstance(delta, ThinkingDelta))
    if ends and isinstance(last := events[-1], Finished):
        assert last.text == text, "the deltas are not the final text"
        assert last.thinking == thinking, "the deltas are not the whole thinking"
    return text


def _names(events: Sequence[RequestEvent]) -> str:
    return " ".join(type(event).__name__ for event in events)
