"""What the user said: a raised block, and the box in which it is edited."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.chat import Message
from layadesk.ui.chat.message_actions import BUTTON_PX, CopyButton, SiblingSwitcher, actions_row
from layadesk.ui.chat.message_frame import MessageFrame
from layadesk.ui.markup.message_body import MessageBody
from layadesk.ui.markup.parts import Kit
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import note, set_look, set_role
from layadesk.ui.widgets.text_box import TextBox


class QuestionView(MessageFrame):
    """One user message.

    Signals:
        edit_submitted: message id, new text.
        sibling_requested: id of the message to show in its place.
    """

    edit_submitted = Signal(str, str)
    sibling_requested = Signal(str)

    def __init__(self, message: Message, siblings: Sequence[str], *, kit: Kit, width: int = 0) -> None:
        super().__init__(message, MessageBody(kit, width=max(width - 2 * GAP_M, 0), has_markup=False))
        self.setObjectName("question")
        self._block = QFrame()
        set_role(self._block, "question")
        self.files = note()
        self.files.setObjectName("question-files")
        self._edit_box: TextBox | None = None
        self._edit_row: QWidget | None = None
        self.switcher = SiblingSwitcher()
        self.switcher.chosen.connect(self.sibling_requested)
        self.copy_button = CopyButton()
        self.copy_button.clicked.connect(self._on_copy)
        self.edit_button = IconButton("pencil", size=BUTTON_PX)
        self.edit_button.setObjectName("edit")
        self.edit_button.clicked.connect(self.begin_edit)
        self._lay_out()
        self.body.set_text(message.text, is_finished=True)
        self.show_message(message, siblings)
        self._retranslate()

    def show_message(self, message: Message, siblings: Sequence[str]) -> None:
        """Bring it up to date; an edit that is under way is not disturbed."""
        if message.text != self._message.text:
            self.body.set_text(message.text, is_finished=True)
        self._message = message
        self.files.setText(" · ".join(file.name for file in message.attachments))
        self.files.setVisible(bool(message.attachments))
        self.switcher.set_siblings(message.message_id, siblings)

    def focus_chain(self) -> tuple[QWidget, ...]:
        """Its stops for the Tab key, in order."""
        switcher = self.switcher
        return (*self.body.focus_chain(), switcher.earlier, switcher.later, self.edit_button, self.copy_button)

    def is_in_use(self) -> bool:
        """Also while it is being edited."""
        return super().is_in_use() or (self._edit_row is not None and not self._edit_row.isHidden())

    def set_busy(self, is_busy: bool) -> None:
        """No edits are sent while an answer is being made in this conversation."""
        self._is_busy = is_busy
        self.edit_button.setEnabled(not is_busy)
        if self._edit_row is not None:
            self._edit_row.findChildren(QPushButton)[0].setEnabled(not is_busy)

    @property
    def edit_box(self) -> TextBox | None:
        """The box, while the message is edited."""
        return self._edit_box

    @Slot()
    def begin_edit(self) -> None:
        """Put the text into a box, with the cursor at its end."""
        if self._edit_box is None:
            self._edit_box = TextBox(max_lines=16)
            self._edit_box.setObjectName("edit-box")
            self._edit_box.setAccessibleName(self.tr("Edit your message"))
            self._edit_box.submitted.connect(self._on_edit_submitted)
            self._edit_box.escaped.connect(self._on_edit_cancelled)
            self._edit_row = self._make_edit_row(self._edit_box)
            layout = self._block.layout()
            assert layout is not None
            layout.addWidget(self._edit_row)
        self._edit_box.setPlainText(self._message.text)
        self._edit_box.moveCursor(self._edit_box.textCursor().MoveOperation.End)
        self._show_edit(True)
        self._edit_box.setFocus(Qt.FocusReason.OtherFocusReason)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        inside = QVBoxLayout(self._block)
        inside.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        inside.setSpacing(GAP_S)
        inside.addWidget(self.files)
        inside.addWidget(self.body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_S, 0, 0)
        layout.setSpacing(GAP_XS // 2)
        layout.addWidget(self._block)
        layout.addLayout(
            actions_row(self.switcher, self.edit_button, self.copy_button, align=Qt.AlignmentFlag.AlignRight)
        )

    def _make_edit_row(self, box: TextBox) -> QWidget:
        row = QWidget()
        set_role(row, "plain")
        frame = QFrame()
        set_role(frame, "composer")
        set_look(frame, "active", "true")
        around = QVBoxLayout(frame)
        around.setContentsMargins(GAP_S, GAP_XS, GAP_S, GAP_XS)
        around.addWidget(box)
        send = QPushButton(self.tr("Send again"))
        send.setObjectName("edit-send")
        send.setAccessibleName(send.text())
        set_role(send, "primary")
        send.setEnabled(not self._is_busy)
        send.clicked.connect(self._on_edit_submitted)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("edit-cancel")
        cancel.setAccessibleName(cancel.text())
        cancel.clicked.connect(self._on_edit_cancelled)
        buttons = QHBoxLayout()
        buttons.setSpacing(GAP_S)
        buttons.addWidget(send)
        buttons.addWidget(cancel)
        buttons.addStretch(1)
        layout = QVBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(frame)
        layout.addLayout(buttons)
        return row

    def _show_edit(self, is_on: bool) -> None:
        self.body.setVisible(not is_on)
        if self._edit_row is not None:
            self._edit_row.setVisible(is_on)

    def _retranslate(self) -> None:
        self.body.set_name(self.tr("Your message"))
        self.edit_button.set_name(self.tr("Edit the message"))
        if self._edit_row is not None and self._edit_box is not None:
            self._edit_box.setAccessibleName(self.tr("Edit your message"))
            send, cancel = self._edit_row.findChildren(QPushButton)
            send.setText(self.tr("Send again"))
            cancel.setText(self.tr("Cancel"))
            for button in (send, cancel):
                button.setAccessibleName(button.text())

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._message.text)
        self.copy_button.show_done()

    @Slot()
    def _on_edit_submitted(self) -> None:
        assert self._edit_box is not None
        text = self._edit_box.toPlainText()
        if self._is_busy or not text.strip():
            return
        self._on_edit_cancelled()
        self.edit_submitted.emit(self._message.message_id, text)

    @Slot()
    def _on_edit_cancelled(self) -> None:
        had_focus = self._edit_box is not None and self._edit_box.hasFocus()
        self._show_edit(False)
        if had_focus:
            self.edit_button.setFocus(Qt.FocusReason.OtherFocusReason)
