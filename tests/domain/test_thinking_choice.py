from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.inference import ThinkingParams
from layadesk.domain.thinking_choice import AUTO, parse_choices, thinking_params, with_choice

names = st.text(alphabet="abc-.1漢", min_size=1, max_size=8)
choices = st.sampled_from(["on", "off", "low", "xhigh"])


def test_each_expert_has_its_own_choice() -> None:
    text = with_choice(parse_choices(with_choice({}, "qwen", "off")), "gpt-oss", "low")
    assert parse_choices(text) == {"qwen": "off", "gpt-oss": "low"}
    assert parse_choices(with_choice(parse_choices(text), "qwen", AUTO)) == {"gpt-oss": "low"}


def test_what_is_no_choice_is_left_out() -> None:
    assert parse_choices("qwen = off\n\nnonsense\n= on\nother =\n") == {"qwen": "off"}


@given(st.dictionaries(names, choices))
def test_choices_come_back_as_they_were(chosen: dict[str, str]) -> None:
    text = ""
    for name, choice in chosen.items():
        text = with_choice(parse_choices(text), name, choice)
    assert parse_choices(text) == chosen


def test_a_choice_is_a_switch_or_an_effort() -> None:
    assert thinking_params(AUTO, 7) == ThinkingParams(max_tokens=7)
    assert thinking_params("on") == ThinkingParams(enabled=True)
    assert thinking_params("off") == ThinkingParams(enabled=False)
    assert thinking_params("low") == ThinkingParams(enabled=True, effort="low")
