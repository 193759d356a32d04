"""Looks into the gates of a model with MoE experts while it computes, through llama.cpp's `cb_eval`.

The callback can be given only when a context is made, and has to be kept as long as the context. Asked for every node,
it costs some 0.4 µs each even where it always refuses (4 % of a small model's token), so while nobody looks it is taken
out of the context's own parameters, and put back when somebody does; the next graph that is built sees it. A prompt
always builds one.

While somebody looks, the graph is cut once in each layer, where the weights of the chosen MoE experts are ready
(`ffn_moe_weights_norm-N`, or what the architecture has instead); their numbers (`ffn_moe_topk-N`) are still there by
then. Decode thread, or the one that decodes.
"""

import ctypes
import logging
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from layadesk.domain.moe_experts import MoeShape
from layadesk.engine.llama_library import Nodes, native
from layadesk.engine.moe_choices import LayerChoices, MoeChoices, gather

log = logging.getLogger(__name__)

_FAMILY = b"ffn_moe_"
_TOPK = b"ffn_moe_topk"
# The weights in the order in which a graph may refine them (llama-graph.cpp, build_moe_ffn): the last one counts.
_WEIGHTS = (b"ffn_moe_weights", b"ffn_moe_weights_softmax", b"ffn_moe_weights_norm", b"ffn_moe_weights_scaled")
_I32, _F32 = 26, 0  # enum ggml_type
N_PRICED = 500
_SEARCHED = 512  # bytes of a llama_context in which its parameters are; the object is several times as long


