"""Files that go with a message, and what belongs to one conversation alone."""

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from layadesk.domain.chat import Attachment, AttachmentKind
from layadesk.ui.chat.conversation_dialog import ConversationDialog
from layadesk.ui.chat.question_view import QuestionView
from tests.ui.conftest import Stage
from tests.ui.hands import click

NOTES = Attachment("notes.txt", AttachmentKind.TEXT, "x" * 700)


def attach(stage: Stage, path: str) -> None:
    stage.window.page.composer.file_chosen.emit(path)
    stage.settle()


def test_a_file_goes_with_the_message_and_only_once(stage: Stage) -> None:
    stage.house.moves.attached["/x/notes.txt"] = NOTES
    attach(stage, "/x/notes.txt")
    attach(stage, "/x/notes.txt")
    bar = stage.window.page.composer.attachments
    assert [chip.text() for chip in bar.chips()] == ["notes.txt, about 200 tokens"]
    answer_id = stage.send("What does it say?")
    view = stage.window.page.transcript.shown_views()[0]
    assert isinstance(view, QuestionView)
    assert view.message.attachments == (NOTES,)
    assert view.files.text() == "notes.txt"
    assert bar.files == ()
    assert bar.isHidden()
    stage.house.finish(answer_id)
    stage.settle()


def test_a_file_can_be_taken_away_again(stage: Stage) -> None:
    stage.house.moves.attached["/x/notes.txt"] = NOTES
    attach(stage, "/x/notes.txt")
    click(stage.window.page.composer.attachments.chips()[0])
    assert stage.window.page.composer.attachments.files == ()


def test_a_file_that_is_no_text_says_so(stage: Stage) -> None:
    attach(stage, "/x/picture.png")
    assert "could not be attached" in stage.window.failure.text()


def test_files_of_a_message_that_was_not_sent_come_back(stage: Stage) -> None:
    from layadesk.domain.errors import ErrorCode, fail

    stage.house.moves.attached["/x/notes.txt"] = NOTES
    attach(stage, "/x/notes.txt")
    error = fail(ErrorCode.CONVERSATION_BUSY)
    stage.house.turns.fail_next = error
    composer = stage.window.page.composer
    composer.text_box.setPlainText("What?")
    composer.text_box.submitted.emit()
    stage.settle()
    assert composer.text() == "What?"
    assert composer.attachments.files == (NOTES,)


def test_a_dropped_file_is_attached_and_not_its_path(stage: Stage) -> None:
    stage.house.moves.attached["/x/notes.txt"] = NOTES
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x/notes.txt"), QUrl("https://a.example/x.txt")])
    composer = stage.window.page.composer
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    copy = Qt.DropAction.CopyAction
    QApplication.sendEvent(composer, QDragEnterEvent(QPoint(5, 5), copy, data, left, none))
    QApplication.sendEvent(composer, QDropEvent(QPoint(5, 5), copy, data, left, none))
    stage.settle()
    assert composer.attachments.files == (NOTES,)
    assert composer.text() == ""


def test_a_conversation_has_its_own_prompt_and_sampling(stage: Stage) -> None:
    conversation_id = stage.house.converse("a", "b")
    stage.open(conversation_id)
    stage.window.page.header.options_button.click()
    dialog = stage.window.page.findChild(ConversationDialog)
    assert dialog is not None
    dialog.prompt.setPlainText("Be short.")
    dialog.preset.setCurrentIndex(dialog.preset.findData("precise"))
    dialog._on_accepted()
    stage.settle()
    kept = stage.house.books.conversations[conversation_id]
    assert (kept.system_prompt, kept.preset) == ("Be short.", "precise")
    assert stage.window.page.conversation.system_prompt == "Be short."
