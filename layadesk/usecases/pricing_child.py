"""The pricing process: it prices the files it was started with and ends. Entered through `workers/spawn.py`.

No inbox, no supervisor: it lives for some seconds, and when the app is gone its next answer ends it.
"""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from layadesk.domain.models import ModelCard, ModelFile
from layadesk.protocol.channel import Channel
from layadesk.protocol.child import die_quickly
from layadesk.protocol.pricing import FilePriced
from layadesk.usecases.price_file import FileQuestion, price_file
from layadesk.usecases.price_load import PriceLoad

NICENESS = 5  # an answer that is being made goes first


@dataclass(frozen=True, slots=True)
class PricingOptions:
    """What is to be priced. `corrections` as of `PriceLoad`."""

    files: tuple[tuple[ModelCard, ModelFile], ...]
    question: FileQuestion
    corrections: Mapping[tuple[str, str], int]


def run(connection: "Connection[Any, Any]", options: PricingOptions) -> None:
    """Say the outlook of each file as soon as it is known; ends with 0, or with the traceback of a mistake of ours."""
    die_quickly()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    channel: Channel[FilePriced, Any] = Channel(connection, Any)
    price = PriceLoad(None, lambda: options.corrections)
    with contextlib.suppress(BrokenPipeError, ConnectionError):  # nobody listens any more
        for card, file in options.files:
            channel.send(FilePriced(price_file(price, card, file, options.question)))
