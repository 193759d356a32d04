"""What every router can do, whether it is a large network, a small one, or none."""

from collections.abc import Sequence
from typing import Protocol

from layadesk.domain.routing import RouterAnswer


class DecisionModel(Protocol):
    """One way of reading requests. Made and called on the router's main thread."""

    @property
    def router_id(self) -> str:
        """Names it in every route it had a part in."""

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:
        """What it makes of `text`, with the earlier user messages, the newest last; `route_ms` is measured here."""
