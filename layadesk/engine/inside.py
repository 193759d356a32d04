"""What the app asks about the inside of models: to watch their gates, or to measure what a token's time goes into."""

from collections.abc import Callable, Mapping

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.moe_watch import MoeWatch
from layadesk.engine.steps import Steps
from layadesk.protocol.commands import ProfileExpert, WatchMoeExperts
from layadesk.protocol.events import EngineEvent, ExpertProfiled


class Inside:
    """Decode thread."""

    def __init__(
        self,
        moe: MoeWatch,
        steps: Steps,
        runners: Mapping[str, ExpertRunner],
        put: Callable[[EngineEvent], None],
    ) -> None:
        self._moe = moe
        self._steps = steps
        self._runners = runners
        self._put = put

    def take(self, command: WatchMoeExperts | ProfileExpert) -> None:
        """Do it; a profile blocks for seconds."""
        if isinstance(command, WatchMoeExperts):
            self._moe.is_on = command.is_on
        else:
            self._steps.settle_all()
            self._put(self._profiled(command))

    def _profiled(self, command: ProfileExpert) -> ExpertProfiled:
        runner = self._runners.get(command.model_id)
        if runner is None:
            unknown = ErrorReport(ErrorCode.UNKNOWN_EXPERT, {"expert": command.model_id})
            return ExpertProfiled(command.model_id, error=unknown)
        try:
            return ExpertProfiled(command.model_id, runner.profile(command.n_past, self._steps.beat))
        except LayaDeskError as error:
            return ExpertProfiled(command.model_id, error=error.report)
