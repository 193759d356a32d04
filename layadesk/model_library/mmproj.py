"""The eyes or ears of a model (mmproj), as far as their price goes: a GGUF of its own beside the model's."""

from pathlib import Path
from typing import Final

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.models import NotChatKind
from layadesk.model_library import architectures
from layadesk.model_library.gguf_header import GgufHeader, read_header

LEAST_PATCHES: Final = 4096  # encoders that take images of any size work on about so many at once


def mmproj_bytes(path: Path) -> int:
    """What it adds to a load: its weights to the byte, its compute buffer by estimate.

    Raises what `read_header` raises, and BAD_PARAMETER for a GGUF that is something else.
    """
    header = read_header(path)
    is_known = NotChatKind.MMPROJ in (
        architectures.NOT_CHAT_TYPES.get(header.general_type or ""),
        architectures.NOT_CHAT.get(header.architecture or ""),
    )
    if not is_known:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="mmproj", value=str(path), needs="mmproj")
    return header.weights_bytes + max(_compute_bytes(header, part) for part in ("vision", "audio"))


def _compute_bytes(header: GgufHeader, part: str) -> int:
    """One layer's rows for all patches, with flash attention: the stream, Q, K, V, and both sides of its middle."""

    def number(key: str) -> int:
        value = header.metadata.get(f"clip.{part}.{key}")
        is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**24
        return value if is_count and isinstance(value, int) else 0

    n_side = number("image_size") // max(1, number("patch_size"))
    n_patches = max(LEAST_PATCHES, min(n_side, 512) ** 2)
    return 4 * n_patches * (5 * number("embedding_length") + 2 * number("feed_forward_length"))
