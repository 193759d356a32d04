"""The use cases the widget tests play with take what the real ones take."""

import inspect
from collections.abc import Callable
from dataclasses import fields

import pytest

from layadesk.usecases.bundle import UseCases
from layadesk.usecases.continue_answer import ContinueAnswer
from layadesk.usecases.count_context import CountContext
from layadesk.usecases.explain_time import ExplainTime
from layadesk.usecases.load_settings import LoadSettings
from layadesk.usecases.look_inside import LookInside
from layadesk.usecases.manage_conversations import Conversations
from layadesk.usecases.manage_experts import Experts
from layadesk.usecases.place_moe import PlaceMoe
from layadesk.usecases.regenerate import Regenerate
from layadesk.usecases.send_message import SendMessage
from layadesk.usecases.stop_generation import StopGeneration
from layadesk.usecases.watch_machine import WatchResources, WatchStorage, WatchWorkers
from tests.fakes import usecases as fakes
from tests.fakes.inside import FakeInside, FakePlacing, FakeTime

PAIRS = [
    (Conversations, fakes.FakeConversations),
    (Experts, fakes.FakeExperts),
    (WatchResources, fakes.FakeResources),
    (WatchWorkers, fakes.FakeWorkers),
    (WatchStorage, fakes.FakeStorage),
    (StopGeneration, fakes.FakeStop),
    (LoadSettings, fakes.FakeLoadSettings),
    (LookInside, FakeInside),
    (ExplainTime, FakeTime),
    (PlaceMoe, FakePlacing),
]
NOT_THE_WINDOWS = {"close", "adopt_starter", "has_changed"}


def parameters(call: Callable[..., object]) -> list[tuple[str, str]]:
    return [(p.name, p.kind.name) for p in inspect.signature(call).parameters.values()][1:]


@pytest.mark.parametrize(("real", "fake"), PAIRS, ids=lambda one: one.__name__)
def test_a_fake_has_the_calls_of_the_real_one(real: type, fake: type) -> None:
    for name, call in vars(real).items():
        if (name.startswith("_") and name != "__call__") or name in NOT_THE_WINDOWS or not inspect.isfunction(call):
            continue
        assert hasattr(fake, name), name
        assert parameters(getattr(fake, name)) == parameters(call), name


def test_sending_and_regenerating_take_the_same() -> None:
    assert parameters(fakes.FakeTurns.send) == parameters(SendMessage.__call__)
    assert parameters(fakes.FakeTurns.again) == parameters(Regenerate.__call__)
    assert parameters(fakes.FakeCounts.__call__) == parameters(CountContext.__call__)
    assert parameters(fakes.FakeTurns.go_on) == parameters(ContinueAnswer.__call__)


def test_the_bundle_has_the_same_fields() -> None:
    assert [field.name for field in fields(fakes.FakeBundle)] != []
    assert {field.name for field in fields(fakes.FakeBundle)} == {field.name for field in fields(UseCases)}
