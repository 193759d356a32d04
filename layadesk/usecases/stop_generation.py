"""Stop an answer; its text so far stays."""

from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.running_turns import RunningTurns


class StopGeneration:
    """Cancels running answers. Any thread; the end comes as TurnEnded, so a button waits for that."""

    def __init__(self, answers: AnswerRequest, running: RunningTurns) -> None:
        self._answers = answers
        self._running = running

    def __call__(self, message_id: str) -> None:
        """Stop one answer; silent when it has ended."""
        turn = self._running.find(message_id)
        if turn is not None:
            self._answers.cancel(turn.request_id)

    def all(self, timeout_s: float) -> bool:
        """Stop every answer and wait until all have ended; false when the time is up. Blocks: for the end only."""
        for request_id in self._running.request_ids():
            self._answers.cancel(request_id)
        return self._running.wait_until_none(timeout_s)
