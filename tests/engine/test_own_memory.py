import ctypes
import platform

import psutil
import pytest

from layadesk.engine.own_memory import give_back

PIECE_BYTES, N_PIECES = 64 * 1024, 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries give back by themselves")
def test_what_was_freed_in_small_pieces_below_one_that_stays_goes_back_to_the_system() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    pieces = [libc.malloc(PIECE_BYTES) for _ in range(N_PIECES + 1)]
    for piece in pieces:
        ctypes.memset(piece, 1, PIECE_BYTES)
    for piece in pieces[:-1]:
        libc.free(piece)
    before = psutil.Process().memory_info().rss
    give_back()
    assert psutil.Process().memory_info().rss < before - PIECE_BYTES * N_PIECES // 2
    libc.free(pieces[-1])
