"""The Qt application: made, run and ended here. The command line imports this module for `layadesk` alone.

An ImportError while it is imported means a missing system library; `texts.missing_library` has the words for it.
"""

import ctypes
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QObject, QSocketNotifier, Slot
from PySide6.QtWidgets import QApplication

from layadesk import __version__
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.ui.bridge import Bridge
from layadesk.ui.input_method import choose_input_method
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.closing import ENDING
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.shell.single_window import SingleWindow, has_come_forward
from layadesk.ui.texts.missing_library import missing_library
from layadesk.ui.theme.icons import application_icon
from layadesk.ui.theme.theme import Theme

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


__all__ = ["has_come_forward", "run"]

log = logging.getLogger(__name__)


def run(
    use_cases: "UseCases",
    *,
    after_first_paint: Callable[[], None],
    before_quit: Callable[[], None],
    data_dir: Path | None = None,
    files: Sequence[str] = (),
) -> int:
    """Show the window and stay until it is closed; returns the exit status.

    `after_first_paint` is called once, on the GUI thread, when the window is on screen: start processes and samplers
    there. `before_quit` is called when the window is gone and everything it has to say has been said; it may block.
    `data_dir`: later starts on that folder are led to this window. `files` are added as models when it is on screen.
    Raises QT_MISSING_LIBRARY and NO_DISPLAY, where Qt itself would end the process.
    """
    check_display()
    app = make_application()
    bridge = Bridge(app)
    appearance = Appearance(use_cases.settings, language=Language(app), theme=Theme(app), parent=app)
    appearance.apply()
    window = MainWindow(use_cases, bridge=bridge, appearance=appearance)
    window.painted.connect(after_first_paint)
    window.painted.connect(window.load_charts)
    if data_dir is not None:
        window.painted.connect(lambda: SingleWindow(data_dir, window).files_brought.connect(window.models.open_files))
    if files:
        window.painted.connect(lambda: window.models.open_files([os.path.abspath(file) for file in files]))
    restore_hooks = install_excepthook(window.show_failure)
    quitter = Quitter(app)
    window.show()
    window.page.composer.focus_text()
    try:
        return app.exec()
    finally:
        quitter.close()
        window.page.drafts.flush()
        bridge.close()
        before_quit()
        restore_hooks()


def make_application() -> QApplication:
    """The QApplication, with its names and its icon."""
    app = QApplication(sys.argv[:1])
    name_application(app)
    return app


def name_application(app: QApplication) -> None:
    """What desktops show of the program."""
    app.setApplicationName("LayaDesk")
    app.setApplicationDisplayName("LayaDesk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("layadesk")
    app.setWindowIcon(application_icon())


def check_display() -> None:
    """Where Qt would abort the process, raise an error with words; let it find an input method. Linux and the like."""
    if sys.platform in {"win32", "darwin"}:
        return
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    platforms = plugins / "platforms"
    kind = _platform()
    more = [Path(one) for one in os.environ.get("QT_PLUGIN_PATH", "").split(os.pathsep) if one]
    choose_input_method(os.environ, [plugins, *more], is_wayland=kind == "wayland")
    if kind == "xcb":
        _check_xcb(platforms / "libqxcb.so")
    elif platforms.is_dir() and not (platforms / f"libq{kind}.so").exists():
        raise fail(ErrorCode.NO_DISPLAY)


def _platform() -> str:
    """Which of Qt's platforms it will be. Raises NO_DISPLAY where there is none."""
    wanted = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].partition("-")[0]
    has_x11 = bool(os.environ.get("DISPLAY"))
    if wanted not in {"", "wayland"}:
        return wanted
    if (wanted or os.environ.get("WAYLAND_DISPLAY")) and _wayland_answers():
        return "wayland"
    if wanted or not has_x11:
        raise fail(ErrorCode.NO_DISPLAY)
    if os.environ.get("WAYLAND_DISPLAY"):
        os.environ["QT_QPA_PLATFORM"] = "xcb"  # the socket is gone, and Qt would abort over it
    return "xcb"


def _check_xcb(plugin: Path) -> None:
    try:
        if plugin.exists():
            ctypes.CDLL(str(plugin))
    except OSError as error:
        raise missing_library(error) from error
    if not _x_server_answers():
        raise fail(ErrorCode.NO_DISPLAY)


def _wayland_answers() -> bool:
    """Whether somebody listens at $WAYLAND_DISPLAY, which is a name below $XDG_RUNTIME_DIR or a path."""
    name = os.environ.get("WAYLAND_DISPLAY") or "wayland-0"
    place = Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere")) / name
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(place))
    except OSError:
        return False
    return True


def _x_server_answers() -> bool:
    """Whether the server of $DISPLAY lets us in; True where that cannot be tried, so that Qt has the last word.

    The connection stays open: some servers start anew when their last client leaves, just when Qt comes.
    """
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    if xcb.xcb_connection_has_error(connection):
        xcb.xcb_disconnect(connection)
        return False
    return True


def install_excepthook(show: Callable[[ErrorReport], None]) -> Callable[[], None]:
    """An error nobody caught is logged with its traceback, and the user is told that there was one.

    Returns what puts back the hooks of before.
    """
    before = sys.excepthook, threading.excepthook

    def on_gui_thread(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        log.error("not caught", exc_info=(kind, error, trace))
        show(ErrorReport(ErrorCode.INTERNAL, {"detail": kind.__name__}))

    def on_other_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            name = args.thread.name if args.thread is not None else "?"
            log.error("not caught in thread %s", name, exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def restore() -> None:
        sys.excepthook, threading.excepthook = before

    sys.excepthook, threading.excepthook = on_gui_thread, on_other_thread
    return restore


class Quitter(QObject):
    """Ctrl+C in the terminal, its end (SIGHUP), and SIGTERM close the window well, while Qt's loop runs no Python."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._previous_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._previous = {number: signal.signal(number, _ignore) for number in _ending_signals()}
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)

    def close(self) -> None:
        """Give the signals back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._previous_fd)
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        self._reader.close()
        self._writer.close()

    @Slot()
    def _on_signal(self) -> None:
        self._reader.recv(64)
        self._app.setProperty(ENDING, True)
        self._app.closeAllWindows()
        self._app.quit()


def _ending_signals() -> tuple[signal.Signals, ...]:
    """Without SIGHUP where there is none (Windows), or where `nohup` has it ignored."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is None or signal.getsignal(hang_up) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, hang_up


def _ignore(number: int, frame: object) -> None:
    """The byte in the socket does the work; a handler must exist, or the process would end at once."""
