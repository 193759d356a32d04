"""Our own export: JSON with everything, and Markdown to read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from layadesk.chat_files.tree import Tree
from layadesk.domain.chat import Conversation, Message, MessageStatus, branch_to
from layadesk.domain.inference import Role

FORMAT = "layadesk-conversations"
VERSION = 1


def as_json(trees: Sequence[Tree]) -> bytes:
    """Conversations with all branches, routes, timings and files."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "conversations": [{"conversation": tree.conversation, "messages": list(tree.messages)} for tree in trees],
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1)


def trees_of(content: dict[str, Any]) -> list[Tree]:
    """What `as_json` wrote, also by a newer program; records that make no sense are skipped and counted."""
    trees = []
    for record in _list(content.get("conversations")):
        if not isinstance(record, dict):
            continue
        messages: list[Message] = []
        n_skipped = 0
        for one in _list(record.get("messages")):
            message = _message(one)
            if message is None:
                n_skipped += 1
            else:
                messages.append(message)
        conversation = _conversation(record.get("conversation"))
        if messages or conversation is not None:
            first = messages[0].created_at if messages else 0.0
            trees.append(Tree(conversation or Conversation("x", "", first, first), tuple(messages), n_skipped))
    return trees


def as_markdown(tree: Tree) -> str:
    """The branch that is shown, as one reads it."""
    conversation = tree.conversation
    lines = [f"# {conversation.title}", ""]
    if conversation.system_prompt:
        lines += ["> " + line for line in conversation.system_prompt.splitlines()] + [""]
    for message in branch_to({one.message_id: one for one in tree.messages}, conversation.leaf_id):
        who = "You" if message.role is Role.USER else message.expert_id or "Assistant"
        lines += [f"## {who}", ""]
        lines += [f"*{one.name}*\n" for one in message.attachments]
        lines += [message.text.rstrip(), ""]
    return "\n".join(lines)


def _conversation(record: object) -> Conversation | None:
    if not isinstance(record, dict):
        return None
    try:
        return msgspec.convert({**record, "draft": ""}, Conversation)
    except msgspec.ValidationError:
        return None


def _message(record: object) -> Message | None:
    """As it is, or else with its text alone: what somebody said outweighs how long it took."""
    if not isinstance(record, dict):
        return None
    needed = ("message_id", "conversation_id", "parent_id", "role", "text", "created_at")
    for fields in (record, {key: record.get(key) for key in needed}):
        try:
            message = msgspec.convert(fields, Message)
        except msgspec.ValidationError:
            continue
        is_open = message.status is MessageStatus.STREAMING
        return replace(message, status=MessageStatus.INTERRUPTED) if is_open else message
    return None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
