"""How many prompt tokens one step may take, from measured speed: a long prompt must not be felt by those who read."""

SHARED_BUDGET_S = 0.25  # the longest gap between two tokens that still reads as flowing
ALONE_BUDGET_S = 2.0  # nobody waits for tokens, but for progress, for a newcomer's turn, and where no abort reaches
TILE_BUDGET_S = 0.5  # one whole tile may take longer: smaller slices do half as much in the same time
FIRST_SLICE = 64
MIN_SLICE = 16  # at least one token for every slot
SMOOTHING = 0.3

# From so many tokens on llama.cpp computes attention on a CPU in tiles (GGML_FA_TILE_Q), each token in half the time:
# SmolLM2 at 2,000 tokens of context takes 547 ms for 63 tokens, and 331 ms for 64.
TILE = 64


class StepPace:
    """How long one expert's steps take by their size, and what fits in a step's time. Decode thread.

    A step costs `base + per_token * n`: reading the weights, and computing. Both are fitted through the smoothed times
    of small and large steps, one entry for each power of two. Dividing tokens by time instead would make small slices
    look slow, and so ever smaller. Steps of a tile and more are on a line of their own.
    """

    def __init__(self) -> None:
        self._times: dict[int, tuple[float, float]] = {}  # bit length of the size -> tokens, seconds

    def n_slice(self, *, n_decoding: int, is_shared: bool) -> int:
        """Prompt tokens for the next step, beside `n_decoding` single ones.

        `is_shared`: someone waits for a next token meanwhile.
        """
        if not self._times:
            return FIRST_SLICE
        tiled = {size: time for size, time in self._times.items() if size >= TILE.bit_length()}
        n_tiled = self._n_tiled(tiled, is_shared=is_shared)
        if n_tiled:
            return max(MIN_SLICE, n_tiled - n_decoding)
        base_s, per_token_s = _line_through(self._times)
        spare_s = _spare_s(base_s, is_shared=is_shared)
        return max(MIN_SLICE, int(spare_s / per_token_s) - n_decoding)

    def measured(self, n_tokens: int, seconds: float) -> None:
        """Learn from one step."""
        size = n_tokens.bit_length()
        old_tokens, old_s = self._times.get(size, (float(n_tokens), seconds))
        self._times[size] = (old_tokens + SMOOTHING * (n_tokens - old_tokens), old_s + SMOOTHING * (seconds - old_s))

    def _n_tiled(self, tiled: dict[int, tuple[float, float]], *, is_shared: bool) -> int:
        """All tokens of a step of whole tiles that fits in the time; 0 where not even one does, or nothing is known."""
        if not tiled:
            return 0
        base_s, per_token_s = _line_through(tiled)
        n_tiles = int(_spare_s(base_s, is_shared=is_shared) / per_token_s) // TILE
        if n_tiles == 0 and is_shared and base_s + TILE * per_token_s <= TILE_BUDGET_S:
            n_tiles = 1
        return n_tiles * TILE


def _spare_s(base_s: float, *, is_shared: bool) -> float:
    """The time for prompt tokens; a model that is slow anyway spends half its time on them."""
    budget_s = SHARED_BUDGET_S if is_shared else ALONE_BUDGET_S
    return max(budget_s - base_s, base_s)


def _line_through(times: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """Base and per-token seconds: the straight line of least squares, or proportion where that is no line up."""
    sizes = [tokens for tokens, _ in times.values()]
    seconds = [time for _, time in times.values()]
    mean_size, mean_time = sum(sizes) / len(sizes), sum(seconds) / len(seconds)
    spread = sum((size - mean_size) ** 2 for size in sizes)
    both = sum((size - mean_size) * (time - mean_time) for size, time in zip(sizes, seconds, strict=True))
    if spread > 0 and both > 0:
        per_token_s = both / spread
        return max(0.0, mean_time - per_token_s * mean_size), per_token_s
    tokens, longest = times[max(times)]
    return 0.0, max(longest / tokens, 1e-9)
