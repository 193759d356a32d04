"""The port: opened here, or why not, who has it, and which other one is free."""

import contextlib
import errno
import os
import socket
import sys
from typing import Final

import psutil

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail

BACKLOG: Final = 128
_N_TRIED: Final = 50


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens. `port` 0 is any free one. Raises PORT_IN_USE, ADDRESS_UNAVAILABLE."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise fail(ErrorCode.ADDRESS_UNAVAILABLE, host=host, detail=str(error)) from error
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        _claim(listener)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _why_not(error, host, port) from error
    return listener


def _claim(listener: socket.socket) -> None:
    """Take a port that was just given up, and on Windows let nobody take it a second time."""
    if sys.platform == "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def _why_not(error: OSError, host: str, port: int) -> LayaDeskError:
    if error.errno not in (errno.EADDRINUSE, errno.EACCES, getattr(errno, "WSAEACCES", errno.EACCES)):
        detail = os.strerror(error.errno) if error.errno else str(error)
        return fail(ErrorCode.ADDRESS_UNAVAILABLE, host=host, detail=detail)
    owner, pid = owner_of(port)
    return fail(ErrorCode.PORT_IN_USE, host=host, port=port, owner=owner, pid=pid, free_port=_free_port(host, port))


def owner_of(port: int) -> tuple[str | None, int | None]:
    """Name and process id of who listens on a port, as far as the system tells us."""
    with contextlib.suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr.port == port and one.pid is not None:
                return psutil.Process(one.pid).name(), one.pid
    return None, None


def _free_port(host: str, port: int) -> int | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for other in range(max(port, 1023) + 1, min(port + _N_TRIED, 65535) + 1):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as trial:
            _claim(trial)
            trial.bind((host, other))
            return other
    return None
