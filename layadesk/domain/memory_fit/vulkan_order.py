"""The order in which the Vulkan backend computes the nodes of one run, which is not that of the graph.

Source: `ggml_vk_graph_optimize` of ggml/src/ggml-vulkan/ggml-vulkan.cpp (llama-cpp-python 0.3.36). It pulls ahead what
does not wait for anything, so that the GPU has more to do at once; what is fused stays together. The buffer may become
smaller or larger by a tenth for it.
"""

from collections.abc import Callable, Iterator, Sequence

from layadesk.domain.memory_fit.graph import Op, Tensor

N_AHEAD = 20  # nodes that are looked at
N_AHEAD_FUSED = 15

_TOPK_MOE = (
    *(Op.SOFT_MAX, Op.VIEW, Op.ARGSORT, Op.VIEW, Op.GET_ROWS, Op.VIEW, Op.SUM_ROWS, Op.CLAMP, Op.DIV, Op.VIEW),
)
_FUSED: tuple[tuple[Op, ...], ...] = (
    _TOPK_MOE,
    (Op.RMS_NORM, Op.MUL, Op.ADD, Op.MUL),
    (Op.RMS_NORM, Op.MUL, Op.ADD),
    (Op.RMS_NORM, Op.MUL, Op.ROPE, Op.VIEW, Op.SET_ROWS),
    (Op.RMS_NORM, Op.VIEW, Op.SET_ROWS),
    (Op.ROPE, Op.VIEW, Op.SET_ROWS),
)
_APART = frozenset({(Op.RMS_NORM, Op.MUL), (Op.UNARY, Op.MUL)})  # fused though views lie between
_NEXT = frozenset(
    {
        (Op.MUL_MAT, Op.ADD),
        (Op.MUL_MAT_ID, Op.MUL),
        (Op.ADD, Op.ADD),
        (Op.SSM_CONV, Op.ADD),
        (Op.SSM_CONV, Op.UNARY),
    }
)


