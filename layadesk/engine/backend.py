"""What the engine asks of an inference library: the one seam between scheduling and native code.

Two implementations: `llama_backend.py` and `scripted_backend.py`; tests/engine/test_backend_contract.py runs on both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.inference import MemoryUse, SamplingParams
from layadesk.domain.memory_fit.load_record import LoadMeasure
from layadesk.domain.models import ExpertSpec
from layadesk.domain.moe_experts import MoeShape
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.engine.batch import Batch
from layadesk.protocol.events import BackendModule

if TYPE_CHECKING:  # numpy comes with llama.cpp, and is no part of the engine's start
    from layadesk.engine.moe_choices import MoeChoices


class LoadCancelled(Exception):
    """A load ended because `on_progress` said no; nothing is left in memory."""


class DecodeOutcome(Enum):
    """What became of one `decode`. After ABORTED and FAILED, ask `seq_pos_max` what each sequence still has."""

    OK = auto()
    NO_SLOT = auto()  # no room in the KV cache; nothing changed
    ABORTED = auto()  # `should_abort` said so; finished parts stay, the interrupted part is gone for every sequence
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class ExpertFacts:
    """What is known of a loaded expert. `n_ctx` cells are shared; one sequence may use `n_ctx_seq` of them.

    `control_texts` and `added_texts` map texts of tokens to ids: control tokens such as `<|im_end|>`, and added ones
    such as `<think>`; what a user types must not become one. `chat_template` is None where the file has none.
    `can_rewind` is false for recurrent models: their state cannot go back to an earlier position. `n_swa` is how many
    positions a layer with a sliding window looks back on, 0 where there is none: a sequence can be cut only where its
    window is still there (`seq_pos_min`). `needs_checkpoints`: cutting back is the exception, so states are worth
    keeping. `n_seq_max` sequences have a place, `n_parallel` of them run. `fingerprint` is the same for experts whose
    saved states can be exchanged. `recommended` is what the file itself says about sampling, `measure` what
    the load took. `devices` are those that have layers to compute. `moe` is None for a model without MoE experts.
    """

    architecture: str
    n_ctx: int
    n_ctx_seq: int
    n_ctx_train: int
    n_layer: int
    n_gpu_layers: int
    n_vocab: int
    n_seq_max: int
    n_batch: int
    memory: MemoryUse
    chat_template: str | None = None
    bos_token: int | None = None
    bos_text: str = ""
    eos_text: str = ""
    adds_bos: bool = False
    control_texts: Mapping[str, int] = field(default_factory=dict)
    added_texts: Mapping[str, int] = field(default_factory=dict)
    can_rewind: bool = True
    has_vocabulary: bool = True
    n_swa: int = 0
    n_parallel: int = 0
    fingerprint: str = ""
    needs_checkpoints: bool = False
    recommended: SamplingDefaults = field(default_factory=SamplingDefaults)
    measure: LoadMeasure = field(default_factory=LoadMeasure)
    devices: frozenset[str] = frozenset({"CPU"})
    moe: MoeShape | None = None


class Sampler(Protocol):
    """Chooses the tokens of one sequence and remembers them (seed, penalties). Decode thread."""

    def sample(self, row: int, *, is_free: bool = False) -> int:
        """The next token from row `row` of the batch decoded last, which must have asked for logits.

        `is_free`: a grammar does not bind it, because it is thinking. Raises BAD_GRAMMAR where a grammar cannot be
        met, DECODE_FAILED where there is nothing to choose from.
        """
        ...

    def close(self) -> None:
        """Free it; harmless when repeated."""
        ...


class Expert(Protocol):
    """One model with one context. Decode thread, but for `tokenize`, which the prompt thread calls too."""

    @property
    def facts(self) -> ExpertFacts:
        """What is known of it."""
        ...

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """Tokens of `text`, without BOS; control tokens only where `parse_special`. GGUF_NO_VOCABULARY. Any thread."""
        ...

    def schema_grammar(self, schema: str) -> str:
        """The grammar of all JSON texts that fit a JSON schema. Raises BAD_GRAMMAR for what is none. Any thread."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for, possibly part of a character; empty for control tokens."""
        ...

    def is_eog(self, token: int) -> bool:
        """Whether a token ends the answer."""
        ...

    def decode(self, batch: Batch, should_abort: Callable[[], bool] | None) -> DecodeOutcome:
        """Compute one batch. `should_abort` is asked often, on this thread, while it computes.

        Raises DECODE_FAILED, with nothing changed, for a batch that would break a promise of the library.
        """
        ...

    def look_at_gates(self, *, is_on: bool) -> None:
        """Whether the next decodes note what gates choose; nothing where `facts.moe` is None. Between decodes."""
        ...

    def moe_choices(self) -> "MoeChoices | None":
        """What the gates chose in the last decode; None where nobody looked or it did not end well."""
        ...

    def profile(self, n_past: int, beat: Callable[[], None]) -> ComputeProfile:
        """What one token with `n_past` before it spends its time on; slow, and `beat` is called meanwhile.

        Raises OUT_OF_MEMORY, DECODE_FAILED, BAD_PARAMETER where the library cannot tell.
        """
        ...

    def new_sampler(self, sampling: SamplingParams, seed: int) -> Sampler:
        """A sampler for one sequence; `sampling.seed` is ignored in favour of `seed`.

        Raises BAD_GRAMMAR for a grammar that is none.
        """
        ...

    def seq_remove(self, seq_id: int, from_position: int = 0) -> None:
        """Free the cells of a sequence from a position on; beyond 0 only where `can_rewind`."""
        ...

    def seq_copy(self, source: int, target: int, n_tokens: int) -> None:
        """Let the empty sequence `target` share the first `n_tokens` cells of `source`; takes no room.

        Where not `can_rewind`, the whole of `source`.
        """
        ...

    def seq_pos_min(self, seq_id: int) -> int:
        """The first position of a sequence that all layers still have, -1 for none."""
        ...

    def save_state(self, seq_id: int, *, is_partial: bool = False) -> bytes:
        """The cells of a sequence as bytes, empty where that cannot be. `is_partial`: only what cannot be cut back."""
        ...

    def load_state(self, seq_id: int, state: bytes, *, is_partial: bool = False) -> bool:
        """Fill a sequence with what `save_state` gave; False, and the sequence is empty, where that cannot be.

        Only whole states that a checksum has guarded: a damaged one ends the process. A partial one leaves the rest.
        """
        ...

    def seq_pos_max(self, seq_id: int) -> int:
        """The last position of a sequence that is in the KV cache, -1 for none."""
        ...

    def close(self) -> None:
        """Free all memory; harmless when repeated. No other call may follow, on any thread."""
        ...


class Backend(Protocol):
    """An inference library."""

    @property
    def name(self) -> str:
        """`llama` or `scripted`."""
        ...

    @property
    def devices(self) -> tuple[str, ...]:
        """The library's names of what it computes on."""
        ...

    @property
    def modules(self) -> tuple[BackendModule, ...]:
        """Backends that came as files of their own, and why one is not used."""
        ...

    @property
    def supports_gpu_offload(self) -> bool:
        """Whether this build can put layers on a GPU."""
        ...

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> Expert:
        """Bring an expert into memory; blocks, for minutes if need be. Any one thread at a time.

        `on_progress` gets 0-1 on this thread and returns whether to go on. Raises LoadCancelled, MODEL_FILE_MISSING,
        MODEL_LOAD_FAILED or OUT_OF_MEMORY with `detail`, the library's own words, or BAD_PARAMETER.
        """
        ...
