"""What looking into gates costs, token by token, and how evenly they choose: in a process of its own, for the bench.

Entered through `workers/spawn.py`.
"""

import time
from multiprocessing.connection import Connection
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.models import ExpertSpec
from layadesk.domain.moe_experts import MoeRecord
from layadesk.protocol.bench import MoeBenchReply, MoeBenchRun
from layadesk.protocol.channel import Channel

N_PROMPT, N_WARM = 32, 4
TOKEN = 1


def run_moe(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    """Load `spec`, answer one MoeBenchRun, end."""
    from layadesk.engine.llama_backend import LlamaBackend  # noqa: PLC0415 - only this child needs it

    channel: Channel[MoeBenchReply, MoeBenchRun] = Channel(connection, MoeBenchRun)
    try:
        order = channel.receive()
        expert = LlamaBackend().load(spec, lambda _: True)
        try:
            channel.send(_measured(expert, order))
        finally:
            expert.close()
    except LayaDeskError as error:
        channel.send(MoeBenchReply(error=error.report))
    except EOFError:
        return


def _measured(expert: Any, order: MoeBenchRun) -> MoeBenchReply:
    if expert.facts.moe is None:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="model", value=order.name, needs="MoE experts")
    from layadesk.engine.llama_library import native  # noqa: PLC0415
    from layadesk.engine.llama_moe import MoeTap  # noqa: PLC0415

    made = []
    try:
        for tap in (None, MoeTap(expert.facts.moe), MoeTap(expert.facts.moe)):
            made.append(_context(native, expert, tap))
        plain, off, on = _in_turns(native, made, order.n_tokens)
    finally:
        for context, _ in made:
            native.llama_free(context)
    profile = expert.profile(N_PROMPT, lambda: None)
    return MoeBenchReply(plain, off, on, _balance(expert, order.prompts), profile)


def _context(native: Any, expert: Any, tap: Any) -> tuple[Any, Any]:
    """A context of its own, with this tap or without a callback."""
    params = type(expert._params).from_buffer_copy(expert._params)
    params.cb_eval, params.cb_eval_user_data = type(params.cb_eval)(), None
    if tap is not None:
        params.cb_eval, params.cb_eval_user_data = tap.callback, tap.user_data
    context = native.llama_init_from_model(expert._model, params)
    if not context:
        raise fail(ErrorCode.OUT_OF_MEMORY, detail="context of the bench")
    if tap is not None:
        tap.attach(context)
    return context, tap


def _in_turns(native: Any, made: Any, n_tokens: int) -> tuple[tuple[float, ...], ...]:
    """Milliseconds of each token without a callback, with an idle one, and while it looks; each token in turn."""
    times: tuple[list[float], ...] = ([], [], [])
    made[2][1].is_on = True
    for context, _ in made:
        _decode(native, context, N_PROMPT)
    for number in range(-N_WARM, n_tokens):
        for which in _order(number):
            context, tap = made[which]
            began = time.perf_counter()
            if tap is not None:
                tap.begin(1)
            _decode(native, context, 1)
            if tap is not None:
                tap.end([True])
            if number >= 0:
                times[which].append(1000 * (time.perf_counter() - began))
            native.llama_memory_seq_rm(native.llama_get_memory(context), 0, N_PROMPT, -1)  # all at the same place
    return tuple(tuple(one) for one in times)


def _order(number: int) -> tuple[int, int, int]:
    """Who comes first changes, since it finds the caches as the one before left them."""
    return ((0, 1, 2), (1, 2, 0), (2, 0, 1))[number % 3]


def _decode(native: Any, context: Any, n_tokens: int) -> None:
    tokens = (native.llama_token * n_tokens)(*[TOKEN + i for i in range(n_tokens)])
    code = native.llama_decode(context, native.llama_batch_get_one(tokens, n_tokens))
    native.llama_synchronize(context)
    if code != 0:
        raise fail(ErrorCode.DECODE_FAILED, reason="bench moe", value=int(code))


def _balance(expert: Any, prompts: tuple[str, ...]) -> MoeRecord:
    """What the gates chose for the prompts, one after the other."""
    from layadesk.engine.batch import Batch  # noqa: PLC0415

    record = MoeRecord(expert.facts.moe)
    expert.look_at_gates(is_on=True)
    for prompt in prompts:
        tokens = expert.tokenize(prompt, parse_special=False)[: expert.facts.n_batch]
        if not tokens:
            continue
        expert.seq_remove(0)
        batch = Batch()
        batch.add(tokens, 0, position=0, wants_logits=True)
        expert.decode(batch, None)
        choices = expert.moe_choices()
        if choices is not None:
            counter = choices.counter(record.shape.n_expert)
            counter.add(choices, slice(None))
            record = record + MoeRecord(record.shape, choices.layers, prefill=counter.counts())
    expert.look_at_gates(is_on=False)
    expert.seq_remove(0)
    return record