class VulkanOrder:
    """`order` are the nodes anew; `kept` names, by the last node of what is fused, what stays in memory until then."""

    def __init__(self, nodes: Sequence[Tensor]) -> None:
        self._nodes = nodes
        self._links = _Links(nodes)
        self._patterns = [[one for one in _FUSED if _begins(nodes, number, one)] for number in range(len(nodes))]
        self._used = [False] * len(nodes)
        self._done: set[Tensor] = set()
        self._first = 0
        self.order: list[Tensor] = []
        self.kept: dict[Tensor, tuple[Tensor, ...]] = {}
        while self._first < len(nodes):
            pattern = self._pattern_at(self._first)
            if pattern is None:
                self._take(self._pulled())
                continue
            if pattern is _TOPK_MOE:
                self._keep_inputs(len(pattern))
            self._take(list(range(self._first, self._first + len(pattern))))

    def _take(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.order.append(self._nodes[number])
            self._done.add(self._nodes[number])
            self._used[number] = True
        while self._first < len(self._nodes) and self._used[self._first]:
            self._first += 1

    def _pattern_at(self, start: int) -> tuple[Op, ...] | None:
        """What is fused from there on, if none of it is used yet."""
        return next((one for one in self._patterns[start] if True not in self._used[start : start + len(one)]), None)

    def _keep_inputs(self, n: int) -> None:
        fused = self._nodes[self._first : self._first + n]
        inputs = dict.fromkeys(parent for node in fused for parent in node.parents if parent not in fused)
        self.kept[fused[-1]] = tuple(inputs)

    def _ahead(self, start: int, n: int) -> range:
        return range(start + 1, min(start + n, len(self._nodes)))

    def _pulled(self) -> list[int]:
        """The next node, those after it that wait for nothing, then the views whose sources are there."""
        current = [self._first]
        for number in self._ahead(self._first, N_AHEAD):
            is_candidate = not self._used[number] and self._nodes[number].op is not Op.VIEW
            if is_candidate and self._pattern_at(number) is None and self._is_ready(number, current):
                current.append(number)
                for follower in self._followers(number):
                    current.append(follower)
                    self._used[follower] = True
        if self._nodes[current[-1]].op is not Op.ADD:
            for number in self._ahead(self._first, N_AHEAD):
                if not self._used[number] and self._nodes[number].op is Op.VIEW and self._has_source(number, current):
                    current.append(number)
        return current

    def _is_ready(self, number: int, current: Sequence[int]) -> bool:
        return not any(
            before >= self._first
            and not self._used[before]
            and not (before == current[-1] and self._is_pair(before, number))
            for before in self._links.awaited(number)
        )

    def _is_pair(self, before: int, number: int) -> bool:
        pair = (self._nodes[before].op, self._nodes[number].op)
        if pair in _APART:
            return all(self._used[i] or self._nodes[i].op is Op.VIEW for i in range(before + 1, number))
        return number == before + 1 and pair in _NEXT

    def _has_source(self, number: int, current: Sequence[int]) -> bool:
        return not any(
            before >= self._first and not self._used[before] and before not in current
            for before in self._links.awaited(number)
        )

    def _followers(self, number: int) -> Iterator[int]:
        """What is fused with it, and comes along from further behind."""
        before = self._nodes[number - 1].op
        last = number
        if self._nodes[number].op is Op.MUL and before is Op.RMS_NORM:
            rope = self._find(number, lambda one: one.op is Op.ROPE and one.parents[0] is self._nodes[number])
            if rope is not None:
                yield rope
                last = rope
        if self._nodes[last].op in (Op.ROPE, Op.RMS_NORM):
            yield from self._stored(last)
        if self._nodes[number].op is Op.ADD and before is Op.MUL_MAT:
            yield from self._one(number, lambda one: one.op is Op.ADD and self._completes(one, number, first=True))
        if self._nodes[number].op is Op.UNARY:
            yield from self._one(number, lambda one: one.op is Op.MUL and self._completes(one, number, first=False))

    def _stored(self, number: int) -> Iterator[int]:
        """The view of a node and its way into the cache, if nothing else has to come before."""
        view = self._find(number, lambda one: one.op is Op.VIEW and one.parents[0] is self._nodes[number])
        if view is None:
            return
        stored = self._find(number, lambda one: one.op is Op.SET_ROWS and one.parents[0] is self._nodes[view])
        if stored is None:
            return
        between = [i for i in range(number + 1, stored) if not self._used[i] and i != view]
        awaited = self._links.awaited(stored)
        if not any(self._nodes[i].op is not Op.VIEW and i in awaited for i in between):
            yield view
            yield stored

    def _completes(self, node: Tensor, number: int, *, first: bool) -> bool:
        """Whether all that `node` needs is there once the node of that number is."""
        if self._nodes[number] not in (node.parents[:1] if first else node.parents):
            return False
        others = [parent for parent in node.parents if parent is not self._nodes[number]]
        return all(parent.op is Op.NONE or parent in self._done for parent in others)

    def _one(self, number: int, fits: Callable[[Tensor], bool]) -> Iterator[int]:
        found = self._find(number, fits)
        if found is not None:
            yield found

    def _find(self, number: int, fits: Callable[[Tensor], bool]) -> int | None:
        return next((i for i in self._ahead(number, N_AHEAD_FUSED) if not self._used[i] and fits(self._nodes[i])), None)


def _begins(nodes: Sequence[Tensor], start: int, pattern: tuple[Op, ...]) -> bool:
    """Whether the operations from `start` on are those of the pattern."""
    if nodes[start].op is not pattern[0] or start + len(pattern) > len(nodes):
        return False
    return all(nodes[start + i].op is op for i, op in enumerate(pattern))


class _Links:
    """Which nodes wait for which; memory by numbers, because the question comes for each node again and again."""

    def __init__(self, nodes: Sequence[Tensor]) -> None:
        self._ids = [id(node) for node in nodes]
        self._memory = [id(node.root) for node in nodes]
        self._sources = [{id(parent) for parent in node.parents} for node in nodes]
        self._read = [{id(parent.root) for parent in node.parents} for node in nodes]
        self._is_view = [node.op is Op.VIEW for node in nodes]
        self._awaited: dict[int, tuple[int, ...]] = {}

    def awaited(self, number: int) -> tuple[int, ...]:
        """Those of the `N_AHEAD` before a node that it may not come before."""
        known = self._awaited.get(number)
        if known is None:
            known = tuple(one for one in range(max(0, number - N_AHEAD), number) if self._waits(number, one))
            self._awaited[number] = known
        return known

    def _waits(self, number: int, before: int) -> bool:
        """It reads what that writes, or writes what that reads."""
        memory, written = self._memory[number], self._memory[before]
        if memory == written or self._ids[before] in self._sources[number]:
            return True
        if self._is_view[number] or self._is_view[before]:
            return False
        return written in self._read[number] or memory in self._read[before]
