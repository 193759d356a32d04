"""Answer an old question again: a new sibling of the old answer, which stays."""

from concurrent.futures import Future

from layadesk.domain.chat import Correction, Rating
from layadesk.domain.errors import LOAD_REFUSALS, ErrorCode, fail
from layadesk.usecases.futures import then
from layadesk.usecases.send_message import StartTurn
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turns import TurnStarted


class Regenerate:
    """Make another answer to the question of an existing one. Any thread; returns at once."""

    def __init__(self, start_turn: StartTurn) -> None:
        self._start = start_turn

    def __call__(self, conversation_id: str, answer_id: str, *, expert: str | None = None) -> Future[TurnStarted]:
        """`expert` is to answer this time; that he was not chosen is kept as a correction of the old route, unless the
        other one could only not be loaded, which says nothing about the route.

        Fails with CONVERSATION_BUSY while an answer is being made there, UNKNOWN_CONVERSATION for foreign ids."""

        def again(stored: StoredConversation) -> TurnStarted:
            answer = stored.messages.get(answer_id)
            question = None if answer is None or answer.parent_id is None else stored.messages.get(answer.parent_id)
            if stored.conversation is None or answer is None or question is None:
                raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=answer_id)
            if self._start.running.in_conversation(conversation_id):
                raise fail(ErrorCode.CONVERSATION_BUSY)
            refused = answer.error is not None and answer.error.code in LOAD_REFUSALS
            if expert is not None and expert != answer.expert_id and not refused:
                self._start.store.save_correction(answer_id, Correction(Rating.WRONG, expert))
            return self._start.begin(stored.conversation, stored.messages, question, new_question=False, picked=expert)

        return then(load_stored(self._start.store, conversation_id), again)
