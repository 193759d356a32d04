"""Everyday use of the store. Rows of the list of reported faults are named in comments.

Not here: E10 and E23 (a stream is bound to its conversation, not to the view) are tested with the window and the use
cases; E18 and E21 (no process stays behind) with the workers.
"""

import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from layadesk.domain.chat import MessageStatus, branch_to, siblings_of
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.domain.routing import OutReason, RankedExpert, Route, RouteReason
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.paths import DataPaths
from layadesk.store.store import Store
from tests.fakes.store import NOW, a_conversation, a_question, an_answer, database, fill, opened, result_of

ROUTE = Route(
    "coder",
    RouteReason.PINNED,
    (RankedExpert("coder", None), RankedExpert("tiny", None, OutReason.NOT_PINNED)),
    router_id="none",
    task="code",
    task_probs={"code": 0.9, "math": 0.1},
    complexity=2,
    route_ms=0.25,
)


def test_everything_that_was_stored_is_there_after_a_restart(tmp_path: Path) -> None:
    conversation = a_conversation(expert_id="coder", draft="half a thou")
    finished = an_answer(
        text="Use `sorted`.\n排序 🎉",
        status=MessageStatus.FAILED,
        expert_id="coder",
        route=ROUTE,
        finish_reason=FinishReason.ERROR,
        timings=Timings(ttft_ms=12.5, n_prompt=10, n_decoded=4),
        memory=MemoryUse(weights_bytes=2**33),
        n_dropped=3,
        error=ErrorReport(ErrorCode.ENGINE_DIED, {"exit": "killed", "tries": 2, "ratio": 0.5, "known": None}),
    )
    with opened(tmp_path) as store:
        result_of(store.add_conversation(conversation))
        result_of(store.add_messages([a_question(), an_answer()], leaf_id="a1"))
        result_of(store.finish_message(finished))
    with opened(tmp_path) as store:
        (listed,) = result_of(store.list_conversations())
        messages = result_of(store.load_messages("c1"))
        assert store.status == StorageStatus(StorageKind.SAVING)
    assert listed == a_conversation(expert_id="coder", draft="half a thou", leaf_id="a1", updated_at=NOW + 2)
    assert messages == {"q1": a_question(), "a1": finished}


def test_a_read_sees_every_write_that_was_asked_for_before_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        for n in range(50):
            store.save_progress("a1", "word " * n, n)
            assert result_of(store.load_messages("c1"))["a1"].text == "word " * n


