"""A file of conversations, whoever wrote it: which format it is, and what can be read of it."""

import zipfile
from pathlib import Path
from typing import Any

import msgspec

from layadesk.chat_files import foreign, ours
from layadesk.chat_files.tree import Tree, with_fresh_ids
from layadesk.domain.errors import ErrorCode, fail

MAX_BYTES = 500 * 2**20
MEMBER = "conversations.json"  # in the archive that ChatGPT sends


def read_trees(path: Path) -> list[Tree]:
    """All conversations of a file, with fresh ids. Raises CHAT_FILE_UNREADABLE."""
    content = _decoded(path)
    if isinstance(content, dict) and content.get("format") == ours.FORMAT:
        trees = ours.trees_of(content)
    else:
        records = content if isinstance(content, list) else [content]
        trees = [tree for record in records for tree in _foreign_tree(record)]
    trees = [tree for tree in trees if tree.messages]
    if not trees:
        raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=str(path), detail="no conversations in it")
    return [with_fresh_ids(tree) for tree in trees]


def _foreign_tree(record: object) -> list[Tree]:
    if isinstance(record, dict):
        if foreign.is_chatgpt(record):
            return [foreign.chatgpt_tree(record)]
        if foreign.is_open_webui(record):
            return [foreign.open_webui_tree(record)]
    return []


def _decoded(path: Path) -> Any:
    try:
        return msgspec.json.decode(_bytes_of(path))
    except (OSError, zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
        raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=str(path), detail=str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=str(path), detail=f"no JSON: {error}") from error


def _bytes_of(path: Path) -> bytes:
    if path.stat().st_size > MAX_BYTES:
        raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=str(path), detail="larger than 500 MiB")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(MEMBER).file_size > MAX_BYTES:
                raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=str(path), detail="larger than 500 MiB")
            with archive.open(MEMBER) as member:
                return member.read(MAX_BYTES)
    return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
