"""How fast this machine's RAM is read, measured in a fraction of a second: the ceiling of tokens per second."""

import ctypes
import os
import sys
import threading
import time

_BYTES = 48 * 2**20  # larger than caches
_ROUNDS = 3
_MAX_THREADS = 8


def measure_memory_bytes_per_s() -> float:
    """Bytes a second that all cores together move by memcpy, which reads and writes each byte. Takes 0.1 to 0.5 s.

    A lower bound of what can be read: writing costs too. The best of three rounds, because others compute as well.
    """
    n_threads = min(os.cpu_count() or 1, _MAX_THREADS)
    pairs = [(ctypes.create_string_buffer(_BYTES), ctypes.create_string_buffer(_BYTES)) for _ in range(n_threads)]
    for source, target in pairs:
        ctypes.memmove(target, source, _BYTES)  # the pages are there from now on
    best = 0.0
    for _ in range(_ROUNDS):
        threads = [threading.Thread(target=ctypes.memmove, args=(target, source, _BYTES)) for source, target in pairs]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        best = max(best, 2.0 * _BYTES * n_threads / (time.perf_counter() - began))
    return best


def measure_read_bytes_per_s() -> float:
    """Bytes a second that all cores together read, by looking for a byte that is not there. Takes 0.1 to 0.5 s.

    Never less than what memcpy moves: where looking is slow (no vector code in the C library), that is the better
    figure. The best of three rounds, because others compute as well.
    """
    n_threads = min(os.cpu_count() or 1, _MAX_THREADS)
    library = ctypes.CDLL("msvcrt") if sys.platform == "win32" else ctypes.CDLL(None)  # CDLL lets other threads run
    search = library.memchr
    search.restype, search.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    blocks = [ctypes.create_string_buffer(_BYTES) for _ in range(n_threads)]
    for block in blocks:
        ctypes.memset(block, 1, _BYTES)  # untouched pages would all be the one of zeros
    best = measure_memory_bytes_per_s()
    for _ in range(_ROUNDS):
        threads = [threading.Thread(target=search, args=(block, 0, _BYTES)) for block in blocks]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        best = max(best, _BYTES * n_threads / (time.perf_counter() - began))
    return best
