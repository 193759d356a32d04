"""How full the context is, in the header; what does not fit any more, above the message field."""

from PySide6.QtCore import QEvent, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from layadesk.domain.context_budget import ContextCount
from layadesk.ui.chat.context_watch import ContextWatch
from layadesk.ui.texts.numbers import tokens
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import GAP_S
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import note, set_look

TIGHT = 0.85


class ContextGauge(QWidget):
    """`context 2.1k of 8.2k` and a bar; hidden until something is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("context-gauge")
        self._watch: ContextWatch | None = None
        self._used = 0
        self._n_ctx = 0
        self._is_estimate = False
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

    def watch(self, context: ContextWatch) -> None:
        """Show what that finds."""
        self._watch = context
        context.changed.connect(self._on_changed)

    def show_use(self, used: int, n_ctx: int, *, is_estimate: bool = False) -> None:
        """Tokens in the context, of how many; 0 of 0 is unknown."""
        self._used, self._n_ctx, self._is_estimate = used, n_ctx, is_estimate
        self.setVisible(n_ctx > 0)
        if n_ctx <= 0:
            return
        fraction = used / n_ctx
        self._bar.set_shares([("warn" if fraction > TIGHT else "accent", min(fraction, 1.0))])
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

    @Slot()
    def _on_changed(self) -> None:
        """The running answer first, then what is being written, else what the last answer took."""
        watch = self._watch
        if watch is None:
            return
        if watch.turn is not None and watch.turn.prompt is not None:
            self.show_use(watch.turn.prompt.n_prompt + watch.turn.n_decoded, watch.turn.prompt.n_ctx)
        elif watch.turn is None and watch.count is not None:
            count = watch.count
            self.show_use(count.n_prompt, count.n_ctx, is_estimate=not count.is_exact)
        elif watch.answer is None or watch.answer.timings is None:
            self.show_use(0, 0)
        else:
            timings = watch.answer.timings
            self.show_use(timings.n_prompt + timings.n_decoded, timings.n_ctx)

    def _retranslate(self) -> None:
        is_tight = self._n_ctx > 0 and self._used / self._n_ctx > TIGHT
        if self._is_estimate:
            wording = self.tr("context about {used} of {total}")
        elif is_tight:
            wording = self.tr("context {used} of {total}, almost full")
        else:
            wording = self.tr("context {used} of {total}")
        text = wording.format(used=tokens(self._used), total=tokens(self._n_ctx))
        self._label.setText(text)
        self._bar.setAccessibleName(text)
        what = self.tr("Tokens of this conversation in the expert's context, with what you are writing")
        guess = self.tr("Estimated: the expert counts exactly as soon as it is in memory.")
        self.setToolTip("\n".join([text, what, *[guess] * self._is_estimate]))


class ContextWarning(QWidget):
    """Hidden while everything fits. Otherwise: how much is left out and why, in numbers, before it is sent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("context-warning")
        self._watch: ContextWatch | None = None
        self._label = note()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._label)
        self.hide()

    def watch(self, context: ContextWatch) -> None:
        """Show what that finds."""
        self._watch = context
        context.changed.connect(self._on_changed)

    def text(self) -> str:
        """What it says."""
        return "" if self.isHidden() else self._label.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._on_changed()
        super().changeEvent(event)

    @Slot()
    def _on_changed(self) -> None:
        count = None if self._watch is None or self._watch.turn is not None else self._watch.count
        text = "" if count is None else self._words(count)
        set_look(self._label, "ink", "danger" if count is not None and not count.fits else "warn")
        self._label.setText(text)
        self.setVisible(bool(text))

    def _words(self, count: ContextCount) -> str:
        n_ctx = f"{count.n_ctx:,}"
        if not count.fits:
            if not count.is_exact:
                return self.tr(
                    "This message is probably too long: it has about {n} tokens, and the context holds {n_ctx}."
                ).format(n=f"{count.n_prompt:,}", n_ctx=n_ctx)
            return self.tr("This message is too long: it has {n} tokens, and the context holds {n_ctx}.").format(
                n=f"{count.n_prompt:,}", n_ctx=n_ctx
            )
        if not count.n_dropped:
            return ""
        return self.tr(
            "%n older message(s) will be left out: {n_whole} tokens and an answer exceed the context of {n_ctx}.",
            "",
            count.n_dropped,
        ).format(n_whole=f"{count.n_whole:,}", n_ctx=n_ctx)
