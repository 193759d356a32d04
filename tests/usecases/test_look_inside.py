"""What gates chose, by answer, conversation, model and task, and kept with the answer."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from layadesk.domain.chat import Conversation, Message, MessageStatus
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import MemoryUse, Role
from layadesk.domain.models import LoadedModel
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, kept
from layadesk.domain.routing import Route, RouteReason
from layadesk.paths import DataPaths
from layadesk.protocol.events import ModelLoaded, ModelUnloaded, MoeExpertsChosen
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.usecases.look_inside import LookInside
from layadesk.usecases.running_turns import RunningTurn, RunningTurns
from layadesk.usecases.turns import TurnEnded, TurnEvent
from tests.fakes.inside import RECORD, SHAPE, TOKENS


class Engine:
    def __init__(self) -> None:
        self.watched: list[bool] = []
        self.inside = SimpleNamespace(
            chosen=Feed[MoeExpertsChosen](), profiled=Feed(), watch=lambda *, is_on: self.watched.append(is_on)
        )
        self.model_feed: Feed[Any] = Feed()
        self.loaded: dict[str, LoadedModel] = {}


class House:
    def __init__(self, root: Path) -> None:
        self.store = Store.open(DataPaths(root), now=0.0)
        self.engine = Engine()
        self.turns: Feed[TurnEvent] = Feed()
        self.running = RunningTurns(self.store.save_progress)
        self.look = LookInside(cast("Any", self.engine), self.store, self.running, self.turns)
        self.store.add_conversation(Conversation("c", "t", 0.0, 0.0))
        self.told: list[str] = []
        self.look.changed.subscribe(self.told.append)

    def begin(self, message_id: str, task: str | None) -> Message:
        route = Route("moe", RouteReason.ROUTER, task=task)
        message = Message(
            message_id, "c", None, Role.ASSISTANT, "", 1.0, MessageStatus.STREAMING, expert_id="moe", route=route
        )
        self.store.add_messages((message,), leaf_id=message_id).result()
        self.running.add(RunningTurn(message, f"r-{message_id}"))
        return message

    def choose(self, request_id: str, record: MoeRecord = RECORD) -> None:
        self.engine.inside.chosen.publish(MoeExpertsChosen(request_id, "moe", record, TOKENS))

    def end(self, message: Message) -> None:
        self.running.end(message.message_id)
        done = replace(message, status=MessageStatus.COMPLETE)
        self.store.finish_message(done)
        self.turns.publish(TurnEnded("c", message.message_id, done))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.look.close()
    made.store.close()


def test_parts_of_one_answer_add_up_and_belong_to_its_message_and_task(house: House) -> None:
    house.begin("m", "code")
    house.choose("r-m")
    house.choose("r-m")
    answer = house.look.last_answer()
    assert answer is not None
    assert (answer.message_id, answer.conversation_id, answer.task) == ("m", "c", "code")
    assert answer.record == RECORD + RECORD
    assert answer.tokens == TOKENS * 2
    model = house.look.model("moe")
    assert model is not None
    assert model.record == RECORD + RECORD
    assert dict(model.by_task) == {"code": RECORD + RECORD}
    assert house.told == ["moe", "moe"]


def test_a_request_of_the_server_counts_for_the_model_and_has_no_task(house: House) -> None:
    house.choose("from-the-server")
    model = house.look.model("moe")
    assert model is not None
    assert model.record == RECORD
    assert model.by_task == {}


def test_it_is_kept_with_the_answer_and_read_in_another_run(house: House) -> None:
    house.end(house.begin("m0", "code"))  # was not watched
    message = house.begin("m", "code")
    house.choose("r-m")
    house.end(message)
    again = LookInside(cast("Any", Engine()), house.store, house.running, Feed())
    (answer,) = again.conversation("c").result()
    again.close()
    assert answer.message_id == "m"
    assert answer.record.counts() == replace(RECORD, capture_ms=0, computed_ms=0).counts()
    assert answer.tokens == ()
    (seen,) = house.look.conversation("c").result()
    assert seen.tokens == TOKENS


def test_what_is_kept_is_coarse_only_where_counts_are_large() -> None:
    counts = MoeCounts((1000, 2), (1000, 500, 10, 0, 1, 1, 1, 1))
    again = kept(MoeRecord(SHAPE, (0, 1), decode=counts)).record().decode
    assert again.n_tokens == counts.n_tokens
    assert again.of_layer(1) == (1, 1, 1, 1)
    assert all(abs(a - b) <= 2 for a, b in zip(again.of_layer(0), counts.of_layer(0), strict=True))


def test_a_model_that_goes_takes_its_counts_with_it_and_only_moe_models_are_offered(house: House) -> None:
    dense = LoadedModel("d", "llama", 1, 1, 1, 0, 1, 1, 0.0, "gguf", MemoryUse())
    house.engine.loaded = {"d": dense, "moe": replace(dense, model_id="moe", moe=SHAPE)}
    assert house.look.shapes() == {"moe": SHAPE}
    house.choose("r")
    house.engine.model_feed.publish(ModelLoaded(house.engine.loaded["moe"]))
    assert house.look.model("moe") is not None
    house.engine.model_feed.publish(ModelUnloaded("moe"))
    assert house.look.model("moe") is None


def test_switching_is_passed_on(house: House) -> None:
    house.look.switch(is_on=True)
    house.look.switch(is_on=False)
    assert house.engine.watched == [True, False]
    assert not house.look.is_on


def test_the_table_has_a_line_for_each_phase_layer_and_moe_expert(house: House, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    house.look.export_csv(file, RECORD).result()
    with file.open(encoding="utf-8", newline="") as source:
        lines = list(csv.DictReader(source))
    assert len(lines) == 2 * 2 * 4
    first = {"phase": "prefill", "layer": "0", "moe_expert": "0", "n_tokens": "3", "n_chosen": "3"}
    assert lines[0] == first | {"share_of_even": "2.0", "weight": ""}
    assert sum(int(line["n_chosen"]) for line in lines) == sum(RECORD.counts().n_chosen)


def test_a_table_that_cannot_be_written_says_so(house: House, tmp_path: Path) -> None:
    with pytest.raises(LayaDeskError) as failure:
        house.look.export_csv(tmp_path / "nowhere" / "counts.csv", RECORD).result()
    assert failure.value.code is ErrorCode.EXPORT_FAILED