class MoeTap:
    """`callback` and `user_data` go into llama_context_params, then `attach`. Between decodes `is_on` may change."""

    def __init__(self, shape: MoeShape) -> None:
        self.shape = shape
        self._is_on = False
        self._mark = ctypes.create_string_buffer(1)  # its address is the callback's user data, and found nowhere else
        self._place: Any = None  # where the context keeps callback and user data; None where that is not known
        self._nodes = Nodes()
        self._signal: bytes | None = None  # the name whose tensors are waited for; None until a graph has been seen
        self._seen: set[bytes] = set()
        self._topk: dict[bytes, int] = {}
        self._parts: list[LayerChoices] = []
        # By layer its place in `_parts`, in the first decode, when all steps of the weights are asked for.
        self._newest: dict[bytes, int] = {}
        self._seconds = 0.0
        self._n_asked = 0
        # Single tokens have one graph, so that a node's number in it tells what it is, and no name has to be read.
        self._by_number: dict[int, bytes] = {}
        self._learned: dict[int, bytes] = {}
        self._knows_numbers = False
        self._ask_s = 0.0  # what being asked costs; measured from outside, and so a little too much
        self.callback = native.ggml_backend_sched_eval_callback(self._asked)

    @property
    def user_data(self) -> int:
        """Goes into llama_context_params beside the callback."""
        return ctypes.addressof(self._mark)

    @property
    def is_on(self) -> bool:
        """Whether somebody looks."""
        return self._is_on

    @is_on.setter
    def is_on(self, is_on: bool) -> None:
        if is_on and not self._ask_s:
            self._ask_s = self._price_of_asking()
        self._is_on = is_on
        if self._place is not None:
            self._place[0], self._place[1] = (self._address, self.user_data) if is_on else (None, None)

    def attach(self, context: int) -> None:
        """Find where a new context keeps the callback; where that is not plain to see, it stays in for good."""
        words = (ctypes.c_void_p * (_SEARCHED // ctypes.sizeof(ctypes.c_void_p))).from_address(context)
        wanted = (self._address, self.user_data)
        found = [place for place in range(len(words) - 1) if (words[place], words[place + 1]) == wanted]
        if len(found) == 1:
            first = ctypes.addressof(words) + found[0] * ctypes.sizeof(ctypes.c_void_p)
            self._place = (ctypes.c_void_p * 2).from_address(first)
        else:
            log.info("the callback of a context stays in: it is found %d times", len(found))
        self.is_on = False

    @property
    def _address(self) -> int | None:
        return ctypes.cast(self.callback, ctypes.c_void_p).value

    def _price_of_asking(self) -> float:
        began = time.perf_counter()
        for _ in range(N_PRICED):
            self.callback(None, True, None)
        return (time.perf_counter() - began) / N_PRICED

    def begin(self, n_tokens: int) -> None:
        """Before a decode of that many."""
        self._parts, self._seconds, self._n_asked = [], 0.0, 0
        self._learned = {}
        self._knows_numbers = n_tokens == 1 and bool(self._by_number)
        self._topk.clear()
        self._newest.clear()

    def end(self, wants_logits: Sequence[bool]) -> MoeChoices | None:
        """After a decode that went well: what was chosen; None where nobody looked, or what came is not understood."""
        if not self.is_on or not self._parts:
            return None
        if self._knows_numbers:
            self._seconds += self._n_asked * self._ask_s
            if 2 * len(self._parts) != len(self._by_number):  # another graph after all; half of it was not seen
                self._by_number = {}
                return None
        elif len(wants_logits) == 1 and self._signal not in (None, _TOPK):
            self._by_number = self._learned
        if self._signal is None and self._seen:
            self._signal = next((name for name in reversed(_WEIGHTS) if name in self._seen), _TOPK)
        choices = gather(self._parts, wants_logits, self._seconds)
        if choices is not None and choices.chosen.max() >= self.shape.n_expert:
            log.error("a gate chose a MoE expert that is none; it is not looked at any more")
            self.is_on = False
            return None
        return choices

    def _asked(self, node: int, ask: bool, _user_data: Any) -> bool:  # llama.cpp's own signature
        if not self._is_on:
            return not ask
        if ask:
            self._n_asked += 1
            if self._knows_numbers and self._n_asked not in self._by_number:
                return False
        began = time.perf_counter()
        try:
            name = self._nodes.name(node)
            if ask and self._knows_numbers and self._by_number[self._n_asked] != name:
                self._by_number, self._knows_numbers = {}, False
            if not name.startswith(_FAMILY):
                return not ask
            return self._wants(node, name) if ask else self._take(node, name)
        except Exception:
            log.exception("what a gate chose could not be read")  # and may not be raised through native frames
            self._is_on = False  # and in the graph it stays, until the next one is built
            return not ask
        finally:
            self._seconds += time.perf_counter() - began

    def _wants(self, node: int, name: bytes) -> bool:
        kind, _, layer = name.partition(b"-")
        if not layer.isdigit():
            return False  # a view of it, `…-3 (reshaped)`: to ask for that too would cut the graph once more
        if kind == _TOPK:
            self._topk[layer] = node
        elif kind not in _WEIGHTS:
            return False
        if self._signal is not None:
            if kind in (_TOPK, self._signal):
                self._learned[self._n_asked] = name
            return kind == self._signal
        self._seen.add(kind)
        return True

    def _take(self, node: int, name: bytes) -> bool:
        kind, _, layer = name.partition(b"-")
        topk = self._topk.get(layer)
        if topk is None or not layer.isdigit():
            return True
        weights = None if kind == _TOPK else self._weights(node)
        chosen = self._chosen(topk)
        if chosen is None or (weights is not None and weights.shape != chosen.shape):
            return True
        part = LayerChoices(int(layer), chosen, weights)
        if self._signal is None and layer in self._newest and kind != _TOPK:  # the first time, each step is asked for
            self._parts[self._newest[layer]] = part
        else:
            self._newest[layer] = len(self._parts)
            self._parts.append(part)
        return True

    def _chosen(self, node: int) -> "np.ndarray[Any, np.dtype[np.int32]] | None":
        """A view with a row of `n_expert` numbers for each token, of which the first are chosen."""
        tensor = self._nodes.tensor(node)
        n_used, n_tokens = tensor.ne[0], tensor.ne[1]
        if tensor.type != _I32 or n_used != self.shape.n_expert_used:
            raise ValueError(f"gate of type {tensor.type} with {n_used} chosen")
        if n_tokens == 0:
            return None
        step = tensor.nb[1]
        raw = self._nodes.read(node, (n_tokens - 1) * step + 4 * n_used)
        if n_tokens == 1:
            return raw.view(np.int32).reshape(1, n_used)
        rows = np.lib.stride_tricks.as_strided(raw.view(np.int32), (n_tokens, n_used), (step, 4))
        return rows.copy()

    def _weights(self, node: int) -> "np.ndarray[Any, np.dtype[np.float32]] | None":
        tensor = self._nodes.tensor(node)
        n = tensor.ne[0] * tensor.ne[1] * tensor.ne[2]
        if tensor.type != _F32 or n == 0 or n % self.shape.n_expert_used:
            return None
        return self._nodes.read(node, 4 * n).view(np.float32).reshape(-1, self.shape.n_expert_used)
