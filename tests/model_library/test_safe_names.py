"""Names from a catalogue or a hub cannot leave the folder they belong in, on any system."""

import pytest

from layadesk.model_library.safe_names import is_safe_id, is_safe_path


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x.gguf", "a/../../x", "a//b", "./a", "a/.", "C:/x", "c:x", "a\\..\\b", "\\\\host\\x"),
        *("a\0b", "a\nb", "con", "NUL.gguf", "a/COM1", "x.", "x ", " x", "a:stream", "a?b", "a*", "x" * 400),
        "a\u202eb",
    ],
)
def test_a_path_that_could_leave_its_folder_is_refused(path: str) -> None:
    assert not is_safe_path(path)


@pytest.mark.parametrize("path", ["model.gguf", "deep/er/Model-Q4_K_M-00001-of-00002.gguf", "模型.gguf", "a b.gguf"])
def test_an_ordinary_path_is_taken(path: str) -> None:
    assert is_safe_path(path)


@pytest.mark.parametrize("model_id", ["", "..", "a/b", "A", "con", "x" * 65, ".hidden", "a\\b", "a b", "a."])
def test_an_id_that_cannot_be_a_folder_is_refused(model_id: str) -> None:
    assert not is_safe_id(model_id)
