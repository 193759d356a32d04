"""Start an answer: the question is on disk before inference begins, the answer is recorded while it is made."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace

from layadesk.domain.chat import (
    Attachment,
    Conversation,
    Message,
    MessageStatus,
    branch_to,
    text_for_expert,
    title_from,
)
from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import PromptMessage, Role, ThinkingParams
from layadesk.domain.presets import with_preset
from layadesk.protocol.events import Failed
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.store.store import Store
from layadesk.usecases.answer_order import AnswerOrder, Begun, as_prompt, clean_text
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.futures import then
from layadesk.usecases.running_turns import RunningTurn, RunningTurns
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turn_recorder import TurnRecorder
from layadesk.usecases.turns import TurnEvent, TurnStarted


class StartTurn:
    """What sending, editing, regenerating and continuing have in common: one answer that is made. Any thread."""

    def __init__(
        self,
        *,
        store: Store,
        pool: ExpertPool,
        answers: AnswerRequest,
        running: RunningTurns,
        feed: Feed[TurnEvent],
        settings: Settings,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.running = running
        self.now = now
        self._pool = pool
        self._answers = answers
        self._feed = feed
        self._settings = settings

    def begin(
        self,
        conversation: Conversation,
        messages: Mapping[str, Message],
        question: Message,
        *,
        new_question: bool,
        picked: str | None = None,
    ) -> TurnStarted:
        """Store the question (if new) and an empty answer below it; inference starts when both are on disk.

        `messages` are all earlier messages of the conversation; `picked` is the expert for this answer alone. Runs
        on the store's threads; does not block.
        """
        answer = Message(
            new_id(),
            conversation.conversation_id,
            question.message_id,
            Role.ASSISTANT,
            "",
            self.now(),
            MessageStatus.STREAMING,
        )
        branch = (*branch_to(messages, question.parent_id), question)
        order = replace(self._order(conversation, branch), picked=picked)
        return self._start(order, answer, question if new_question else None)

    def go_on(self, conversation: Conversation, messages: Mapping[str, Message], answer: Message) -> TurnStarted:
        """Let the expert that began `answer` go on with it; what it writes is added to the same message."""
        route = answer.route
        begun = Begun(answer.expert_id or "", answer.thinking)
        order = self._order(conversation, branch_to(messages, answer.parent_id))
        order = replace(order, messages=(*order.messages, PromptMessage(Role.ASSISTANT, answer.text)))
        # As when it was begun: otherwise the template says something else, and nothing that was computed is of use.
        thinking = ThinkingParams(enabled=True) if route is not None and route.thinks else None
        order = replace(order, begun=begun, thinking=thinking)
        open_again = replace(answer, status=MessageStatus.STREAMING, finish_reason=None, error=None)
        return self._start(order, open_again, None)

    def messages_for_expert(self, conversation: Conversation, branch: Sequence[Message]) -> tuple[PromptMessage, ...]:
        """What an expert gets to read: the system prompt, and all of the branch that says anything."""
        return as_prompt(
            conversation.system_prompt or self._settings.get(definitions.SYSTEM_PROMPT),
            [PromptMessage(m.role, text_for_expert(m)) for m in branch if m.text or m.attachments],
        )

    def _order(self, conversation: Conversation, branch: Sequence[Message]) -> AnswerOrder:
        return AnswerOrder(
            new_id(),
            self.messages_for_expert(conversation, branch),
            with_preset(self._pool.sampling(), conversation.preset),
            pinned=conversation.expert_id,
            conversation_id=conversation.conversation_id,
            current=next((m.expert_id for m in reversed(branch) if m.expert_id and m.text), None),
        )

    def _start(self, order: AnswerOrder, answer: Message, question: Message | None) -> TurnStarted:
        """Store what is new, tell of it, and begin."""
        added = (answer,) if question is None else (question, answer)
        turn = RunningTurn(answer, order.request_id)
        self.running.add(turn)
        recorder = TurnRecorder(turn, self.store, self.running, self._feed)
        # Asked for before anything else is told: whatever happens to a listener, the question will be on disk.
        committed = self.store.add_messages(added, leaf_id=answer.message_id)
        started = TurnStarted(answer.conversation_id, question, answer)
        self._feed.publish(started)

        def after_commit(_: Future[None]) -> None:
            # Also when the disk refused: the store then keeps the question in memory and says so in its banner.
            try:
                self._answers.start(order, recorder.on_event)
            except LayaDeskError as error:
                recorder.on_event(Failed(turn.request_id, error.report))
            if turn.is_stopped:  # while the question was on its way to the disk
                self._answers.cancel(turn.request_id)

        committed.add_done_callback(after_commit)
        return started


class SendMessage:
    """Send a new message, or an edited one as a new branch. Any thread; returns at once."""

    def __init__(self, start_turn: StartTurn) -> None:
        self._start = start_turn

    def __call__(
        self,
        conversation: Conversation,
        text: str,
        *,
        edit_of: str | None = None,
        attachments: tuple[Attachment, ...] = (),
    ) -> Future[TurnStarted]:
        """Ask `text` at the end of the conversation, or in place of the message `edit_of`, whose files it keeps.

        A conversation that is not stored yet is stored with it and titled after it. Fails with EMPTY_PROMPT, with
        CONVERSATION_BUSY while an answer is being made there, with UNKNOWN_CONVERSATION for a foreign `edit_of`.
        """
        cleaned = clean_text(text)

        def ask(stored: StoredConversation) -> TurnStarted:
            if not cleaned.strip():
                raise fail(ErrorCode.EMPTY_PROMPT)
            current = self._titled(stored.conversation, conversation, cleaned)
            if self._start.running.in_conversation(current.conversation_id):
                raise fail(ErrorCode.CONVERSATION_BUSY)
            parent_id = current.leaf_id
            if edit_of is not None:
                if edit_of not in stored.messages:
                    raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=edit_of)
                parent_id = stored.messages[edit_of].parent_id
            files = attachments if edit_of is None else stored.messages[edit_of].attachments
            question = Message(
                new_id(),
                current.conversation_id,
                parent_id,
                Role.USER,
                cleaned,
                self._start.now(),
                attachments=files,
            )
            return self._start.begin(current, stored.messages, question, new_question=True)

        return then(load_stored(self._start.store, conversation.conversation_id), ask)

    def _titled(self, stored: Conversation | None, asked: Conversation, text: str) -> Conversation:
        """The conversation as it is on disk from now on, with a title where its first message gives it one."""
        current = stored or asked
        if not current.title:
            current = replace(current, title=title_from(text))
        if stored is None:
            self._start.store.add_conversation(current)
        elif current.title != stored.title:
            self._start.store.rename(current.conversation_id, current.title)
        return current


def new_id() -> str:
    """A fresh id for a message, a conversation or a request."""
    return uuid.uuid4().hex
