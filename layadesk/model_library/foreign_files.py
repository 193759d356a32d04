"""What a file that is no GGUF looks like, so that the user hears "a web page was saved" instead of "bad magic"."""

from layadesk.domain.models import ForeignFormat

_MAGICS = {
    b"PK\x03\x04": ForeignFormat.ZIP,
    b"\x1f\x8b": ForeignFormat.GZIP,
    b"\x89HDF": ForeignFormat.HDF5,
    b"\x7fELF": ForeignFormat.PROGRAM,
    b"MZ": ForeignFormat.PROGRAM,
    **{b"\x80" + bytes([protocol]): ForeignFormat.PICKLE for protocol in range(2, 6)},
    **dict.fromkeys(
        (b"lmgg", b"fmgg", b"tjgg", b"algg", b"ggml", b"ggmf", b"ggjt", b"ggla"), ForeignFormat.GGML_LEGACY
    ),
}


def looks_like(head: bytes) -> ForeignFormat:
    """Judged by the first bytes of a file; 512 are enough."""
    if not head.strip(b"\0"):
        return ForeignFormat.ZEROS
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 2**32:
        return ForeignFormat.SAFETENSORS
    found = next((word for magic, word in _MAGICS.items() if head.startswith(magic)), None)
    if found is ForeignFormat.ZIP and b"data.pkl" in head[:128]:
        return ForeignFormat.PYTORCH
    return found or _text_like(head)


def _text_like(head: bytes) -> ForeignFormat:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml", b"<body")):
        return ForeignFormat.HTML
    if text.startswith(b"version https://git-lfs"):
        return ForeignFormat.GIT_LFS_POINTER
    if text.startswith((b"{", b"[")):
        return ForeignFormat.JSON
    if text and all(byte in b"\t\r\n\f" or 32 <= byte < 127 for byte in text):
        return ForeignFormat.TEXT
    return ForeignFormat.UNKNOWN
