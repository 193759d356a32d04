"""What a request asks of an expert and what came of it, in llama.cpp's and OpenAI's words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks, as chat templates name it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TensorOverride:
    """Tensors whose names match `pattern` (a regular expression) go into the memory of `device`, for instance `CPU`."""

    pattern: str
    device: str


@dataclass(frozen=True, slots=True)
class LoadParams:
    """How an expert is loaded. `n_threads` 0 means one per physical core; `n_gpu_layers` -1 means all.

    `n_ctx` is the number of KV cells, shared by up to `n_parallel` running sequences and `n_kept` finished ones, whose
    cells wait for their next turn (`kv_unified`). `n_ubatch` 0 and `use_mmap` None choose what is best on this machine:
    None maps the file unless the CPU would keep a second, repacked copy of it. `swa_full` keeps all positions in layers
    with a sliding window: more memory, and a conversation can go back to any point. `devices` are names as in
    EngineReady, none for all; `n_cpu_moe` keeps the experts of that many first layers of a MoE model on the CPU.
    """

    n_ctx: int = 8192
    n_gpu_layers: int = -1
    n_batch: int = 2048
    n_ubatch: int = 0
    n_threads: int = 0
    n_parallel: int = 4
    n_kept: int = 12
    type_k: str = "f16"
    type_v: str = "f16"
    flash_attn: str = "auto"
    use_mmap: bool | None = None
    swa_full: bool = True
    n_cpu_moe: int = 0
    tensor_overrides: tuple[TensorOverride, ...] = ()
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are chosen. `temperature` 0 is greedy, `seed` None is drawn anew, `max_tokens` is a ceiling.

    None leaves a number to the model's own recommendation, else to `domain/sampling_defaults.py`. The rest is off at
    its default. `logit_bias` adds to the logits of tokens. `json_schema` (JSON text) or `grammar` (llama.cpp's GBNF)
    bind the answer, thinking excepted; `stops_loops` ends an answer that only repeats itself. `ignore_eos` forbids the
    tokens that end an answer, and reads no text as one, so that it is `max_tokens` long: for measurements.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float = 1.0
    repeat_penalty: float | None = None
    repeat_last_n: int | None = None
    frequency_penalty: float = 0.0
    presence_penalty: float | None = None
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_last_n: int = 1024
    dry_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    top_n_sigma: float = 0.0
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    logit_bias: tuple[tuple[int, float], ...] = ()
    json_schema: str | None = None
    grammar: str | None = None
    seed: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    stops_loops: bool = True
    ignore_eos: bool = False


@dataclass(frozen=True, slots=True)
class ThinkingParams:
    """What a thinking model is told through its template; None leaves it to the template.

    `effort` is a word the template knows (`low`, `medium`, `high`). `max_tokens` is a ceiling for thinking alone: at
    its end the thinking is closed and the answer begins.
    """

    enabled: bool | None = None
    effort: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function a model wants called; `arguments` is JSON text, as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a model may call: a JSON array of OpenAI's `{"type": "function", "function": {…}}`, as text.

    One of the names in `forced` must be called; with none of them the model chooses.
    """

    tools: str
    forced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message as the chat template sees it. Of the tools: what an answer called, and what a result answers."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


def message_as_openai(one: PromptMessage, arguments: Callable[[str], Any] = str) -> dict[str, Any]:
    """In the fields of OpenAI's protocol, as chat templates expect it; `arguments` makes what stands for their text."""
    fields: dict[str, Any] = {"role": str(one.role), "content": one.text}
    if one.tool_calls:
        fields["tool_calls"] = calls_as_openai(one.tool_calls, arguments)
    if one.tool_call_id:
        fields["tool_call_id"] = one.tool_call_id
    return fields


def calls_as_openai(calls: Iterable[ToolCall], arguments: Callable[[str], Any] = str) -> list[dict[str, Any]]:
    """As `message_as_openai`."""
    return [
        {"id": one.call_id, "type": "function", "function": {"name": one.name, "arguments": arguments(one.arguments)}}
        for one in calls
    ]


class FinishReason(StrEnum):
    """Why an answer ended: OpenAI's two, and ours. `LOOP`: it did nothing but repeat itself."""

    STOP = "stop"
    LENGTH = "length"
    LOOP = "loop"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time of one request went, milliseconds; None is not measured or did not happen.

    `ttft_ms` counts from the arrival in the engine to the first token, `total_ms` to the last. `queue_ms` is all
    waiting for a place, also in mid-answer; the phases are without it. `restore_ms` is the reading of cells from disk,
    `sample_ms` the choosing of all tokens, `detokenize_ms` turning them into text; `gap_p50_ms`, `gap_p95_ms` and
    `gap_max_ms` are the waits between tokens. `n_thinking` of the decoded tokens were thinking. `n_before` of the
    prompt tokens are the answer's own beginning, where it was gone on with. `is_counted` false: a remote server did not
    say how many tokens there were, and a count of 0 means unknown; so does an `n_ctx` of 0.
    """

    queue_ms: float | None = None
    load_ms: float | None = None
    tokenize_ms: float | None = None
    restore_ms: float | None = None
    prefill_ms: float | None = None
    ttft_ms: float | None = None
    decode_ms: float | None = None
    sample_ms: float | None = None
    detokenize_ms: float | None = None
    gap_p50_ms: float | None = None
    gap_p95_ms: float | None = None
    gap_max_ms: float | None = None
    total_ms: float | None = None
    n_prompt: int = 0
    n_cached: int = 0
    n_decoded: int = 0
    n_thinking: int = 0
    n_ctx: int = 0
    n_before: int = 0
    is_counted: bool = True

    @property
    def prefill_tps(self) -> float | None:
        """Prompt tokens computed per second; None when nothing was computed."""
        return _per_second(self.n_prompt - self.n_cached, self.prefill_ms)

    @property
    def decode_tps(self) -> float | None:
        """Tokens per second after the first one, which belongs to prefill; None for answers of one token."""
        return _per_second(self.n_decoded - 1, self.decode_ms)


def _per_second(n_tokens: int, ms: float | None) -> float | None:
    return None if n_tokens <= 0 or not ms else n_tokens * 1000.0 / ms


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes one loaded expert takes, as llama.cpp reported them; None where it said nothing."""

    weights_bytes: int | None = None
    kv_bytes: int | None = None
    compute_bytes: int | None = None
    output_bytes: int | None = None

    @property
    def total_bytes(self) -> int | None:
        """The sum of what is known, None when nothing is."""
        known = [n for n in (self.weights_bytes, self.kv_bytes, self.compute_bytes, self.output_bytes) if n is not None]
        return sum(known) if known else None
