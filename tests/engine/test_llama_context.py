from dataclasses import replace

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams, TensorOverride
from layadesk.engine.llama_context import context_numbers, n_physical_cores

DEFAULTS = LoadParams()


def test_the_defaults_in_the_librarys_terms() -> None:
    numbers = context_numbers(DEFAULTS)
    assert (numbers.n_ctx, numbers.n_batch, numbers.n_ubatch, numbers.n_parallel) == (8192, 2048, 256, 4)
    assert (numbers.type_k, numbers.type_v) == (1, 1)
    assert numbers.flash_attn_type == -1
    assert numbers.n_threads == n_physical_cores() >= 1
    assert numbers.n_gpu_layers == -1


def test_threads_that_were_asked_for_are_used() -> None:
    assert context_numbers(replace(DEFAULTS, n_threads=3)).n_threads == 3


def test_a_quantised_v_cache_switches_flash_attention_on() -> None:
    numbers = context_numbers(replace(DEFAULTS, type_k="q8_0", type_v="q8_0"))
    assert (numbers.type_k, numbers.type_v, numbers.flash_attn_type) == (8, 8, 1)


def test_a_quantised_v_cache_without_flash_attention_is_refused_before_the_load() -> None:
    with pytest.raises(LayaDeskError) as refused:
        context_numbers(replace(DEFAULTS, type_v="q4_0", flash_attn="off"))
    assert refused.value.code is ErrorCode.BAD_PARAMETER
    assert refused.value.facts["needs"] == "flash_attn"


def test_a_batch_has_room_for_all_who_decode_and_some_prompt() -> None:
    numbers = context_numbers(replace(DEFAULTS, n_batch=32, n_parallel=16))
    assert numbers.n_batch == 48
    assert numbers.n_ubatch <= numbers.n_batch


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"n_ctx": 0}, "n_ctx"),
        ({"n_ctx": 2**31}, "n_ctx"),
        ({"n_parallel": 0}, "n_parallel"),
        ({"n_parallel": 1000}, "n_parallel"),
        ({"n_batch": 0}, "n_batch"),
        ({"n_ubatch": -1}, "n_ubatch"),
        ({"n_threads": -1}, "n_threads"),
        ({"type_k": "q4_K"}, "type_k"),
        ({"type_v": "f8"}, "type_v"),
        ({"flash_attn": "maybe"}, "flash_attn"),
        ({"n_kept": -1}, "n_kept"),
        ({"n_cpu_moe": -1}, "n_cpu_moe"),
        ({"tensor_overrides": (TensorOverride("ffn_(", "CPU"),)}, "tensor_overrides"),
        ({"tensor_overrides": (TensorOverride("", "CPU"),)}, "tensor override length"),
    ],
)
def test_what_the_library_would_choke_on_is_refused_by_name(change: dict[str, object], parameter: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        context_numbers(replace(DEFAULTS, **change))  # type: ignore[arg-type]  # by name
    assert refused.value.code is ErrorCode.BAD_PARAMETER
    assert refused.value.facts["parameter"] == parameter
