"""Our tables of llama.cpp's types and architectures, held against the library that is installed."""

import ctypes
import importlib.util
from pathlib import Path

import pytest

from layadesk.model_library import architectures
from layadesk.model_library.gguf_types import TENSOR_TYPES, tensor_bytes

pytestmark = pytest.mark.llama


@pytest.fixture(scope="module")
def libraries() -> Path:
    """The folder of the native libraries; llama_cpp itself is not imported."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or found.origin is None:
        pytest.skip("llama-cpp-python is not installed")
    return Path(found.origin).parent / "lib"


def library(folder: Path, name: str) -> Path:
    """One of them, whatever this system calls it."""
    return next(
        path for path in sorted(folder.iterdir()) if name in path.name and path.suffix in (".so", ".dll", ".dylib")
    )


def test_every_tensor_type_has_the_block_size_of_ggml(libraries: Path) -> None:
    ggml = ctypes.CDLL(str(library(libraries, "ggml-base")))
    ggml.ggml_blck_size.restype = ctypes.c_int64
    ggml.ggml_type_size.restype = ctypes.c_size_t
    ggml.ggml_type_name.restype = ctypes.c_char_p
    theirs = {
        type_id: (
            ggml.ggml_type_name(type_id).decode().upper(),
            ggml.ggml_blck_size(type_id),
            ggml.ggml_type_size(type_id),
        )
        for type_id in range(43)
        if ggml.ggml_blck_size(type_id)
    }
    assert {i: (kind.name.upper(), kind.block_size, kind.block_bytes) for i, kind in TENSOR_TYPES.items()} == theirs


def test_every_architecture_we_take_is_named_in_the_library(libraries: Path) -> None:
    content = library(libraries, "llama").read_bytes()
    # linkers let a short name end a longer one ("glm4" in "chatglm4"), so only its end is looked for
    missing = [name for name in sorted(architectures.CHAT) if name.encode() + b"\0" not in content]
    assert missing == []


def test_no_architecture_is_both_chat_and_something_else() -> None:
    assert not architectures.CHAT & set(architectures.NOT_CHAT)


def test_bytes_of_a_tensor_follow_its_blocks() -> None:
    assert tensor_bytes(12, (256, 3)) == 3 * 144
    assert tensor_bytes(0, ()) == 4
    with pytest.raises(ValueError, match="blocks of 256"):
        tensor_bytes(12, (128, 2))
