"""One window for one data folder: whoever starts the program a second time is led to the window that is open.

The first window listens at a local socket that only its user can reach. A visitor says in one line of JSON which model
files it was started with, a list that is mostly empty, and hears that the window is here.
"""

import hashlib
import json
import logging
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from layadesk.domain.errors import ErrorCode, fail

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalSocket

log = logging.getLogger(__name__)

ANSWER = b"here\n"
PATIENCE_S = 3.0
MOST_BYTES = 65536
MOST_FILES = 100


def meeting_point(data_dir: Path) -> str:
    """Where the window of a data folder listens: a path, on Windows the name of a pipe. The same for all its names."""
    digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:20]
    name = f"layadesk-{digest}"
    if sys.platform == "win32":
        return name
    private = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = private if private and os.path.isdir(private) else tempfile.gettempdir()
    return os.path.join(folder, f"{name}-{os.getuid()}")


def raise_running(data_dir: Path, files: Sequence[str] = ()) -> bool | None:
    """Bring the window that is open on this data folder to the front: True when it answered, None when there is none.

    `files` are handed to it, for it to add them as models.

    False: it is there and says nothing. Waits at most PATIENCE_S; needs no Qt application.
    """
    found: list[bool | None] = []
    request = json.dumps([os.path.abspath(file) for file in files[:MOST_FILES]]).encode() + b"\n"
    asking = threading.Thread(
        target=lambda: found.append(_ask(meeting_point(data_dir), request)), name="single", daemon=True
    )
    asking.start()
    asking.join(PATIENCE_S)  # a pipe of Windows has no time limit of its own
    return found[0] if found else False


def has_come_forward(data_dir: Path, files: Sequence[str] = ()) -> bool:
    """Whether a window was open on this data folder; it is in front then. Raises ALREADY_RUNNING where it hangs."""
    answered = raise_running(data_dir, files)
    if answered is False:
        raise fail(ErrorCode.ALREADY_RUNNING, path=str(data_dir))
    return answered is True


def _ask(place: str, request: bytes) -> bool | None:
    try:
        if sys.platform == "win32":
            with open(rf"\\.\pipe\{place}", "r+b", buffering=0) as pipe:
                pipe.write(request)
                return pipe.read(len(ANSWER)) == ANSWER
        if os.stat(place).st_uid != os.getuid():
            return None  # somebody else's, whatever it is
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE_S)
            client.connect(place)
            client.sendall(request)
            return client.recv(len(ANSWER)) == ANSWER
    except TimeoutError:
        return False
    except OSError:
        return None  # nobody, or a file that a killed program has left


def files_in(line: bytes) -> list[str]:
    """The paths of a request; none where it is anything else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list) or len(found) > MOST_FILES:
        return []
    return [path for path in found if isinstance(path, str) and os.path.isabs(path)]


class SingleWindow(QObject):
    """Listens for later starts on the same data folder. GUI thread.

    Signals:
        files_brought: paths of model files that a later start was given.
    """

    files_brought = Signal(list)

    def __init__(self, data_dir: Path, window: QMainWindow) -> None:
        super().__init__(window)
        # Here, because the window need not wait for it.
        from PySide6.QtNetwork import QLocalServer  # noqa: PLC0415

        self._window = window
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_visitor)
        place = meeting_point(data_dir)
        QLocalServer.removeServer(place)
        if not self._server.listen(place):
            log.info("no meeting point for later starts: %s", self._server.errorString())

    @Slot()
    def _on_visitor(self) -> None:
        visitor = self._server.nextPendingConnection()
        visitor.disconnected.connect(visitor.deleteLater)
        visitor.readyRead.connect(partial(self._read, visitor))
        patience = QTimer(visitor, singleShot=True, interval=int(PATIENCE_S * 1000))
        patience.timeout.connect(partial(_send_away, visitor))
        patience.start()
        self._read(visitor)

    def _read(self, visitor: "QLocalSocket") -> None:
        if not visitor.canReadLine():
            if visitor.bytesAvailable() > MOST_BYTES:
                visitor.abort()
            return
        files = files_in(bytes(visitor.readLine(MOST_BYTES).data()))
        visitor.write(ANSWER)
        visitor.flush()
        visitor.disconnectFromServer()
        self._come_forward()
        if files:
            self.files_brought.emit(files)

    def _come_forward(self) -> None:
        window = self._window
        window.setWindowState((window.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()
        QApplication.alert(window)  # where the system does not let a window come forward by itself


def _send_away(visitor: "QLocalSocket") -> None:
    visitor.abort()