def test_conversations_are_listed_newest_first_and_a_new_message_moves_one_up(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for n in range(3):
            store.add_conversation(a_conversation(f"c{n}", created_at=NOW + n, updated_at=NOW + n))
        assert [one.conversation_id for one in result_of(store.list_conversations())] == ["c2", "c1", "c0"]
        late = a_question("late", conversation_id="c0", created_at=NOW + 100)
        result_of(store.add_messages([late], leaf_id="late"))
        assert [one.conversation_id for one in result_of(store.list_conversations())] == ["c0", "c2", "c1"]


def test_title_pin_draft_and_shown_branch_can_be_changed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        store.rename("c1", "排序 🎉")
        store.set_pin("c1", "coder")
        store.set_draft("c1", "dra")
        store.set_draft("c1", "draft")
        store.set_leaf("c1", "q1")
        changed = result_of(store.load_conversation("c1"))
        assert (changed.title, changed.expert_id, changed.draft, changed.leaf_id) == ("排序 🎉", "coder", "draft", "q1")
        store.set_pin("c1", None)
        assert result_of(store.load_conversation("c1")).expert_id is None


def test_adding_a_conversation_again_fills_in_its_title_and_takes_nothing_away(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_conversation(a_conversation(title="", draft="half a thou", expert_id="coder"))
        store.add_conversation(a_conversation(title="Quicksort"))
        store.add_conversation(a_conversation(title="another", updated_at=NOW + 9))
        assert result_of(store.load_conversation("c1")) == a_conversation(draft="half a thou", expert_id="coder")


def test_a_deleted_conversation_is_hidden_and_can_be_restored_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        before = result_of(store.load_conversation("c1"))
        store.delete("c1")
        assert result_of(store.list_conversations()) == ()
    with opened(tmp_path) as store:
        store.restore("c1")
        assert result_of(store.list_conversations()) == (before,)
        assert result_of(store.load_messages("c1")).keys() == {"q1", "a1"}


def test_a_conversation_is_removed_for_good_thirty_days_after_its_deletion(tmp_path: Path) -> None:
    day = 24 * 3600.0
    with opened(tmp_path, clock=lambda: NOW) as store:
        fill(store)
        store.add_conversation(a_conversation("kept"))
        store.delete("c1")
    for days, expected in ((29.9, 2), (30.1, 0)):
        with opened(tmp_path, now=NOW + days * day) as store:
            assert len(result_of(store.load_messages("c1"))) == expected
    with opened(tmp_path) as store:
        assert [one.conversation_id for one in result_of(store.list_conversations())] == ["kept"]


@pytest.mark.parametrize("change", ["rename", "set_pin", "set_draft", "set_leaf"])
def test_changing_an_unknown_conversation_says_so(tmp_path: Path, change: str) -> None:
    with opened(tmp_path) as store:
        with pytest.raises(LayaDeskError) as caught:
            result_of(getattr(store, change)("nobody", "x"))
        assert caught.value.report == ErrorReport(ErrorCode.UNKNOWN_CONVERSATION, {"conversation": "nobody"})
        assert store.status.kind is StorageKind.SAVING


def test_messages_of_an_unknown_conversation_are_refused_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        strays = [a_question("q2"), a_question("q3", conversation_id="nobody")]
        refusals: list[Future[Any]] = [
            store.add_messages(strays, leaf_id="q3"),
            store.finish_message(an_answer("a9", conversation_id="nobody")),
            store.delete("nobody"),
            store.restore("nobody"),
            store.load_conversation("nobody"),
        ]
        for refused in refusals:
            with pytest.raises(LayaDeskError) as caught:
                result_of(refused)
            assert caught.value.code is ErrorCode.UNKNOWN_CONVERSATION
        assert result_of(store.load_messages("c1")).keys() == {"q1", "a1"}
        assert result_of(store.load_messages("nobody")) == {}


def test_progress_is_kept_while_an_answer_runs_and_ignored_after_its_end(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        result_of(store.save_progress("a1", "Use so", 2))
        assert result_of(store.load_messages("c1"))["a1"] == an_answer(text="Use so")
        done = an_answer(text="Use sorted.", status=MessageStatus.COMPLETE)
        result_of(store.finish_message(done))
        result_of(store.save_progress("a1", "Use so", 2))
        assert result_of(store.load_messages("c1"))["a1"] == done


def test_of_waiting_states_only_the_newest_is_written(tmp_path: Path) -> None:
    statements: list[str] = []

    def watch(connection: sqlite3.Connection) -> None:
        connection.set_trace_callback(statements.append)

    with opened(tmp_path, tune=watch) as store:
        fill(store)
        go_on = threading.Event()
        store.rename("c1", "busy").add_done_callback(lambda _: go_on.wait(10))
        waiting = [store.save_progress("a1", "word " * n, n) for n in range(100)]
        end = store.finish_message(an_answer(text="word " * 100, status=MessageStatus.COMPLETE))
        drafts = [store.set_draft("c1", "d" * n) for n in range(100)]
        go_on.set()
        for future in (*waiting, end, *drafts):
            result_of(future)
        assert result_of(store.load_conversation("c1")).draft == "d" * 99
    assert not [one for one in statements if one.startswith("UPDATE message SET text")]
    assert len([one for one in statements if one.startswith("UPDATE conversation SET draft")]) == 1


def test_a_route_is_kept_with_its_answer_before_the_answer_ends(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        result_of(store.save_route("a1", ROUTE))
        assert result_of(store.load_messages("c1"))["a1"] == an_answer(route=ROUTE, expert_id=ROUTE.expert)


def test_one_generation_is_one_row_however_often_it_is_saved(tmp_path: Path) -> None:
    # E13: a new chat per token
    with opened(tmp_path) as store:
        fill(store)
        for n in range(300):
            store.save_progress("a1", "word " * n, n)
        store.finish_message(an_answer(text="word " * 300, status=MessageStatus.COMPLETE))
    connection = database(tmp_path)
    assert connection.execute("SELECT count(*) FROM conversation").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM message WHERE role = 'assistant'").fetchone() == (1,)
    connection.close()


def test_an_edit_makes_a_branch_and_deletes_nothing(tmp_path: Path) -> None:
    # E14: an edit deleted what was below it
    with opened(tmp_path) as store:
        fill(store)
        follow_up = a_question("q2", parent_id="a1", created_at=NOW + 3)
        result_of(store.add_messages([follow_up], leaf_id="q2"))
        edit = a_question("q1b", text="Sort that", created_at=NOW + 4)
        result_of(store.add_messages([edit, an_answer("a1b", parent_id="q1b")], leaf_id="a1b"))
        messages = result_of(store.load_messages("c1"))
        assert set(messages) == {"q1", "a1", "q2", "q1b", "a1b"}
        shown = branch_to(messages, result_of(store.load_conversation("c1")).leaf_id)
        assert [one.message_id for one in shown] == ["q1b", "a1b"]


def test_all_siblings_are_there_after_a_restart(tmp_path: Path) -> None:
    # E15: branch messages vanished from the switcher
    with opened(tmp_path) as store:
        fill(store)
        for n in range(2, 6):
            store.add_messages([an_answer(f"a{n}", created_at=NOW + n)], leaf_id=f"a{n}")
    with opened(tmp_path) as store:
        messages = result_of(store.load_messages("c1"))
        branch = branch_to(messages, result_of(store.load_conversation("c1")).leaf_id)
        assert siblings_of(messages.values(), branch)["a5"] == ("a1", "a2", "a3", "a4", "a5")


def test_text_that_utf8_cannot_hold_is_stored_readable(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        odd = a_question("q2", text="half \ud83c, joined \ud83c\udf89, zero \0 end")
        lost_file = ErrorReport(ErrorCode.MODEL_FILE_MISSING, {"path": "/models/\udcff.gguf"})
        result_of(store.add_messages([odd, an_answer("a2", error=lost_file)], leaf_id="q2"))
        result_of(store.rename("c1", "\ud83c"))
        messages = result_of(store.load_messages("c1"))
        assert messages["q2"].text == "half \ufffd, joined 🎉, zero \0 end"
        assert messages["a2"].error == ErrorReport(ErrorCode.MODEL_FILE_MISSING, {"path": "/models/\ufffd.gguf"})
        assert result_of(store.load_conversation("c1")).title == "\ufffd"
        assert store.status.n_unreadable == 0


def test_a_data_directory_with_spaces_chinese_and_emoji_works(tmp_path: Path) -> None:
    root = tmp_path / "my data ? # %41 数据 🎉"
    with opened(root) as store:
        fill(store)
    with opened(root) as store:
        assert len(result_of(store.load_messages("c1"))) == 2


def test_a_bug_in_one_request_fails_that_request_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as store:
        fill(store)
        with pytest.raises(LayaDeskError) as caught:
            result_of(store.add_messages([a_question("q2", n_dropped=2**80)], leaf_id="q2"))
        assert caught.value.code is ErrorCode.INTERNAL
        with pytest.raises(LayaDeskError) as caught:
            result_of(store.load_messages(["no", "id"]))  # type: ignore[arg-type]  # that is the bug
        assert caught.value.code is ErrorCode.INTERNAL
        assert len(result_of(store.load_messages("c1"))) == 2
        assert store.status.kind is StorageKind.SAVING


def test_what_is_asked_for_after_closing_fails_and_what_was_asked_before_is_written(tmp_path: Path) -> None:
    store = Store.open(DataPaths(tmp_path), now=NOW)
    fill(store)
    waiting = [store.save_progress("a1", "word " * n, n) for n in range(20)]
    waiting_read = store.load_messages("c1")
    store.close()
    store.close()
    assert all(future.done() for future in waiting)
    assert result_of(waiting_read)["a1"].text == "word " * 19
    late: list[Future[Any]] = [store.rename("c1", "late"), store.list_conversations()]
    for one in late:
        with pytest.raises(LayaDeskError) as caught:
            result_of(one)
        assert caught.value.code is ErrorCode.INTERNAL
    assert not [one for one in threading.enumerate() if one.name.startswith("store")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["layadesk.sqlite3", "run"]  # no log is left


def test_callbacks_come_on_the_threads_of_the_store(tmp_path: Path) -> None:
    names: list[str] = []

    def keep(_: Future[Any]) -> None:
        names.append(threading.current_thread().name)

    with opened(tmp_path) as store:
        hold = threading.Event()
        store.add_conversation(a_conversation()).add_done_callback(lambda _: hold.wait(10))
        write = store.rename("c1", "x")
        read = store.list_conversations()
        write.add_done_callback(keep)
        read.add_done_callback(keep)
        hold.set()
        result_of(read)
    assert sorted(names) == ["store", "store-read"]


def test_deleted_conversations_are_listed_until_they_are_restored_or_erased(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for name in ("a", "b", "c"):
            conversation = a_conversation(conversation_id=name, title=name.upper())
            result_of(store.add_conversation(conversation))
            question = a_question(conversation_id=name, message_id=f"q{name}")
            result_of(store.add_messages([question], leaf_id=question.message_id))
        for name in ("a", "b"):
            result_of(store.delete(name))
        listed = result_of(store.list_deleted())
        assert {(one.conversation_id, one.title, one.n_messages) for one in listed} == {("a", "A", 1), ("b", "B", 1)}
        result_of(store.restore("a"))
        result_of(store.erase("b"))
        result_of(store.erase("c"))
        assert result_of(store.list_deleted()) == ()
        assert {one.conversation_id for one in result_of(store.list_conversations())} == {"a", "c"}
        assert result_of(store.load_messages("b")) == {}
