"""Whether a directory holds a Laya checkpoint: looked at before `laya` sees it, which fails with tracebacks.

A checkpoint is `rl_agent_config.json`, `model.safetensors`, `encoder/config.json`, `tokenizer/tokenizer.json` and
`tokenizer/tokenizer_config.json`. A directory may hold several: itself, `multilingual/`, `typed-decisions/`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from layadesk.domain.errors import ErrorCode, fail

CONFIG: Final = "rl_agent_config.json"
WEIGHTS: Final = "model.safetensors"
_OTHERS: Final = ("encoder/config.json", "tokenizer/tokenizer.json", "tokenizer/tokenizer_config.json")
_NEEDED_KEYS: Final = ("encoder", "head_layers")
_MOST_HEADER: Final = 100_000_000  # as safetensors itself
ENGLISH: Final = "english"
MULTILINGUAL: Final = "multilingual"
TYPED: Final = "typed-decisions"


def checkpoints(directory: Path) -> Mapping[str, Path]:
    """Name → checkpoint directory. A lone one goes by the name of its directory. Raises ROUTER_MODEL_MISSING."""
    found = {name: directory / name for name in (MULTILINGUAL, TYPED) if (directory / name / CONFIG).is_file()}
    if (directory / CONFIG).is_file():
        found = {ENGLISH if found else directory.name or ENGLISH: directory, **found}
    if not found:
        raise fail(ErrorCode.ROUTER_MODEL_MISSING, path=str(directory / CONFIG))
    return found


def check(directory: Path) -> None:
    """Raises ROUTER_MODEL_MISSING for a file that is not there, ROUTER_MODEL_DAMAGED with what is wrong with one."""
    for name in (CONFIG, WEIGHTS, *_OTHERS):
        if not (directory / name).is_file():
            raise fail(ErrorCode.ROUTER_MODEL_MISSING, path=str(directory / name))
    for name in (CONFIG, *_OTHERS):
        fields = _json(directory / name)
        if name == CONFIG:
            missing = [key for key in _NEEDED_KEYS if key not in fields]
            if missing:
                raise _damaged(directory / name, f"no {missing[0]}")
    _check_weights(directory / WEIGHTS)


def _json(file: Path) -> dict[str, Any]:
    try:
        fields = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(file, type(error).__name__) from error
    if not isinstance(fields, dict):
        raise _damaged(file, "no object")
    return fields


def _check_weights(file: Path) -> None:
    """The header says how long the file must be: eight bytes, the header, and the last tensor's end."""
    try:
        with file.open("rb") as stream:
            n_header = int.from_bytes(stream.read(8), "little")
            if not 2 <= n_header <= min(_MOST_HEADER, file.stat().st_size - 8):
                raise _damaged(file, "no safetensors file, or cut off")
            header = json.loads(stream.read(n_header))
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        n_wanted = 8 + n_header + max(ends, default=0)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise _damaged(file, type(error).__name__) from error
    if not ends or file.stat().st_size != n_wanted:
        raise _damaged(file, f"{file.stat().st_size} bytes instead of {n_wanted}")


def _damaged(file: Path, detail: str) -> Exception:
    return fail(ErrorCode.ROUTER_MODEL_DAMAGED, path=str(file), detail=detail)
