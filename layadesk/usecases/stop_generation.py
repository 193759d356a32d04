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
        request_id = self._running.stop(message_id)  # whoever starts it later sees the mark
        if request_id is not None:
            self._answers.cancel(request_id)

    def all(self, timeout_s: float) -> bool:
        """Stop every answer and wait until all have ended; false when the time is up. Blocks: for the end only."""
        for message_id in self._running.message_ids():
            self(message_id)
        return self._running.wait_until_none(timeout_s)
