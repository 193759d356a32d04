"""Above the transcript: the title, who answers, how full the context is."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from layadesk.domain.chat import Message
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.expert_picker import ExpertPicker
from layadesk.ui.chat.live_turns import LiveTurn
from layadesk.ui.texts.numbers import tokens
from layadesk.ui.theme.fonts import small_font, title_font
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, HEADER_HEIGHT
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import set_role

TIGHT = 0.85
COMPACT_WIDTH = 560


class ContextGauge(QWidget):
    """`context 2.1k of 8.2k` and a bar; hidden until something is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("context-gauge")
        self._used = 0
        self._n_ctx = 0
        self._label = QLabel()
        self._label.setFont(small_font())
        self._label.setProperty("ink", "muted")
        self._bar = MeterBar()
        self._bar.setFixedWidth(48)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(self._label)
        layout.addWidget(self._bar)
        self.hide()

    def show_turn(self, turn: LiveTurn | None, answer: Message | None) -> None:
        """The running answer's prompt as soon as it is built, or else what the last answer took."""
        if turn is not None and turn.prompt is not None:
            self.show_use(turn.prompt.n_prompt + turn.n_decoded, turn.prompt.n_ctx)
        elif answer is None or answer.timings is None:
            self.show_use(0, 0)
        else:
            self.show_use(answer.timings.n_prompt + answer.timings.n_decoded, answer.timings.n_ctx)

    def show_use(self, used: int, n_ctx: int) -> None:
        """Tokens in the context, of how many; 0 of 0 is unknown."""
        self._used, self._n_ctx = used, n_ctx
        self.setVisible(n_ctx > 0)
        if n_ctx <= 0:
            return
        fraction = used / n_ctx
        self._bar.set_shares([("warn" if fraction > TIGHT else "accent", fraction)])
        self._retranslate()

    def set_compact(self, is_compact: bool) -> None:
        """Only the bar; the words become its tool tip."""
        self._label.setHidden(is_compact)

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        is_tight = self._n_ctx > 0 and self._used / self._n_ctx > TIGHT
        wording = (
            self.tr("context {used} of {total}, almost full") if is_tight else self.tr("context {used} of {total}")
        )
        text = wording.format(used=tokens(self._used), total=tokens(self._n_ctx))
        self._label.setText(text)
        self._bar.setAccessibleName(text)
        what = self.tr("Tokens of this conversation in the expert's context, after the last answer")
        self.setToolTip(f"{text}\n{what}")


class ChatHeader(QWidget):
    """One row; whoever owns the window may add buttons at its end."""

    def __init__(self, experts: ExpertList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "header")
        self.setFixedHeight(HEADER_HEIGHT)
        self.title = ElidedLabel()
        self.title.setObjectName("title")
        self.title.setFont(title_font())
        self.picker = ExpertPicker(experts)
        self.gauge = ContextGauge()
        self.options_button = IconButton("options")
        self.options_button.setObjectName("conversation-options")
        self._retranslate()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GAP_L, 0, GAP_S, 0)
        self._row.setSpacing(GAP_M)
        self._row.addWidget(self.title, 1)
        self._row.addWidget(self.gauge)
        self._row.addWidget(self.picker)
        self._row.addWidget(self.options_button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.gauge.set_compact(self.width() < COMPACT_WIDTH)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.options_button.set_name(self.tr("System prompt and sampling of this conversation"))

    def add_button(self, button: QWidget) -> None:
        """Put a button at the right end."""
        self._row.addWidget(button)
