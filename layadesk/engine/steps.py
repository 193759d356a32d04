"""Has every expert that has work compute its next step, those on different devices at the same time.

Experts that share a device take turns: two of them at once on one CPU are no faster than one after the other. Where all
that are loaded share one, steps are computed right on the decode thread. Else each set of devices has a thread of its
own, for the decode call alone; whatever comes before and after it stays on the decode thread.
"""

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from layadesk.engine.decode_step import Step
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.throughput import Throughput

BEAT_S = 5.0  # how often a long step shows that it still moves


@dataclass(frozen=True, slots=True)
class StepEnded:
    """Some step in another thread has ended: `Steps.collect` is due."""


@dataclass(slots=True, eq=False)
class _Flight:
    """A step in a thread of its own. `number` is what the watcher of hangs is told; it moves while the step does."""

    runner: ExpertRunner
    step: Step
    phase: str
    number: int
    n_asked: int = 0
    n_asked_told: int = 0
    is_called_off: bool = False
    failure: BaseException | None = None

    def should_abort(self) -> bool:
        """Asked by the native code, in the step's thread."""
        self.n_asked += 1
        return self.is_called_off


class _Lane:
    """A thread for what some devices compute. `landed` is called on it, with every flight."""

    def __init__(self, name: str, landed: Callable[[_Flight], None]) -> None:
        self._landed = landed
        self._flights: queue.SimpleQueue[_Flight | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"decode {name}", daemon=True)
        self._thread.start()

    def send(self, flight: _Flight) -> None:
        """Compute it; only when the last one has landed."""
        self._flights.put(flight)

    def stop(self, timeout_s: float) -> bool:
        """Let the thread end; False when it did not in time."""
        self._flights.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (flight := self._flights.get()) is not None:
            try:
                flight.runner.compute(flight.step, flight.should_abort)
            except BaseException as failure:  # noqa: BLE001  # raised again on the decode thread, whose end it is
                flight.failure = failure
            self._landed(flight)


