"""The list at the left: days, selection, renaming, deleting with a way back, keys."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from layadesk.domain.chat import Conversation
from layadesk.ui.chat.conversation_item_model import Age, ConversationItemModel, age_of
from layadesk.ui.chat.conversation_list import ConversationList
from tests.ui.conftest import Stage
from tests.ui.hands import click, double_click, press, type_text

TODAY = date(2027, 3, 10)
NOON = datetime(2027, 3, 10, 12, 0, 0).timestamp()
DAY_S = 86_400


def conversation(number: int, days_ago: float = 0.0, title: str = "") -> Conversation:
    at = NOON - days_ago * DAY_S
    return Conversation(f"c{number}", title or f"Title {number}", at, at)


def rows(model: ConversationItemModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount())]


@pytest.mark.parametrize(
    ("days_ago", "age"),
    [
        (-1, Age.TODAY),
        (0, Age.TODAY),
        (1, Age.YESTERDAY),
        (2, Age.WEEK),
        (6, Age.WEEK),
        (7, Age.OLDER),
        (400, Age.OLDER),
    ],
)
def test_a_conversation_stands_under_its_day(days_ago: int, age: Age) -> None:
    at = datetime.combine(TODAY - timedelta(days=days_ago), datetime.min.time()).timestamp()
    assert age_of(at, TODAY) is age


def test_headings_stand_before_the_first_of_each_day(qtbot: QtBot) -> None:
    model = ConversationItemModel(today=lambda: TODAY)
    model.set_conversations([conversation(1), conversation(2, 0.1), conversation(3, 1), conversation(4, 30)])
    assert rows(model) == ["Today", "Title 1", "Title 2", "Yesterday", "Title 3", "Older", "Title 4"]
    assert model.flags(model.index(0)) == Qt.ItemFlag.NoItemFlags


def test_a_conversation_without_a_title_is_called_new_chat(qtbot: QtBot) -> None:
    model = ConversationItemModel(today=lambda: TODAY)
    model.set_conversations([Conversation("c", "", NOON, NOON, draft="half")])
    assert rows(model) == ["Today", "New chat"]


ONE_LIST = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20)), unique_by=lambda pair: pair[0], max_size=12)


@given(st.lists(ONE_LIST, max_size=6))
def test_whatever_changes_the_model_says_so_truthfully(lists: list[list[tuple[int, int]]]) -> None:
    """Qt's own checker listens to every signal of the model and fails on a false one."""
    model = ConversationItemModel(today=lambda: TODAY)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    for wanted in lists:
        conversations = sorted((conversation(n, days) for n, days in wanted), key=lambda c: -c.updated_at)
        model.set_conversations(conversations)
        assert list(model.ids()) == [c.conversation_id for c in conversations]
    tester.deleteLater()


def test_the_marked_row_stays_marked_when_the_order_changes(qtbot: QtBot) -> None:
    view = ConversationList()
    qtbot.addWidget(view)
    view.set_conversations([conversation(1), conversation(2, 0.1), conversation(3, 0.2)])
    view.show_current("c3")
    chosen: list[str] = []
    view.chosen.connect(chosen.append)
    view.set_conversations([conversation(3, -0.1), conversation(1), conversation(2, 0.1)])
    assert view.current_id() == "c3"
    assert chosen == []


def test_arrow_keys_walk_over_headings(qtbot: QtBot) -> None:
    view = ConversationList()
    qtbot.addWidget(view)
    view.resize(220, 400)
    view.show()
    chosen: list[str] = []
    view.chosen.connect(chosen.append)
    view.set_conversations([conversation(1), conversation(2, 40)])
    view.show_current("c1")
    press(view.view, Qt.Key.Key_Down)
    assert chosen == ["c2"]
    press(view.view, Qt.Key.Key_Up)
    assert chosen == ["c2", "c1"]


def renamed(stage: Stage, conversation_id: str, title: str) -> None:
    view = stage.window.list.view
    editor = view.findChild(QLineEdit, "rename")
    assert editor is not None
    editor.selectAll()
    type_text(editor, title)
    press(editor, Qt.Key.Key_Return)
    stage.qtbot.waitUntil(lambda: stage.house.books.conversations[conversation_id].title == title)
    stage.settle()
    assert title in rows(stage.window.list.model)


def test_f2_renames(stage: Stage) -> None:
    conversation_id = stage.house.converse("a", "b", title="Old")
    stage.open(conversation_id)
    stage.settle()
    press(stage.window.list.view, Qt.Key.Key_F2)
    renamed(stage, conversation_id, "New")
    assert stage.window.page.header.title.text() == "New"


