"""What a file is that is no chat model, so that the refusal says which."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.models import ForeignFormat, NotChatKind
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

_KINDS: Final[Mapping[NotChatKind, str]] = {
    NotChatKind.MMPROJ: QT_TRANSLATE_NOOP("kinds", "the eyes or ears of another model (mmproj)"),
    NotChatKind.DIFFUSION: QT_TRANSLATE_NOOP("kinds", "a diffusion model, which does not write word by word"),
    NotChatKind.EMBEDDING: QT_TRANSLATE_NOOP("kinds", "an embedding model"),
    NotChatKind.RERANKER: QT_TRANSLATE_NOOP("kinds", "a model that ranks search results"),
    NotChatKind.ENCODER_DECODER: QT_TRANSLATE_NOOP("kinds", "an encoder-decoder model such as T5"),
    NotChatKind.SPEECH: QT_TRANSLATE_NOOP("kinds", "a speech model"),
    NotChatKind.DRAFT: QT_TRANSLATE_NOOP("kinds", "a draft model, which only guesses ahead for another one"),
    NotChatKind.LORA: QT_TRANSLATE_NOOP("kinds", "a LoRA adapter for another model"),
    NotChatKind.IMATRIX: QT_TRANSLATE_NOOP("kinds", "an importance matrix, used to make quantizations"),
    NotChatKind.CONTROL_VECTOR: QT_TRANSLATE_NOOP("kinds", "a control vector for another model"),
    NotChatKind.VOCAB_ONLY: QT_TRANSLATE_NOOP("kinds", "a vocabulary without weights"),
    NotChatKind.SPLIT_PART: QT_TRANSLATE_NOOP("kinds", "a later part of a split model"),
}
_FORMATS: Final[Mapping[ForeignFormat, str]] = {
    ForeignFormat.SAFETENSORS: QT_TRANSLATE_NOOP("kinds", "a safetensors file"),
    ForeignFormat.PYTORCH: QT_TRANSLATE_NOOP("kinds", "a PyTorch file"),
    ForeignFormat.PICKLE: QT_TRANSLATE_NOOP("kinds", "a Python pickle, as older PyTorch files are"),
    ForeignFormat.GGML_LEGACY: QT_TRANSLATE_NOOP("kinds", "a GGML file, the format before GGUF"),
    ForeignFormat.HDF5: QT_TRANSLATE_NOOP("kinds", "an HDF5 file"),
    ForeignFormat.ZIP: QT_TRANSLATE_NOOP("kinds", "a ZIP archive"),
    ForeignFormat.GZIP: QT_TRANSLATE_NOOP("kinds", "a gzip archive"),
    ForeignFormat.PROGRAM: QT_TRANSLATE_NOOP("kinds", "a program"),
    ForeignFormat.HTML: QT_TRANSLATE_NOOP("kinds", "a web page that was saved in its place"),
    ForeignFormat.JSON: QT_TRANSLATE_NOOP("kinds", "a JSON file"),
    ForeignFormat.GIT_LFS_POINTER: QT_TRANSLATE_NOOP("kinds", "a Git LFS pointer, cloned without Git LFS"),
    ForeignFormat.TEXT: QT_TRANSLATE_NOOP("kinds", "a text file"),
    ForeignFormat.ZEROS: QT_TRANSLATE_NOOP("kinds", "only zeros, as of a download that stopped"),
    ForeignFormat.UNKNOWN: QT_TRANSLATE_NOOP("kinds", "a file of an unknown format"),
}


def not_chat_kind(kind: object) -> str:
    """The fact `kind` of GGUF_NOT_CHAT in words."""
    if isinstance(kind, str) and kind in set(NotChatKind):
        return QCoreApplication.translate("kinds", _KINDS[NotChatKind(kind)])
    return QCoreApplication.translate("kinds", "a model of another kind")


def foreign_format(looks_like: object) -> str:
    """The fact `looks_like` of GGUF_NOT_GGUF in words."""
    known = ForeignFormat.UNKNOWN
    if isinstance(looks_like, str) and looks_like in set(ForeignFormat):
        known = ForeignFormat(looks_like)
    return QCoreApplication.translate("kinds", _FORMATS[known])
