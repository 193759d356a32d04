"""What the bench says to the two processes it compares the engine with."""

import msgspec


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
