from collections.abc import Callable
from pathlib import Path

import gguf
import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend, DecodeOutcome
from layadesk.engine.scripted_backend import ScriptedBackend, ScriptedExpert
from layadesk.engine.self_test import FILE_NAME, run_self_test, tiny_model


class Broken(ScriptedBackend):
    """A build that loads, and fails at the first decode."""

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> ScriptedExpert:
        expert = super().load(spec, on_progress)
        expert.decode = lambda batch, should_abort: DecodeOutcome.FAILED  # type: ignore[method-assign]  # broken
        return expert


def test_the_tiny_model_is_a_gguf_that_other_readers_understand(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(tiny_model())
    reader = gguf.GGUFReader(path)
    assert reader.fields["general.architecture"].contents() == "llama"
    assert len(reader.tensors) == 3 + 2 * 9
    assert {tensor.tensor_type.name for tensor in reader.tensors} == {"F32", "Q4_0", "Q8_0", "Q4_K", "Q6_K"}
    assert path.stat().st_size < 2**20


def test_it_is_the_same_file_every_time() -> None:
    assert tiny_model() == tiny_model()


@pytest.mark.llama
def test_a_good_build_passes_and_the_file_is_kept(llama_backend: Backend, tmp_path: Path) -> None:
    assert run_self_test(llama_backend, tmp_path / "cache") > 0
    kept = tmp_path / "cache" / FILE_NAME
    written_at = kept.stat().st_mtime_ns
    assert run_self_test(llama_backend, tmp_path / "cache") > 0
    assert kept.stat().st_mtime_ns == written_at


@pytest.mark.llama
def test_a_damaged_file_is_written_anew(llama_backend: Backend, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(tiny_model()[:-1000])
    assert run_self_test(llama_backend, tmp_path) > 0
    assert (tmp_path / FILE_NAME).read_bytes() == tiny_model()


@pytest.mark.llama
def test_a_cache_that_cannot_be_written_is_done_without(llama_backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run_self_test(llama_backend, tmp_path / "file" / "cache") > 0


def test_a_build_that_cannot_decode_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(LayaDeskError) as failure:
        run_self_test(Broken(), tmp_path)
    assert failure.value.code is ErrorCode.ENGINE_BAD_BUILD
    assert failure.value.facts["detail"] == "decode: FAILED"
