"""How full the context would be if what is being written were sent: counted by the expert that would read it."""

from concurrent.futures import Future
from dataclasses import replace

from layadesk.domain.chat import Attachment, Conversation, Message, branch_to
from layadesk.domain.context_budget import ContextCount, estimate_context
from layadesk.domain.inference import Role
from layadesk.domain.presets import with_preset
from layadesk.domain.routing import PoolExpert
from layadesk.protocol.commands import CountTokens
from layadesk.protocol.events import TokensCounted
from layadesk.usecases.answer_order import clean_text
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.futures import flatten, then
from layadesk.usecases.send_message import StartTurn, new_id
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.workers.engine_client import EngineClient


class CountContext:
    """Any thread; returns at once. Exact where the expert is in memory; otherwise an estimate, and nothing is loaded.

    With Auto, the one that answered last counts, else the default, else the first in the order of choice: who will
    answer is not known before the router has read the message. Of one that runs elsewhere, there is only an estimate.
    """

    def __init__(self, start_turn: StartTurn, pool: ExpertPool, engine: EngineClient) -> None:
        self._start = start_turn
        self._pool = pool
        self._engine = engine

    def __call__(
        self, conversation: Conversation, text: str, *, attachments: tuple[Attachment, ...] = ()
    ) -> Future[ContextCount | None]:
        """What `text` would make of the context at the end of the conversation; None where nobody is known."""

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
        if expert is None or expert.n_ctx is None:
            counted.set_result(None)
            return counted
        model_id = expert.model_id
        messages = self._start.messages_for_expert(conversation, branch)
        max_tokens = with_preset(self._pool.sampling(), conversation.preset).max_tokens
        estimate = estimate_context(model_id, messages, n_ctx=expert.n_ctx, max_tokens=max_tokens)
        command = CountTokens(new_id(), model_id, messages, max_tokens, self._pool.thinking(model_id))
        self._engine.count_tokens(command, lambda answer: counted.set_result(_found(estimate, answer)))
        return counted

    def _reader(self, conversation: Conversation, branch: tuple[Message, ...]) -> PoolExpert | None:
        usable = [one for one in self._pool.candidates() if one.out is None]
        by_id = {one.model_id: one for one in usable}
        if conversation.expert_id in by_id:
            return by_id[conversation.expert_id]
        answered_last = next((m.expert_id for m in reversed(branch) if m.expert_id in by_id), None)
        if answered_last is not None:
            return by_id[answered_last]
        return next((one for one in usable if one.is_default), usable[0] if usable else None)


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
