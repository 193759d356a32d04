"""What an expert said: the route that led to it, the text, how it ended, what it took."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from layadesk.domain.chat import Message, MessageStatus
from layadesk.ui.chat.answer_menu import AnswerMenu, Experts
from layadesk.ui.chat.answer_status import AnswerStatus, waiting
from layadesk.ui.chat.drafts_view import DraftsView
from layadesk.ui.chat.message_actions import BUTTON_PX, CopyButton, SiblingSwitcher, actions_row
from layadesk.ui.chat.message_frame import MessageFrame
from layadesk.ui.markup.message_body import MessageBody
from layadesk.ui.markup.parts import Kit
from layadesk.ui.texts import words
from layadesk.ui.texts.label_names import domain_name, task_name
from layadesk.ui.texts.numbers import milliseconds, per_second, seconds, tokens
from layadesk.ui.texts.remote import route_marks
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import note, set_role
from layadesk.usecases.turns import TurnPhase, TurnProgress


class AnswerView(MessageFrame):
    """One answer.

    Signals:
        again_requested: id of the answer to make another one of.
        go_on_requested: id of the answer to go on with.
        sibling_requested: id of the message to show in its place.
        again_with_requested: id of the answer, id of the expert that is to answer instead.
        route_rated: id of the answer, what the user thinks of its route, "" takes it back.
        task_corrected: id of the answer, what was really asked for, "" takes it back.
        route_requested: the answer whose route is to be shown, a Message.
        place_requested: id of the answer to point at on the charts.
        link_chosen: the address of a link in it.
    """

    again_requested = Signal(str)
    go_on_requested = Signal(str)
    again_with_requested = Signal(str, str)
    route_rated = Signal(str, str)
    task_corrected = Signal(str, str)
    route_requested = Signal(object)
    place_requested = Signal(str)
    sibling_requested = Signal(str)
    link_chosen = Signal(str)

    def __init__(
        self,
        message: Message,
        siblings: Sequence[str],
        *,
        name_of: Callable[[str], str],
        kit: Kit,
        experts: Experts,
        width: int = 0,
    ) -> None:
        super().__init__(message, MessageBody(kit, width=width))
        self.setObjectName("answer")
        self._name_of = name_of
        self._n_chars = 0
        self._n_thinking_chars = 0
        self._is_last = False
        self.chip = QToolButton()
        self.chip.setObjectName("route-chip")
        self.chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.chip.clicked.connect(self._on_chip)
        self.chip.setFont(small_font())
        set_role(self.chip, "chip")
        self.chip.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._route = ElidedLabel(meaning=Ink.MUTED)
        self._route.setFont(small_font())
        self.dropped = note(ink=Ink.WARN)
        self.dropped.setObjectName("dropped")
        self.drafts = DraftsView(name_of=name_of)
        self.body.link_chosen.connect(self.link_chosen)
        self.status = AnswerStatus()
        self.status.again_requested.connect(self._on_again)
        self.status.go_on_requested.connect(self._on_go_on)
        self._figures = ElidedLabel(meaning=Ink.MUTED)
        self._figures.setFont(small_font())
        self._figures.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.switcher = SiblingSwitcher()
        self.switcher.chosen.connect(self.sibling_requested)
        self.copy_button = CopyButton()
        self.copy_button.clicked.connect(self._on_copy)
        self.again_button = IconButton("refresh", size=BUTTON_PX)
        self.again_button.setObjectName("regenerate")
        self.again_button.clicked.connect(self._on_again)
        self.menu_button = AnswerMenu(experts)
        self.menu_button.expert_chosen.connect(self._on_expert_chosen)
        self.menu_button.rated.connect(self._on_rated)
        self.menu_button.task_corrected.connect(self._on_task_corrected)
        self.menu_button.place_requested.connect(self._on_place_requested)
        self._lay_out()
        self._show_text(message)
        self.show_message(message, siblings)

    @property
    def message(self) -> Message:
        """What is shown; while it streams, `text` is that of the moment it was opened."""
        return self._message

    def show_message(self, message: Message, siblings: Sequence[str]) -> None:
        """Bring it up to date with what is stored or has ended."""
        self._message = message
        self._show_text(message)
        self.switcher.set_siblings(message.message_id, siblings)
        self._render()

    def append_text(self, text: str, offset: int) -> None:
        """Add new text; what is shown already is left out (`offset` characters came before `text`)."""
        fresh = text[max(self._n_chars - offset, 0) :]
        if not fresh:
            return
        self.body.feed(fresh)
        self._n_chars += len(fresh)
        self._show_writing()

    def append_thinking(self, text: str, offset: int) -> None:
        """Add new thinking; otherwise as `append_text`."""
        fresh = text[max(self._n_thinking_chars - offset, 0) :]
        if not fresh:
            return
        self.body.feed_thinking(fresh)
        self._n_thinking_chars += len(fresh)
        self._show_writing()

    def _show_writing(self) -> None:
        self.body.show()
        if self._message.status is MessageStatus.STREAMING:
            self.status.show_progress(waiting(self._message, TurnPhase.DECODE))

    def show_progress(self, progress: TurnProgress) -> None:
        """It waits for something."""
        if self._message.status is MessageStatus.STREAMING:
            self.status.show_progress(progress)

    def focus_chain(self) -> tuple[QWidget, ...]:
        """Its stops for the Tab key, in order."""
        switcher = self.switcher
        return (
            self.chip,
            self.drafts.fold,
            *self.body.focus_chain(),
            self.status.go_on,
            self.status.again,
            self.copy_button,
            self.again_button,
            self.menu_button,
            switcher.earlier,
            switcher.later,
        )

    def set_last(self, is_last: bool) -> None:
        """Whether nothing follows it in the branch: only then can it be gone on with."""
        if is_last != self._is_last:
            self._is_last = is_last
            self._render()

    def set_busy(self, is_busy: bool) -> None:
        """No other try while an answer is being made in this conversation."""
        self._is_busy = is_busy
        self.again_button.setEnabled(not is_busy)
        self.menu_button.set_busy(is_busy)
        self.status.set_busy(is_busy)

    def shown_text(self) -> str:
        """What stands on screen."""
        return self.body.shown_text()

    def figures(self) -> str:
        """What the answer took, as it stands below it."""
        return self._figures.text()

    def route_text(self) -> str:
        """Why this expert, as it stands above it."""
        return self._route.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GAP_S)
        top.addWidget(self.chip)
        top.addWidget(self._route, 1)
        top.addStretch(0)
        bottom = actions_row(self.copy_button, self.again_button, self.menu_button, self.switcher)
        bottom.insertWidget(0, self._figures)
        bottom.insertSpacing(1, GAP_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_XS, 0, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addLayout(top)
        layout.addWidget(self.dropped)
        layout.addWidget(self.drafts)
        layout.addSpacing(GAP_XS)
        layout.addWidget(self.body)
        layout.addWidget(self.status)
        layout.addLayout(bottom)

    def _show_text(self, message: Message) -> None:
        """What is shown already is not shown again, so that a selection stays."""
        body = self.body
        is_begun = message.text.startswith(body.source) and message.thinking.startswith(body.thinking_source)
        goes_on = body.is_finished and message.status is MessageStatus.STREAMING
        if goes_on or not is_begun or (body.source and message.thinking != body.thinking_source):
            body.clear()
        body.feed_thinking(message.thinking[len(body.thinking_source) :])
        body.feed(message.text[len(body.source) :])
        if message.status is not MessageStatus.STREAMING:
            body.finish()
        self._n_chars, self._n_thinking_chars = len(message.text), len(message.thinking)
        body.setVisible(bool(message.text or message.thinking))

    def _render(self) -> None:
        message = self._message
        is_streaming = message.status is MessageStatus.STREAMING
        self._render_route(message)
        self.dropped.setVisible(message.n_dropped > 0)
        if message.n_dropped > 0:
            self.dropped.setText(self._dropped_text(message))
        if is_streaming:
            phase = TurnPhase.DECODE if message.text or message.thinking else TurnPhase.ROUTING
            self.status.show_progress(waiting(message, phase))
        else:
            self.status.show_end(message, name=self._expert_name(), is_last=self._is_last)
        self._figures.set_text("" if is_streaming else self._figures_text(message))
        self.copy_button.setVisible(not is_streaming and bool(message.text or message.thinking))
        self.again_button.setVisible(not is_streaming)
        self.menu_button.setVisible(not is_streaming)
        self.menu_button.show_message(message)
        self.body.set_name(self._accessible_name())
        self.again_button.set_name(self.tr("Answer again"))

    def _render_route(self, message: Message) -> None:
        route = message.route
        name = self._expert_name()
        self.chip.setText(name or "")
        self.chip.setAccessibleName(self.tr("Expert: {name}").format(name=name or "?"))
        self.chip.setToolTip(self.tr("Show the whole route"))
        self.chip.setVisible(name is not None)
        self._route.setVisible(route is not None)
        self.drafts.show_drafts(() if route is None else route.drafts)
        if route is None:
            return
        parts = route_marks(route, self._name_of)
        if route.task is not None and route.confidence is not None:
            parts.append(f"{task_name(route.task)} {route.confidence:.2f}")
        if route.complexity is not None:
            parts.append(words.complexity(route.complexity))
        if route.domain is not None:
            parts.append(domain_name(route.domain))
        parts.append(words.short_route_reason(route.reason))
        if route.route_ms is not None:
            parts.append(milliseconds(route.route_ms))
        self._route.set_text(" · ".join(parts))
        self._route.set_hint(words.route_reason(route.reason))

    def _dropped_text(self, message: Message) -> str:
        timings = message.timings
        if timings is None:
            return self.tr(
                "%n older message(s) were left out, because the conversation is longer than the context.",
                "",
                message.n_dropped,
            )
        return self.tr(
            "%n older message(s) were left out; {n_prompt} tokens were read, and the context holds {n_ctx}.",
            "",
            message.n_dropped,
        ).format(n_prompt=f"{timings.n_prompt:,}", n_ctx=f"{timings.n_ctx:,}")

    def _figures_text(self, message: Message) -> str:
        timings = message.timings
        if timings is None:
            return ""
        parts = []
        if timings.ttft_ms is not None:
            parts.append(self.tr("first token {time}").format(time=seconds(timings.ttft_ms)))
        if timings.decode_tps is not None:
            parts.append(self.tr("{n} tok/s").format(n=per_second(timings.decode_tps)))
        if not timings.is_counted:
            parts.append(self.tr("tokens: n/a"))
        if timings.n_decoded:
            parts.append(self.tr("%n token(s)", "", timings.n_before + timings.n_decoded))
        if timings.n_cached:
            parts.append(
                self.tr("reused {n} of {total}").format(n=tokens(timings.n_cached), total=tokens(timings.n_prompt))
            )
        return " · ".join(parts)

    def _expert_name(self) -> str | None:
        return None if self._message.expert_id is None else self._name_of(self._message.expert_id)

    def _accessible_name(self) -> str:
        name = self._expert_name()
        return self.tr("Answer") if name is None else self.tr("Answer of {name}").format(name=name)

    @Slot()
    def _on_copy(self) -> None:
        # The message as it is, not as it is broken into lines on screen; while it streams there is no button.
        QGuiApplication.clipboard().setText(self._message.text or self._message.thinking)
        self.copy_button.show_done()

    @Slot()
    def _on_chip(self) -> None:
        self.route_requested.emit(self._message)

    @Slot(str)
    def _on_expert_chosen(self, expert_id: str) -> None:
        if not self._is_busy:
            self.again_with_requested.emit(self._message.message_id, expert_id)

    @Slot(str)
    def _on_rated(self, rating: str) -> None:
        self.route_rated.emit(self._message.message_id, rating)

    @Slot(str)
    def _on_task_corrected(self, task: str) -> None:
        self.task_corrected.emit(self._message.message_id, task)

    @Slot()
    def _on_place_requested(self) -> None:
        self.place_requested.emit(self._message.message_id)

    @Slot()
    def _on_go_on(self) -> None:
        if not self._is_busy:
            self.go_on_requested.emit(self._message.message_id)

    @Slot()
    def _on_again(self) -> None:
        if not self._is_busy:
            self.again_requested.emit(self._message.message_id)
