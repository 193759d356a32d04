"""Checks that are asked for without waiting."""

import threading

import pytest

from layadesk.domain.alert_watch import Alert
from layadesk.domain.diagnosis import Case, Diagnosis
from layadesk.domain.machine_alerts import Danger, Severity
from layadesk.usecases.check_installation import Check, Finding, Level
from layadesk.usecases.diagnose import Diagnose, Health

FOUND = (Finding(Check.STARTER, Level.OK),)
HEALTH = Health(FOUND, ())


def report(findings: tuple[Finding, ...], case: Case, diagnoses: tuple[Diagnosis, ...]) -> str:
    return f"{len(findings)} finding"


def test_who_asks_during_a_check_gets_that_one_and_the_next_who_asks_a_new_one() -> None:
    n_checks, go_on = [0], threading.Event()

    def check() -> tuple[Finding, ...]:
        n_checks[0] += 1
        assert go_on.wait(10)
        return FOUND

    diagnose = Diagnose(check, Case, report)
    first, second = diagnose.check(), diagnose.check()
    go_on.set()
    assert first.result(10) == second.result(10) == HEALTH
    assert n_checks == [1]
    assert diagnose.check().result(10) == HEALTH
    assert n_checks == [2]


def test_a_check_that_breaks_is_told_and_does_not_stop_the_next() -> None:
    answers = iter([ZeroDivisionError("in a check"), FOUND])

    def check() -> tuple[Finding, ...]:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value] # the findings

    diagnose = Diagnose(check, Case, report)
    with pytest.raises(ZeroDivisionError):
        diagnose.check().result(10)
    assert diagnose.check().result(10) == HEALTH


def test_a_report_tells_what_was_found_and_how_the_machine_is_now() -> None:
    alerts: list[Alert] = []
    told: list[Case] = []

    def gather() -> Case:
        return Case(alerts=tuple(alerts))

    def write(findings: tuple[Finding, ...], case: Case, diagnoses: tuple[Diagnosis, ...]) -> str:
        told.append(case)
        return f"{len(findings)} finding, {len(diagnoses)} diagnosis"

    diagnose = Diagnose(lambda: FOUND, gather, write)
    health = diagnose.check().result(10)
    alerts.append(Alert(Danger.SPILL, Severity.CRITICAL, 1.0, 2.0**30))
    assert diagnose.report(health.findings).result(10) == "1 finding, 1 diagnosis"
    assert told[0].alerts == tuple(alerts)


def test_a_report_that_cannot_be_made_is_told() -> None:
    def gather() -> Case:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Diagnose(lambda: FOUND, gather, report).report(FOUND).result(10)
