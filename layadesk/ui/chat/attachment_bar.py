"""The files that go with the next message: a chip for each, above the field."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from layadesk.domain.chat import Attachment
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import GAP_S, Ink
from layadesk.ui.widgets.roles import set_role

CHARS_PER_TOKEN = 3.5
MAX_NAME = 32


class AttachmentBar(QWidget):
    """Signals:
    changed: files came or went.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attachments")
        self._files: list[Attachment] = []
        self._chips: list[QToolButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GAP_S)
        self._row.addStretch(1)
        self.hide()

    @property
    def files(self) -> tuple[Attachment, ...]:
        """What goes with the next message."""
        return tuple(self._files)

    def add(self, file: Attachment) -> None:
        """One more; the same file again takes the place of the old one."""
        self._files = [one for one in self._files if one.name != file.name] + [file]
        self._show()

    def put(self, files: Sequence[Attachment]) -> None:
        """These in place of what is there."""
        self._files = list(files)
        self._show()

    def chips(self) -> list[QToolButton]:
        """For the Tab key; pressing one takes its file away."""
        return list(self._chips)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._show()
        super().changeEvent(event)

    def _show(self) -> None:
        for chip in self._chips:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(file) for file in self._files]
        for index, chip in enumerate(self._chips):
            self._row.insertWidget(index, chip)
        self.setVisible(bool(self._files))
        self.changed.emit()

    def _chip(self, file: Attachment) -> QToolButton:
        chip = QToolButton()
        set_role(chip, "chip")
        chip.setFont(small_font())
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_icon(chip, "close", Ink.MUTED)
        n_tokens = file.n_tokens or round(len(file.text) / CHARS_PER_TOKEN)
        shown = file.name if len(file.name) <= MAX_NAME else f"{file.name[:MAX_NAME]}…"
        chip.setText(self.tr("{name}, about {n} tokens").format(name=shown, n=f"{n_tokens:,}"))
        chip.setAccessibleName(self.tr("Take {name} away").format(name=file.name))
        chip.setToolTip(chip.accessibleName())
        chip.clicked.connect(self._on_clicked)
        return chip

    @Slot()
    def _on_clicked(self) -> None:
        chip = self.sender()
        if isinstance(chip, QToolButton) and chip in self._chips:
            del self._files[self._chips.index(chip)]
            self._show()
