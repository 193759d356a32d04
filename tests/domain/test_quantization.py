"""What the names of quantizations say."""

import pytest

from layadesk.domain.quantization import Closeness, bits_per_weight, closeness, plain_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("F16", Closeness.ORIGINAL),
        ("BF16", Closeness.ORIGINAL),
        ("Q8_0", Closeness.NEAR),
        ("UD-Q6_K", Closeness.NEAR),
        ("Q4_K_M", Closeness.GOOD),
        ("UD-IQ4_XS", Closeness.GOOD),
        ("MXFP4", Closeness.TRAINED),
        ("UD-IQ3_XXS", Closeness.FAIR),
        ("UD-Q2_K_XL", Closeness.WEAK),
        ("IQ1_S", Closeness.WEAK),
        ("something new", Closeness.WEAK),
    ],
)
def test_the_name_says_how_close_it_is(name: str, expected: Closeness) -> None:
    assert closeness(name) is expected


def test_four_bits_that_training_knew_of_are_no_loss() -> None:
    assert closeness("Q4_0", "gemma-4-12b-it-qat-q4_0.gguf") is Closeness.TRAINED
    assert closeness("Q4_0", "aqatic-Q4_0.gguf") is Closeness.GOOD


def test_bits_follow_the_name_and_a_strange_one_is_taken_for_the_usual() -> None:
    assert bits_per_weight("UD-Q4_K_M") == bits_per_weight("Q4_0") == bits_per_weight(None) == 4.9
    assert bits_per_weight("bf16") == 16.0
    assert bits_per_weight("Q2_K") < bits_per_weight("Q3_K_S") < bits_per_weight("Q8_0")
    assert plain_name("ud-q4_k_m") == "Q4_K_M"
