"""Many prices at once come from another process, and come all the same when that one fails."""

import os
from concurrent.futures import CancelledError
from multiprocessing.connection import Connection
from typing import Any

import pytest

from layadesk.domain.memory_fit.machine import GIB
from layadesk.domain.memory_fit.plans import Resident
from layadesk.domain.models import CardKind, ModelCard, ModelFile
from layadesk.model_library.catalogue import Catalogues
from layadesk.protocol.channel import Channel
from layadesk.protocol.pricing import FilePriced
from layadesk.usecases.price_file import FileQuestion
from layadesk.usecases.price_files import PriceFiles
from layadesk.usecases.price_load import PriceLoad
from layadesk.usecases.pricing_child import PricingOptions
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import spawn_child
from tests.fakes.machines import RADEON_780M

RESIDENTS = (Resident("idle", {"Vulkan0": GIB}, is_idle=True),)
QUESTION = FileQuestion(RADEON_780M, 8192, residents=RESIDENTS)
CORRECTIONS = {("qwen35", "Vulkan0"): 300 * 2**20}


def files() -> list[tuple[ModelCard, ModelFile]]:
    """The first of each expert of the catalogue: what fits, what does not, what has no numbers."""
    return [(card, card.files[0]) for card in Catalogues().current().cards if card.kind is CardKind.EXPERT]


def prices() -> PriceLoad:
    price = PriceLoad(None)
    price.learn(lambda: CORRECTIONS)
    return price


def test_another_process_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    price = PriceFiles(prices())
    expected = [price.one(card, file, QUESTION) for card, file in files()]
    assert None in expected
    assert len({None if one is None else one.verdict for one in expected}) >= 3
    monkeypatch.setattr(PriceLoad, "outlook", lambda *_: pytest.fail("it was priced in the window's process"))
    assert list(price.each(files(), QUESTION)) == expected


def answer_once(connection: "Connection[Any, Any]", options: PricingOptions) -> None:
    channel: Channel[FilePriced, Any] = Channel(connection, Any)
    channel.send(FilePriced(None))
    os._exit(1)


def answer_nonsense(connection: "Connection[Any, Any]", options: PricingOptions) -> None:
    connection.send_bytes(b"what")


@pytest.mark.logs_warnings
@pytest.mark.parametrize("target", [answer_once, answer_nonsense])
def test_what_a_child_that_fails_does_not_answer_is_priced_here(target: Any) -> None:
    price = PriceFiles(prices(), start=lambda options: spawn_child(target, options, name="pricing"))
    wanted = files()[1:4]
    first = None if target is answer_once else price.one(*wanted[0], QUESTION)
    assert list(price.each(wanted, QUESTION)) == [first, *(price.one(*one, QUESTION) for one in wanted[1:])]


@pytest.mark.logs_warnings
def test_where_no_child_can_be_started_it_is_priced_here() -> None:
    def refuse(_: PricingOptions) -> ChildProcess:
        raise OSError("no room")

    wanted = files()[:2]
    price = PriceFiles(prices(), start=refuse)
    assert list(price.each(wanted, QUESTION)) == [price.one(*one, QUESTION) for one in wanted]


def wait_for_ever(connection: "Connection[Any, Any]", options: PricingOptions) -> None:
    connection.poll(None)


def test_what_is_not_wanted_any_more_ends_with_its_child() -> None:
    started: list[ChildProcess] = []

    def start(options: PricingOptions) -> ChildProcess:
        started.append(spawn_child(wait_for_ever, options, name="pricing"))
        return started[0]

    with pytest.raises(CancelledError):
        next(PriceFiles(prices(), start=start).each(files(), QUESTION, lambda: False))
    with pytest.raises(ValueError, match="closed"):  # it has ended, and what it held is free
        started[0].process.exitcode  # noqa: B018
