"""What goes on inside a model with MoE experts: gathered from the engine while somebody looks, kept with the answer."""

import csv
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.moe_experts import PHASES, KeptMoe, MoeRecord, MoeShape, MoeToken, against_even, kept
from layadesk.protocol.events import ModelLoaded, ModelLoading, ModelUnloaded, MoeExpertsChosen
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.usecases.futures import then
from layadesk.usecases.running_turns import RunningTurns
from layadesk.usecases.turns import TurnEnded, TurnEvent
from layadesk.workers.engine_client import EngineClient

log = logging.getLogger(__name__)

MAX_TOKENS = 4096  # of the last answer, for the hover
N_ANSWERS = 200


@dataclass(frozen=True, slots=True)
class InsideAnswer:
    """What gates chose for one answer. `message_id` is empty for one that the server was asked for."""

    message_id: str
    conversation_id: str
    model_id: str
    task: str | None
    record: MoeRecord
    tokens: tuple[MoeToken, ...] = ()


@dataclass(frozen=True, slots=True)
class InsideModel:
    """What gates chose since a model was loaded: in all, and by the task of the request where that is known."""

    model_id: str
    record: MoeRecord
    by_task: Mapping[str, MoeRecord]


class LookInside:
    """Any thread. `changed` tells the id of a model of which there is something new, at most some times a second."""

    def __init__(self, engine: EngineClient, store: Store, running: RunningTurns, turns: Feed[TurnEvent]) -> None:
        self.changed: Feed[str] = Feed()
        self._engine = engine
        self._store = store
        self._running = running
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, InsideAnswer] = OrderedDict()  # by request id
        self._models: dict[str, InsideModel] = {}
        self._is_on = False
        self._thread = ThreadPoolExecutor(1, "look-inside")
        engine.inside.chosen.subscribe(self._on_chosen)
        engine.model_feed.subscribe(self._on_model)
        turns.subscribe(self._on_turn)

    @property
    def is_on(self) -> bool:
        """Whether gates are watched."""
        return self._is_on

    def switch(self, *, is_on: bool) -> None:
        """Watch gates or not; while they are watched, models with MoE experts answer more slowly."""
        self._is_on = is_on
        self._engine.inside.watch(is_on=is_on)
        self.changed.publish("")

    def shapes(self) -> Mapping[str, MoeShape]:
        """The models in memory that have MoE experts."""
        return {model_id: one.moe for model_id, one in self._engine.loaded.items() if one.moe is not None}

    def last_answer(self) -> InsideAnswer | None:
        """The newest answer that was watched."""
        with self._lock:
            return next(reversed(self._answers.values()), None)

    def model(self, model_id: str) -> InsideModel | None:
        """Since it was loaded; None where nothing was watched."""
        with self._lock:
            return self._models.get(model_id)

    def conversation(self, conversation_id: str) -> Future[tuple[InsideAnswer, ...]]:
        """What was kept with the answers of a conversation, and those of this run as they were seen."""

        def merged(stored: Mapping[str, KeptMoe]) -> tuple[InsideAnswer, ...]:
            with self._lock:
                seen = {one.message_id: one for one in self._answers.values() if one.message_id}
            kept_ones = [
                seen.pop(message_id)
                if message_id in seen
                else InsideAnswer(message_id, conversation_id, "", None, one.record())
                for message_id, one in stored.items()
            ]
            return (*kept_ones, *(one for one in seen.values() if one.conversation_id == conversation_id))

        return then(self._store.moe_use(conversation_id), merged)

    def export_csv(self, file: Path, record: MoeRecord) -> Future[None]:
        """Write a record as a table: a line for each phase, layer and MoE expert. Fails with EXPORT_FAILED."""
        return self._thread.submit(_write_csv, file, record)

    def close(self) -> None:
        """Nothing new is taken; what runs ends by itself."""
        self._thread.shutdown(wait=False)

    # On the engine client's thread

    def _on_chosen(self, event: MoeExpertsChosen) -> None:
        turn = self._running.of_request(event.request_id)
        message = None if turn is None else turn.message
        task = None if message is None or message.route is None else message.route.task
        with self._lock:
            before = self._answers.pop(event.request_id, None)
            if before is None:
                conversation_id = "" if message is None else message.conversation_id
                message_id = "" if message is None else message.message_id
                answer = InsideAnswer(
                    message_id, conversation_id, event.model_id, task, event.record, event.tokens[:MAX_TOKENS]
                )
            else:
                tokens = (*before.tokens, *event.tokens)[:MAX_TOKENS]
                answer = replace(before, record=before.record + event.record, tokens=tokens)
            self._answers[event.request_id] = answer
            while len(self._answers) > N_ANSWERS:
                self._answers.popitem(last=False)
            self._models[event.model_id] = self._model_with(event, task)
        self.changed.publish(event.model_id)

    def _model_with(self, event: MoeExpertsChosen, task: str | None) -> InsideModel:
        known = self._models.get(event.model_id)
        record = event.record if known is None else known.record + event.record
        by_task = {} if known is None else dict(known.by_task)
        if task is not None:
            by_task[task] = by_task[task] + event.record if task in by_task else event.record
        return InsideModel(event.model_id, record, by_task)

    def _on_model(self, event: ModelLoading | ModelLoaded | ModelUnloaded) -> None:
        """Since it was loaded: what it did before is of another life."""
        if isinstance(event, ModelLoading):
            return
        model_id = event.loaded.model_id if isinstance(event, ModelLoaded) else event.model_id
        if isinstance(event, ModelUnloaded):
            with self._lock:
                self._models.pop(model_id, None)
        self.changed.publish(model_id)

    def _on_turn(self, event: TurnEvent) -> None:
        if not isinstance(event, TurnEnded):
            return
        with self._lock:
            ended = [one for one in self._answers.values() if one.message_id == event.message_id]
        for one in ended:
            self._store.save_moe_use(one.message_id, kept(one.record))


def _write_csv(file: Path, record: MoeRecord) -> None:
    try:
        with file.open("w", encoding="utf-8", newline="") as target:
            table = csv.writer(target)
            table.writerow(["phase", "layer", "moe_expert", "n_tokens", "n_chosen", "share_of_even", "weight"])
            for phase in PHASES:
                table.writerows(_rows(record, phase))
    except OSError as error:
        raise fail(ErrorCode.EXPORT_FAILED, path=str(file), detail=error.strerror or str(error)) from error


def _rows(record: MoeRecord, phase: str) -> Iterator[tuple[object, ...]]:
    counts = record.counts(phase)
    n_expert = record.shape.n_expert
    for row, layer in enumerate(record.layers if counts.n_tokens else ()):
        shares = against_even(counts, row)
        for expert, n in enumerate(counts.of_layer(row)):
            weight = counts.weights[row * n_expert + expert] if counts.weights else ""
            share = "" if shares[expert] is None else round(shares[expert] or 0.0, 4)
            yield (phase, layer, expert, counts.n_tokens[row], n, share, weight)
