"""A file that a program sent along with a message, as the text that an expert reads."""

from pathlib import PurePosixPath

from layadesk.chat_files.attachments import attachment_of
from layadesk.domain.chat import file_for_expert

MAX_NAME = 120


def read_sent_file(name: str, content: bytes) -> str:
    """Its name and its text. Blocks; touches no disk. Raises ATTACHMENT_UNREADABLE as `read_attachment`."""
    bare = "".join(c for c in PurePosixPath(name.replace("\\", "/")).name if c.isprintable())[-MAX_NAME:]
    return file_for_expert(attachment_of(PurePosixPath(bare or "file"), content))
