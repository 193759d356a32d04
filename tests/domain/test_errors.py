"""Codes, facts, and the class that follows from a code."""

import pytest

from layadesk.domain.errors import (
    Bug,
    EngineFailure,
    EnvironmentFailure,
    ErrorCode,
    ErrorReport,
    Fact,
    LayaDeskError,
    UserError,
    fail,
    from_report,
)

LEAVES = (UserError, EnvironmentFailure, EngineFailure, Bug)


@pytest.mark.parametrize("code", ErrorCode)
def test_each_code_has_exactly_one_class_and_survives_the_way_over_a_border(code: ErrorCode) -> None:
    facts: dict[str, Fact] = {"path": "/a b/排序", "n": 3, "ratio": 0.5, "known": None, "code": "its own", "self": True}
    error = from_report(ErrorReport(code, facts))
    assert sum(isinstance(error, leaf) for leaf in LEAVES) == 1
    assert isinstance(error, LayaDeskError)
    assert error.report == ErrorReport(code, facts)
    assert type(error) is type(fail(code))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.GGUF_TRUNCATED, UserError),
        (ErrorCode.EMPTY_PROMPT, UserError),
        (ErrorCode.DISK_FULL, EnvironmentFailure),
        (ErrorCode.DISK_ERROR, EnvironmentFailure),
        (ErrorCode.DATABASE_MIGRATION_FAILED, EnvironmentFailure),
        (ErrorCode.ENGINE_DIED, EngineFailure),
        (ErrorCode.INTERNAL, Bug),
    ],
)
def test_the_class_says_whose_turn_it_is(code: ErrorCode, kind: type[LayaDeskError]) -> None:
    assert type(fail(code)) is kind


def test_codes_are_lower_case_of_their_names_because_they_are_stored_and_sent() -> None:
    assert [code.value for code in ErrorCode] == [code.name.lower() for code in ErrorCode]


def test_the_text_for_the_log_has_the_code_and_the_facts() -> None:
    assert str(fail(ErrorCode.DISK_FULL)) == "disk_full"
    assert str(fail(ErrorCode.DISK_FULL, path="/a")) == "disk_full: {'path': '/a'}"


def test_a_report_does_not_change_with_the_error_it_came_from() -> None:
    error = fail(ErrorCode.DISK_FULL, path="/a")
    report = error.report
    error.facts["path"] = "/b"
    assert report == ErrorReport(ErrorCode.DISK_FULL, {"path": "/a"})
