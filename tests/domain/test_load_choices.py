"""What the user chose about loading an expert, as a line of text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.inference import LoadParams
from layadesk.domain.load_choices import apply_choice, choice_between, parse_loads, with_load

USUAL = LoadParams(n_ctx=8192)


@given(
    st.builds(
        LoadParams,
        n_ctx=st.integers(512, 1_048_576),
        n_gpu_layers=st.integers(-1, 100),
        n_threads=st.integers(0, 64),
        n_parallel=st.integers(1, 16),
        n_cpu_moe=st.integers(0, 100),
        type_k=st.sampled_from(["f16", "q8_0", "q4_0"]),
        type_v=st.sampled_from(["f16", "q8_0", "q4_0"]),
        flash_attn=st.sampled_from(["auto", "on", "off"]),
        use_mmap=st.sampled_from([None, True, False]),
    )
)
def test_a_choice_survives_being_written_down(params: LoadParams) -> None:
    text = with_load("other = n_ctx 4096", "my expert:1.5b", choice_between(params, USUAL))
    found = parse_loads(text)
    assert apply_choice(USUAL, found.get("my expert:1.5b", {})) == params
    assert found["other"] == {"n_ctx": 4096}


def test_only_what_differs_is_kept_and_nothing_is_no_line() -> None:
    assert choice_between(LoadParams(n_ctx=4096, use_mmap=False), USUAL) == {"n_ctx": 4096, "use_mmap": "off"}
    assert with_load("a = n_ctx 4096\nb = n_ctx 1024", "a", {}) == "b = n_ctx 1024"


@pytest.mark.parametrize(
    "text",
    [
        "a = n_ctx 5",
        "a = n_ctx -4096",
        "a = n_ctx ٤٠٩٦",
        "a = n_ctx 99999999999999999999",
        "a = tensor_overrides x",
        "a = type_k f64",
        "a n_ctx 4096",
        "= n_ctx 4096",
        "a = ,,,",
        "",
    ],
)
def test_what_makes_no_sense_is_left_out(text: str) -> None:
    assert parse_loads(text) == {}
    assert parse_loads(f"{text}\nb = n_ctx 4096, n_ctx none") == {"b": {"n_ctx": 4096}}
