"""What the engine is measured against: the library's own decode call in the tightest loop, and its own server.

Both run in processes of their own, for `layadesk bench engine` only; entered through `workers/spawn.py`.
"""

import os
import time
from multiprocessing.connection import Connection
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.models import ExpertSpec
from layadesk.engine.environment import apply_engine_environment
from layadesk.protocol.bench import RawReply, RawRun, ServerReady
from layadesk.protocol.channel import Channel

FIRST_TOKEN, N_TOKENS_USED = 100, 5000  # any ordinary tokens; which ones does not change the time


def run_raw(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    """Load `spec` and answer each RawRun, until the other end is gone."""
    from layadesk.engine.llama_backend import LlamaBackend  # noqa: PLC0415 - only this child needs it
    from layadesk.engine.llama_expert import LlamaExpert  # noqa: PLC0415

    channel: Channel[RawReply, RawRun] = Channel(connection, RawRun)
    expert = LlamaBackend().load(spec, lambda _: True)
    assert isinstance(expert, LlamaExpert)
    channel.send(RawReply(0, 0.0, 0.0))
    try:
        while True:
            order = channel.receive()
            try:
                channel.send(_measured(expert, order))
            except LayaDeskError as error:
                channel.send(RawReply(0, 0.0, 0.0, str(error)))
    except EOFError:
        expert.close()


def _measured(expert: Any, order: RawRun) -> RawReply:
    """`n_seq` prompts of `n_prompt` tokens, then `n_tokens` steps of one token for each; nothing is sampled."""
    from layadesk.engine.llama_library import native  # noqa: PLC0415

    batch = native.llama_batch_init(max(expert.facts.n_batch, order.n_seq), 0, 1)
    try:
        began = time.perf_counter()
        for seq_id in range(order.n_seq):
            expert.seq_remove(seq_id)
            for start in range(0, order.n_prompt, expert.facts.n_batch):
                n = min(expert.facts.n_batch, order.n_prompt - start)
                _fill(batch, [(seq_id, start + i) for i in range(n)], wants_logits=False)
                _decode(native, expert, batch)
        prefill_s = time.perf_counter() - began
        began = time.perf_counter()
        for step in range(order.n_tokens):
            _fill(batch, [(seq_id, order.n_prompt + step) for seq_id in range(order.n_seq)], wants_logits=True)
            _decode(native, expert, batch)
        decode_s = time.perf_counter() - began
    finally:
        native.llama_batch_free(batch)
        for seq_id in range(order.n_seq):
            expert.seq_remove(seq_id)
    return RawReply(order.n_seq * order.n_tokens, prefill_s, decode_s)


def _fill(batch: Any, rows: list[tuple[int, int]], *, wants_logits: bool) -> None:
    batch.n_tokens = len(rows)
    for row, (seq_id, position) in enumerate(rows):
        batch.token[row] = FIRST_TOKEN + (7 * position + seq_id) % N_TOKENS_USED
        batch.pos[row] = position
        batch.n_seq_id[row] = 1
        batch.seq_id[row][0] = seq_id
        batch.logits[row] = wants_logits


def _decode(native: Any, expert: Any, batch: Any) -> None:
    code = native.llama_decode(expert._context, batch)
    native.llama_synchronize(expert._context)
    if code != 0:
        raise fail(ErrorCode.DECODE_FAILED, reason="raw loop", value=int(code))


def run_server(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    """Start llama.cpp's own server for `spec` on a free local port; it ends with the other end of `connection`."""
    apply_engine_environment(os.environ)
    channel: Channel[ServerReady, RawRun] = Channel(connection, RawRun)
    try:
        import xllamacpp  # noqa: PLC0415 - an extra, for this measurement only
    except ImportError as error:
        channel.send(ServerReady("", str(error)))
        return
    params = xllamacpp.CommonParams()
    params.model.path = spec.path
    params.n_ctx = spec.params.n_ctx
    params.n_parallel = spec.params.n_parallel
    params.kv_unified = True
    params.n_gpu_layers = spec.params.n_gpu_layers
    params.cpuparams.n_threads = spec.params.n_threads or _n_cores()
    params.cpuparams_batch.n_threads = spec.params.n_threads or _n_cores()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.verbosity = 0
    server = xllamacpp.Server(params)
    channel.send(ServerReady(str(server.listening_address)))
    try:
        channel.receive()
    except EOFError:
        os._exit(0)  # its threads know no end of their own


def _n_cores() -> int:
    from layadesk.engine.llama_context import n_physical_cores  # noqa: PLC0415

    return n_physical_cores()
