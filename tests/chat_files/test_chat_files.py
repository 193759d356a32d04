"""Files of conversations: ours whole and back, those of others as trees, and none that can do harm."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.chat_files import foreign, ours
from layadesk.chat_files.attachments import read_attachment
from layadesk.chat_files.reading import read_trees
from layadesk.chat_files.tree import Tree
from layadesk.domain.chat import (
    Attachment,
    AttachmentKind,
    Conversation,
    Correction,
    Message,
    MessageStatus,
    Rating,
    branch_to,
)
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import Role, Timings
from layadesk.domain.routing import Route, RouteReason
from tests.fakes.pdf import one_page


def said(message_id: str, parent: str | None, text: str, at: float, **rest: Any) -> Message:
    role = Role.USER if message_id.startswith("q") else Role.ASSISTANT
    return Message(message_id, "c", parent, role, text, at, **rest)


TREE = Tree(
    Conversation("c", "旅行计划", 1.0, 9.0, leaf_id="a2", system_prompt="Be short.", folder="Trips", is_pinned=True),
    (
        said("q1", None, "Where?", 2.0, attachments=(Attachment("a.txt", AttachmentKind.TEXT, "食谱", 3),)),
        said("a1", "q1", "To **Chengdu**.", 3.0, route=Route("smol", RouteReason.ROUTER, task_probs={"chat": 0.9})),
        said("a2", "q1", "To Xi'an.", 4.0, timings=Timings(ttft_ms=4.0), correction=Correction(Rating.WRONG, "x")),
    ),
)


def shape(tree: Tree) -> list[tuple[str, str | None]]:
    """Each text with the text it answers."""
    texts = {message.message_id: message.text for message in tree.messages}
    return sorted((m.text, texts.get(m.parent_id or "")) for m in tree.messages)


def shown(tree: Tree) -> list[str]:
    branch = branch_to({m.message_id: m for m in tree.messages}, tree.conversation.leaf_id)
    return [message.text for message in branch]


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_we_export_comes_back_as_the_same_tree_under_new_ids(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    file.write_bytes(ours.as_json([TREE]))
    (back,) = read_trees(file)
    assert shape(back) == shape(TREE)
    assert shown(back) == ["Where?", "To Xi'an."]
    assert back.conversation.system_prompt == "Be short."
    assert (back.conversation.folder, back.conversation.is_pinned) == ("Trips", True)
    assert [m.attachments for m in back.messages] == [m.attachments for m in TREE.messages]
    assert [m.route for m in back.messages] == [m.route for m in TREE.messages]
    assert [m.correction for m in back.messages] == [m.correction for m in TREE.messages]
    assert not {m.message_id for m in back.messages} & {"q1", "a1", "a2"}


def test_one_bad_record_never_hides_the_rest(tmp_path: Path) -> None:
    content = json.loads(ours.as_json([TREE]))
    messages = content["conversations"][0]["messages"]
    messages[1]["route"] = {"expert": 7}
    messages[1]["status"] = "thinking_hard"
    messages += [None, 3, {"text": "no id"}, {"message_id": []}]
    content["conversations"] += ["x", None, {}]
    (back,) = read_trees(written(tmp_path / "chats.json", content))
    assert shape(back) == shape(TREE)
    assert back.n_skipped == 4


def test_an_answer_that_was_being_made_is_an_interrupted_one() -> None:
    content = json.loads(
        ours.as_json([Tree(TREE.conversation, (said("a1", None, "half", 1.0, status=MessageStatus.STREAMING),))])
    )
    (tree,) = ours.trees_of(content)
    assert tree.messages[0].status is MessageStatus.INTERRUPTED


def test_markdown_has_the_branch_that_is_shown() -> None:
    text = ours.as_markdown(TREE)
    assert "# 旅行计划" in text
    assert "To Xi'an." in text
    assert "Chengdu" not in text
    assert "*a.txt*" in text


def node(key: str, parent: str | None, role: str, text: object, at: float) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": text}, "create_time": at}
    return {"id": key, "parent": parent, "children": [], "message": message}


CHATGPT = {
    "title": "Trip",
    "create_time": 1_700_000_000.0,
    "update_time": 1_700_000_100.0,
    "current_node": "a2",
    "mapping": {
        "root": {"id": "root", "parent": None, "message": None},
        "sys": node("sys", "root", "system", [""], 1.0),
        "q1": node("q1", "sys", "user", ["Where?", {"content_type": "image_asset_pointer"}], 2.0),
        "t1": node("t1", "q1", "tool", ["search"], 2.5),
        "a1": node("a1", "t1", "assistant", ["Chengdu."], 3.0),
        "a2": node("a2", "t1", "assistant", ["Xi'an."], 4.0),
        "bad": 7,
    },
}
WEBUI = {
    "id": "x",
    "title": "Trip",
    "created_at": 1_700_000_000,
    "updated_at": 1_700_000_100,
    "chat": {
        "title": "Trip",
        "history": {
            "currentId": "a2",
            "messages": {
                "q1": {"id": "q1", "parentId": None, "role": "user", "content": "Where?", "timestamp": 2},
                "a1": {"id": "a1", "parentId": "q1", "role": "assistant", "content": "Chengdu.", "timestamp": 3},
                "a2": {"id": "a2", "parentId": "q1", "role": "assistant", "content": "Xi'an.", "model": "qwen"},
            },
        },
    },
}


@pytest.mark.parametrize("content", [[CHATGPT], [WEBUI], WEBUI, WEBUI["chat"]], ids=["chatgpt", "webui", "one", "bare"])
def test_exports_of_others_become_the_same_tree(tmp_path: Path, content: object) -> None:
    (tree,) = read_trees(written(tmp_path / "conversations.json", content))
    assert shape(tree) == [("Chengdu.", "Where?"), ("Where?", None), ("Xi'an.", "Where?")]
    assert shown(tree) == ["Where?", "Xi'an."]
    assert tree.conversation.title == "Trip"


def test_the_archive_of_chatgpt_is_read_as_it_comes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([CHATGPT]))
        archive.writestr("../evil.txt", "x")
    assert len(read_trees(tmp_path / "export.zip")) == 1
    assert not (tmp_path.parent / "evil.txt").exists()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[", b"null", b"[]", b'{"mapping": 3}', b"[" * 100_000, b"PK\x03\x04junk", b"[1,2]"]
)
def test_a_file_without_conversations_is_told_as_such(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(LayaDeskError) as refused:
        read_trees(tmp_path / "x.json")
    assert refused.value.code is ErrorCode.CHAT_FILE_UNREADABLE


def test_parents_in_a_circle_end_somewhere() -> None:
    mapping = {"a": node("a", "b", "system", [""], 1.0), "b": node("b", "a", "user", ["hi"], 2.0)}
    tree = foreign.chatgpt_tree({"mapping": mapping, "current_node": "a"})
    assert [m.text for m in tree.messages] == ["hi"]


KEYS = [
    "mapping",
    "message",
    "parent",
    "content",
    "parts",
    "author",
    "role",
    "history",
    "messages",
    "chat",
    "currentId",
    "conversations",
    "conversation",
    "text",
    "message_id",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_no_json_breaks_the_reader(content: object) -> None:
    for record in (content, {"mapping": content}, {"history": {"messages": content}}):
        if foreign.is_chatgpt(record):
            assert isinstance(record, dict)
            foreign.chatgpt_tree(record)
        if foreign.is_open_webui(record):
            assert isinstance(record, dict)
            foreign.open_webui_tree(record)
    ours.trees_of({"conversations": content})


@pytest.mark.parametrize(
    ("name", "content", "kind", "text"),
    [
        ("a.txt", "café 食谱\r\nzwei".encode(), AttachmentKind.TEXT, "café 食谱\nzwei"),
        ("a.txt", "食谱很好".encode("gb18030"), AttachmentKind.TEXT, "食谱很好"),
        ("a.txt", "食谱".encode("utf-16"), AttachmentKind.TEXT, "食谱"),
        ("a.py", b"x = 1\n", AttachmentKind.CODE, "x = 1\n"),
    ],
)
def test_a_file_is_read_as_text(tmp_path: Path, name: str, content: bytes, kind: AttachmentKind, text: str) -> None:
    (tmp_path / name).write_bytes(content)
    attachment = read_attachment(tmp_path / name)
    assert (attachment.name, attachment.kind, attachment.text.removeprefix("\ufeff")) == (name, kind, text)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "empty"), (b"\x89PNG\x00\x00", "not_text"), (b"a" * 2_000_001, "too_large"), (b"%PDF-1.4 junk", "PDF")],
)
def test_what_cannot_be_attached_says_why(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(LayaDeskError) as refused:
        read_attachment(tmp_path / "x")
    assert refused.value.code is ErrorCode.ATTACHMENT_UNREADABLE
    assert why in str(refused.value.report.facts["detail"])


def test_the_text_of_a_pdf_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(one_page("Hello from a page"))
    attachment = read_attachment(tmp_path / "a.pdf")
    assert attachment.kind is AttachmentKind.PDF
    assert attachment.text.strip() == "Hello from a page"


def test_a_pdf_without_text_and_one_with_a_password_say_so(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "empty.pdf")
    with pytest.raises(LayaDeskError) as refused:
        read_attachment(tmp_path / "empty.pdf")
    assert refused.value.report.facts["detail"] == "no_text"
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    with pytest.raises(LayaDeskError) as locked:
        read_attachment(tmp_path / "locked.pdf")
    assert locked.value.report.facts["detail"] == "locked"
