"""Both ends of a pipe: every message comes back equal, and what is no message is refused, whatever it is."""

import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layadesk.domain.answer_time import ComputePart, ComputeProfile
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import (
    FinishReason,
    LoadParams,
    MemoryUse,
    PromptMessage,
    Role,
    SamplingParams,
    Timings,
    ToolCall,
    ToolUse,
)
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, MoeShape, MoeToken
from layadesk.domain.routing import RouterAnswer
from layadesk.protocol.channel import MAX_FRAME_BYTES, Channel
from layadesk.protocol.commands import (
    Cancel,
    Configure,
    CountTokens,
    Decide,
    EngineCommand,
    ForgetConversation,
    Generate,
    LoadModel,
    Ping,
    ProfileExpert,
    RouterCommand,
    RouteText,
    Shutdown,
    UnloadModel,
    WatchMoeExperts,
)
from layadesk.protocol.events import (
    BackendModule,
    Decided,
    EngineEvent,
    EngineReady,
    EngineStats,
    ExpertProfiled,
    Failed,
    Finished,
    Loading,
    ModelLoaded,
    ModelLoading,
    ModelUnloaded,
    MoeExpertsChosen,
    Pong,
    PrefillProgress,
    PromptBuilt,
    Queued,
    RouteAnswered,
    RouterEvent,
    RouterReady,
    TextDelta,
    ThinkingDelta,
    TokensCounted,
)

CALL = ToolCall("c12345678", "add", '{"a": 1}')
COUNTS = MoeCounts((1,), (0, 1, 0, 1), (0.0, 0.25, 0.0, 0.75))
COMMANDS: list[EngineCommand] = [
    ForgetConversation("talk"),
    WatchMoeExperts(True),
    ProfileExpert("m", 100),
    Configure((ExpertSpec("m", "/models/模型 🙂 a.gguf", LoadParams(n_ctx=512, use_mmap=False)),), 3),
    LoadModel("m"),
    UnloadModel("m"),
    Generate("q", "m", (PromptMessage(Role.USER, "你好\n🙂"),), SamplingParams(seed=7, stop=("</s>", "\n"))),
    Generate("q", "m", (PromptMessage(Role.ASSISTANT, "", (CALL,)),), keeps_all=True, tools=ToolUse("[]", ("add",))),
    CountTokens("c", "m", (PromptMessage(Role.USER, "你好"),), 64),
    Cancel("q"),
    Ping(2**40),
    Shutdown(),
]
EVENTS: list[EngineEvent] = [
    EngineReady(1, 2, "llama", ("CPU",), True, 12.5, (BackendModule("libggml-vulkan.so", "no driver"),)),
    ModelLoading("m", 0.5),
    ModelLoaded(LoadedModel("m", "llama", 512, 2048, 30, 0, 49152, 4, 81.5, "chatml", MemoryUse(1, None, 3, 4))),
    ModelUnloaded("m"),
    Queued("q", 3),
    Loading("q", "m", 0.25),
    PromptBuilt("q", 10, 5, 2, 512, MemoryUse(weights_bytes=2**34)),
    PrefillProgress("q", 1, 2),
    ThinkingDelta("q", "è", 1),
    TextDelta("q", "é", 1),
    Finished("q", "é", FinishReason.LENGTH, Timings(ttft_ms=1.5, n_prompt=10)),
    Finished("q", "", FinishReason.STOP, Timings(), tool_calls=(CALL,)),
    Failed("q", ErrorReport(ErrorCode.CONTEXT_LENGTH_EXCEEDED, {"n_prompt": 9, "why": None, "x": 1.5, "b": True})),
    Failed(None, ErrorReport(ErrorCode.MODEL_LOAD_FAILED), "m"),
    EngineStats(1, 2, 3, 4, 5.0, 6.0),
    ExpertProfiled("m", ComputeProfile(((ComputePart.ATTENTION, 1.5),), 2.0, 100)),
    ExpertProfiled("m", error=ErrorReport(ErrorCode.EXPERT_BUSY, {"expert": "m"})),
    MoeExpertsChosen("r", "m", MoeRecord(MoeShape(4, 2), (0,), decode=COUNTS), (MoeToken("a", b"\x03\0\x01\0"),)),
    TokensCounted("c", 9, 5, 2, 512),
    Pong(1, "decode", 99),
]
ROUTER: list[Any] = [
    RouteText("r", "text", ("a", "b")),
    Decide("d", '"state"', '{"q": {"type": "noul"}}'),
    Cancel("r"),
    Ping(1),
    Shutdown(),
]
ANSWERS: list[Any] = [
    RouterReady(1, 2, "none"),
    RouteAnswered("r", RouterAnswer("none", 0.2, {"code": 0.75, "chat": 0.25}, {}, 3, "zh")),
    Decided("d", '{"answers": {}}'),
    Failed("r", ErrorReport(ErrorCode.INTERNAL, {"reason": "x"})),
    Pong(1, "idle", 0),
]


