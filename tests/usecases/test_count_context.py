"""How full the context would be, before anything is sent."""

from layadesk.domain.context_budget import ContextCount
from layadesk.protocol.events import TokensCounted
from layadesk.settings import definitions
from tests.fakes.answering import PlayedDesk


def counted(desk: PlayedDesk, text: str = "and now?", *, conversation_id: str = "") -> ContextCount | None:
    conversation = desk.conversations.create()
    if conversation_id:
        conversation = desk.result(desk.conversations.open(conversation_id)).conversation
    return desk.result(desk.count_context(conversation, text))


def test_the_expert_counts_what_it_would_read(desk: PlayedDesk) -> None:
    desk.settings.set(definitions.SYSTEM_PROMPT, "Be brief.")
    started = desk.whole_turn("hello", "good day")
    desk.engine.count = lambda command: TokensCounted(command.count_id, 900, 400, 4, 512)
    found = counted(desk, conversation_id=started.conversation_id)
    assert found == ContextCount("alpha", 900, 400, 4, 512, is_exact=True)
    assert [m.text for m in desk.engine.counted[0].messages] == ["Be brief.", "hello", "good day", "and now?"]


def test_where_it_is_not_in_memory_the_count_is_an_estimate_and_says_so(desk: PlayedDesk) -> None:
    found = counted(desk, "a" * 400)
    assert found is not None
    assert not found.is_exact
    assert 90 < found.n_prompt < 130
    assert found.n_ctx == 4096, "as it would be loaded"


def test_an_estimate_also_says_what_is_left_out_and_what_is_too_long(desk: PlayedDesk) -> None:
    started = desk.whole_turn("h" * 8_000, "good day")
    long = counted(desk, "q" * 7_900, conversation_id=started.conversation_id)
    assert long is not None
    assert (long.n_dropped, long.fits) == (2, True)
    too_long = counted(desk, "q" * 20_000)
    assert too_long is not None
    assert not too_long.fits


def test_the_pinned_expert_counts_and_without_any_there_is_no_count(desk: PlayedDesk) -> None:
    desk.install("beta")
    conversation = desk.conversations.create()
    desk.result(desk.conversations.pin_expert(conversation.conversation_id, "beta"))
    pinned = counted(desk, conversation_id=conversation.conversation_id)
    assert pinned is not None
    assert pinned.expert == "beta"
    for name in ("alpha", "beta"):
        desk.inventory.remove(name)
    assert counted(desk) is None
