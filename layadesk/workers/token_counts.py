"""Counts the engine was asked for: each asker hears once, also when the engine dies."""

import logging
from collections.abc import Callable

from layadesk.domain.errors import LayaDeskError
from layadesk.protocol.commands import CountTokens
from layadesk.protocol.events import TokensCounted

log = logging.getLogger(__name__)

OnCounted = Callable[[TokensCounted], None]


class OpenCounts:
    """Thread "engine-client". A count that is lost is one without a number."""

    def __init__(self, send: Callable[[CountTokens], None]) -> None:
        self._send = send
        self._open: dict[str, OnCounted] = {}

    def ask(self, command: CountTokens, on_counted: OnCounted, *, is_here: bool) -> None:
        """Send it to the engine, where the expert is in memory there."""
        self._open[command.count_id] = on_counted
        try:
            if is_here:
                self._send(command)
                return
        except LayaDeskError as error:  # more text than the pipe takes
            log.info("nothing is counted: %s", error.code)
        self.take(TokensCounted(command.count_id))

    def take(self, counted: TokensCounted) -> None:
        """It has come."""
        on_counted = self._open.pop(counted.count_id, None)
        if on_counted is not None:
            tell(on_counted, counted)

    def lose_all(self) -> None:
        """Nobody counts any more."""
        for count_id in list(self._open):
            self.take(TokensCounted(count_id))


def tell(on_counted: OnCounted, counted: TokensCounted) -> None:
    """A listener that fails must not cost the client its thread."""
    try:
        on_counted(counted)
    except Exception:
        log.exception("a listener of a token count failed")
