"""The list of conversations, and one opened: with the live text of an answer that is being made."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

from layadesk.domain.chat import (
    Conversation,
    Correction,
    DeletedConversation,
    OpenConversation,
    branch_to,
    newest_leaf_below,
    siblings_of,
)
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.search import SearchHit
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.usecases.answer_order import clean_text
from layadesk.usecases.futures import then
from layadesk.usecases.running_turns import RunningTurns
from layadesk.usecases.send_message import new_id
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnStarted

LIST_CHANGED = ""


class Conversations:
    """Any thread. `changed` carries the id of a conversation that changed, or LIST_CHANGED.

    `forget` tells the engine to keep nothing it has computed for a conversation.
    """

    def __init__(
        self,
        store: Store,
        running: RunningTurns,
        turns: Feed[TurnEvent],
        *,
        forget: Callable[[str], None] = lambda _conversation_id: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._forget = forget
        self._store = store
        self._running = running
        self._now = now
        self._unstored: dict[str, Conversation] = {}
        self.changed: Feed[str] = Feed()
        turns.subscribe(self._on_turn)

    def list(self) -> Future[tuple[Conversation, ...]]:
        """All conversations that are not deleted and hold a message or a draft, the newest first."""
        return then(
            self._store.list_conversations(), lambda all_: tuple(c for c in all_ if c.leaf_id is not None or c.draft)
        )

    def create(self) -> Conversation:
        """A new one, not stored before its first message, draft or pin, so that empty ones never pile up."""
        now = self._now()
        conversation = Conversation(new_id(), "", now, now)
        self._unstored[conversation.conversation_id] = conversation
        return conversation

    def open(self, conversation_id: str) -> Future[OpenConversation]:
        """One conversation as a screen shows it. Fails with UNKNOWN_CONVERSATION."""
        return then(load_stored(self._store, conversation_id), self._as_screen)

    def switch_to(self, conversation_id: str, message_id: str) -> Future[OpenConversation]:
        """Show another sibling: the branch through `message_id` to its newest leaf becomes the shown one."""

        def switch(stored: StoredConversation) -> OpenConversation:
            if stored.conversation is None or message_id not in stored.messages:
                raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=message_id)
            leaf_id = newest_leaf_below(stored.messages.values(), message_id)
            self._store.set_leaf(conversation_id, leaf_id)
            return self._as_screen(replace(stored, conversation=replace(stored.conversation, leaf_id=leaf_id)))

        return then(load_stored(self._store, conversation_id), switch)

    def rename(self, conversation_id: str, title: str) -> Future[None]:
        """Set the title; blank ones are ignored by the caller's field, not here."""
        return self._changing(LIST_CHANGED, self._store.rename(conversation_id, clean_text(title).strip()))

    def delete(self, conversation_id: str) -> Future[None]:
        """Hide it from the list; `restore` undoes it for as long as it is kept (30 days).

        What the engine has computed for it goes at once: it can be computed again.
        """
        self._forget(conversation_id)
        return self._changing(LIST_CHANGED, self._store.delete(conversation_id))

    def restore(self, conversation_id: str) -> Future[None]:
        """Undo `delete`."""
        return self._changing(LIST_CHANGED, self._store.restore(conversation_id))

    def deleted(self) -> Future[tuple[DeletedConversation, ...]]:
        """What `restore` can still bring back, the last deleted first."""
        return self._store.list_deleted()

    def erase(self, conversation_id: str) -> Future[None]:
        """Remove a deleted one for good."""
        return self._store.erase(conversation_id)

    def pin_expert(self, conversation_id: str, expert_id: str | None) -> Future[None]:
        """Have one expert answer here from now on; None gives the choice back to the router."""
        self._store_if_new(conversation_id)
        return self._changing(conversation_id, self._store.set_pin(conversation_id, expert_id))

    def set_system_prompt(self, conversation_id: str, text: str) -> Future[None]:
        """Tell the experts something in this conversation only; empty is what the settings say."""
        self._store_if_new(conversation_id)
        return self._changing(conversation_id, self._store.set_system_prompt(conversation_id, clean_text(text).strip()))

    def set_preset(self, conversation_id: str, preset: str) -> Future[None]:
        """Choose how tokens are sampled in this conversation; empty is what the settings say."""
        self._store_if_new(conversation_id)
        return self._changing(conversation_id, self._store.set_preset(conversation_id, preset))

    def set_pinned(self, conversation_id: str, *, is_pinned: bool) -> Future[None]:
        """Keep it at the top of the list."""
        return self._changing(LIST_CHANGED, self._store.set_pinned(conversation_id, is_pinned))

    def set_folder(self, conversation_id: str, folder: str) -> Future[None]:
        """Put it into a folder; empty takes it out."""
        return self._changing(LIST_CHANGED, self._store.set_folder(conversation_id, clean_text(folder).strip()[:80]))

    def correct(self, conversation_id: str, message_id: str, correction: Correction | None) -> Future[None]:
        """Say that the route of an answer was right or wrong; None takes it back."""
        return self._changing(conversation_id, self._store.save_correction(message_id, correction))

    def search(self, query: str) -> Future[tuple[SearchHit, ...]]:
        """Everything that was said and every title with these words in it."""
        return self._store.search(clean_text(query))

    def open_at(self, conversation_id: str, message_id: str) -> Future[OpenConversation]:
        """As `open`, on the branch with that message. Fails with UNKNOWN_CONVERSATION."""

        def at(stored: StoredConversation) -> OpenConversation:
            if stored.conversation is None or message_id not in stored.messages:
                raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=message_id)
            shown = branch_to(stored.messages, stored.conversation.leaf_id)
            if all(message.message_id != message_id for message in shown):
                leaf_id = newest_leaf_below(stored.messages.values(), message_id)
                self._store.set_leaf(conversation_id, leaf_id)
                return self._as_screen(replace(stored, conversation=replace(stored.conversation, leaf_id=leaf_id)))
            return self._as_screen(stored)

        return then(load_stored(self._store, conversation_id), at)

    def save_draft(self, conversation_id: str, text: str) -> Future[None]:
        """Keep what is typed and not sent."""
        self._store_if_new(conversation_id)
        return self._store.set_draft(conversation_id, clean_text(text))

    def _store_if_new(self, conversation_id: str) -> None:
        conversation = self._unstored.pop(conversation_id, None)
        if conversation is not None:
            self._store.add_conversation(conversation)

    def _changing(self, what: str, future: Future[None]) -> Future[None]:
        future.add_done_callback(lambda _: self.changed.publish(what))
        return future

    def _as_screen(self, stored: StoredConversation) -> OpenConversation:
        if stored.conversation is None:
            raise fail(ErrorCode.UNKNOWN_CONVERSATION)
        messages = stored.messages
        branch = branch_to(messages, stored.conversation.leaf_id)
        shown = []
        for message in branch:
            turn = self._running.find(message.message_id)
            shown.append(message if turn is None else replace(turn.message, text=turn.text, thinking=turn.thinking))
        return OpenConversation(stored.conversation, tuple(shown), siblings_of(messages.values(), branch))

    def _on_turn(self, event: TurnEvent) -> None:
        if isinstance(event, TurnStarted | TurnEnded):
            self._unstored.pop(event.conversation_id, None)
            self.changed.publish(LIST_CHANGED)
