"""Exports of ChatGPT (`conversations.json`) and Open WebUI, as our trees.

Both keep a map of nodes with parents. Nodes that nobody said (system, tools, empty ones) are left out, and their
children belong to the nearest node that stays.
"""

from collections.abc import Callable, Mapping
from typing import Any

from layadesk.chat_files.tree import Tree
from layadesk.domain.chat import Conversation, Message
from layadesk.domain.inference import Role

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
MAX_DEPTH = 100_000

Node = Mapping[str, Any]
ReadNode = Callable[[Node], tuple[object, object, object, object]]  # role, text, time, model


def is_chatgpt(record: object) -> bool:
    """Whether a record of a list is a conversation of ChatGPT."""
    return isinstance(record, dict) and isinstance(record.get("mapping"), dict)


def is_open_webui(record: object) -> bool:
    """Whether a record of a list is a chat of Open WebUI."""
    return isinstance(record, dict) and _history(record) is not None


def chatgpt_tree(record: dict[str, Any]) -> Tree:
    """One conversation of ChatGPT."""
    created_at = _time(record.get("create_time"))
    return _tree(
        record["mapping"],
        parent_key="parent",
        read=_read_chatgpt,
        leaf=record.get("current_node"),
        conversation=Conversation(
            "x", _text(record.get("title")), created_at, _time(record.get("update_time")) or created_at
        ),
    )


def open_webui_tree(record: dict[str, Any]) -> Tree:
    """One chat of Open WebUI, alone or in its envelope."""
    chat = record["chat"] if isinstance(record.get("chat"), dict) else record
    history = _history(record) or {}
    created_at = _time(record.get("created_at") or chat.get("timestamp"))
    return _tree(
        history["messages"],
        parent_key="parentId",
        read=_read_open_webui,
        leaf=history.get("currentId"),
        conversation=Conversation(
            "x",
            _text(record.get("title") or chat.get("title")),
            created_at,
            _time(record.get("updated_at")) or created_at,
            system_prompt=_text(chat.get("system")),
            is_pinned=bool(record.get("pinned")),
        ),
    )


def _history(record: dict[str, Any]) -> dict[str, Any] | None:
    chat = record.get("chat") if isinstance(record.get("chat"), dict) else record
    history = chat.get("history") if isinstance(chat, dict) else None
    return history if isinstance(history, dict) and isinstance(history.get("messages"), dict) else None


def _tree(nodes: dict[str, Any], *, parent_key: str, read: ReadNode, leaf: object, conversation: Conversation) -> Tree:
    messages: dict[str, Message] = {}
    n_skipped = 0
    for node_id, node in nodes.items():
        if not isinstance(node, dict):
            n_skipped += 1
            continue
        role, text, time, model = read(node)
        who, said = _ROLES.get(str(role)), _text(text)
        if who is not None and said.strip():
            expert = _text(model) or None if who is Role.ASSISTANT else None
            parent = _text(node.get(parent_key)) or None
            messages[node_id] = Message(node_id, "x", parent, who, said, _time(time), expert_id=expert)
    kept = []
    for message in messages.values():
        parent = _kept_ancestor(nodes, messages, message.parent_id, parent_key)
        kept.append(Message(
            message.message_id, "x", parent, message.role, message.text,
            message.created_at or conversation.created_at, expert_id=message.expert_id,
        ))  # fmt: skip
    ordered = tuple(sorted(kept, key=lambda one: one.created_at))
    leaf_id = _kept_ancestor(nodes, messages, _text(leaf) or None, parent_key)
    return Tree(_with_leaf(conversation, leaf_id), ordered, n_skipped)


def _kept_ancestor(
    nodes: Mapping[str, Any], kept: Mapping[str, Message], node_id: str | None, parent_key: str
) -> str | None:
    seen: set[str] = set()
    while node_id is not None and node_id not in kept and node_id not in seen and len(seen) < MAX_DEPTH:
        seen.add(node_id)
        node = nodes.get(node_id)
        node_id = _text(node.get(parent_key)) or None if isinstance(node, dict) else None
    return node_id if node_id in kept else None


def _with_leaf(conversation: Conversation, leaf_id: str | None) -> Conversation:
    return Conversation(
        conversation.conversation_id,
        conversation.title,
        conversation.created_at,
        conversation.updated_at,
        leaf_id=leaf_id,
        system_prompt=conversation.system_prompt,
        is_pinned=conversation.is_pinned,
    )


def _read_chatgpt(node: Node) -> tuple[object, object, object, object]:
    message = node.get("message")
    if not isinstance(message, dict):
        return None, None, None, None
    author, content, more = message.get("author"), message.get("content"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    parts = content.get("parts", content.get("text")) if isinstance(content, dict) else None
    is_hidden = isinstance(more, dict) and more.get("is_visually_hidden_from_conversation")
    kind = content.get("content_type") if isinstance(content, dict) else None
    is_said = kind in {None, "text", "multimodal_text", "code"} and not is_hidden
    model = more.get("model_slug") if isinstance(more, dict) else None
    return role if is_said else None, parts, message.get("create_time"), model


def _read_open_webui(node: Node) -> tuple[object, object, object, object]:
    return node.get("role"), node.get("content"), node.get("timestamp"), node.get("modelName") or node.get("model")


def _text(value: object) -> str:
    """Text, or the texts in a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        found = [one if isinstance(one, str) else one.get("text") for one in value if isinstance(one, str | dict)]
        return "\n".join(one for one in found if isinstance(one, str))
    return ""


def _time(value: object) -> float:
    """Seconds since the epoch; some write milliseconds, some nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        return 0.0
    return float(value) / 1000 if value > 1e11 else float(value)
