"""How many prompt tokens one step may take, from measured speed: a long prompt must not be felt by those who read."""

SHARED_BUDGET_S = 0.25  # the longest gap between two tokens that still reads as flowing
ALONE_BUDGET_S = 2.0  # nobody waits for tokens, but for progress, for a newcomer's turn, and where no abort reaches
FIRST_SLICE = 64
MIN_SLICE = 16  # at least one token for every slot
SMOOTHING = 0.3


class StepPace:
    """How long one expert's steps take by their size, and what fits in a step's time. Decode thread.

    A step costs `base + per_token * n`: reading the weights, and computing. Both are fitted through the smoothed times
    of small and large steps, one entry for each power of two. Dividing tokens by time instead would make small slices
    look slow, and so ever smaller.
    """

    def __init__(self) -> None:
        self._times: dict[int, tuple[float, float]] = {}  # bit length of the size -> tokens, seconds

    def n_slice(self, *, n_decoding: int, is_shared: bool) -> int:
        """Prompt tokens for the next step, beside `n_decoding` single ones.

        `is_shared`: someone waits for a next token meanwhile.
        """
        if not self._times:
            return FIRST_SLICE
        base_s, per_token_s = self._fit()
        budget_s = SHARED_BUDGET_S if is_shared else ALONE_BUDGET_S
        spare_s = max(budget_s - base_s, base_s)  # a model that is slow anyway spends half its time on prompts
        return max(MIN_SLICE, int(spare_s / per_token_s) - n_decoding)

    def measured(self, n_tokens: int, seconds: float) -> None:
        """Learn from one step."""
        size = n_tokens.bit_length()
        old_tokens, old_s = self._times.get(size, (float(n_tokens), seconds))
        self._times[size] = (old_tokens + SMOOTHING * (n_tokens - old_tokens), old_s + SMOOTHING * (seconds - old_s))

    def _fit(self) -> tuple[float, float]:
        """Base and per-token seconds: the straight line of least squares, or proportion where that is no line up."""
        sizes = [tokens for tokens, _ in self._times.values()]
        times = [seconds for _, seconds in self._times.values()]
        mean_size, mean_time = sum(sizes) / len(sizes), sum(times) / len(times)
        spread = sum((size - mean_size) ** 2 for size in sizes)
        both = sum((size - mean_size) * (time - mean_time) for size, time in zip(sizes, times, strict=True))
        if spread > 0 and both > 0:
            per_token_s = both / spread
            return max(0.0, mean_time - per_token_s * mean_size), per_token_s
        tokens, seconds = self._times[max(self._times)]
        return 0.0, max(seconds / tokens, 1e-9)
