"""Where the time of an answer went."""

import pytest

from layadesk.domain.answer_time import ComputePart, ComputeProfile, TimePart, time_parts
from layadesk.domain.inference import Timings


def test_choosing_and_text_are_taken_out_of_decoding() -> None:
    timings = Timings(queue_ms=1.0, prefill_ms=20.0, decode_ms=100.0, sample_ms=8.0, detokenize_ms=2.0)
    parts = dict(time_parts(timings, route_ms=0.5, screen_ms=3.0))
    assert list(parts) == list(TimePart)
    assert (parts[TimePart.ROUTE], parts[TimePart.SCREEN], parts[TimePart.PREFILL]) == (0.5, 3.0, 20.0)
    assert (parts[TimePart.DECODE], parts[TimePart.SAMPLE], parts[TimePart.DETOKENIZE]) == (90.0, 8.0, 2.0)
    assert sum(ms for ms in parts.values() if ms is not None) == pytest.approx(1 + 20 + 100 + 0.5 + 3)


def test_what_was_not_measured_is_unknown_and_not_nothing() -> None:
    parts = dict(time_parts(Timings()))
    assert set(parts.values()) == {None}


def test_shares_of_a_profile_add_up() -> None:
    profile = ComputeProfile(((ComputePart.ATTENTION, 3.0), (ComputePart.OUTPUT, 1.0)), plain_ms=2.0, n_past=5)
    assert profile.shares() == ((ComputePart.ATTENTION, 0.75), (ComputePart.OUTPUT, 0.25))
    assert ComputeProfile((), 0.0, 0).shares() == ()
