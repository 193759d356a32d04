"""How many prompt tokens one step may take, from measured speed: a long prompt must not be felt by those who read."""

from dataclasses import dataclass

SHARED_BUDGET_S = 0.25  # the longest gap between two tokens that still reads as flowing
ALONE_BUDGET_S = 2.0  # nobody waits for tokens, but for progress, for a newcomer's turn, and where no abort reaches
TILE_BUDGET_S = 0.45  # one whole tile may take longer: smaller slices do half as much in the same time
SLOW_TILE_BUDGET_S = 1.0  # and longer still where no slice is short enough
FIRST_SLICE = 64
MIN_SLICE = 16  # at least one token for every slot
MAX_SLICE = 4096

# From so many tokens on llama.cpp computes attention on a CPU in tiles (GGML_FA_TILE_Q), each token in a third of the
# time: SmolLM2 with 3,000 tokens before them takes 0.30 s for 24 tokens, and 0.44 s for 64.
TILE = 64
_TILED_GAIN = 3.0
_SPREAD = 100.0

_MEMORY = 0.95  # how much of what it knows a step leaves
_MOOD_SMOOTHING = 0.3
_MOOD_RANGE = (0.2, 5.0)


class StepPace:
    """How long one expert's steps take by their size and place, and what fits in a step's time. Decode thread.

    A step costs `base + per_token * n + per_pair * pairs`: reading the weights, computing, and attention, which looks
    from each token at all before it. Steps of a tile and more have rates of their own. Rates are learned slowly and by
    themselves; what makes the machine slower or faster for all sizes alike, its mood, is learned at once: else a tile
    that was once too slow beside some other program would never be tried again.
    """

    def __init__(self) -> None:
        self._base_s = 0.0  # a single token; 0 before there was one
        self._small = _Rates()
        self._tiled = _Rates()
        self._fits = (0.0, 0.0), (0.0, 0.0)  # of tiles, of fewer
        self._mood = 1.0

    def n_slice(self, *, n_decoding: int, is_shared: bool, position: int = 0, n_left: int = MAX_SLICE) -> int:
        """Prompt tokens for the next step, beside `n_decoding` single ones, with `position` tokens before them.

        `is_shared`: someone waits for a next token meanwhile. `n_left` are all that are to be computed: the last ones
        may be too few for a tile.
        """
        if not self._small.is_known and not self._tiled.is_known:
            return self._first_slice(is_shared=is_shared)
        budget_s = SHARED_BUDGET_S if is_shared else ALONE_BUDGET_S
        budget_s = max(budget_s, 2 * self._mood * self._base_s)  # a model that is slow anyway spends half on prompts
        n_total = 0
        if n_left + n_decoding >= TILE:
            n_total = self._n_tiled(budget_s, position)
            if n_total == 0 and self._seconds(TILE, position) <= TILE_BUDGET_S:
                n_total = TILE
        if n_total == 0:
            sizes = range(MIN_SLICE + n_decoding, TILE)
            n_total = next((n for n in reversed(sizes) if self._seconds(n, position) <= budget_s), 0)
            if n_total == 0 and n_left + n_decoding >= TILE and self._seconds(TILE, position) <= SLOW_TILE_BUDGET_S:
                n_total = TILE  # even the smallest slice would be felt; then it may as well be worth it
        return max(MIN_SLICE, n_total - n_decoding)

    def measured(self, n_tokens: int, seconds: float, *, n_decoding: int = 0, n_pairs: float = 0.0) -> None:
        """Learn from a step of `n_tokens`, of them `n_decoding` single ones; `n_pairs`: tokens before each, summed."""
        if n_tokens == n_decoding:
            per_token_s = self._fits[1][0]
            base_s = max(seconds / n_tokens, seconds - per_token_s * (n_tokens - 1))
            self._base_s += (_MOOD_SMOOTHING if self._base_s else 1.0) * (base_s - self._base_s)
            return
        expected_s = self._seconds(n_tokens, n_pairs / n_tokens - n_tokens / 2) / self._mood
        if expected_s > 0.0:
            mood = self._mood + _MOOD_SMOOTHING * (seconds / expected_s - self._mood)
            self._mood = min(max(mood, _MOOD_RANGE[0]), _MOOD_RANGE[1])
        rates = self._small if n_tokens < TILE else self._tiled
        rates.learn(n_tokens, n_pairs, max(seconds - self._base_s, seconds / 10))
        tiled = self._tiled.fitted()
        self._fits = tiled, self._small.fitted(_TILED_GAIN * tiled[1])

    def _first_slice(self, *, is_shared: bool) -> int:
        """Before any prompt was computed: a token of many takes at most the time of a single one."""
        if self._base_s == 0.0 or not is_shared:
            return FIRST_SLICE
        return min(FIRST_SLICE, max(MIN_SLICE, int(SHARED_BUDGET_S / self._base_s)))

    def _n_tiled(self, budget_s: float, position: int) -> int:
        """All tokens of a step of whole tiles that fits in the time; 0 where not even one does."""
        n_tokens = 0
        while n_tokens < MAX_SLICE and self._seconds(n_tokens + TILE, position) <= budget_s:
            n_tokens += TILE
        return n_tokens

    def _seconds(self, n_tokens: int, position: float) -> float:
        """What a step is expected to take. Tiles are never slower than the same tokens without."""
        (tiled_token_s, tiled_pair_s), (small_token_s, small_pair_s) = self._fits
        n_pairs = n_tokens * (position + n_tokens / 2)
        small_s = small_token_s * n_tokens + small_pair_s * n_pairs
        tiled_s = tiled_token_s * n_tokens + tiled_pair_s * n_pairs
        if not self._tiled.is_known or (n_tokens < TILE and self._small.is_known):
            seconds = small_s
        else:
            seconds = min(small_s, tiled_s) if self._small.is_known else tiled_s
        return self._mood * (self._base_s + seconds)


@dataclass(slots=True)
class _Rates:
    """Seconds per token and per pair of tokens: least squares of relative errors, the latest steps weighing most."""

    nn: float = 0.0
    np: float = 0.0
    pp: float = 0.0
    nt: float = 0.0
    pt: float = 0.0

    @property
    def is_known(self) -> bool:
        return self.nn > 0.0

    def fitted(self, expected_pair_s: float = 0.0) -> tuple[float, float]:
        """Neither is ever negative.

        Steps at nearly one place tell nothing of pairs, and would tell anything: their rate stays near what is expected
        until places differ by more than _SPREAD.
        """
        if not self.is_known:
            return 0.0, expected_pair_s
        doubt = self.nn * _SPREAD**2
        pp, pt = self.pp + doubt, self.pt + doubt * expected_pair_s
        determinant = self.nn * pp - self.np * self.np
        per_token_s = (pp * self.nt - self.np * pt) / determinant
        per_pair_s = (self.nn * pt - self.np * self.nt) / determinant
        return max(0.0, per_token_s), max(0.0, per_pair_s)

    def learn(self, n_tokens: int, n_pairs: float, seconds: float) -> None:
        weight = 1.0 / max(seconds, 1e-6) ** 2
        self.nn = _MEMORY * self.nn + weight * n_tokens * n_tokens
        self.np = _MEMORY * self.np + weight * n_tokens * n_pairs
        self.pp = _MEMORY * self.pp + weight * n_pairs * n_pairs
        self.nt = _MEMORY * self.nt + weight * n_tokens * seconds
        self.pt = _MEMORY * self.pt + weight * n_pairs * seconds
