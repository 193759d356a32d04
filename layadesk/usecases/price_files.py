"""Prices many files of the catalogue in a short-lived child.

Pricing is seconds of Python. In a thread it would take the interpreter from the window at every step: gaps of a tenth
of a second each time the Models page is opened.
"""

import logging
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.memory_fit.plans import Outlook
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.protocol.channel import Channel
from layadesk.protocol.pricing import FilePriced
from layadesk.usecases.price_file import FileQuestion, price_file
from layadesk.usecases.price_load import PriceLoad
from layadesk.usecases.pricing_child import PricingOptions, run
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import spawn_child

log = logging.getLogger(__name__)

PATIENCE_S = 30.0  # for one answer
LOOK_S = 0.1  # between looks whether the answers are still wanted

Start = Callable[[PricingOptions], ChildProcess]


class PriceFiles:
    """One thread at a time, one that may wait for seconds."""

    def __init__(self, price: PriceLoad, *, start: Start | None = None) -> None:
        self._price = price
        self._start = start or _start_pricing

    def one(self, card: ModelCard, file: ModelFile, question: FileQuestion) -> Outlook | None:
        """As `price_file`, here and now."""
        return price_file(self._price, card, file, question)

    def each(
        self,
        files: Sequence[tuple[ModelCard, ModelFile]],
        question: FileQuestion,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Generator[Outlook | None]:
        """The same for each of them, in their order, as soon as it is known.

        Raises CancelledError when `is_wanted` says no; close it where not all are taken, or its child lives on. What a
        child that fails does not answer is priced here.
        """
        n_known = 0
        options = PricingOptions(tuple(files), question, self._price.corrections)
        try:
            with closing(self._from_child(options, is_wanted)) as outlooks:
                for outlook in outlooks:
                    n_known += 1
                    yield outlook
        except (OSError, EOFError, LayaDeskError) as error:
            log.warning("the pricing child failed: %s: %s", type(error).__name__, error)
        for card, file in files[n_known:]:
            if not is_wanted():
                raise CancelledError
            yield self.one(card, file, question)

    def _from_child(self, options: PricingOptions, is_wanted: Callable[[], bool]) -> Generator[Outlook | None]:
        child = self._start(options)
        try:
            channel: Channel[object, FilePriced] = Channel(child.connection, FilePriced)
            for _ in options.files:
                until = time.monotonic() + PATIENCE_S
                while not child.connection.poll(LOOK_S) and is_wanted():
                    if time.monotonic() > until:
                        raise TimeoutError(f"no answer in {PATIENCE_S:.0f} s")
                if not is_wanted():
                    raise CancelledError
                yield channel.receive().outlook
        finally:
            child.end()


def _start_pricing(options: PricingOptions) -> ChildProcess:
    return spawn_child(run, options, name="layadesk-pricing")
