"""Where a message is written: the field, Send or Stop in one place, and the line that says who will answer."""

from PySide6.QtCore import QEvent, QFileInfo, QObject, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.chat import Attachment
from layadesk.ui.chat.attachment_bar import AttachmentBar
from layadesk.ui.chat.context_gauge import ContextWarning
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, GAP_XS, TRANSCRIPT_WIDTH, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_look, set_role
from layadesk.ui.widgets.text_box import TextBox

SEND_PX = 32
COMPACT_WIDTH = 560


class Composer(QWidget):
    """Signals:
    submitted: the text to send; the field is empty by then.
    stop_requested: the running answer should end.
    text_changed: the unsent text, for the draft.
    file_chosen: path of a file that is to go with the message.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    text_changed = Signal(str)
    file_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_running = False
        self._can_send = True
        self._frame = QFrame()
        set_role(self._frame, "composer")
        self.text_box = TextBox()
        self.text_box.setObjectName("composer-text")
        self.text_box.submitted.connect(self._on_submitted)
        self.text_box.escaped.connect(self._on_escaped)
        self.text_box.textChanged.connect(self._on_text_changed)
        self.text_box.installEventFilter(self)
        self.text_box.setAcceptDrops(False)  # a file dropped there would become its path
        self.setAcceptDrops(True)
        self.attachments = AttachmentBar()
        self.attachments.changed.connect(self._update_button)
        self.clip = IconButton("clip", size=SEND_PX)
        self.clip.setObjectName("attach")
        self.clip.clicked.connect(self.choose_files)
        self.dialog: QFileDialog | None = None
        self.button = IconButton("send", ink=Ink.ON_ACCENT, size=SEND_PX)
        self.button.setObjectName("send")
        self.button.clicked.connect(self._on_button)
        self.warning = ContextWarning()
        self.hint = ElidedLabel(meaning=Ink.MUTED)
        self.hint.setFont(small_font())
        self.keys = QLabel()
        self.keys.setFont(small_font())
        self.keys.setProperty("ink", "muted")
        self._lay_out()
        self._retranslate()
        self._update_button()

    def text(self) -> str:
        """The unsent text."""
        return self.text_box.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace it, with the cursor at the end."""
        if text != self.text():
            self.text_box.setPlainText(text)
            self.text_box.moveCursor(self.text_box.textCursor().MoveOperation.End)

    def set_running(self, is_running: bool) -> None:
        """While an answer is being made, Stop stands in the place of Send."""
        if is_running != self._is_running:
            self._is_running = is_running
            self._update_button()

    def set_can_send(self, can_send: bool) -> None:
        """False where nobody could answer."""
        self._can_send = can_send
        self._update_button()

    def take_files(self) -> tuple[Attachment, ...]:
        """The files that go with the message; there are none any more."""
        files = self.attachments.files
        self.attachments.put(())
        return files

    def focus_chain(self) -> list[QWidget]:
        """Its stops for the Tab key."""
        return [*self.attachments.chips(), self.clip, self.text_box, self.button]

    @Slot()
    def choose_files(self) -> None:
        """Choose files to attach."""
        self.dialog = QFileDialog(self, self.tr("Attach files"))
        self.dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self.dialog.setNameFilters([self.tr("Text, code, PDF (*)")])
        self.dialog.filesSelected.connect(self._on_files_selected)
        self.dialog.open()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if files and not any(_is_model(path) for path in files):
            event.acceptProposedAction()
        else:
            event.ignore()  # the window takes models

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.file_chosen.emit(url.toLocalFile())
        event.acceptProposedAction()

    def focus_text(self) -> None:
        """Put the cursor into the field."""
        self.text_box.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and watched is self.text_box:
            set_look(self._frame, "active", "true" if event.gotFocus() else "false")
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.keys.setVisible(self.width() >= COMPACT_WIDTH)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
            self._update_button()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        inside = QHBoxLayout(self._frame)
        inside.setContentsMargins(GAP_S, GAP_S, GAP_S, GAP_S)
        inside.setSpacing(GAP_S)
        inside.addWidget(self.clip, 0, Qt.AlignmentFlag.AlignBottom)
        inside.addWidget(self.text_box, 1, Qt.AlignmentFlag.AlignVCenter)
        inside.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        below = QHBoxLayout()
        below.setContentsMargins(GAP_XS, 0, GAP_XS, 0)
        below.setSpacing(GAP_M)
        below.addWidget(self.hint, 1)
        below.addWidget(self.keys)
        middle = QWidget()
        set_role(middle, "plain")
        middle.setMaximumWidth(TRANSCRIPT_WIDTH)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_XS + 2)
        column.addWidget(self.warning)
        column.addWidget(self.attachments)
        column.addWidget(self._frame)
        column.addLayout(below)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GAP_L, 0, GAP_L, GAP_M)
        layout.addStretch(1)
        layout.addWidget(middle, 1000)
        layout.addStretch(1)

    def _retranslate(self) -> None:
        self.text_box.setPlaceholderText(self.tr("Message…"))
        self.text_box.setAccessibleName(self.tr("Message"))
        self.clip.set_name(self.tr("Attach text, code or a PDF"))
        self.keys.setText(self.tr("Enter sends · Shift+Enter breaks the line"))

    def _update_button(self) -> None:
        set_role(self.button, "stop" if self._is_running else "send")
        if self._is_running:
            self.button.set_icon("stop", Ink.TEXT)
            self.button.set_name(self.tr("Stop"), self.tr("Esc"))
            self.button.setEnabled(True)
            return
        self.button.set_icon("send", Ink.ON_ACCENT)
        self.button.set_name(self.tr("Send"), self.tr("Enter"))
        self.button.setEnabled(self._can_send and bool(self.text().strip()))

    @Slot()
    def _on_submitted(self) -> None:
        text = self.text()
        if self._is_running or not self._can_send or not text.strip():
            return
        self.text_box.clear()
        self.submitted.emit(text)

    @Slot(list)
    def _on_files_selected(self, paths: list[str]) -> None:
        for path in paths:
            self.file_chosen.emit(path)

    @Slot()
    def _on_escaped(self) -> None:
        if self._is_running:
            self.stop_requested.emit()

    @Slot()
    def _on_button(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        else:
            self._on_submitted()
        self.focus_text()

    @Slot()
    def _on_text_changed(self) -> None:
        self._update_button()
        self.text_changed.emit(self.text())


def _is_model(path: str) -> bool:
    """A GGUF or a folder, which are no text."""
    return path.casefold().endswith(".gguf") or QFileInfo(path).isDir()
