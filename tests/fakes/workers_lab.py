"""Clients over fake children, with a patience that suits tests."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from layadesk.domain.inference import PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.worker_state import WorkerState, WorkerStatus, restart_delay
from layadesk.protocol.commands import Generate
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.liveness import Timing
from layadesk.workers.router_client import RouterClient
from layadesk.workers.spawn import spawn_child
from tests.fakes.workers_child import FakeOptions, run_engine, run_router
from tests.fakes.workers_listener import PATIENCE_S, Heard, RequestListener


def short_back_off(crash_times: Sequence[float], now: float) -> float | None:
    """The domain's rule, forty times as fast."""
    delay = restart_delay(crash_times, now)
    return None if delay is None else delay / 40.0


CALM = Timing(back_off=short_back_off)
"""The product's own patience, so that a busy machine looks like no hang, and short waits between starts."""
HASTY = replace(CALM, ping_every_s=0.1, silent_s=0.8, stuck_s={"decode": 0.8}, pipe_full_s=0.5, half_frame_s=0.3)
"""For tests of hangs alone."""


class Starts:
    """Starts fake children, each the way that is next; the last way goes on for ever. Knows all it started."""

    def __init__(self, tmp_path: Path, *ways: str, router: bool = False) -> None:
        self.children: list[ChildProcess] = []
        self.ways = list(ways) or ["ready"]
        self._log_dir = tmp_path / "logs"
        self._target = run_router if router else run_engine

    def __call__(self) -> ChildProcess:
        way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
        child = spawn_child(self._target, FakeOptions(str(self._log_dir), way), name="layadesk-fake")
        self.children.append(child)
        return child

    @property
    def pids(self) -> list[int]:
        """The ids of all that were started, ended or not."""
        return [child.pid for child in self.children]


class EngineLab:
    """A started engine client, what it published, and short words for what tests do with it."""

    def __init__(self, client: EngineClient) -> None:
        self.client = client
        self.statuses: Heard[WorkerStatus] = Heard()
        client.status_feed.subscribe(self.statuses)
        self._n = 0

    def ask(self, model_id: str = "count", *, text: str = "hello", max_tokens: int | None = None) -> RequestListener:
        """Send a request with a new id."""
        self._n += 1
        listener = RequestListener(f"q{self._n}")
        message = PromptMessage(Role.USER, text)
        self.client.generate(
            Generate(listener.request_id, model_id, (message,), SamplingParams(max_tokens=max_tokens)), listener
        )
        return listener

    def settle(self) -> None:
        """Wait until the client thread has done all that it was asked so far."""
        done = threading.Event()
        assert self.client._supervisor.call(done.set)
        assert done.wait(PATIENCE_S)

    def wait_state(self, state: WorkerState, *, times: int = 1) -> WorkerStatus:
        """Wait until `state` was entered so often; returns the last status of that state."""

        def entered(statuses: list[WorkerStatus]) -> list[WorkerStatus]:
            return [new for old, new in zip([None, *statuses], statuses, strict=False) if _enters(old, new, state)]

        return entered(self.statuses.wait_until(lambda all_: len(entered(all_)) >= times))[-1]


def _enters(old: WorkerStatus | None, new: WorkerStatus, state: WorkerState) -> bool:
    return new.state is state and (old is None or old.state is not state)


@contextmanager
def engine_lab(
    start: Callable[[], ChildProcess], tmp_path: Path, *, timing: Timing = CALM, stop_s: float = 2.0
) -> Iterator[EngineLab]:
    """A running engine client; stopped at the end, by force after `stop_s`."""
    client = EngineClient(start, log_dir=tmp_path / "logs", run_dir=tmp_path / "run", timing=timing)
    lab = EngineLab(client)
    client.start()
    try:
        yield lab
    finally:
        client.stop(stop_s)


@contextmanager
def router_lab(
    start: Callable[[], ChildProcess], tmp_path: Path, *, starting_s: float = PATIENCE_S
) -> Iterator[RouterClient]:
    """A running router client; stopped at the end."""
    client = RouterClient(
        start, log_dir=tmp_path / "logs", run_dir=tmp_path / "run", timing=CALM, starting_s=starting_s
    )
    client.start()
    try:
        yield client
    finally:
        client.stop(2.0)


def spec(model_id: str, *, path: str = "/models/a.gguf") -> ExpertSpec:
    """An expert that fake children need no file for."""
    return ExpertSpec(model_id, path)


def is_running(pid: int) -> bool:
    """Whether a process of that id exists; one that ended and was not waited for does too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
