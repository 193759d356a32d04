"""What is read from a file before it becomes ours: conversations with fresh ids and whole parents."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from layadesk.domain.chat import Conversation, Message, title_from
from layadesk.domain.inference import Role


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation and all its messages, oldest first. `n_skipped` records of it could not be read."""

    conversation: Conversation
    messages: tuple[Message, ...]
    n_skipped: int = 0


def with_fresh_ids(tree: Tree) -> Tree:
    """The same tree under ids nobody has: importing never overwrites what is there.

    A parent that is not in the tree is None, so that its children are roots and can be reached.
    """
    ids = {message.message_id: uuid.uuid4().hex for message in tree.messages}
    conversation_id = uuid.uuid4().hex
    messages = tuple(
        replace(
            message,
            message_id=ids[message.message_id],
            conversation_id=conversation_id,
            parent_id=ids.get(message.parent_id or ""),
        )
        for message in tree.messages
    )
    leaf_id = ids.get(tree.conversation.leaf_id or "") or (messages[-1].message_id if messages else None)
    title = tree.conversation.title or _title_of(messages)
    conversation = replace(tree.conversation, conversation_id=conversation_id, leaf_id=leaf_id, title=title)
    return replace(tree, conversation=conversation, messages=messages)


def _title_of(messages: Sequence[Message]) -> str:
    return next((title_from(message.text) for message in messages if message.role is Role.USER), "")
