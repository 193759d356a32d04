"""Whole ways through a conversation, over the real store and through restarts."""

from pathlib import Path

from layadesk.domain.chat import Attachment, AttachmentKind, Correction, Message, Rating
from layadesk.domain.inference import FinishReason
from layadesk.usecases.move_chats import ChatFormat, MoveChats
from tests.fakes.answering import PlayedDesk, played_desk


def texts(desk: PlayedDesk, conversation_id: str) -> list[str]:
    return [message.text for message in desk.result(desk.conversations.open(conversation_id)).branch]


def answer_next(desk: PlayedDesk, text: str, *, number: int = 1) -> None:
    desk.engine.say(text, number=number, end=FinishReason.STOP)


def test_an_edit_is_a_branch_and_the_first_one_is_there_after_a_restart(tmp_path: Path) -> None:
    with played_desk(tmp_path / "data") as desk:
        desk.install()
        first = desk.whole_turn("Where shall we go?", "To Chengdu.")
        conversation = desk.result(desk.conversations.open(first.conversation_id)).conversation
        assert first.question is not None
        edited = desk.ask("Where shall we fly?", conversation, edit_of=first.question.message_id)
        answer_next(desk, "To Lhasa.")
        desk.log.ended(edited.answer.message_id)
        assert texts(desk, first.conversation_id) == ["Where shall we fly?", "To Lhasa."]
    with played_desk(tmp_path / "data") as desk:
        screen = desk.result(desk.conversations.open(first.conversation_id))
        assert [m.text for m in screen.branch] == ["Where shall we fly?", "To Lhasa."]
        assert len(screen.siblings[screen.branch[0].message_id]) == 2
        back = desk.result(desk.conversations.switch_to(first.conversation_id, first.question.message_id))
        assert [m.text for m in back.branch] == ["Where shall we go?", "To Chengdu."]
    with played_desk(tmp_path / "data") as desk:
        assert texts(desk, first.conversation_id) == ["Where shall we go?", "To Chengdu."]


def test_a_chinese_phrase_is_found_and_leads_to_its_branch(tmp_path: Path) -> None:
    with played_desk(tmp_path / "data") as desk:
        desk.install()
        started = desk.whole_turn("我们去哪里？", "昨天下午我们在人民公园喝了一下午的茶")
        again = desk.result(desk.regenerate(started.conversation_id, started.answer.message_id))
        answer_next(desk, "去拉萨。")
        desk.log.ended(again.answer.message_id)
        (hit,) = desk.result(desk.conversations.search("公园"))
        assert hit.message_id == started.answer.message_id
        screen = desk.result(desk.conversations.open_at(hit.conversation_id, hit.message_id))
        assert screen.branch[-1].message_id == started.answer.message_id


def test_an_exported_file_comes_back_as_the_same_tree(tmp_path: Path) -> None:
    with played_desk(tmp_path / "data") as desk:
        desk.install()
        started = desk.whole_turn("Where?", "To Chengdu.")
        again = desk.result(desk.regenerate(started.conversation_id, started.answer.message_id))
        answer_next(desk, "To Lhasa.")
        desk.log.ended(again.answer.message_id)
        moves = MoveChats(desk.store, desk.conversations.changed)
        file = tmp_path / "chats.json"
        assert desk.result(moves.export((), str(file), ChatFormat.JSON)) == 1
        done = desk.result(moves.import_file(str(file)))
        assert (done.n_conversations, done.n_messages, done.n_skipped) == (1, 3, 0)
        trees = [desk.result(desk.store.load_messages(key)) for key in (started.conversation_id, done.first_id)]
        assert _shape(trees[0]) == _shape(trees[1])
        assert texts(desk, done.first_id) == texts(desk, started.conversation_id)
        assert len(desk.result(desk.conversations.list())) == 2
        moves.close()


def _shape(messages: dict[str, Message]) -> list[tuple[str, str]]:
    return sorted((m.text, "" if m.parent_id is None else messages[m.parent_id].text) for m in messages.values())


def test_an_expert_reads_the_files_the_own_prompt_and_samples_by_the_preset(tmp_path: Path) -> None:
    with played_desk(tmp_path / "data") as desk:
        desk.install()
        conversation = desk.conversations.create()
        desk.result(desk.conversations.set_system_prompt(conversation.conversation_id, "Be short."))
        desk.result(desk.conversations.set_preset(conversation.conversation_id, "precise"))
        files = (Attachment("a.py", AttachmentKind.CODE, "x = '```'\n"),)
        started = desk.result(desk.send(conversation, "What is x?", attachments=files))
        request = desk.engine.request(0)
        assert [message.text for message in request.messages] == [
            "Be short.",
            "[a.py]\n````\nx = '```'\n````\n\nWhat is x?",
        ]
        assert request.sampling.temperature == 0.2
        answer_next(desk, "A string.", number=0)
        desk.log.ended(started.answer.message_id)


def test_another_expert_for_one_answer_is_a_correction_of_the_route(tmp_path: Path) -> None:
    with played_desk(tmp_path / "data") as desk:
        names = {desk.install("alpha"), desk.install("beta")}
        started = desk.whole_turn("Where?", "To Chengdu.")
        conversation_id, answer_id = started.conversation_id, started.answer.message_id
        (other,) = names - {desk.result(desk.store.load_messages(conversation_id))[answer_id].expert_id}
        desk.result(desk.regenerate(conversation_id, answer_id, expert=other))
        assert desk.engine.request(1).model_id == other
        kept = desk.result(desk.store.load_messages(conversation_id))[answer_id]
        assert kept.correction == Correction(Rating.WRONG, other)
        answer_next(desk, "To Lhasa.")