class Steps:
    """Decode thread, but for the decode calls themselves.

    `calls_off` is asked in the middle of a long step on the decode thread: whether something has arrived that ends the
    step of this expert. `post` gets StepEnded from the other threads.
    """

    def __init__(
        self,
        runners: Mapping[str, ExpertRunner],
        throughput: Throughput,
        *,
        post: Callable[[StepEnded], None],
        set_phase: Callable[[str, int], None],
        clock: Callable[[], float],
        calls_off: Callable[[ExpertRunner], bool],
    ) -> None:
        self.n_steps = 0
        self._runners = runners
        self._throughput = throughput
        self._post = post
        self._set_phase = set_phase
        self._clock = clock
        self._calls_off = calls_off
        self._last_beat = 0.0
        self._turns: dict[str, int] = {}  # when each expert had its last step, by the number of that step
        self._lanes: dict[frozenset[str], _Lane] = {}
        self._flights: list[_Flight] = []
        self._landed: queue.SimpleQueue[_Flight] = queue.SimpleQueue()

    @property
    def is_in_flight(self) -> bool:
        """Whether another thread computes."""
        return bool(self._flights)

    def take(self, *, has_news: Callable[[], bool]) -> bool:
        """Begin a step of every expert that can have one now, who has waited longest first; whether any has ended.

        `has_news`: whether something arrived meanwhile. Then the next step begins with another expert.
        """
        is_apart = len({runner.devices for runner in self._runners.values()}) > 1
        taken = {device for flight in self._flights for device in flight.runner.devices}
        has_ended = False
        for runner in self._in_turn():
            is_free = taken.isdisjoint(runner.devices)
            if is_apart:
                taken |= runner.devices  # also for one that has to wait, or it might do so for ever
            if not is_free:
                continue
            step = self._begin(runner)
            if step is not None and is_apart:
                self._send(runner, step)
                continue
            if step is not None:
                self._compute_here(runner, step)
            has_ended = True
            if has_news():
                break
        return has_ended

    def collect(self) -> None:
        """Take in every step that has ended in another thread."""
        while not self._landed.empty():
            self._land(self._landed.get_nowait())

    def settle(self, runner: ExpertRunner, *, calls_off: bool = False) -> None:
        """Wait until no step of an expert is on its way: now its cells may be touched. `calls_off`: end it early."""
        for flight in self._flights:
            if flight.runner is runner:
                flight.is_called_off |= calls_off
        while runner.is_stepping:
            self._land(self._landed.get())

    def settle_all(self) -> None:
        """Wait until no step is on its way."""
        for flight in list(self._flights):
            self.settle(flight.runner)

    def tell_phase(self) -> None:
        """Tell the watcher of hangs of the step in another thread that began first, and whether it still moves."""
        if not self._flights:
            return
        oldest = self._flights[0]
        if oldest.n_asked != oldest.n_asked_told:
            oldest.n_asked_told = oldest.n_asked
            oldest.number = self._next_number()
        self._set_phase(oldest.phase, oldest.number)

    def beat(self) -> None:
        """Tell the watcher of hangs that something that is no step still moves. Decode thread."""
        self._set_phase("prefill", self._next_number())

    def stop(self, timeout_s: float) -> bool:
        """Call off what other threads compute and let them end; False where one sits in native code."""
        for flight in self._flights:
            flight.is_called_off = True
        are_quiet = [lane.stop(timeout_s) for lane in self._lanes.values()]
        self.collect()
        return all(are_quiet)

    def _next_number(self) -> int:
        self.n_steps += 1
        return self.n_steps

    def _in_turn(self) -> list[ExpertRunner]:
        busy = [runner for runner in self._runners.values() if runner.scheduler.has_work and not runner.is_stepping]
        return sorted(busy, key=lambda runner: self._turns.get(runner.model_id, 0))

    def _begin(self, runner: ExpertRunner) -> Step | None:
        self._turns[runner.model_id] = self._next_number()
        self._throughput.begin()
        is_shared = any(
            other is not runner and other.scheduler.n_decoding > 0 and not runner.devices.isdisjoint(other.devices)
            for other in self._runners.values()
        )
        return runner.begin_step(is_shared=is_shared)

    def _compute_here(self, runner: ExpertRunner, step: Step) -> None:
        self._set_phase(_phase(runner), self.n_steps)
        should_abort = partial(self._asked_here, runner, step)
        runner.compute(step, should_abort)
        self._throughput.add(runner.end_step(step, should_abort))

    def _asked_here(self, runner: ExpertRunner, step: Step) -> bool:
        """Asked by the native code in the middle of a prefill, on the decode thread: has anyone called it off?"""
        now = self._clock()
        if now - self._last_beat >= BEAT_S:
            self._last_beat = now
            self._set_phase("prefill", self._next_number())
        step.is_called_off = step.is_called_off or self._calls_off(runner)
        return step.is_called_off

    def _send(self, runner: ExpertRunner, step: Step) -> None:
        flight = _Flight(runner, step, _phase(runner), self.n_steps)
        self._flights.append(flight)
        lane = self._lanes.get(runner.devices)
        if lane is None:
            lane = self._lanes[runner.devices] = _Lane("+".join(sorted(runner.devices)), self._has_landed)
        lane.send(flight)
        self.tell_phase()

    def _has_landed(self, flight: _Flight) -> None:
        """On the flight's thread."""
        self._landed.put(flight)
        self._post(StepEnded())

    def _land(self, flight: _Flight) -> None:
        self._flights.remove(flight)
        if flight.failure is not None:
            raise flight.failure
        self._throughput.add(flight.runner.end_step(flight.step, flight.should_abort))
        self.tell_phase()


def _phase(runner: ExpertRunner) -> str:
    return "decode" if runner.scheduler.n_decoding else "prefill"
