"""How many tokens a prompt would have, for those who only want to know. Decode thread; the counting is the prompt
thread's.
"""

from collections.abc import Callable

from layadesk.engine.loaded_experts import LoadedExperts
from layadesk.engine.prompt_worker import PromptCounted, PromptWorker
from layadesk.protocol.commands import CountTokens
from layadesk.protocol.events import TokensCounted


class TokenCounts:
    """Answers each CountTokens with one TokensCounted; an expert that is not in memory is not loaded for it."""

    def __init__(self, experts: LoadedExperts, prompts: PromptWorker, put: Callable[[TokensCounted], None]) -> None:
        self._experts = experts
        self._prompts = prompts
        self._put = put

    def ask(self, command: CountTokens) -> None:
        """Have it counted."""
        runner = self._experts.usable(command.model_id)
        if runner is None:
            self._put(TokensCounted(command.count_id))
            return
        runner.n_preparing += 1  # its vocabulary is in use
        self._prompts.count(runner.prompts, command)

    def take(self, result: PromptCounted) -> None:
        """The prompt thread has counted."""
        self._experts.runners[result.model_id].n_preparing -= 1
        self._put(result.event)
