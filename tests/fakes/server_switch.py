"""The real switch of the server over a listener that listens to nothing."""

from collections.abc import Callable
from pathlib import Path

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail
from layadesk.domain.server import Listening, ServedRequest
from layadesk.paths import DataPaths
from layadesk.settings.settings import Settings
from layadesk.usecases.serve import RunningServer, Serve
from layadesk.usecases.server_key import ServerKey


class FakeListener:
    """Keeps what it was told; a port in `taken` is taken by another program."""

    def __init__(self) -> None:
        self.plans: list[Listening] = []
        self.taken: set[int] = set()
        self.n_stops = 0
        self.served: Callable[[ServedRequest], None] = lambda _: None

    def __call__(self, plan: Listening, served: Callable[[ServedRequest], None]) -> RunningServer:
        """As `api_server.server.listen`."""
        if plan.port in self.taken:
            raise self._refusal(plan)
        self.plans.append(plan)
        self.served = served
        return RunningServer(plan.host, plan.port, self._stop)

    def _refusal(self, plan: Listening) -> LayaDeskError:
        facts: dict[str, Fact] = {
            "host": plan.host,
            "port": plan.port,
            "owner": "nginx",
            "pid": 42,
            "free_port": plan.port + 1,
        }
        return fail(ErrorCode.PORT_IN_USE, **facts)

    def _stop(self) -> None:
        self.n_stops += 1


def server_switch(root: Path, settings: Settings) -> tuple[Serve, FakeListener]:
    """The use case, and what it switches."""
    listener = FakeListener()
    return Serve(settings, ServerKey(DataPaths(root).server_key), listener), listener
