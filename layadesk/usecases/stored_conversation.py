"""A conversation and all its messages, as they are on disk."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from layadesk.domain.chat import Conversation, Message
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.store.store import Store
from layadesk.usecases.futures import then


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """`conversation` is None where none is stored under that id."""

    conversation: Conversation | None
    messages: Mapping[str, Message]


def load_stored(store: Store, conversation_id: str) -> Future[StoredConversation]:
    """Read both; the store answers reads in order, so the first is done when the second is."""
    row = store.load_conversation(conversation_id)

    def join(messages: Mapping[str, Message]) -> StoredConversation:
        try:
            return StoredConversation(row.result(timeout=0), messages)
        except LayaDeskError as error:
            if error.code is not ErrorCode.UNKNOWN_CONVERSATION:
                raise
            return StoredConversation(None, messages)

    return then(store.load_messages(conversation_id), join)
