"""What each setting accepts."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.settings.definitions import (
    ALL_SETTINGS,
    MAX_TEXT,
    N_CTX,
    REMOVED,
    RENAMED,
    SYSTEM_PROMPT,
    TEMPERATURE,
    UI_LANGUAGE,
    UI_PANEL_VISIBLE,
    Applies,
    Setting,
)

KEYS = [setting.key for setting in ALL_SETTINGS]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def test_keys_are_unique_and_old_names_do_not_shadow_new_ones() -> None:
    assert len(set(KEYS)) == len(KEYS)
    assert not REMOVED & set(KEYS)
    assert not set(RENAMED) & set(KEYS)
    assert set(RENAMED.values()) <= set(KEYS)


@pytest.mark.parametrize("setting", ALL_SETTINGS, ids=KEYS)
def test_each_default_is_valid_and_its_limits_are_in_order(setting: Setting[Any]) -> None:
    assert setting.check(setting.default) == setting.default
    assert type(setting.default) is setting.type
    if setting.minimum is not None and setting.maximum is not None:
        assert setting.minimum < setting.maximum
        assert setting.check(setting.type(setting.minimum)) == setting.minimum
        assert setting.check(setting.type(setting.maximum)) == setting.maximum
    assert isinstance(setting.applies, Applies)


def test_numbers_come_in_their_own_type() -> None:
    assert type(TEMPERATURE.check(1)) is float
    assert type(N_CTX.check(4096.0)) is int


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (N_CTX, 511),
        (N_CTX, 1_048_577),
        (N_CTX, 4096.5),
        (N_CTX, "4096"),
        (N_CTX, True),
        (N_CTX, None),
        (N_CTX, 10**5000),
        (N_CTX, math.nan),
        (TEMPERATURE, -0.01),
        (TEMPERATURE, math.inf),
        (TEMPERATURE, math.nan),
        (TEMPERATURE, False),
        (TEMPERATURE, 10**400),
        (TEMPERATURE, "warm"),
        (UI_PANEL_VISIBLE, 1),
        (UI_PANEL_VISIBLE, "true"),
        (UI_LANGUAGE, "klingon"),
        (UI_LANGUAGE, ""),
        (UI_LANGUAGE, ["en"]),
        (SYSTEM_PROMPT, "x" * (MAX_TEXT + 1)),
        (SYSTEM_PROMPT, "half \ud83c"),
    ],
    ids=lambda value: type(value).__name__,  # one of them has too many digits to be printed
)
def test_what_is_not_valid_is_refused_with_what_would_be(setting: Setting[Any], value: object) -> None:
    with pytest.raises(LayaDeskError) as caught:
        setting.check(value)
    facts = caught.value.facts
    assert caught.value.code is ErrorCode.BAD_SETTING
    assert (facts["key"], facts["type"]) == (setting.key, setting.type.__name__)
    assert facts.get("minimum") == setting.minimum
    assert facts.get("maximum") == setting.maximum
    assert facts.get("choices") == (", ".join(setting.choices) or None)


@given(st.sampled_from(ALL_SETTINGS), JSON_VALUES)
def test_any_value_is_either_valid_or_refused_and_valid_ones_stay_valid(setting: Setting[Any], value: object) -> None:
    try:
        taken = setting.check(value)
    except LayaDeskError:
        return
    assert type(taken) is setting.type
    assert setting.check(taken) == taken
