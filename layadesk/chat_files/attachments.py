"""Files that go with a question, as text: text, code, PDF. Nothing else is guessed at."""

import io
import logging
from pathlib import Path, PurePath

from layadesk.domain.chat import Attachment, AttachmentKind
from layadesk.domain.errors import ErrorCode, fail

MAX_BYTES = 50 * 2**20
MAX_CHARS = 2_000_000
MAX_PAGES = 3_000
_PROSE = {".txt", ".md", ".markdown", ".rst", ".tex", ".csv", ".tsv", ".log", ""}
_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def read_attachment(path: Path) -> Attachment:
    """A file as text. Raises ATTACHMENT_UNREADABLE with what is wrong: `too_large`, `not_text`, `empty`, `locked`,
    `no_text` (a PDF of pictures), or what the system says.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _bad(path, "too_large")
        content = path.read_bytes()
    except OSError as error:
        raise _bad(path, error.strerror or str(error)) from error
    return attachment_of(path, content)


def attachment_of(path: PurePath, content: bytes) -> Attachment:
    """The same for a file whose content is here; `path` only names it."""
    if content.startswith(b"%PDF-"):
        return Attachment(path.name, AttachmentKind.PDF, _bounded(_pdf_text(path, content), path, "no_text"))
    text = _decoded(content)
    if text is None:
        raise _bad(path, "not_text")
    kind = AttachmentKind.TEXT if path.suffix.lower() in _PROSE else AttachmentKind.CODE
    return Attachment(path.name, kind, _bounded(text, path, "empty"))


def _decoded(content: bytes) -> str | None:
    """UTF-8, UTF-16 with its mark, or GB18030 as many Chinese files are; None for what is no text."""
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    if b"\x00" in content[:65536]:
        return None
    for encoding in ("utf-8", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _pdf_text(path: PurePath, content: bytes) -> str:
    import pypdf  # noqa: PLC0415 - for those who have a PDF

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it would say of a file we say ourselves
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _bad(path, "locked")
        pages = []
        n_chars = 0
        for page in reader.pages[:MAX_PAGES]:
            pages.append(page.extract_text())
            n_chars += len(pages[-1])
            if n_chars > MAX_CHARS:
                break
    except (pypdf.errors.PyPdfError, ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        raise _bad(path, f"no PDF that can be read: {type(error).__name__}") from error
    return "\n\n".join(pages)


def _bounded(text: str, path: PurePath, if_empty: str) -> str:
    if not text.strip():
        raise _bad(path, if_empty)
    if len(text) > MAX_CHARS:
        raise _bad(path, "too_large")
    return text.replace("\r\n", "\n").replace("\x00", "")


def _bad(path: PurePath, why: str) -> Exception:
    return fail(ErrorCode.ATTACHMENT_UNREADABLE, path=str(path), detail=why)
