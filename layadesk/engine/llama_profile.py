"""Times each node of a model's graph, in a small context of its own beside the one that answers. Decode thread.

A callback that wants every node has them computed one by one, which is slower, and no graph that answers pays for it:
the context is made for this run and freed after it.
"""

import time
from collections.abc import Callable
from typing import Any

from layadesk.domain.answer_time import ComputeProfile
from layadesk.domain.errors import ErrorCode, fail
from layadesk.engine.llama_library import Nodes, native
from layadesk.engine.node_times import by_part

MAX_PAST = 512  # tokens before the measured ones: enough to weigh the cache in, and soon computed
N_TOKENS = 8
MOST_S = 4.0  # of each half, on machines where a token takes a second


class _Stopwatch:
    """Asked by llama.cpp before and after each node."""

    def __init__(self) -> None:
        self.is_on = False
        self.nodes: list[tuple[str, float]] = []
        self._names = Nodes()
        self._began = 0.0
        self.callback = native.ggml_backend_sched_eval_callback(self._asked)

    def _asked(self, node: int, ask: bool, _user_data: Any) -> bool:  # llama.cpp's own signature
        if not self.is_on:
            return not ask
        if ask:
            self._began = time.perf_counter()
        else:
            seconds = time.perf_counter() - self._began
            self.nodes.append((self._names.name(node).decode("utf-8", "replace"), seconds))
        return True


def profile(model: Any, params: Any, n_past: int, beat: Callable[[], None]) -> ComputeProfile:
    """One token by part, with up to MAX_PAST tokens before it; `params` are those of the context that answers.

    `beat` is called now and then. Raises OUT_OF_MEMORY where there is no room for the context, DECODE_FAILED.
    """
    n_past = max(1, min(n_past, MAX_PAST))
    watch = _Stopwatch()
    params = type(params).from_buffer_copy(params)  # ours to change
    params.n_ctx = n_past + 2 * N_TOKENS + 8
    params.n_batch = params.n_ubatch = 64
    params.n_seq_max = params.n_outputs_max = 1
    params.cb_eval = watch.callback
    context = native.llama_init_from_model(model, params)
    if not context:
        raise fail(ErrorCode.OUT_OF_MEMORY, detail="context of the profile")
    try:
        for first in range(0, n_past, 64):
            _decode(context, min(64, n_past - first))
            beat()
        plain = [_timed(context) for _ in _for_a_while(N_TOKENS, beat)]
        watch.is_on = True
        tokens = []
        for _ in _for_a_while(N_TOKENS, beat):
            watch.nodes = []
            _decode(context, 1)
            tokens.append(watch.nodes)
    finally:
        native.llama_free(context)
    return ComputeProfile(by_part(tokens), 1000 * min(plain), n_past)


def _for_a_while(n: int, beat: Callable[[], None]) -> Any:
    began = time.perf_counter()
    for number in range(n):
        if number and time.perf_counter() - began > MOST_S:
            return
        yield number
        beat()


def _timed(context: Any) -> float:
    began = time.perf_counter()
    _decode(context, 1)
    return time.perf_counter() - began


def _decode(context: Any, n_tokens: int) -> None:
    tokens = (native.llama_token * n_tokens)(*[1] * n_tokens)
    if native.llama_decode(context, native.llama_batch_get_one(tokens, n_tokens)) != 0:
        raise fail(ErrorCode.DECODE_FAILED, reason="profile")
    native.llama_synchronize(context)