def test_a_double_click_renames(stage: Stage) -> None:
    conversation_id = stage.house.converse("a", "b", title="Old")
    stage.open(conversation_id)
    stage.settle()
    view = stage.window.list.view
    place = view.visualRect(stage.window.list.model.index_of(conversation_id)).center()
    double_click(view.viewport(), place)
    renamed(stage, conversation_id, "Newer")
    assert stage.window.page.header.title.text() == "Newer"


@pytest.mark.parametrize("title", ["", "   "])
def test_a_blank_title_is_no_title(stage: Stage, title: str) -> None:
    conversation_id = stage.house.converse("a", "b", title="Old")
    stage.open(conversation_id)
    model = stage.window.list.model
    assert not model.setData(model.index_of(conversation_id), title)
    stage.settle()
    assert stage.house.books.conversations[conversation_id].title == "Old"


def test_escape_leaves_the_title_as_it_was_and_stops_nothing(stage: Stage) -> None:
    answer_id = stage.send("a long story")
    stage.settle()
    press(stage.window.list.view, Qt.Key.Key_F2)
    editor = stage.window.list.view.findChild(QLineEdit, "rename")
    assert editor is not None
    type_text(editor, "x")
    press(editor, Qt.Key.Key_Escape)
    stage.settle()
    assert stage.house.turns.stopped == []
    assert "a long story" in rows(stage.window.list.model)
    stage.house.finish(answer_id)


def test_delete_shows_the_next_one_and_undo_brings_it_back(stage: Stage) -> None:
    older = stage.house.converse("a", "b", title="Older one")
    newer = stage.house.converse("c", "d", title="Newer one")
    stage.open(newer)
    stage.settle()
    press(stage.window.list.view, Qt.Key.Key_Delete)
    stage.qtbot.waitUntil(lambda: newer in stage.house.books.deleted)
    stage.settle()
    assert stage.window.page.conversation.conversation_id == older
    assert "Newer one" not in rows(stage.window.list.model)
    assert stage.window.toast.text() == "The conversation was deleted."
    click(stage.window.toast.button)
    stage.qtbot.waitUntil(lambda: newer not in stage.house.books.deleted)
    stage.qtbot.waitUntil(lambda: stage.window.page.conversation.conversation_id == newer)
    stage.settle()
    assert "Newer one" in rows(stage.window.list.model)
    assert stage.window.toast.isHidden()


def test_undo_brings_back_all_that_was_deleted_while_it_was_offered(stage: Stage) -> None:
    kept, middle, newest = (stage.house.converse("a", "b", title=f"Talk {n}") for n in range(3))
    stage.open(newest)
    stage.settle()
    for gone in (newest, middle):
        assert stage.window.list.current_id() == gone
        press(stage.window.list.view, Qt.Key.Key_Delete)
        stage.qtbot.waitUntil(lambda gone=gone: gone in stage.house.books.deleted)  # type: ignore[misc]
        stage.settle()
    assert list(stage.window.list.model.ids()) == [kept]
    assert stage.window.toast.text() == "2 conversations were deleted."
    click(stage.window.toast.button)
    stage.qtbot.waitUntil(lambda: not stage.house.books.deleted)
    stage.qtbot.waitUntil(lambda: stage.window.page.conversation.conversation_id == newest)
    stage.settle()
    assert set(stage.window.list.model.ids()) == {kept, middle, newest}


def test_what_was_deleted_before_the_toast_went_stays_deleted(stage: Stage) -> None:
    first, second = stage.house.converse("a", "b"), stage.house.converse("c", "d")
    for gone in (first, second):
        stage.window.toast.close_now()
        stage.open(gone)
        press(stage.window.list.view, Qt.Key.Key_Delete)
        stage.settle()
    assert stage.window.toast.text() == "The conversation was deleted."
    click(stage.window.toast.button)
    stage.settle()
    assert stage.house.books.deleted == {first}


def test_a_delete_key_that_is_held_down_deletes_one(stage: Stage) -> None:
    stage.house.converse("a", "b")
    newest = stage.house.converse("c", "d")
    stage.open(newest)
    view = stage.window.list.view
    for is_repeat in (False, True, True, True):
        none, key = Qt.KeyboardModifier.NoModifier, Qt.Key.Key_Delete
        QApplication.sendEvent(view, QKeyEvent(QKeyEvent.Type.KeyPress, key, none, "", is_repeat, 1))
        stage.settle()
    assert stage.house.books.deleted == {newest}


