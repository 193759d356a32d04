"""How full the context would be if what is being written were sent: counted by the expert that would read it."""

from concurrent.futures import Future
from dataclasses import replace

from layadesk.domain.chat import Attachment, Conversation, Message, branch_to
from layadesk.domain.context_budget import ContextCount, estimate_context
from layadesk.domain.inference import Role
from layadesk.domain.presets import with_preset
from layadesk.protocol.commands import CountTokens
from layadesk.protocol.events import TokensCounted
from layadesk.usecases.answer_request import clean_text
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.futures import flatten, then
from layadesk.usecases.send_message import StartTurn, new_id
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.workers.engine_client import EngineClient


class CountContext:
    """Any thread; returns at once. Exact where the expert is in memory; otherwise an estimate, and nothing is loaded.

    With Auto, the one that answered last counts, else the first in the order of choice: who will answer is not known
    before the router has read the message.
    """

    def __init__(self, start_turn: StartTurn, pool: ExpertPool, engine: EngineClient) -> None:
        self._start = start_turn
        self._pool = pool
        self._engine = engine

    def __call__(
        self, conversation: Conversation, text: str, *, attachments: tuple[Attachment, ...] = ()
    ) -> Future[ContextCount | None]:
        """What `text` would make of the context at the end of the conversation; None where nobody could answer."""

        def count(stored: StoredConversation) -> Future[ContextCount | None]:
            current = stored.conversation or conversation
            branch = branch_to(stored.messages, current.leaf_id)
            question = Message(
                "", current.conversation_id, None, Role.USER, clean_text(text), 0.0, attachments=attachments
            )
            return self._count(current, (*branch, question))

        return flatten(then(load_stored(self._start.store, conversation.conversation_id), count))

    def _count(self, conversation: Conversation, branch: tuple[Message, ...]) -> Future[ContextCount | None]:
        counted: Future[ContextCount | None] = Future()
        expert = self._reader(conversation, branch)
        if expert is None:
            counted.set_result(None)
            return counted
        messages = self._start.messages_for_expert(conversation, branch)
        max_tokens = with_preset(self._pool.sampling(), conversation.preset).max_tokens
        n_ctx = self._pool.load_params(self._pool.installed(expert)).n_ctx
        estimate = estimate_context(expert, messages, n_ctx=n_ctx, max_tokens=max_tokens)
        command = CountTokens(new_id(), expert, messages, max_tokens, self._pool.thinking(expert))
        self._engine.count_tokens(command, lambda answer: counted.set_result(_found(estimate, answer)))
        return counted

    def _reader(self, conversation: Conversation, branch: tuple[Message, ...]) -> str | None:
        present = [model.model_id for model in self._pool.present()]
        said = next((m.expert_id for m in reversed(branch) if m.expert_id in present), None)
        if conversation.expert_id in present:
            return conversation.expert_id
        usable = (one.model_id for one in self._pool.candidates() if one.out is None)
        return said or next(usable, None)


def _found(estimate: ContextCount, answer: TokensCounted) -> ContextCount:
    if answer.n_whole is None:
        return estimate
    return replace(
        estimate,
        n_whole=answer.n_whole,
        n_prompt=answer.n_prompt,
        n_dropped=answer.n_dropped,
        n_ctx=answer.n_ctx,
        is_exact=True,
        fits=answer.n_prompt < answer.n_ctx,
    )
