"""Child → app. Front rooms may read these; only use cases send commands."""

from dataclasses import dataclass

import msgspec

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse, Timings, ToolCall
from layadesk.domain.models import LoadedModel
from layadesk.domain.moe_experts import MoeRecord, MoeToken
from layadesk.domain.routing import RouterAnswer


class BackendModule(msgspec.Struct, frozen=True):
    """A file with one more backend of ggml; `problem` is why it is not used, in the library's words, None if it is."""

    name: str
    problem: str | None = None


class EngineReady(msgspec.Struct, frozen=True, tag=True):
    """The first event of the engine, after its self-test. `devices` are the backends' names of what they compute on."""

    protocol_version: int
    pid: int
    backend: str
    devices: tuple[str, ...]
    supports_gpu_offload: bool
    self_test_ms: float
    modules: tuple[BackendModule, ...] = ()


class RouterReady(msgspec.Struct, frozen=True, tag=True):
    """The first event of the router."""

    protocol_version: int
    pid: int
    router_id: str


class ModelLoading(msgspec.Struct, frozen=True, tag=True):
    """Progress of a load, `fraction` 0–1, at most a few times a second. Latest wins."""

    model_id: str
    fraction: float


class ModelLoaded(msgspec.Struct, frozen=True, tag=True):
    """An expert is in memory."""

    loaded: LoadedModel


class ModelUnloaded(msgspec.Struct, frozen=True, tag=True):
    """An expert is gone from memory."""

    model_id: str


class Queued(msgspec.Struct, frozen=True, tag=True):
    """The request waits; `position` 0 is next."""

    request_id: str
    position: int


class Loading(msgspec.Struct, frozen=True, tag=True):
    """The request waits for its expert, `fraction` 0–1. Latest wins."""

    request_id: str
    model_id: str
    fraction: float


class PromptBuilt(msgspec.Struct, frozen=True, tag=True):
    """The prompt: `n_prompt` tokens, `n_cached` of them in the KV cache; `n_dropped` messages left out.

    `n_ctx` 0: the expert is remote, and its counts are not known yet.
    """

    request_id: str
    n_prompt: int
    n_cached: int
    n_dropped: int
    n_ctx: int
    memory: MemoryUse


class PrefillProgress(msgspec.Struct, frozen=True, tag=True):
    """`n_done` of `n_prompt` prompt tokens are in the KV cache. Latest wins."""

    request_id: str
    n_done: int
    n_prompt: int


class ThinkingDelta(msgspec.Struct, frozen=True, tag=True):
    """New text of the thinking that comes before the answer; otherwise as TextDelta."""

    request_id: str
    text: str
    n_decoded: int


class TextDelta(msgspec.Struct, frozen=True, tag=True):
    """New text since the last delta; `n_decoded` counts all tokens so far (0: nobody counts, the expert is remote).

    Deltas may be merged, never lost.
    """

    request_id: str
    text: str
    n_decoded: int


class Finished(msgspec.Struct, frozen=True, tag=True):
    """The end of a request that was answered, fully or in part (`cancelled`, `length`).

    `thinking` is what came before the answer; with an empty `text` it is all there is, and must be shown. `tool_calls`
    are what it wants called, in order; they are no part of the text.
    """

    request_id: str
    text: str
    finish_reason: FinishReason
    timings: Timings
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The end of a request that could not be answered; `request_id` None: a command without one failed (`model_id`)."""

    request_id: str | None
    error: ErrorReport
    model_id: str | None = None


class TokensCounted(msgspec.Struct, frozen=True, tag=True):
    """The answer to one CountTokens. Of `n_whole` tokens, `n_prompt` would be sent, without the `n_dropped` oldest
    messages. `n_whole` None: the expert is not in memory, or the messages make no prompt.
    """

    count_id: str
    n_whole: int | None = None
    n_prompt: int = 0
    n_dropped: int = 0
    n_ctx: int = 0


@dataclass(frozen=True, slots=True)
class ExpertUse:
    """What one expert in memory is doing. `size_bytes` is all it takes, None where the library did not say.

    Of `kv_size` cells, running answers hold `kv_used` and ended ones `kv_kept`. `idle_s` is since its last work.
    """

    model_id: str
    n_running: int
    n_waiting: int
    kv_used: int
    kv_kept: int
    kv_size: int
    size_bytes: int | None
    idle_s: float


class EngineStats(msgspec.Struct, frozen=True, tag=True):
    """What the engine alone knows, twice a second while it works. Latest wins.

    Of `kv_size` cells, running answers hold `kv_used` and ended ones `kv_kept`, for a next turn, until they are needed.
    """

    n_running: int
    n_waiting: int
    kv_used: int
    kv_size: int
    prefill_tps: float
    decode_tps: float
    kv_kept: int = 0
    experts: tuple[ExpertUse, ...] = ()


class MoeExpertsChosen(msgspec.Struct, frozen=True, tag=True):
    """What the gates inside a model chose for one request since the last of these, at most four times a second.

    Only after WatchMoeExperts, and before the request's terminal event. `tokens` are those of the answer, in order.
    """

    request_id: str
    model_id: str
    record: MoeRecord
    tokens: tuple[MoeToken, ...] = ()


class ExpertProfiled(msgspec.Struct, frozen=True, tag=True):
    """The answer to one ProfileExpert: the profile, or why there is none."""

    model_id: str
    profile: ComputeProfile | None = None
    error: ErrorReport | None = None


class Pong(msgspec.Struct, frozen=True, tag=True):
    """Answer to Ping: what the main thread is in (`idle`, `loading`, `prefill`, `decode`) and its step counter."""

    n: int
    phase: str
    step: int


class RouteAnswered(msgspec.Struct, frozen=True, tag=True):
    """The router's answer to one RouteText."""

    request_id: str
    answer: RouterAnswer


class Decided(msgspec.Struct, frozen=True, tag=True):
    """The decision model's answer to one Decide, JSON text in Jev's wire format."""

    request_id: str
    answer: str


EngineEvent = (
    EngineReady
    | ModelLoading
    | ModelLoaded
    | ModelUnloaded
    | Queued
    | Loading
    | PromptBuilt
    | PrefillProgress
    | ThinkingDelta
    | TextDelta
    | Finished
    | Failed
    | TokensCounted
    | EngineStats
    | MoeExpertsChosen
    | ExpertProfiled
    | Pong
)
RouterEvent = RouterReady | RouteAnswered | Decided | Failed | Pong
RequestEvent = Queued | Loading | PromptBuilt | PrefillProgress | ThinkingDelta | TextDelta | Finished | Failed
