"""One conversation on screen: what is shown, what is sent, what happens to it meanwhile.

The page holds ids and asks the use cases; it never keeps a truth of its own beside the store's and `LiveTurns`.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from layadesk.domain.chat import Attachment, Conversation, Message, MessageStatus, OpenConversation
from layadesk.domain.inference import Role
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.answerer_hint import answerer_hint
from layadesk.ui.chat.branch_reader import BranchReader
from layadesk.ui.chat.chat_actions import ChatActions
from layadesk.ui.chat.chat_centre import ChatCentre
from layadesk.ui.chat.chat_header import ChatHeader
from layadesk.ui.chat.composer import Composer
from layadesk.ui.chat.context_watch import ContextWatch
from layadesk.ui.chat.draft_keeper import DraftKeeper
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.link_question import LinkQuestion
from layadesk.ui.chat.live_turns import LiveTurns
from layadesk.ui.chat.refusal_panel import RefusalPanel
from layadesk.ui.chat.screen_clock import ScreenClock
from layadesk.ui.chat.transcript_view import TranscriptView, up_to
from layadesk.ui.markup.back_thread import BackThread
from layadesk.ui.markup.formulas import Formulas
from layadesk.ui.markup.parts import Kit
from layadesk.ui.texts import words
from layadesk.ui.widgets.roles import set_role
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnProgress, TurnStarted, TurnText, TurnThinking

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class ChatPage(QWidget):
    """Signals:
    shown: id of the conversation that is shown from now on.
    last_answer_changed: the newest answer of the branch (a Message), or None.
    running_changed: an answer began or ended, in any conversation.
    failed: an ErrorReport of something the user asked for and that did not happen.
    add_model_requested: the user wants to add a model file.
    answer_ended: a Message, in any conversation.
    route_requested: the answer, a Message, whose route is to be shown.
    announced: a sentence a screen reader was given.
    """

    shown = Signal(str)
    last_answer_changed = Signal(object)
    running_changed = Signal()
    failed = Signal(object)
    add_model_requested = Signal()
    answer_ended = Signal(object)
    route_requested = Signal(object)
    announced = Signal(str)

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, experts: ExpertList, parent: QWidget) -> None:
        super().__init__(parent)
        self._use_cases = use_cases
        self._bridge = bridge
        self._experts = experts
        self.live = LiveTurns()
        self.drafts = DraftKeeper(use_cases.conversations, bridge=bridge, parent=self)
        self._wanted_message = ""
        self._conversation = use_cases.conversations.create()
        self._unsent: Conversation | None = self._conversation
        self._actions = ChatActions(use_cases, bridge=bridge, conversation=lambda: self._conversation, parent=self)
        self._reader = BranchReader(use_cases.conversations, bridge=bridge, parent=self)
        self.header = ChatHeader(experts)
        self.beside = BackThread(bridge)
        self._formulas = Formulas(self.beside, self)
        self.transcript = TranscriptView(
            name_of=experts.name_of, kit=Kit(self._formulas, self.beside), experts=experts.choices
        )
        self._formulas.drawn.connect(self.transcript.draw_again)
        self.link_question = LinkQuestion(self)
        self.centre = ChatCentre(self.transcript, experts)
        self.composer = Composer()
        self.context = ContextWatch(use_cases.count_context, bridge=bridge, parent=self)
        self.refusal = RefusalPanel(use_cases.loads, bridge=bridge, name_of=experts.name_of)
        self._lay_out()
        self._connect()
        self.screen_clock = ScreenClock(self._on_turn)
        bridge.follow_turns(use_cases.turns, self.screen_clock.take)
        self._show_branch(OpenConversation(self._conversation, ()))

    @property
    def conversation(self) -> Conversation:
        """What is shown."""
        return self._conversation

    @Slot()
    def show_new(self) -> None:
        """Begin a conversation; one that was begun and in which nothing was written is taken first."""
        if self._unsent is None or self.drafts.draft_of(self._unsent).strip():
            self._unsent = self._use_cases.conversations.create()
        if self._unsent is not self._conversation:
            self.drafts.flush()
            self._reader.forget()
            self._show_branch(OpenConversation(self._unsent, ()))
            self.shown.emit(self._unsent.conversation_id)
        self.composer.focus_text()

    def begin_with(self, expert_id: str) -> None:
        """Begin a conversation that one expert answers."""
        self.show_new()
        self._actions.pin(expert_id)

    @Slot(str)
    def show_conversation(self, conversation_id: str) -> None:
        """Show another one; it appears when the store has answered."""
        if conversation_id != self._conversation.conversation_id:
            self.drafts.flush()
        self._reader.ask(conversation_id)

    @Slot(str, str)
    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show a conversation at one of its messages, on whatever branch that is."""
        if conversation_id != self._conversation.conversation_id:
            self.drafts.flush()
        self._wanted_message = message_id
        self._reader.ask_at(conversation_id, message_id)

    def close_threads(self) -> None:
        """Before the end: nothing is prepared any more."""
        self.beside.close()

    def refresh(self) -> None:
        """What is shown, or is about to be, may have changed in the store."""
        self._reader.ask_again()

    @Slot()
    def stop(self) -> None:
        """Stop the answer that is being made here; silent when there is none."""
        turn = self.live.running_in(self._conversation.conversation_id)
        if turn is not None:
            self._use_cases.stop_generation(turn.message.message_id)

    def focus_chain(self) -> list[QWidget]:
        """The Tab key goes from top to bottom, also through messages that came later."""
        header = [self.header.picker, self.header.options_button]
        return [*header, *self.centre.focus_chain(), *self.composer.focus_chain()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Page keys pressed in the composer scroll what is read.
        self.transcript.keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        set_role(self, "surface")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.centre, 1)
        layout.addWidget(self.refusal)
        layout.addWidget(self.composer)

    def _connect(self) -> None:
        self.header.picker.chosen.connect(self._actions.pin)
        self.header.picker.chosen.connect(self.composer.focus_text)
        self.header.picker.add_requested.connect(self.add_model_requested)
        self.transcript.edit_submitted.connect(self._actions.edit)
        self.transcript.again_requested.connect(self._actions.again)
        self.transcript.go_on_requested.connect(self._actions.go_on)
        self.transcript.again_with_requested.connect(self._actions.again_with)
        self.transcript.route_rated.connect(self._actions.rate)
        self.transcript.task_corrected.connect(self._actions.correct_task)
        self.transcript.route_requested.connect(self.route_requested)
        self.transcript.link_chosen.connect(self.link_question.ask)
        self.transcript.sibling_requested.connect(self._on_sibling_requested)
        self.composer.submitted.connect(self._on_submitted)
        self.composer.stop_requested.connect(self.stop)
        self.composer.text_changed.connect(self._on_text_changed)
        self._actions.not_sent.connect(self._on_not_sent)
        self._actions.attached.connect(self.composer.attachments.add)
        self.composer.file_chosen.connect(self._actions.attach)
        self.header.options_button.clicked.connect(self._actions.show_options)
        self._actions.conversation_set.connect(self._on_conversation_set)
        self._actions.failed.connect(self.failed)
        self._reader.read.connect(self._on_read)
        self._reader.failed.connect(self.failed)
        self.header.gauge.watch(self.context)
        self.composer.warning.watch(self.context)
        self.composer.attachments.changed.connect(self._note_unsent)
        self.centre.write_requested.connect(self.composer.focus_text)
        self.centre.add_model_requested.connect(self.add_model_requested)
        self._experts.changed.connect(self._retranslate)
        self.refusal.prices.changed.connect(self._retranslate)
        self.refusal.again_requested.connect(self._actions.again)
        self.refusal.other_requested.connect(self._actions.again_with)

    @Slot(object)
    def _on_read(self, opened: OpenConversation) -> None:
        is_other = opened.conversation.conversation_id != self._conversation.conversation_id
        self._show_branch(opened)
        if is_other:
            self.shown.emit(opened.conversation.conversation_id)
        if self._wanted_message:
            self.transcript.show_message(self._wanted_message)
            self._wanted_message = ""

    def _show_branch(self, opened: OpenConversation) -> None:
        is_other = opened.conversation.conversation_id != self._conversation.conversation_id
        self._conversation = opened.conversation
        branch = tuple(self.live.latest(message) for message in opened.branch)
        self.transcript.show_branch(branch, opened.siblings)
        self._show_progress()
        if is_other or not branch:
            self.composer.set_text(self.drafts.draft_of(opened.conversation))
        self._update()

    def _show_progress(self) -> None:
        """A view that was opened in mid-answer says what that answer waits for."""
        turn = self.live.running_in(self._conversation.conversation_id)
        if turn is not None and turn.progress is not None:
            self.transcript.show_progress(turn.progress)

    def _update(self) -> None:
        """Everything around the transcript that depends on what is shown."""
        self.centre.refresh()
        self.header.title.set_text(self._conversation.title or self.tr("New chat"))
        self.header.picker.show_pin(self._conversation.expert_id)
        self._update_running()
        self._update_context()
        self._note_unsent()
        self._retranslate()
        self.refusal.show_for(self._last_answer())
        self.last_answer_changed.emit(self._last_answer())

    def _update_running(self) -> None:
        is_running = self.live.running_in(self._conversation.conversation_id) is not None
        self.composer.set_running(is_running)
        self.transcript.set_busy(is_running)

    def _update_context(self) -> None:
        self.context.show(self.live.running_in(self._conversation.conversation_id), self._last_answer())

    def _last_answer(self) -> Message | None:
        return next((m for m in reversed(self.transcript.branch) if m.role is Role.ASSISTANT), None)

    def _retranslate(self) -> None:
        self.composer.hint.set_text(answerer_hint(self._experts, self._conversation.expert_id, self.refusal.prices))
        self.composer.set_can_send(self._experts.can_answer)
        if not self._conversation.title:
            self.header.title.set_text(self.tr("New chat"))

    def _on_turn(self, event: TurnEvent) -> None:
        self.live.take(event)
        is_here = event.conversation_id == self._conversation.conversation_id
        match event:
            case TurnStarted():
                if self._unsent is not None and self._unsent.conversation_id == event.conversation_id:
                    self._unsent = None
                if is_here:
                    self._on_turn_started(event)
                self.running_changed.emit()
            case TurnText() | TurnThinking() | TurnProgress():
                self.transcript.show_stream(event)
                if is_here:
                    self._update_context()
            case TurnEnded():
                self.transcript.update_message(event.message)
                self.answer_ended.emit(event.message)
                if is_here:
                    self._update()
                    self._announce(event.message.status)
                self.running_changed.emit()
            case _:
                if is_here:
                    self._on_turn_detail(event.message_id)

    def _announce(self, status: MessageStatus) -> None:
        is_complete = status is MessageStatus.COMPLETE
        text = self.tr("The answer is complete.") if is_complete else words.message_status(status)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
        self.announced.emit(text)

    def _on_turn_started(self, event: TurnStarted) -> None:
        """Both bubbles are on screen at once; title and siblings come with the store's answer."""
        parent_id = event.answer.parent_id if event.question is None else event.question.parent_id
        kept = up_to(self.transcript.branch, parent_id)
        added = (event.answer,) if event.question is None else (event.question, event.answer)
        self.transcript.show_branch((*kept, *added), {})
        self._update()
        if self._reader.wanted_id in {None, event.conversation_id}:  # unless another one is on its way
            self._reader.ask(event.conversation_id)

    def _on_turn_detail(self, message_id: str) -> None:
        turn = self.live.find(message_id)
        if turn is not None:
            self.transcript.update_message(self.live.latest(turn.message))
            self._show_progress()
            self._update_context()
            self.last_answer_changed.emit(self._last_answer())

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        self.drafts.note(self._conversation, "")
        self._actions.send(text, self.composer.take_files())
        self.transcript.go_to_end()

    @Slot(object, str, object)
    def _on_not_sent(self, conversation: Conversation, text: str, files: tuple[Attachment, ...]) -> None:
        """Nothing that was written is lost: it goes back to where it was, before what was typed meanwhile."""
        typed = self.drafts.draft_of(conversation)
        restored = text if not typed.strip() else f"{text}\n{typed}"
        self.drafts.note(conversation, restored)
        if conversation.conversation_id == self._conversation.conversation_id:
            self.composer.set_text(restored)
            self.composer.attachments.put(files)

    @Slot(str)
    def _on_sibling_requested(self, message_id: str) -> None:
        self._reader.switch_to(self._conversation.conversation_id, message_id)

    @Slot(str)
    def _on_conversation_set(self, conversation_id: str) -> None:
        if self._unsent is not None and self._unsent.conversation_id == conversation_id:
            self._unsent = None
        if conversation_id == self._conversation.conversation_id:
            self._reader.ask(conversation_id)

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self.drafts.note(self._conversation, text)
        self._note_unsent()

    @Slot()
    def _note_unsent(self) -> None:
        self.context.note(self._conversation, self.composer.text(), self.composer.attachments.files)
