"""From samples to warnings: raised when a limit has held for its time, cleared ten seconds after it is well below."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from layadesk.domain.hardware import HardwareSample
from layadesk.domain.machine_alerts import RULES, Danger, Rule, Severity

CLEAR_AFTER_S: Final = 10.0
CLEAR_BELOW: Final = 0.8  # of the limit


@dataclass(frozen=True, slots=True)
class Alert:
    """One episode: since when (monotonic seconds), how bad at its worst, and the measure of its rule now.

    `is_acute`: the measure is above the critical limit at this moment.
    """

    danger: Danger
    severity: Severity
    since: float
    value: float
    is_acute: bool = False


@dataclass(slots=True)
class _State:
    above_warn_at: float | None = None
    above_critical_at: float | None = None
    calm_at: float | None = None
    alert: Alert | None = None


class AlertWatch:
    """Takes every sample, in order. One thread."""

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        self._states = {rule: _State() for rule in rules}

    def take(self, sample: HardwareSample) -> tuple[Alert, ...]:
        """What is wrong now, the worst first. What samples cannot tell is not said for longer than ten seconds: the
        measure may be of work that is over, of memory that is no longer full, of a GPU that is gone.
        """
        for rule, state in self._states.items():
            value = rule.measure(sample)
            if value is not None:
                _follow(rule, state, value, sample.taken_at)
            else:
                _doubt(state, sample.taken_at)
        alerts = [state.alert for state in self._states.values() if state.alert is not None]
        return tuple(sorted(alerts, key=lambda alert: (-alert.severity, alert.since)))


def _follow(rule: Rule, state: _State, value: float, now: float) -> None:
    state.above_warn_at = _since(state.above_warn_at, now, is_above=value >= rule.warn)
    state.above_critical_at = _since(state.above_critical_at, now, is_above=value >= rule.critical)
    is_acute = value >= rule.critical
    is_critical = state.above_critical_at is not None and now - state.above_critical_at >= rule.critical_after_s
    is_warning = state.above_warn_at is not None and now - state.above_warn_at >= rule.warn_after_s
    if is_critical or is_warning:
        severity = Severity.CRITICAL if is_critical else Severity.WARN
        before = state.alert
        state.calm_at = None
        if before is None:
            state.alert = Alert(rule.danger, severity, now, value, is_acute)
        else:
            worst = max(before.severity, severity)
            state.alert = replace(before, severity=worst, value=value, is_acute=is_acute)
    elif state.alert is not None:
        state.alert = replace(state.alert, value=value, is_acute=is_acute)
        if value < CLEAR_BELOW * min(rule.warn, rule.critical):
            _calm_down(state, now)
        else:
            state.calm_at = None


def _doubt(state: _State, now: float) -> None:
    state.above_warn_at = state.above_critical_at = None
    if state.alert is not None:
        state.alert = replace(state.alert, is_acute=False)
        _calm_down(state, now)


def _since(since: float | None, now: float, *, is_above: bool) -> float | None:
    if not is_above:
        return None
    return now if since is None else since


def _calm_down(state: _State, now: float) -> None:
    state.calm_at = now if state.calm_at is None else state.calm_at
    if now - state.calm_at >= CLEAR_AFTER_S:
        state.alert = state.calm_at = None
