"""Reading a header: what a file is refused for before the engine sees it (reported fault D03, llama.cpp #24884)."""

import contextlib
import os
import random
import struct
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError, UserError
from layadesk.model_library import gguf_reader
from layadesk.model_library.gguf_header import read_header
from tests.fakes.gguf_files import (
    U64,
    Tensor,
    Typed,
    chat_metadata,
    gguf_bytes,
    packed_text,
    packed_value,
    write_gguf,
)


def refusal(path: Path, content: bytes | None = None) -> LayaDeskError:
    """The error with which a file is refused."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_header(path)
    return caught.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def test_a_whole_file_describes_itself(path: Path) -> None:
    header = read_header(write_gguf(path, chat_metadata(llama__attention__head_count_kv=[1, 2])))
    assert (header.architecture, header.name, header.quantization) == ("llama", "Tiny Chat", "Q4_0")
    assert (header.n_ctx_train, header.n_embd, header.n_layer, header.n_vocab) == (512, 32, 1, 4)
    assert header.chat_template == "{{ messages[0]['content'] }}"
    assert header.metadata["llama.attention.head_count_kv"] == (1, 2)
    assert header.size_bytes == path.stat().st_size


def test_each_tensor_is_known_by_name_type_shape_and_bytes(path: Path) -> None:
    header = read_header(write_gguf(path))
    facts = [(t.name, t.type_name, t.shape, t.size_bytes) for t in header.tensors]
    assert facts == [
        ("token_embd.weight", "F32", (32, 2), 256),
        ("blk.0.attn_q.weight", "Q4_0", (32, 32), 576),
        ("output_norm.weight", "F32", (32,), 128),
    ]
    assert header.weights_bytes == 256 + 576 + 128
    assert header.n_parameters == 64 + 1024 + 32


def test_the_data_section_starts_at_the_alignment_of_the_file(path: Path) -> None:
    path.write_bytes(gguf_bytes(chat_metadata(general__alignment=64), alignment=64))
    header = read_header(path)
    assert header.alignment == 64
    assert header.data_offset % 64 == 0


def test_a_vocabulary_is_counted_and_not_kept(path: Path) -> None:
    header = read_header(write_gguf(path, chat_metadata(tokenizer__ggml__tokens=[f"t{i}" for i in range(50_000)])))
    assert header.n_vocab == 50_000
    assert "tokenizer.ggml.tokens" not in header.metadata


def test_strings_longer_than_the_reading_window_are_stepped_over(path: Path) -> None:
    long = "x" * 3_000_000
    header = read_header(write_gguf(path, chat_metadata(general__notes=long, general__tags=["a", long, "b"])))
    assert header.n_layer == 1
    assert "general.notes" not in header.metadata
    assert header.array_lengths["general.tags"] == 3


def test_a_file_without_a_file_type_is_named_after_most_of_its_bytes(path: Path) -> None:
    metadata = chat_metadata()
    del metadata["general.file_type"]
    assert read_header(write_gguf(path, metadata)).quantization == "Q4_0"


def test_an_empty_file_is_refused_as_empty(path: Path) -> None:
    assert refusal(path, b"").code is ErrorCode.GGUF_EMPTY


def test_a_missing_file_is_refused_as_missing(path: Path) -> None:
    error = refusal(path)
    assert error.code is ErrorCode.MODEL_FILE_MISSING
    assert error.facts["path"] == str(path)


def test_a_folder_is_refused_as_a_folder(tmp_path: Path) -> None:
    error = refusal(tmp_path)
    assert (error.code, error.facts["reason"]) == (ErrorCode.MODEL_FILE_UNREADABLE, "directory")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_named_pipe_does_not_block_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    codes: list[ErrorCode] = []
    reader = threading.Thread(target=lambda: codes.append(refusal(tmp_path / "pipe.gguf").code), daemon=True)
    reader.start()
    reader.join(5)
    assert codes == [ErrorCode.MODEL_FILE_UNREADABLE]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused_as_unreadable(path: Path) -> None:
    write_gguf(path).chmod(0)
    assert refusal(path).code is ErrorCode.MODEL_FILE_UNREADABLE


@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (struct.pack("<Q", 40) + b'{"__metadata__":{}}' + b"\0" * 40, "safetensors"),
        (b"PK\x03\x04" + b"\0" * 26 + b"archive/data.pkl" + b"\0" * 40, "pytorch"),
        (b"PK\x03\x04" + b"\0" * 26 + b"readme.txt" + b"\0" * 40, "zip"),
        (b"\x80\x02}q\x00.", "pickle"),
        (b"<!DOCTYPE html><html><body>404", "html"),
        (b"\xef\xbb\xbf\n <html>", "html"),
        (b'{"error":"Repository not found"}', "json"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git_lfs_pointer"),
        (b"tjgg" + b"\x03\0\0\0", "ggml_legacy"),
        (b"\0" * 4096, "zeros"),
        (b"Entry not found", "text"),
        (bytes(range(200, 256)), "unknown"),
    ],
)
def test_a_file_that_is_no_gguf_is_named_for_what_it_looks_like(path: Path, content: bytes, looks_like: str) -> None:
    error = refusal(path, content)
    assert (error.code, error.facts["looks_like"]) == (ErrorCode.GGUF_NOT_GGUF, looks_like)


@pytest.mark.parametrize("version", [0, 1, 4, 99])
def test_a_version_that_llama_cpp_does_not_read_is_refused_with_its_number(path: Path, version: int) -> None:
    error = refusal(path, gguf_bytes(version=version))
    assert (error.code, error.facts["version"], error.facts["byte_order"]) == (
        ErrorCode.GGUF_VERSION,
        version,
        "little",
    )


def test_a_big_endian_file_is_refused_as_big_endian(path: Path) -> None:
    error = refusal(path, gguf_bytes(order=">"))
    assert (error.code, error.facts["version"], error.facts["byte_order"]) == (ErrorCode.GGUF_VERSION, 3, "big")


def test_version_2_is_read_like_version_3(path: Path) -> None:
    path.write_bytes(gguf_bytes(version=2))
    assert read_header(path).version == 2


def test_a_file_cut_in_its_weights_is_refused_with_both_sizes_and_the_first_tensor_lost(path: Path) -> None:
    whole = gguf_bytes(tensors=[Tensor("a", (32, 4)), Tensor("b", (32, 40), 2), Tensor("c", (30,))])
    error = refusal(path, whole[:-200])
    assert error.code is ErrorCode.GGUF_TRUNCATED
    assert (error.facts["size_bytes"], error.facts["tensor"]) == (len(whole) - 200, "b")
    # the last tensor ends 8 bytes before the padding does
    assert error.facts["needed_bytes"] == len(whole) - 8


def test_a_file_that_lacks_nothing_but_padding_is_whole(path: Path) -> None:
    whole = gguf_bytes(tensors=[Tensor("c", (30,))])
    path.write_bytes(whole[:-8])
    assert read_header(path).n_tensors == 1
    assert refusal(path, whole[:-9]).code is ErrorCode.GGUF_TRUNCATED


@pytest.mark.parametrize("kept", [1, 3, 4, 7, 15, 23, 30, 200, 400])
def test_a_file_cut_in_its_header_is_refused_as_truncated(path: Path, kept: int) -> None:
    error = refusal(path, gguf_bytes()[:kept])
    assert error.code is ErrorCode.GGUF_TRUNCATED
    assert error.facts["size_bytes"] == kept
    needed = error.facts["needed_bytes"]
    assert isinstance(needed, int)
    assert kept < needed <= len(gguf_bytes())


@pytest.mark.parametrize(
    ("reason", "content"),
    [
        ("empty_key", gguf_bytes([("general.architecture", "llama"), ("", 1)])),
        ("duplicate_key", gguf_bytes([("a", 1), ("a", 2)])),
        ("duplicate_tensor", gguf_bytes(tensors=[Tensor("a"), Tensor("a")])),
        ("value_type", gguf_bytes({"a": Typed(13, b"\0" * 8)})),
        ("value_type", gguf_bytes({"a": Typed(9, struct.pack("<IQ", 9, 1) + b"\0" * 64)})),  # an array of arrays
        ("long_array", gguf_bytes({"a": Typed(9, struct.pack("<IQ", 4, 2**62))})),
        ("long_string", gguf_bytes({"a": Typed(8, struct.pack("<Q", 2**40))})),
        ("long_string", gguf_bytes({"a": Typed(9, struct.pack("<IQQ", 8, 1, 2**63) + b"\0" * 64)})),
        ("long_string", gguf_bytes({"k" * 70_000: 1})),
        ("counts", gguf_bytes(n_keys=2**63)),
        ("counts", gguf_bytes(n_tensors=2**60)),
        ("alignment", gguf_bytes({"general.alignment": 0})),
        ("alignment", gguf_bytes({"general.alignment": 24})),
        ("alignment", gguf_bytes({"general.alignment": "32"})),
        ("dimensions", gguf_bytes(tensors=[Tensor("a", (1, 1, 1, 1, 1))])),
        ("shape", gguf_bytes(tensors=[Tensor("a", (2**62, 4), size_bytes=32)])),
        ("shape", gguf_bytes(tensors=[Tensor("a", (2**63, 0), size_bytes=32)])),
        ("tensor_type", gguf_bytes(tensors=[Tensor("a", (32,), 4, size_bytes=32)])),  # removed from ggml
        ("tensor_type", gguf_bytes(tensors=[Tensor("a", (32,), 999, size_bytes=32)])),
        ("row_length", gguf_bytes(tensors=[Tensor("a", (33,), 2, size_bytes=32)])),
        ("offset", gguf_bytes(tensors=[Tensor("a"), Tensor("b", offset=2**40, size_bytes=0)])),
        ("offset", gguf_bytes(tensors=[Tensor("a"), Tensor("b", offset=0)])),
        ("long_string", gguf_bytes(tensors=[Tensor("n" * 64)])),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_as_damaged(path: Path, reason: str, content: bytes) -> None:
    error = refusal(path, content)
    assert (error.code, error.facts.get("reason")) == (ErrorCode.GGUF_DAMAGED, reason)


def test_counts_that_a_file_cannot_hold_allocate_nothing(path: Path) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + packed_text("a")
    claims = [
        struct.pack("<IIQ", 9, 4, 2**29),  # 2 GiB of numbers
        struct.pack("<IIQ", 9, 8, 2**23),  # 8 million strings
        struct.pack("<IQ", 8, 2**29),  # a text of half a GiB
    ]
    tracemalloc.start()
    try:
        for claim in claims:
            assert refusal(path, head + claim + b"\0" * 1000).code is ErrorCode.GGUF_TRUNCATED
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()


def test_a_header_without_end_is_refused_by_its_amount_of_work(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_reader, "MAX_STRINGS_WALKED", 1000)
    many = [(f"k{i}", [""] * 400) for i in range(3)]
    assert read_header(write_gguf(path, many[:2])).array_lengths == {"k0": 400, "k1": 400}
    error = refusal(path, gguf_bytes(many))
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "header_too_large")


def test_a_header_full_of_text_is_refused_by_its_size_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_reader, "MAX_KEPT_BYTES", 10_000)
    error = refusal(path, gguf_bytes([(f"k{i}", "x" * 4000) for i in range(3)]))
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "header_too_large")


def test_a_header_that_goes_on_through_a_huge_file_is_refused_by_its_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf_reader, "MAX_HEADER_BYTES", 100_000)
    error = refusal(path, gguf_bytes({"k": ["x" * 200_000], "l": 1}))
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "header_too_large")


def test_bytes_that_are_no_utf8_do_not_break_the_reader(path: Path) -> None:
    content = gguf_bytes([*chat_metadata().items(), ("x", b"\xff\xfe"), ("tokenizer.x", 1)])
    content = content.replace(b"tokenizer.x", b"tokenizer.\xff")
    path.write_bytes(content)
    assert read_header(path).architecture == "llama"


@pytest.mark.parametrize(
    "name",
    ["with spaces.gguf", "張 庭 綱.gguf", "Željko.gguf", "Jerôme.gguf", "Модель.gguf", "🦙 emoji 🎉.gguf"],
)
def test_a_path_in_any_script_is_read(tmp_path: Path, name: str) -> None:  # reported faults J11-J14
    header = read_header(write_gguf(tmp_path / name / name))
    assert header.path.endswith(name)


def test_a_symlink_is_read_through(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "blob")
    (tmp_path / "model.gguf").symlink_to(target)
    assert read_header(tmp_path / "model.gguf").size_bytes == target.stat().st_size


BASE = gguf_bytes(chat_metadata(llama__expert_count=Typed(U64, 3), a=[1, 2, 3], b=[True, False]))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, len(BASE)),
    changes=st.lists(st.tuples(st.integers(0, len(BASE) - 9), st.binary(min_size=1, max_size=8)), max_size=3),
)
def test_no_damage_whatever_gets_past_the_errors_of_the_reader(
    tmp_path: Path, cut: int, changes: list[tuple[int, bytes]]
) -> None:
    content = bytearray(BASE)
    for at, new in changes:
        content[at : at + len(new)] = new
    path = tmp_path / "fuzz.gguf"
    path.write_bytes(content[:cut] if cut % 3 == 0 else content)
    with contextlib.suppress(UserError):
        header = read_header(path)
        assert header.data_offset + header.weights_bytes <= path.stat().st_size


def test_random_bytes_after_a_right_start_are_refused(path: Path) -> None:
    rng = random.Random(7)
    for _ in range(200):
        content = b"GGUF\x03\0\0\0" + struct.pack("<QQ", rng.randrange(4), rng.randrange(1, 4)) + rng.randbytes(300)
        assert refusal(path, content).code in (ErrorCode.GGUF_DAMAGED, ErrorCode.GGUF_TRUNCATED)


def test_values_of_every_type_are_read(path: Path) -> None:
    values = {0: 200, 1: -3, 2: 60_000, 3: -300, 4: 2**31, 5: -5, 6: 1.5, 7: True, 10: 2**40, 11: -(2**40), 12: 0.25}
    metadata = [(f"v{type_id}", Typed(type_id, value)) for type_id, value in values.items()]
    path.write_bytes(gguf_bytes(metadata))
    assert dict(read_header(path).metadata) == {f"v{type_id}": value for type_id, value in values.items()}
    assert packed_value(1)[:4] == struct.pack("<I", 4)


@pytest.mark.llama
def test_the_starter_and_another_model_describe_themselves(smol_gguf: Path, gemma_gguf: Path) -> None:
    smol, gemma = read_header(smol_gguf), read_header(gemma_gguf)
    assert (smol.architecture, smol.quantization, smol.n_vocab, smol.n_layer) == ("llama", "Q4_1", 49152, 30)
    assert (gemma.architecture, gemma.quantization, gemma.n_vocab, gemma.n_layer) == ("gemma3", "Q4_K_M", 262144, 18)
    assert smol.data_offset + smol.weights_bytes == smol.size_bytes
    assert gemma.data_offset + gemma.weights_bytes == gemma.size_bytes
    assert smol.chat_template is not None
    assert gemma.chat_template is None  # a base model
