"""Looking inside models: the app's side of what the engine tells of gates, and of measuring a token's time."""

from collections.abc import Callable
from typing import Protocol

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.protocol.commands import ProfileExpert, WatchMoeExperts
from layadesk.protocol.events import ExpertProfiled, MoeExpertsChosen
from layadesk.protocol.feed import Feed


class Line(Protocol):
    """The line to the engine."""

    def call(self, work: Callable[[], None], /) -> bool:
        """Do it on the client thread; False where that has ended."""

    def send(self, command: WatchMoeExperts | ProfileExpert, /) -> None:
        """On the client thread."""


class Inside:
    """`watch` and `profile` may be called from any thread and return at once; the rest belongs to "engine-client".

    `chosen` has what gates choose while that is watched. Each `profile` ends in one ExpertProfiled on `profiled`.
    """

    def __init__(self, line: Line) -> None:
        self.chosen: Feed[MoeExpertsChosen] = Feed()
        self.profiled: Feed[ExpertProfiled] = Feed()
        self._line = line
        self._is_ready = False
        self._is_watched = False
        self._asked: list[str] = []

    def watch(self, *, is_on: bool) -> None:
        """Have `chosen` filled or not, from now on and after each restart; it costs answers some speed."""
        self._line.call(lambda: self._do_watch(is_on=is_on))

    def profile(self, model_id: str, n_past: int) -> None:
        """Have an expert's computing measured, with that many tokens before; the engine does nothing else meanwhile."""
        if not self._line.call(lambda: self._do_profile(ProfileExpert(model_id, n_past))):
            self._refuse(model_id, ErrorReport(ErrorCode.ENGINE_DIED, {"detail": "not running"}))

    def begin(self) -> None:
        """A new engine is ready."""
        self._is_ready = True
        if self._is_watched:
            self._line.send(WatchMoeExperts(True))

    def take(self, event: MoeExpertsChosen | ExpertProfiled) -> None:
        """What the engine tells."""
        if isinstance(event, MoeExpertsChosen):
            self.chosen.publish(event)
        else:
            if event.model_id in self._asked:
                self._asked.remove(event.model_id)
            self.profiled.publish(event)

    def end(self, error: ErrorReport) -> None:
        """The engine has ended, with what was asked of it."""
        self._is_ready = False
        asked, self._asked = self._asked, []
        for model_id in asked:
            self._refuse(model_id, error)

    def _do_watch(self, *, is_on: bool) -> None:
        if is_on is not self._is_watched and self._is_ready:
            self._line.send(WatchMoeExperts(is_on))
        self._is_watched = is_on

    def _do_profile(self, command: ProfileExpert) -> None:
        if not self._is_ready:
            self._refuse(command.model_id, ErrorReport(ErrorCode.ENGINE_DIED, {"detail": "not running"}))
            return
        self._asked.append(command.model_id)
        self._line.send(command)

    def _refuse(self, model_id: str, error: ErrorReport) -> None:
        self.profiled.publish(ExpertProfiled(model_id, error=error))
