"""What the scripted backend is told to do: its text, its speed, and what goes wrong. Picklable, to cross the spawn."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What may go wrong. The first group ends or stops the process, the second is an error of one call."""

    EXIT = "exit"  # os._exit(3)
    ABORT = "abort"  # os.abort(), as a failed GGML_ASSERT
    KILL = "kill"  # SIGKILL to itself, as the system does when memory runs out; on Windows as EXIT
    HANG = "hang"  # never returns
    RAISE = "raise"  # an unforeseen Python exception
    DECODE_ERROR = "decode_error"
    NO_SLOT = "no_slot"
    LOAD_ERROR = "load_error"


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """A fault of one step, or of a load where `at_load`.

    It happens when a sequence is about to get its token number `at_token` (0 is the first), if its prompt contains
    `contains`, and at most `times` times in one process. `model_id` limits it to one expert.
    """

    kind: FaultKind
    at_token: int = 0
    contains: str = ""
    at_load: bool = False
    model_id: str | None = None
    times: int = 1_000_000


@dataclass(frozen=True, slots=True)
class ScriptedOptions:
    """`text` is every answer; None: the answer repeats the last user message. Every byte of it is one token.

    A speed of 0 is as fast as it goes. `decode_tps` is per sequence: a step takes one token's time, however many
    sequences are in it. `at_start` is what the process does before it says EngineReady. `n_swa` and `can_rewind` make
    its cells forget as those of sliding windows and recurrent states do.
    """

    text: str | None = "The quick brown fox jumps over the lazy dog. 敏捷的棕毛狐狸。🦊"
    decode_tps: float = 0.0
    prefill_tps: float = 0.0
    load_s: float = 0.0
    faults: tuple[ScriptedFault, ...] = ()
    at_start: FaultKind | None = None
    n_swa: int = 0
    can_rewind: bool = True