@pytest.fixture
def ends() -> Iterator[tuple[Any, Any]]:
    """Both ends of a pipe."""
    one, other = multiprocessing.Pipe(duplex=True)
    yield one, other
    one.close()
    other.close()


@pytest.mark.parametrize(
    ("union", "messages"),
    [(EngineCommand, COMMANDS), (EngineEvent, EVENTS), (RouterCommand, ROUTER), (RouterEvent, ANSWERS)],
)
def test_every_message_comes_back_equal(ends: tuple[Any, Any], union: Any, messages: list[Any]) -> None:
    sender: Channel[Any, Any] = Channel(ends[0], union)
    receiver: Channel[Any, Any] = Channel(ends[1], union)
    assert {type(message) for message in messages} == set(union.__args__), "a message is missing in this test"
    for message in messages:
        sender.send(message)
        assert receiver.receive() == message


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=st.binary(min_size=1, max_size=200) | st.binary(min_size=1).map(lambda tail: b"\x92\xa6Queued" + tail))
def test_any_bytes_are_a_message_or_refused_with_one_error(ends: tuple[Any, Any], frame: bytes) -> None:
    receiver: Channel[Any, EngineEvent] = Channel(ends[1], EngineEvent)
    ends[0].send_bytes(frame)
    codes: list[ErrorCode] = []
    try:
        receiver.receive()
    except LayaDeskError as error:
        codes.append(error.code)
    assert codes in ([], [ErrorCode.PROTOCOL_MISMATCH])


@pytest.mark.parametrize("frame", [b"\xc1", b"\x91" * 50_000, b"\xa1\xff", b"\x81\xa4type\xa4Nope"])
def test_deep_broken_and_unknown_frames_are_refused(ends: tuple[Any, Any], frame: bytes) -> None:
    receiver: Channel[Any, EngineEvent] = Channel(ends[1], EngineEvent)
    ends[0].send_bytes(frame)
    with pytest.raises(LayaDeskError) as raised:
        receiver.receive()
    assert raised.value.code is ErrorCode.PROTOCOL_MISMATCH


@pytest.mark.parametrize("text", ["\ud800", "x" * MAX_FRAME_BYTES])
def test_what_cannot_be_sent_is_refused_before_a_byte_is_written(ends: tuple[Any, Any], text: str) -> None:
    sender: Channel[Any, Any] = Channel(ends[0], EngineEvent)
    with pytest.raises(LayaDeskError) as raised:
        sender.send(TextDelta("q", text, 1))
    assert raised.value.code is ErrorCode.BAD_PARAMETER
    assert not ends[1].poll(0)


def test_the_end_of_the_line_is_told(ends: tuple[Any, Any]) -> None:
    receiver: Channel[Any, Any] = Channel(ends[1], EngineEvent)
    Channel(ends[0], EngineEvent).close()
    with pytest.raises(EOFError):
        receiver.receive()
    with pytest.raises(OSError, match=r".*"):
        receiver.send(Pong(1, "idle", 0))
