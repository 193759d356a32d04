"""What goes on inside models, as a test says it: the page's two use cases without an engine."""

from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from layadesk.domain.answer_time import ComputePart, ComputeProfile, time_parts
from layadesk.domain.chat import Message
from layadesk.domain.errors import LayaDeskError
from layadesk.domain.memory_fit.moe_placement import MoePlacement
from layadesk.domain.memory_fit.plans import Plan
from layadesk.domain.memory_fit.token_reads import Ceiling, DeviceReads
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, MoeShape, MoeToken
from layadesk.protocol.feed import Feed
from layadesk.usecases.explain_time import AnswerTime
from layadesk.usecases.look_inside import InsideAnswer, InsideModel

if TYPE_CHECKING:
    from tests.fakes.usecases import Lane

SHAPE = MoeShape(4, 2)


def packed(*numbers: int) -> bytes:
    """As MoeToken keeps them."""
    kept = bytearray(2 * len(numbers))
    memoryview(kept).cast("H")[:] = memoryview(b"".join(n.to_bytes(2, "little") for n in numbers)).cast("H")
    return bytes(kept)


RECORD = MoeRecord(
    SHAPE,
    (0, 1),
    prefill=MoeCounts((3, 1), (3, 3, 0, 0, 1, 1, 0, 0)),
    decode=MoeCounts((2, 2), (1, 1, 1, 1, 0, 2, 2, 0)),
    capture_ms=1.0,
    computed_ms=20.0,
)
TOKENS = (MoeToken("Hello", packed(0, 1, 1, 2)), MoeToken(" there", packed(2, 3, 2, 1)))


class FakeInside:
    """`LookInside`."""

    def __init__(self, store: "Lane") -> None:
        self._store = store
        self.changed: Feed[str] = Feed()
        self.is_on = False
        self.in_memory: dict[str, MoeShape] = {}
        self.answer: InsideAnswer | None = None
        self.models: dict[str, InsideModel] = {}
        self.of_conversation: tuple[InsideAnswer, ...] = ()
        self.exported: list[tuple[Path, MoeRecord]] = []

    def watched(self, *, conversation_id: str = "c", task: str = "code") -> None:
        """An answer of a model with MoE experts has been watched."""
        self.in_memory = {"moe": SHAPE}
        self.is_on = True
        self.answer = InsideAnswer("m", conversation_id, "moe", task, RECORD, TOKENS)
        self.models = {"moe": InsideModel("moe", RECORD + RECORD, {task: RECORD})}
        self.of_conversation = (self.answer, self.answer, self.answer)
        self.changed.publish("moe")

    def switch(self, *, is_on: bool) -> None:
        self.is_on = is_on
        self.changed.publish("")

    def shapes(self) -> Mapping[str, MoeShape]:
        return self.in_memory

    def last_answer(self) -> InsideAnswer | None:
        return self.answer

    def model(self, model_id: str) -> InsideModel | None:
        return self.models.get(model_id)

    def conversation(self, conversation_id: str) -> Future[tuple[InsideAnswer, ...]]:
        return self._store.run(lambda: self.of_conversation)

    def export_csv(self, file: Path, record: MoeRecord) -> Future[None]:
        return self._store.run(lambda: self.exported.append((file, record)))


class FakeTime:
    """`ExplainTime`: RAM at 10 GB/s, a model that reads 100 MB."""

    def __init__(self, store: "Lane") -> None:
        self._store = store
        self.placing = FakePlacing(store)
        self.refusal: LayaDeskError | None = None
        self.ceiling: Ceiling | None = Ceiling((DeviceReads("CPU", 90_000_000, 10_000_000),), {"CPU": 10e9})

    def explain(self, message: Message, *, screen_ms: float | None = None) -> Future[AnswerTime]:
        assert message.timings is not None
        parts = time_parts(message.timings, route_ms=0.4, screen_ms=screen_ms)
        return self._store.run(lambda: AnswerTime(parts, self.ceiling, 40.0))

    def profile(self, model_id: str, n_past: int) -> Future[ComputeProfile]:
        def run() -> ComputeProfile:
            if self.refusal is not None:
                raise self.refusal
            parts = ((ComputePart.ATTENTION, 3.0), (ComputePart.MOE_GATE, 1.0), (ComputePart.MOE_EXPERTS, 6.0))
            return ComputeProfile(parts, 5.0, n_past)

        return self._store.run(run)

    def bandwidths(self) -> Mapping[str, float]:
        return {"CPU": 10e9}


class FakePlacing:
    """`PlaceMoe`."""

    def __init__(self, store: "Lane") -> None:
        self._store = store
        self.found: MoePlacement | None = None
        self.taken: list[tuple[str, Plan]] = []

    def advise(self, model_id: str, record: MoeRecord) -> Future[MoePlacement | None]:
        return self._store.run(lambda: self.found)

    def take(self, model_id: str, plan: Plan) -> None:
        self.taken.append((model_id, plan))
