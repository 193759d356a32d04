"""Sequences and expert facts for tests of the scheduler, without any backend."""

from layadesk.domain.inference import MemoryUse, PromptMessage, Role, SamplingParams
from layadesk.engine.backend import ExpertFacts
from layadesk.engine.sequence import Marks, Sequence
from layadesk.protocol.commands import Generate


def facts(*, n_ctx: int = 64, n_seq_max: int = 4, n_batch: int = 32, **changes: object) -> ExpertFacts:
    values: dict[str, object] = {
        "architecture": "test",
        "n_ctx": n_ctx,
        "n_ctx_seq": n_ctx,
        "n_ctx_train": n_ctx,
        "n_layer": 1,
        "n_gpu_layers": 0,
        "n_vocab": 260,
        "n_seq_max": n_seq_max,
        "n_batch": n_batch,
        "memory": MemoryUse(),
    }
    return ExpertFacts(**{**values, **changes})  # type: ignore[arg-type]  # by name


def sequence(
    order: int,
    n_prompt: int,
    *,
    n_ctx: int = 64,
    max_tokens: int | None = None,
    tokens: list[int] | None = None,
    client: str = "",
    conversation_id: str = "",
) -> Sequence:
    """One with a prompt of `tokens`, or of `n_prompt` that no other one has."""
    request = Generate(
        f"r{order}",
        "expert",
        (PromptMessage(Role.USER, "hello"),),
        SamplingParams(max_tokens=max_tokens),
        conversation_id=conversation_id,
        client=client,
    )
    one = Sequence(request, order, Marks(0.0), n_ctx=n_ctx)
    one.tokens = [1000 * order + i for i in range(n_prompt)] if tokens is None else list(tokens)
    one.n_prompt = len(one.tokens)
    return one


def draw(one: Sequence) -> None:
    """What the runner does with a sampled token."""
    one.tokens.append(7)
    one.n_decoded += 1
