"""A user on the Models page: what is pressed and waited for, with a fake hub behind it."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from layadesk.domain.downloads import DownloadState
from layadesk.model_library.hub import HubRules
from layadesk.paths import DataPaths
from layadesk.ui.library.card_details import CardDetails
from layadesk.ui.library.download_row import DownloadRow
from layadesk.ui.theme.theme import Theme
from tests.fakes.fake_hub import FakeHub
from tests.fakes.library import Shelf
from tests.fakes.models_window import ModelsWindow

WAIT_MS = 30_000


class Journey:
    """The program in this process and a hub that serves one small model; it can be closed and opened again."""

    def __init__(self, root: Path, hub: FakeHub, app: QApplication, qtbot: QtBot) -> None:
        self.root, self.hub, self.app, self.qtbot = root, hub, app, qtbot
        self.paths = DataPaths(root)
        self.shelf = Shelf(self.paths, hub, HubRules())
        self.shelf.serve()
        self.theme = Theme(app)

    def open(self) -> None:
        """Start the program."""
        self.opened = ModelsWindow(self.root, self.app, self.theme)
        self.desk, self.window = self.opened.desk, self.opened.window
        self.qtbot.addWidget(self.window)
        self.wait(lambda: self.opened.has_model)

    def close(self) -> None:
        """End it, as closing the window does."""
        self.opened.close()

    def wait(self, until: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(until()), timeout=WAIT_MS)

    @property
    def details(self) -> CardDetails:
        """What the card opens to."""
        return self.opened.details

    @property
    def row(self) -> DownloadRow | None:
        return self.opened.row

    @property
    def state(self) -> DownloadState | None:
        return None if self.row is None else self.row.download.state

    def download(self, until: DownloadState) -> DownloadRow:
        """Press the one button and wait."""
        self.details.download.click()
        self.wait(lambda: self.state is until)
        assert self.row is not None
        return self.row

    def go_on(self) -> None:
        """Press what stands beside a row that has stopped."""
        assert self.row is not None
        self.row.steer.click()
        self.wait(lambda: self.state is DownloadState.INSTALLED)

    @property
    def n_installed(self) -> int:
        return len(self.desk.use_cases.experts.list())
