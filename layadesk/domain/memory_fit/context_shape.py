"""What the engine makes of load parameters before llama.cpp sees them: decided here, so that the bill is for that."""

from layadesk.domain.inference import LoadParams

UBATCH_OF_GPU = 512
UBATCH_OF_CPU = 256  # what a core's cache holds: 512 is slower by a quarter with Gemma 3 270M, and takes more memory
N_KEPT_OF_LARGE_STATES = 4
MAX_PARALLEL = 64  # llama.cpp itself takes up to 256 sequences


def n_batch(params: LoadParams) -> int:
    """Tokens of one decode: room for all who decode, and a slice of a prompt."""
    return max(params.n_batch, params.n_parallel + 32)


def n_ubatch(params: LoadParams, *, has_gpu: bool) -> int:
    """Tokens that are computed at once."""
    return min(params.n_ubatch or (UBATCH_OF_GPU if has_gpu else UBATCH_OF_CPU), n_batch(params))


def n_seq_max(n_parallel: int, n_kept: int, *, has_large_state: bool) -> int:
    """Sequences with a place: those that run and those that are kept. Fewer where each costs memory of its own."""
    return n_parallel + (min(n_kept, N_KEPT_OF_LARGE_STATES) if has_large_state else n_kept)
