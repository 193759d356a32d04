"""Whole GGUFs that are no chat models, each refused for what it is (reported fault J21)."""

from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError, UserError
from layadesk.model_library.gguf_header import check_chat_model, read_header
from tests.fakes.gguf_files import Tensor, Typed, chat_metadata, write_gguf


def refusal(tmp_path: Path, metadata: dict[str, object], tensors: list[Tensor] | None = None) -> LayaDeskError:
    """The error with which a file of that metadata is refused."""
    path = tmp_path / "model.gguf"
    header = read_header(write_gguf(path, metadata) if tensors is None else write_gguf(path, metadata, tensors))
    with pytest.raises(UserError) as caught:
        check_chat_model(header)
    assert caught.value.facts["path"] == str(path)
    return caught.value


@pytest.mark.parametrize("architecture", ["llama", "qwen3", "gemma3", "gpt-oss", "qwen35moe", "deepseek2", "mamba"])
def test_a_chat_model_passes(tmp_path: Path, architecture: str) -> None:
    check_chat_model(read_header(write_gguf(tmp_path / "model.gguf", chat_metadata(architecture))))


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        ("mmproj", {"general.architecture": "clip", "clip.has_vision_encoder": True}),
        ("mmproj", {"general.architecture": "llama", "general.type": "mmproj"}),
        ("lora", {**chat_metadata(), "general.type": "adapter", "adapter.type": "lora"}),
        ("imatrix", {"general.type": "imatrix", "imatrix.chunk_count": 10}),
        ("control_vector", {"general.architecture": "controlvector"}),
        ("embedding", chat_metadata("bert")),
        ("embedding", chat_metadata("nomic-bert-moe")),
        ("embedding", chat_metadata("qwen3", qwen3__pooling_type=3)),
        ("embedding", chat_metadata("llama", llama__attention__causal=False)),
        ("reranker", chat_metadata("qwen3", qwen3__pooling_type=4)),
        ("encoder_decoder", chat_metadata("t5")),
        ("diffusion", chat_metadata("dream")),
        ("diffusion", {"general.architecture": "flux"}),
        ("diffusion", {"general.architecture": "qwen_image"}),
        ("speech", chat_metadata("wavtokenizer-dec")),
        ("draft", chat_metadata("eagle3")),
    ],
)
def test_a_file_of_another_kind_is_named_for_what_it_is(tmp_path: Path, kind: str, metadata: dict[str, object]) -> None:
    error = refusal(tmp_path, metadata)
    assert (error.code, error.facts["kind"]) == (ErrorCode.GGUF_NOT_CHAT, kind)


def test_an_image_model_without_any_metadata_is_known_by_its_tensors(tmp_path: Path) -> None:
    error = refusal(tmp_path, {}, [Tensor("model.diffusion_model.input_blocks.0.0.weight")])
    assert (error.code, error.facts["kind"]) == (ErrorCode.GGUF_NOT_CHAT, "diffusion")


def test_a_model_with_a_pooling_type_of_none_is_a_chat_model(tmp_path: Path) -> None:
    check_chat_model(read_header(write_gguf(tmp_path / "model.gguf", chat_metadata("qwen3", qwen3__pooling_type=0))))


@pytest.mark.parametrize("architecture", ["zorkmoe", "gptj", "(unknown)", "Llama"])
def test_an_unknown_architecture_is_refused_with_its_name(tmp_path: Path, architecture: str) -> None:
    error = refusal(tmp_path, chat_metadata(architecture))
    assert (error.code, error.facts["architecture"]) == (ErrorCode.GGUF_UNKNOWN_ARCHITECTURE, architecture)


def test_a_file_that_names_no_architecture_is_refused_as_unknown(tmp_path: Path) -> None:
    error = refusal(tmp_path, {"general.name": "x"})
    assert (error.code, error.facts["architecture"]) == (ErrorCode.GGUF_UNKNOWN_ARCHITECTURE, None)


def test_a_vocabulary_without_weights_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, chat_metadata(), []).facts["kind"] == "vocab_only"


@pytest.mark.parametrize(
    "change",
    [{"tokenizer.ggml.model": "no_vocab"}, {"tokenizer.ggml.model": "none"}, {"tokenizer.ggml.tokens": []}],
)
def test_a_model_without_a_vocabulary_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    assert refusal(tmp_path, {**chat_metadata(), **change}).code is ErrorCode.GGUF_NO_VOCABULARY


@pytest.mark.parametrize("key", ["tokenizer.ggml.model", "tokenizer.ggml.tokens"])
def test_a_model_whose_vocabulary_is_not_there_is_refused(tmp_path: Path, key: str) -> None:
    metadata = chat_metadata()
    del metadata[key]
    assert refusal(tmp_path, metadata).code is ErrorCode.GGUF_NO_VOCABULARY


@pytest.mark.parametrize(
    ("key", "change"),
    [
        # each of these is a GGML_ASSERT in llama.cpp's load_hparams: it would abort the engine, not fail the load
        ("block_count", {"llama.block_count": 0}),
        ("block_count", {"llama.block_count": 513}),
        ("expert_count", {"llama.expert_count": 2000, "llama.expert_used_count": 2}),
        ("expert_count", {"llama.expert_count": 8}),
        ("expert_count", {"llama.expert_count": 8, "llama.expert_used_count": 9}),
        ("expert_count", {"llama.expert_used_count": 2}),
        ("context_length", {"llama.context_length": 0}),
        ("context_length", {"llama.context_length": "many"}),
    ],
)
def test_numbers_that_would_abort_the_engine_are_refused(tmp_path: Path, key: str, change: dict[str, object]) -> None:
    error = refusal(tmp_path, {**chat_metadata(), **change})
    assert (error.code, error.facts["key"]) == (ErrorCode.GGUF_DAMAGED, key)


def test_experts_counted_per_layer_pass(tmp_path: Path) -> None:
    metadata = chat_metadata("kimi-k3", **{"kimi-k3__expert_count": 8, "kimi-k3__expert_used_count": [0, 2]})
    check_chat_model(read_header(write_gguf(tmp_path / "model.gguf", metadata)))


def test_a_later_shard_is_refused_with_its_place(tmp_path: Path) -> None:
    error = refusal(tmp_path, {"split.no": Typed(2, 1), "split.count": Typed(2, 3), **chat_metadata()})
    assert (error.code, error.facts["kind"]) == (ErrorCode.GGUF_NOT_CHAT, "split_part")
    assert (error.facts["part"], error.facts["parts"]) == (2, 3)


@pytest.mark.llama
def test_the_starter_and_another_model_pass(smol_gguf: Path, gemma_gguf: Path) -> None:
    check_chat_model(read_header(smol_gguf))
    check_chat_model(read_header(gemma_gguf))
