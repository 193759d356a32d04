"""App → child. Each command is complete in itself: a child holds no memory that a restart would lose."""

import msgspec

from layadesk.domain.inference import PromptMessage, SamplingParams, ThinkingParams, ToolUse
from layadesk.domain.models import ExpertSpec


class Configure(msgspec.Struct, frozen=True, tag=True):
    """All experts the engine may load. Idempotent; replayed after each restart; unloads what is no longer listed.

    Experts in memory at a time are at most `n_loaded_max`, and take at most `memory_bytes` together; None is no limit.
    `keep_alive_s` after its last answer an idle expert goes by itself; None: it stays until the room is needed.
    """

    experts: tuple[ExpertSpec, ...]
    n_queue_max: int = 128
    n_loaded_max: int = 2
    memory_bytes: int | None = None
    keep_alive_s: float | None = None


class LoadModel(msgspec.Struct, frozen=True, tag=True):
    """Load a configured expert now instead of at its first request; answered by ModelLoaded or Failed."""

    model_id: str


class UnloadModel(msgspec.Struct, frozen=True, tag=True):
    """Free an expert's memory; its running requests end first, as cancelled. Answered by ModelUnloaded.

    `only_idle`: answered by Failed with EXPERT_BUSY, and nothing happens, where it is loading, waited for or answering.
    """

    model_id: str
    only_idle: bool = False


class Generate(msgspec.Struct, frozen=True, tag=True):
    """Answer `messages` with a configured expert, loading it if need be. `request_id` is the app's, unique.

    `conversation_id` ties turns together: what one has computed is kept for the next, also on disk. `client` is among
    whom turns are shared fairly; without one, each conversation is a client of its own.

    `continues`: the last message is the assistant's and the answer so far, to be gone on with; `thought` is what was
    thought before it. What comes back is only what is new.

    With `keeps_all` nothing of the messages may be left out to fit. `is_raw`: the last message is the beginning of a
    text to go on with, without a template. `tools` may or must be called.
    """

    request_id: str
    model_id: str
    messages: tuple[PromptMessage, ...]
    sampling: SamplingParams = SamplingParams()
    thinking: ThinkingParams = ThinkingParams()
    conversation_id: str = ""
    client: str = ""
    continues: bool = False
    thought: str = ""
    keeps_all: bool = False
    is_raw: bool = False
    tools: ToolUse | None = None


class CountTokens(msgspec.Struct, frozen=True, tag=True):
    """How many tokens the prompt of these messages would have; answered by one TokensCounted, and nothing is loaded."""

    count_id: str
    model_id: str
    messages: tuple[PromptMessage, ...]
    max_tokens: int | None = None
    thinking: ThinkingParams = ThinkingParams()


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """End a request; silent for ids that are unknown or have ended."""

    request_id: str


class ForgetConversation(msgspec.Struct, frozen=True, tag=True):
    """Keep nothing that was computed for a conversation any more, neither in memory nor on disk. No answer."""

    conversation_id: str


class WatchMoeExperts(msgspec.Struct, frozen=True, tag=True):
    """Tell what the gates of models with MoE experts choose, by MoeExpertsChosen, or stop. It costs some speed."""

    is_on: bool


class ProfileExpert(msgspec.Struct, frozen=True, tag=True):
    """Measure what a token with `n_past` before it spends its time on; answered by one ExpertProfiled.

    It takes seconds, in which the engine does nothing else.
    """

    model_id: str
    n_past: int


class RouteText(msgspec.Struct, frozen=True, tag=True):
    """Ask the router about one request. `history` holds the earlier user messages, the newest last."""

    request_id: str
    text: str
    history: tuple[str, ...] = ()


class Decide(msgspec.Struct, frozen=True, tag=True):
    """Ask the decision model questions of the client's own about `state`, both JSON text as in Jev's wire format."""

    request_id: str
    state: str
    questions: str


class Ping(msgspec.Struct, frozen=True, tag=True):
    """Answered at once by the child's inbox thread, also while its main thread sits in native code."""

    n: int


class Shutdown(msgspec.Struct, frozen=True, tag=True):
    """End cleanly: running requests are cancelled, then the process leaves with exit code 0."""


EngineCommand = (
    Configure
    | LoadModel
    | UnloadModel
    | Generate
    | CountTokens
    | Cancel
    | ForgetConversation
    | WatchMoeExperts
    | ProfileExpert
    | Ping
    | Shutdown
)
RouterCommand = RouteText | Decide | Cancel | Ping | Shutdown