def test_deleting_the_only_one_leaves_a_new_one(stage: Stage) -> None:
    only = stage.house.converse("a", "b")
    stage.open(only)
    stage.settle()
    press(stage.window.list.view, Qt.Key.Key_Delete)
    stage.qtbot.waitUntil(lambda: only in stage.house.books.deleted)
    stage.settle()
    assert stage.window.page.transcript.branch == ()
    assert rows(stage.window.list.model) == []


def test_deleting_while_the_answer_runs_waits_for_nothing(stage: Stage) -> None:
    """Reported faults F01, F02."""
    answer_id = stage.send("a long story")
    conversation_id = stage.window.page.conversation.conversation_id
    stage.settle()
    press(stage.window.list.view, Qt.Key.Key_Delete)
    stage.house.say(answer_id, "once upon")
    stage.settle()
    assert conversation_id in stage.house.books.deleted
    assert stage.window.page.conversation.conversation_id != conversation_id
    stage.house.finish(answer_id)
    stage.settle()


def test_a_running_answer_is_marked_in_the_list(stage: Stage) -> None:
    answer_id = stage.send("a long story")
    stage.settle()
    model = stage.window.list.model
    index = model.index_of(stage.window.page.conversation.conversation_id)
    assert index.data(ConversationItemModel.IS_RUNNING_ROLE) is True
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "a long story, an answer is being written"
    stage.house.finish(answer_id)
    stage.qtbot.waitUntil(lambda: index.data(ConversationItemModel.IS_RUNNING_ROLE) is False)


def test_keys_switch_between_conversations_and_begin_new_ones(stage: Stage) -> None:
    """Reported fault J17."""
    older, newer = stage.house.converse("a", "b"), stage.house.converse("c", "d")
    stage.open(newer)
    stage.settle()
    box = stage.window.page.composer.text_box
    page = stage.window.page
    press(box, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    stage.qtbot.waitUntil(lambda: page.conversation.conversation_id == older)
    press(box, Qt.Key.Key_PageUp, Qt.KeyboardModifier.ControlModifier)
    stage.qtbot.waitUntil(lambda: page.conversation.conversation_id == newer)
    press(box, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    stage.qtbot.waitUntil(lambda: page.transcript.branch == ())
    assert stage.window.list.view.currentIndex() == QModelIndex()
    stage.settle()


def test_ctrl_z_in_the_list_takes_deletions_back_one_by_one_also_when_the_toast_is_gone(stage: Stage) -> None:
    first, second = stage.house.converse("a", "b", title="One"), stage.house.converse("c", "d", title="Two")
    for gone in (first, second):
        stage.open(gone)
        press(stage.window.list.view, Qt.Key.Key_Delete)
        stage.qtbot.waitUntil(lambda gone=gone: gone in stage.house.books.deleted)  # type: ignore[misc]
        stage.settle()
        stage.window.toast.close_now()
    for back in (second, first):
        press(stage.window.list.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        stage.qtbot.waitUntil(lambda back=back: back not in stage.house.books.deleted)  # type: ignore[misc]
        stage.settle()
        assert stage.window.page.conversation.conversation_id == back
    press(stage.window.list.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    stage.settle()
    assert set(stage.window.list.model.ids()) == {first, second}


def test_what_was_deleted_is_listed_and_comes_back_by_keyboard(stage: Stage) -> None:
    kept, gone = stage.house.converse("a", "b", title="Kept"), stage.house.converse("c", "d", title="Gone")
    stage.house.books.deleted.add(gone)
    stage.open(kept)
    stage.window.side_bar.options.trash_requested.emit()
    stage.settle()
    trash = stage.window._actions.trash
    assert trash is not None
    assert trash.list.count() == 1
    assert trash.list.item(0).text().startswith("Gone\ndeleted ")
    assert trash.list.item(0).text().endswith("2 messages")
    press(trash.list, Qt.Key.Key_Return)
    stage.qtbot.waitUntil(lambda: stage.window.page.conversation.conversation_id == gone)
    assert stage.house.books.deleted == set()


def test_what_is_removed_for_good_is_asked_for_twice(stage: Stage) -> None:
    gone = stage.house.converse("c", "d", title="Gone")
    stage.house.books.deleted.add(gone)
    stage.window.side_bar.options.trash_requested.emit()
    stage.settle()
    trash = stage.window._actions.trash
    assert trash is not None
    trash.erase_button.click()
    assert trash.erase_button.text() == "Really remove it for good"
    assert gone in stage.house.books.conversations
    trash.erase_button.click()
    stage.qtbot.waitUntil(lambda: gone not in stage.house.books.conversations)
    stage.settle()
    assert trash.told.text() == "Nothing was deleted in the last 30 days."
    trash.reject()
