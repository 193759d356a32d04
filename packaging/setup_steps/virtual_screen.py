"""A screen that nobody sees, for programs with a window: Xvfb, on a display of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_END_S = 60.0


def missing_tools() -> tuple[str, ...]:
    """What of Xvfb and xdotool, which presses the keys, is not installed."""
    return tuple(tool for tool in ("Xvfb", "xdotool") if shutil.which(tool) is None)


@contextmanager
def virtual_screen(width: int, height: int) -> Iterator[str]:
    """Gives its DISPLAY. Linux, with Xvfb."""
    reader, writer = os.pipe()
    arguments = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"]
    arguments += ["-noreset"]  # or it starts anew whenever the last window closes
    server = subprocess.Popen(arguments, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with os.fdopen(reader) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait(_END_S)
