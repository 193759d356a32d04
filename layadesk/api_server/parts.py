"""The content of a message: text, or parts that are text or files; a file becomes text. Pictures cannot be read."""

import base64
from typing import Final

import msgspec

from layadesk.api_server.failures import Failure
from layadesk.usecases.answer_order import clean_text
from layadesk.usecases.read_sent_file import read_sent_file

FILE_MARK: Final = b"file_data"  # a body without it carries no file


class SentFile(msgspec.Struct):
    """`file_data` is base64, alone or as a data URL."""

    file_data: str | None = None
    filename: str | None = None


class Part(msgspec.Struct):
    """A piece of a message: text, or a file as chat completions (`file`) or responses (`input_file`) have it."""

    type: str
    text: str | None = None
    file: SentFile | None = None
    file_data: str | None = None
    filename: str | None = None


def text_of(content: str | list[Part] | None, place: str) -> str:
    """The text of a message's content; blocks while files are read. 422 for what is neither text nor such a file."""
    if content is None or isinstance(content, str):
        return clean_text(content or "")
    return clean_text("\n".join(_text(part, place) for part in content))


def _text(part: Part, place: str) -> str:
    sent = part.file if part.type == "file" else SentFile(part.file_data, part.filename)
    if part.type in ("file", "input_file"):
        if sent is None or sent.file_data is None:
            words = "A file has to come with its content, as file_data; ids and addresses are not followed."
            raise Failure(422, "invalid_value", words, place)
        return read_sent_file(sent.filename or "file", _decoded(sent.file_data, place))
    if part.text is None:
        words = f"Only text, and files as file_data, can be read, and this is {part.type[:40]}."
        raise Failure(422, "invalid_value", words, place)
    return part.text


def _decoded(data: str, place: str) -> bytes:
    bad = Failure(422, "invalid_value", "file_data is no base64, nor a data URL with it.", place)
    head, _, rest = data.partition(",") if data.startswith("data:") else (";base64", "", data)
    if not head.endswith(";base64"):
        raise bad
    try:
        return base64.b64decode(rest, validate=True)
    except ValueError as error:
        raise bad from error
