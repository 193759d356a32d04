"""The program's window on its Models page, over the real rooms, without a screen.

As a program of its own, for tests that kill it: `python -m tests.fakes.models_window DATA_DIR`. It presses the one
button of the model and prints each text of the download's row.
"""

import os
import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from layadesk.app import Desk
from layadesk.ui.bridge import Bridge
from layadesk.ui.language import Language
from layadesk.ui.library.card_details import CardDetails
from layadesk.ui.library.download_row import DownloadRow
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.theme.theme import Theme

MODEL = "tiny"
ROW = f"{MODEL}:Q4_K_M"
LOOK_MS = 20


class ModelsWindow:
    """One run of the program; the catalogue of its data directory has the one small model."""

    def __init__(self, root: Path, app: QApplication, theme: Theme) -> None:
        self.desk = Desk(root, engine="scripted")
        self.desk.use_cases.settings.set("ui.language", "en")
        self.bridge = Bridge()
        appearance = Appearance(self.desk.use_cases.settings, language=Language(app), theme=theme)
        appearance.apply()
        self.window = MainWindow(self.desk.use_cases, bridge=self.bridge, appearance=appearance)
        self.window.show()
        self.window.show_page(Destination.MODELS)

    def close(self) -> None:
        """End it, as closing the window does."""
        self.window.closing.asks = False
        self.window.close()
        self.bridge.close()
        self.desk.stop()

    @property
    def has_model(self) -> bool:
        """Whether its card is there."""
        return MODEL in self.window.models.page.catalogue.cards

    @property
    def details(self) -> CardDetails:
        """What the card opens to."""
        card = self.window.models.page.catalogue.cards[MODEL]
        card.open_up()
        assert card.details is not None
        return card.details

    @property
    def rows(self) -> tuple[DownloadRow, ...]:
        """The downloads on the page."""
        return self.window.models.page.downloads.rows()

    @property
    def row(self) -> DownloadRow | None:
        """The download of the model."""
        return self.window.models.page.downloads.row(ROW)


def main(root: str) -> None:
    """Run until killed."""
    app = QApplication(sys.argv[:1])
    opened = ModelsWindow(Path(root), app, Theme(app))
    printed = ""

    def look() -> None:
        nonlocal printed
        if opened.row is not None:
            if opened.row.text() != printed:
                printed = opened.row.text()
                os.write(1, f"{printed}\n".encode())
        elif opened.has_model and opened.details.download.isEnabled():
            opened.details.download.click()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(LOOK_MS)
    app.exec()


if __name__ == "__main__":
    main(sys.argv[1])
