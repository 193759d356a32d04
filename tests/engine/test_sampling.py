import math
from dataclasses import replace

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import SamplingParams
from layadesk.engine.sampling import (
    Draw,
    Dry,
    Greedy,
    MinP,
    Mirostat,
    Penalties,
    Temperature,
    TopK,
    TopNSigma,
    TopP,
    Typical,
    Xtc,
    biases,
    check_sampling,
    sampler_chain,
    seed_of,
)

DEFAULTS = SamplingParams()


def test_the_default_chain_is_in_the_order_of_llama_cpp() -> None:
    assert sampler_chain(DEFAULTS, 5) == (
        Penalties(64, 1.1, 0.0, 0.0),
        TopK(40),
        TopP(0.95),
        MinP(0.05),
        Temperature(0.6),
        Draw(5),
    )


def test_temperature_0_is_greedy_and_still_punishes_repetition() -> None:
    assert sampler_chain(replace(DEFAULTS, temperature=0.0), 5) == (Penalties(64, 1.1, 0.0, 0.0), Greedy())


def test_every_stage_has_its_place() -> None:
    full = replace(
        DEFAULTS,
        dry_multiplier=0.8,
        top_n_sigma=1.0,
        typical_p=0.9,
        xtc_probability=0.5,
        frequency_penalty=0.2,
        presence_penalty=0.1,
    )
    assert sampler_chain(full, 5) == (
        Penalties(64, 1.1, 0.2, 0.1),
        Dry(0.8, 1.75, 2, 1024, ("\n", ":", '"', "*")),
        TopNSigma(1.0),
        TopK(40),
        Typical(0.9),
        TopP(0.95),
        MinP(0.05),
        Xtc(0.5, 0.1, 5),
        Temperature(0.6),
        Draw(5),
    )


def test_biases_of_one_token_add_up_and_end_tokens_are_forbidden_only_where_asked() -> None:
    biased = replace(DEFAULTS, logit_bias=((7, -1.0), (8, 2.0), (7, -0.5)))
    assert biases(biased, [2]) == {7: -1.5, 8: 2.0}
    assert biases(replace(biased, ignore_eos=True), [2, 8]) == {7: -1.5, 8: -math.inf, 2: -math.inf}


def test_mirostat_takes_the_place_of_the_filters_and_of_the_draw() -> None:
    chain = sampler_chain(replace(DEFAULTS, mirostat=2, mirostat_tau=4.0), 5)
    assert chain == (Penalties(64, 1.1, 0.0, 0.0), Temperature(0.6), Mirostat(2, 4.0, 0.1, 5))


def test_neutral_stages_are_left_out() -> None:
    neutral = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repeat_penalty=1.0)
    assert sampler_chain(neutral, 5) == (Temperature(1.0), Draw(5))
    assert sampler_chain(replace(neutral, repeat_penalty=1.2, repeat_last_n=0), 5) == (Temperature(1.0), Draw(5))


def test_the_requests_own_seed_wins_and_every_seed_fits_32_bits() -> None:
    assert seed_of(replace(DEFAULTS, seed=3), drawn=9) == 3
    assert seed_of(DEFAULTS, drawn=9) == 9
    assert seed_of(replace(DEFAULTS, seed=2**40 + 1), drawn=9) == 1
    assert seed_of(replace(DEFAULTS, seed=-1), drawn=9) == 0xFFFFFFFE  # the highest value would mean "at random"


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        (replace(DEFAULTS, temperature=-0.1), "temperature"),
        (replace(DEFAULTS, temperature=float("nan")), "temperature"),
        (replace(DEFAULTS, temperature=float("inf")), "temperature"),
        (replace(DEFAULTS, top_p=1.1), "top_p"),
        (replace(DEFAULTS, min_p=-0.5), "min_p"),
        (replace(DEFAULTS, repeat_penalty=0.0), "repeat_penalty"),
        (replace(DEFAULTS, top_k=-1), "top_k"),
        (replace(DEFAULTS, repeat_last_n=10**9), "repeat_last_n"),
        (replace(DEFAULTS, max_tokens=0), "max_tokens"),
        (replace(DEFAULTS, mirostat=3), "mirostat"),
        (replace(DEFAULTS, typical_p=2.0), "typical_p"),
        (replace(DEFAULTS, logit_bias=((-1, 0.0),)), "logit_bias"),
        (replace(DEFAULTS, logit_bias=((1, float("nan")),)), "logit_bias"),
        (replace(DEFAULTS, logit_bias=((1, 0.0),) * 20_000), "logit_bias"),
        (replace(DEFAULTS, dry_breakers=("",)), "dry_breakers length"),
        (replace(DEFAULTS, grammar="x" * 10**6), "grammar"),
        (replace(DEFAULTS, stop=("",)), "stop length"),
        (replace(DEFAULTS, stop=("x" * 5000,)), "stop length"),
        (replace(DEFAULTS, stop=tuple(str(i) for i in range(10_000))), "stop"),
    ],
)
def test_a_parameter_no_sampler_can_use_is_refused_by_name(params: SamplingParams, parameter: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        check_sampling(params)
    assert refused.value.code is ErrorCode.BAD_PARAMETER
    assert refused.value.facts["parameter"] == parameter


def test_ordinary_parameters_pass() -> None:
    check_sampling(DEFAULTS)
    check_sampling(replace(DEFAULTS, temperature=0.0, top_k=0, max_tokens=1, stop=("\n\n",), seed=-5))
