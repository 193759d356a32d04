"""Models in several files: one model, whichever of its files is chosen (reported faults D25, D27)."""

from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError, UserError
from layadesk.model_library.shards import read_model
from tests.fakes.gguf_files import Tensor, Typed, chat_metadata, gguf_bytes, write_gguf, write_shards


def refusal(path: Path) -> LayaDeskError:
    """The error with which a model is refused."""
    with pytest.raises(UserError) as caught:
        read_model(path)
    return caught.value


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_any_shard_stands_for_the_whole_model(tmp_path: Path, chosen: int) -> None:
    paths = write_shards(tmp_path / "模型 🦙", "big model")
    model = read_model(paths[chosen])
    assert (model.path, model.paths) == (paths[0], paths)
    assert model.size_bytes == sum(path.stat().st_size for path in paths)
    assert model.header.architecture == "llama"


@pytest.mark.parametrize("lost", [0, 2])
def test_a_missing_shard_is_named(tmp_path: Path, lost: int) -> None:
    paths = write_shards(tmp_path)
    paths[lost].unlink()
    error = refusal(paths[1])
    assert error.code is ErrorCode.GGUF_SPLIT_INCOMPLETE
    assert (error.facts["missing"], error.facts["part"], error.facts["parts"]) == (paths[lost].name, 2, 3)


def test_a_renamed_shard_is_refused_with_the_name_it_must_have(tmp_path: Path) -> None:
    paths = write_shards(tmp_path)
    renamed = paths[0].rename(tmp_path / "mine.gguf")
    error = refusal(renamed)
    assert (error.code, error.facts["missing"]) == (ErrorCode.GGUF_SPLIT_INCOMPLETE, "mine-00001-of-00003.gguf")


def test_a_truncated_shard_is_refused_by_its_own_name(tmp_path: Path) -> None:
    paths = write_shards(tmp_path)
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    error = refusal(paths[0])
    assert (error.code, error.facts["path"]) == (ErrorCode.GGUF_TRUNCATED, str(paths[2]))


def test_shards_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    paths = write_shards(tmp_path)
    second = paths[1].read_bytes()
    paths[1].write_bytes(paths[2].read_bytes())
    paths[2].write_bytes(second)
    error = refusal(paths[0])
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "split_number")


def test_shards_of_different_models_are_refused_by_their_number_of_tensors(tmp_path: Path) -> None:
    paths = write_shards(tmp_path)
    split = {"split.no": Typed(2, 1), "split.count": Typed(2, 3)}
    paths[1].write_bytes(gguf_bytes(split, [Tensor("a"), Tensor("b")]))
    error = refusal(paths[0])
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "split_tensors")


def test_a_first_shard_without_tensors_is_no_empty_vocabulary(tmp_path: Path) -> None:
    split = {"split.count": Typed(2, 2), "split.tensors.count": Typed(5, 1)}
    first = tmp_path / "m-00001-of-00002.gguf"
    write_gguf(first, {**chat_metadata(), **split, "split.no": Typed(2, 0)}, [])
    write_gguf(tmp_path / "m-00002-of-00002.gguf", {**split, "split.no": Typed(2, 1)}, [Tensor("token_embd.weight")])
    assert read_model(first).size_bytes > 0


def test_absurd_shard_numbers_are_refused(tmp_path: Path) -> None:
    split = {"split.no": Typed(2, 7), "split.count": Typed(2, 3)}
    error = refusal(write_gguf(tmp_path / "m.gguf", {**chat_metadata(), **split}))
    assert (error.code, error.facts["reason"]) == (ErrorCode.GGUF_DAMAGED, "split_number")


def test_a_model_in_one_file_is_one_file(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "name-00001-of-00003.gguf")  # named like a shard, and none by its metadata
    assert read_model(path).paths == (path,)
