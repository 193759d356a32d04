"""One window for one data folder: whoever starts the program a second time is led to the window that is open.

The first window listens at a local socket that only its user can reach; nothing is read from it but that somebody came.
"""

import hashlib
import logging
import os
import socket
import sys
import tempfile
import threading
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from layadesk.domain.errors import ErrorCode, fail

log = logging.getLogger(__name__)

ANSWER = b"here\n"
PATIENCE_S = 3.0


def meeting_point(data_dir: Path) -> str:
    """Where the window of a data folder listens: a path, on Windows the name of a pipe. The same for all its names."""
    digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:20]
    name = f"layadesk-{digest}"
    if sys.platform == "win32":
        return name
    private = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = private if private and os.path.isdir(private) else tempfile.gettempdir()
    return os.path.join(folder, f"{name}-{os.getuid()}")


def raise_running(data_dir: Path) -> bool | None:
    """Bring the window that is open on this data folder to the front: True when it answered, None when there is none.

    False: it is there and says nothing. Waits at most PATIENCE_S; needs no Qt application.
    """
    found: list[bool | None] = []
    asking = threading.Thread(target=lambda: found.append(_ask(meeting_point(data_dir))), name="single", daemon=True)
    asking.start()
    asking.join(PATIENCE_S)  # a pipe of Windows has no time limit of its own
    return found[0] if found else False


def has_come_forward(data_dir: Path) -> bool:
    """Whether a window was open on this data folder; it is in front then. Raises ALREADY_RUNNING where it hangs."""
    answered = raise_running(data_dir)
    if answered is False:
        raise fail(ErrorCode.ALREADY_RUNNING, path=str(data_dir))
    return answered is True


def _ask(place: str) -> bool | None:
    try:
        if sys.platform == "win32":
            with open(rf"\\.\pipe\{place}", "r+b", buffering=0) as pipe:
                return pipe.read(len(ANSWER)) == ANSWER
        if os.stat(place).st_uid != os.getuid():
            return None  # somebody else's, whatever it is
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE_S)
            client.connect(place)
            return client.recv(len(ANSWER)) == ANSWER
    except TimeoutError:
        return False
    except OSError:
        return None  # nobody, or a file that a killed program has left


class SingleWindow(QObject):
    """Listens for later starts on the same data folder. GUI thread."""

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
        visitor.write(ANSWER)
        visitor.flush()
        visitor.disconnected.connect(visitor.deleteLater)
        visitor.disconnectFromServer()
        window = self._window
        window.setWindowState((window.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()
        QApplication.alert(window)  # where the system does not let a window come forward by itself
