"""What this process takes in memory, and what the machine still has."""

import ctypes
import sys
from contextlib import suppress

import psutil


def private_bytes() -> int:
    """Memory of this process alone: anonymous pages; nothing of mapped files."""
    memory = psutil.Process().memory_info()
    shared = getattr(memory, "shared", 0)
    return int(memory.rss) - int(shared)


def available_bytes() -> int:
    """RAM that can be had without swapping."""
    return int(psutil.virtual_memory().available)


def give_back() -> None:
    """Let the system have what has been freed: glibc keeps small pieces, and 200 loads would leave tens of MiB."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
