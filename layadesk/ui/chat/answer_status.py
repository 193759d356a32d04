"""Below an answer: what it waits for while it is made, and in words how it ended when it did not end well."""

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from layadesk.domain.chat import Message, MessageStatus, can_be_continued
from layadesk.domain.inference import FinishReason
from layadesk.ui.texts import words
from layadesk.ui.texts.errors import explain
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, PHASE_INK, Ink
from layadesk.ui.widgets.roles import note, set_look, set_role
from layadesk.usecases.turns import TurnPhase, TurnProgress


class PhaseDot(QWidget):
    """A dot in the colour of the phase; the words stand beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ink = Ink.MUTED
        self.setFixedSize(8, 8)

    def set_ink(self, meaning: Ink) -> None:
        """The colour of another phase."""
        self._ink = meaning
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(ink(self._ink))
        painter.drawEllipse(self.rect())
        painter.end()


class AnswerStatus(QWidget):
    """Nothing at all for a complete answer.

    Signals:
        again_requested: the user wants another try.
    go_on_requested: the expert is to write on where this answer ended.
    """

    again_requested = Signal()
    go_on_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answer-status")
        self._message: Message | None = None
        self._progress: TurnProgress | None = None
        self._name: str | None = None
        self._is_last = False
        self._dot = PhaseDot()
        self._words = QLabel()
        self._words.setFont(small_font())
        self._words.setProperty("ink", "muted")
        self._frame = QFrame()
        self._what = QLabel()
        self._what.setWordWrap(True)
        self._remedy = note()
        self._detail = note()
        self.again = QPushButton()
        self.again.setObjectName("again")
        self.again.clicked.connect(self.again_requested)
        self.go_on = QPushButton()
        self.go_on.setObjectName("go-on")
        self.go_on.clicked.connect(self.go_on_requested)
        self._lay_out()
        self.hide()

    def show_progress(self, progress: TurnProgress) -> None:
        """The answer is being made and waits for something."""
        self._progress = progress
        self._message = None
        self._render()

    def show_end(self, message: Message, *, name: str | None, is_last: bool) -> None:
        """The answer has ended, or is stored as it stands; `name` is the expert's name on screen. Only the last one of
        a branch can be gone on with.
        """
        self._message = message
        self._is_last = is_last
        self._progress = None
        self._name = name
        self._render()

    def set_busy(self, is_busy: bool) -> None:
        """No other try while an answer is being made in this conversation."""
        self.again.setEnabled(not is_busy)
        self.go_on.setEnabled(not is_busy)

    def text(self) -> str:
        """What it says, for tests and screen readers."""
        shown = [self._words.text()] if self._progress is not None else [self._what.text(), self._remedy.text()]
        return " ".join(part for part in shown if part) if not self.isHidden() else ""

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        running = QHBoxLayout()
        running.setSpacing(GAP_S)
        running.addWidget(self._dot)
        running.addWidget(self._words)
        running.addStretch(1)
        said = QVBoxLayout()
        said.setSpacing(GAP_XS)
        for label in (self._what, self._remedy, self._detail):
            said.addWidget(label)
        inside = QHBoxLayout(self._frame)
        inside.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_S)
        inside.setSpacing(GAP_M)
        inside.addLayout(said, 1)
        inside.addWidget(self.go_on)
        inside.addWidget(self.again)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_XS, 0, GAP_XS)
        layout.addLayout(running)
        layout.addWidget(self._frame)
        for button in (self.go_on, self.again):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _render(self) -> None:
        is_running = self._progress is not None
        self._dot.setVisible(is_running)
        self._words.setVisible(is_running)
        if self._progress is not None:
            phase = self._progress.phase
            self._dot.set_ink(PHASE_INK[phase.value])
            words_now = words.phase(phase, fraction=self._progress.fraction, position=self._progress.position)
            self._words.setText(words_now)
            self._frame.hide()
            self.show()
            return
        what, remedy, detail = self._ending()
        self._frame.setVisible(bool(what))
        self.setVisible(bool(what))
        self._fill_frame(what, remedy, detail)

    def _ending(self) -> tuple[str, str, str]:
        message = self._message
        if message is None or message.status is MessageStatus.STREAMING:
            return "", "", ""
        if message.status is MessageStatus.FAILED and message.error is not None:
            explanation = explain(message.error, name=self._name)
            return explanation.what, explanation.remedy, explanation.detail
        if message.status is MessageStatus.INTERRUPTED:
            return words.message_status(message.status), self.tr("What was written until then is kept."), ""
        if message.status is not MessageStatus.COMPLETE:
            return words.message_status(message.status), "", ""
        if message.finish_reason in (FinishReason.LENGTH, FinishReason.LOOP):
            return words.finish_reason(message.finish_reason), "", ""
        return "", "", ""

    def _fill_frame(self, what: str, remedy: str, detail: str) -> None:
        is_failure = self._message is not None and self._message.status is MessageStatus.FAILED
        set_role(self._frame, "failure" if is_failure else "remark")
        set_look(self._what, "ink", Ink.DANGER.value if is_failure else Ink.TEXT.value)
        self._what.setText(what)
        self._remedy.setText(remedy)
        self._remedy.setVisible(bool(remedy))
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        is_cancelled = self._message is not None and self._message.status is MessageStatus.CANCELLED
        self.again.setText(self.tr("Answer again") if is_cancelled else self.tr("Try again"))
        self.again.setAccessibleName(self.again.text())
        self.go_on.setText(self.tr("Continue"))
        self.go_on.setAccessibleName(self.go_on.text())
        self.go_on.setVisible(self._is_last and self._message is not None and can_be_continued(self._message))


def waiting(message: Message, phase: TurnPhase = TurnPhase.ROUTING) -> TurnProgress:
    """What to show of an answer of which nothing has been heard yet."""
    return TurnProgress(message.conversation_id, message.message_id, phase)
