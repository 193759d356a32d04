"""What the bench says to the two processes it compares the engine with."""

import msgspec

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorReport
from layadesk.domain.moe_experts import MoeRecord


class RawRun(msgspec.Struct, frozen=True, tag=True):
    """Compute `n_seq` prompts of `n_prompt` tokens, then `n_tokens` steps that give each sequence one more."""

    n_seq: int
    n_prompt: int
    n_tokens: int


class RawReply(msgspec.Struct, frozen=True, tag=True):
    """`n_decoded` tokens of all sequences in `decode_s`; with `error` nothing was measured. The first means: loaded."""

    n_decoded: int
    prefill_s: float
    decode_s: float
    error: str = ""


class ServerReady(msgspec.Struct, frozen=True, tag=True):
    """The server listens at `address` (`http://host:port`), or could not be started because of `error`."""

    address: str
    error: str = ""


class MoeBenchRun(msgspec.Struct, frozen=True, tag=True):
    """Compute `n_tokens` in each of three ways in turns, and `prompts` while looking. `name` is the file's."""

    name: str
    n_tokens: int
    prompts: tuple[str, ...]


class MoeBenchReply(msgspec.Struct, frozen=True, tag=True):
    """Milliseconds of each token without a callback, with an idle one, and while it looks; choices and a profile."""

    plain_ms: tuple[float, ...] = ()
    off_ms: tuple[float, ...] = ()
    on_ms: tuple[float, ...] = ()
    record: MoeRecord | None = None
    profile: ComputeProfile | None = None
    error: ErrorReport | None = None
