"""Go on with an answer that was stopped, cut off or interrupted: the same message grows."""

from concurrent.futures import Future

from layadesk.domain.chat import Message, can_be_continued
from layadesk.domain.errors import ErrorCode, fail
from layadesk.usecases.futures import then
from layadesk.usecases.send_message import StartTurn
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turns import TurnStarted


class ContinueAnswer:
    """Have the same expert write on. Any thread; returns at once."""

    def __init__(self, start_turn: StartTurn) -> None:
        self._start = start_turn

    def __call__(self, conversation_id: str, answer_id: str) -> Future[TurnStarted]:
        """Fails with CONVERSATION_BUSY while an answer is being made there, CANNOT_CONTINUE for one that is whole or
        has been replied to, UNKNOWN_CONVERSATION for foreign ids.
        """

        def go_on(stored: StoredConversation) -> TurnStarted:
            answer = stored.messages.get(answer_id)
            if stored.conversation is None or answer is None:
                raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=answer_id)
            if self._start.running.in_conversation(conversation_id):
                raise fail(ErrorCode.CONVERSATION_BUSY)
            _check(answer, stored)
            return self._start.go_on(stored.conversation, stored.messages, answer)

        return then(load_stored(self._start.store, conversation_id), go_on)


def _check(answer: Message, stored: StoredConversation) -> None:
    if not can_be_continued(answer):
        raise fail(ErrorCode.CANNOT_CONTINUE, reason="no answer")
    if any(one.parent_id == answer.message_id for one in stored.messages.values()):
        raise fail(ErrorCode.CANNOT_CONTINUE, reason="replied to")
