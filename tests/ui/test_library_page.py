"""The Models page: what fits here, one button to download, what is on this disk, and files that are dropped."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QPushButton, QWidget

from layadesk.domain.downloads import DownloadState
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.memory_fit.machine import GIB, MachineMemory
from layadesk.domain.models import Origin
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.library_disk import Leftover
from layadesk.model_library.web import status_error
from layadesk.ui.language import CHINESE, ENGLISH, read_ts, ts_file
from layadesk.ui.library.card_details import CardDetails
from layadesk.ui.library.library_page import LibraryPage
from layadesk.ui.library.model_card import ModelCardView
from layadesk.ui.shell.navigation_rail import Destination
from tests.fakes.usecases import expert
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts, overlaps


@pytest.fixture
def page(stage: Stage) -> LibraryPage:
    stage.window.show_page(Destination.MODELS)
    stage.settle()
    return stage.window.models.page


def card(page: LibraryPage, model_id: str) -> ModelCardView:
    return page.catalogue.cards[model_id]


def details(page: LibraryPage, model_id: str) -> CardDetails:
    card(page, model_id).open_up()
    found = card(page, model_id).details
    assert found is not None
    return found


def names(page: LibraryPage) -> list[str]:
    return [one.card.model_id for one in page.catalogue.shown()]


def test_before_the_first_look_nothing_is_said_to_be_missing(stage: Stage) -> None:
    catalogue = stage.window.models.page.catalogue
    assert catalogue.cards == {}
    assert catalogue.empty.isHidden()
    assert catalogue.count.text() == ""


def test_each_model_says_whether_it_fits_here_in_words(page: LibraryPage) -> None:
    badges = {model_id: one.badge.text() for model_id, one in page.catalogue.cards.items()}
    assert badges["four"] == "fits · reading speed"
    assert badges["huge"] == "too large"
    assert "needs 15.3 GiB, free 13.0 GiB" in card(page, "huge").badge.toolTip()


def test_the_best_that_fits_is_chosen_already_and_says_so(page: LibraryPage) -> None:
    opened = details(page, "four")
    assert opened.quantizations.current == "Q8_0"  # larger than the first, and no slower to read along
    notes = {row.file.quantization: row.note() for row in opened.quantizations.rows}
    assert "recommended here" in notes["Q8_0"]
    assert "recommended" not in notes["Q4_K_M"]
    assert notes["Q8_0"].startswith("no difference to the original")
    assert notes["Q2_K"].startswith("weak")


def test_a_choice_of_the_user_is_kept_when_everything_is_judged_anew(page: LibraryPage, stage: Stage) -> None:
    opened = details(page, "four")
    opened.quantizations.choose("Q2_K")
    assert opened.download.text() == "Download, 1.6 GiB"
    page.catalogue.filters.context.setCurrentIndex(page.catalogue.filters.context.findData(32768))
    page.catalogue.filters.context.activated.emit(0)
    stage.settle()
    assert stage.house.library.contexts[-1] == 32768
    assert opened.quantizations.current == "Q2_K"


def test_another_machine_has_other_badges(page: LibraryPage, stage: Stage) -> None:
    stage.house.library.machine_memory = MachineMemory(64 * GIB, 60 * GIB)
    page.shelf.look()
    stage.settle()
    assert card(page, "huge").badge.text() == "fits · slow"


def test_filters_leave_what_was_asked_for(page: LibraryPage) -> None:
    filters = page.catalogue.filters
    everything = names(page)
    filters.search.setText("coder")
    assert names(page) == ["coder"]
    filters.search.clear()
    filters.fits.setChecked(True)
    assert "huge" not in names(page)
    filters.task.setCurrentIndex(filters.task.findData("reasoning"))
    assert names(page) == ["four"]
    filters.clear()
    filters.language.setCurrentIndex(filters.language.findData("zh"))
    assert "english" not in names(page)
    filters.clear()
    filters.largest.setCurrentIndex(1)
    assert {"english", "four", "closed"} == set(names(page)) - {"laya-multilingual"}
    filters.search.setText("no such model")
    assert names(page) == []
    assert page.catalogue.empty.isVisibleTo(page)
    page.catalogue.empty.button.click()
    assert names(page) == everything


def test_one_button_downloads_and_the_row_says_how_far_it_is(page: LibraryPage, stage: Stage) -> None:
    top = page.catalogue.mapTo(page, QPoint(0, 0))
    details(page, "coder").download.click()
    stage.settle()
    row = page.downloads.row("coder:Q4_K_M")
    assert row is not None
    stage.house.downloads.step("coder:Q4_K_M", n_bytes_done=GIB, bytes_per_s=24.1 * 2**20, remaining_s=150.0)
    stage.settle()
    assert "22 % · 1.0 GiB of 4.4 GiB · 24.1 MiB/s · 2 minutes left" in row.text()
    assert card(page, "coder").line().startswith("downloading 22 %")
    assert page.catalogue.mapTo(page, QPoint(0, 0)) == top  # nothing above it has moved
    assert not details(page, "coder").download.isEnabled()


def test_a_download_is_paused_taken_up_and_cancelled(page: LibraryPage, stage: Stage) -> None:
    details(page, "coder").download.click()
    stage.settle()
    row = page.downloads.row("coder:Q4_K_M")
    assert row is not None
    row.steer.click()
    stage.settle()
    assert "paused" in row.text()
    assert row.steer.accessibleName() == "Coder 7B: go on"
    row.steer.click()
    stage.settle()
    row.cancel.click()
    stage.settle()
    calls = ["start", "pause", "resume", "cancel"]
    assert stage.house.downloads.calls == [f"{call} coder:Q4_K_M" for call in calls]
    assert page.downloads.isHidden()


def test_what_stopped_a_download_is_said_with_what_to_do_and_where(page: LibraryPage, stage: Stage) -> None:
    details(page, "coder").download.click()
    report = status_error(403, {}, {"host": "h", "repo": "a/b", "file": "f", "page": "https://h.example/a/b"}, None)
    assert isinstance(report, LayaDeskError)
    stage.house.downloads.step("coder:Q4_K_M", state=DownloadState.FAILED, failure=report.report)
    stage.settle()
    row = page.downloads.row("coder:Q4_K_M")
    assert row is not None
    assert "accept their conditions" in row.failure_text()
    assert row.page.isVisibleTo(page)
    row.page.click()
    assert stage.window.page.link_question.box is not None
    stage.window.page.link_question.box.close()


def test_a_licence_with_conditions_is_agreed_to_before_the_download(page: LibraryPage, stage: Stage) -> None:
    opened = details(page, "closed")
    assert not opened.download.isEnabled()
    opened.consent.setChecked(True)
    opened.download.click()
    stage.settle()
    assert stage.house.downloads.calls == ["start closed:Q4_K_M"]
    assert not details(page, "four").consent.isVisibleTo(page)


def test_what_is_here_is_chatted_with_in_a_new_chat_that_it_answers(page: LibraryPage, stage: Stage) -> None:
    details(page, "coder").download.click()
    stage.house.downloads.finish("coder:Q4_K_M")
    stage.settle()
    opened = details(page, "coder")
    assert not opened.download.isVisibleTo(page)
    opened.chat.click()
    stage.settle()
    assert stage.window.pages.current is Destination.CHAT
    assert stage.window.page.conversation.expert_id == "coder"
    assert stage.window.page.header.picker.text().startswith("Expert: Coder 7B")


def test_a_router_is_put_to_use_by_one_button(page: LibraryPage, stage: Stage) -> None:
    opened = details(page, "laya-multilingual")
    opened.download.click()
    stage.house.downloads.finish("laya-multilingual:checkpoint")
    stage.settle()
    assert opened.chat.text() == "Use this router"
    opened.chat.click()
    stage.settle()
    assert stage.house.settings.get("router.model") == "laya:/data/models/laya-multilingual"
    assert stage.house.workers.restarted
    assert opened.chat.text() == "In use"


def test_removing_says_what_it_frees_and_leaves_files_of_the_user_alone(page: LibraryPage, stage: Stage) -> None:
    stage.house.library.install("coder", "Q4_K_M")
    own = expert("mine", name="My own", path="/home/me/mine.gguf", origin=Origin.IMPORTED)
    stage.house.experts.installed += (own,)
    page.show_disk(is_shown=True)
    page.shelf.look()
    stage.settle()
    page.disk.rows["coder"].remove.click()
    stage.settle()
    assert press(page, "Remove, 4.4 GiB")
    stage.settle()
    assert stage.window.toast.text() == "4.4 GiB came free."
    page.disk.rows["mine"].remove.click()
    stage.settle()
    assert press(page, "Take off the list")
    stage.settle()
    assert stage.house.library.removed == [("coder", False), ("mine", False)]
    assert "left where it is" in stage.window.toast.text()


def press(page: LibraryPage, text: str) -> bool:
    """A button of the question that is on screen."""
    box = page.doing.box
    assert box is not None
    found = [button for button in box.buttons() if button.text() == text]
    for button in found:
        button.click()
    return bool(found)


def test_verifying_says_how_far_it_is_and_what_came_of_it(page: LibraryPage, stage: Stage) -> None:
    stage.house.library.install("coder", "Q4_K_M")
    page.show_disk(is_shown=True)
    stage.settle()
    row = page.disk.rows["coder"]
    row.verify.click()
    stage.settle()
    assert "Every byte is as it should be." in row.text()
    stage.house.library.verdict = False
    row.verify.click()
    stage.settle()
    assert "damaged" in row.text()
    stage.house.library.error = fail(ErrorCode.MODEL_FILE_UNREADABLE, path="/x.gguf")
    row.verify.click()
    stage.settle()
    assert row.verify.isEnabled()
    assert stage.window.failure.isVisible()


def test_leftovers_have_a_size_and_go_when_asked(page: LibraryPage, stage: Stage) -> None:
    stage.house.library.left = (Leftover("/data/models/.downloads/coder", 2 * GIB, is_partial=True),)
    page.show_disk(is_shown=True)
    page.shelf.look()
    stage.settle()
    (row,) = page.disk.leftovers.values()
    assert "unfinished download · 2.0 GiB" in row.text()
    row.delete.click()
    assert press(page, "Delete")
    stage.settle()
    assert page.disk.leftovers == {}


def test_the_models_move_to_another_folder(page: LibraryPage, stage: Stage) -> None:
    page.doing.move_models("/big/disk")
    stage.settle()
    assert stage.window.toast.text() == "The models are kept in /big/disk now."
    assert page.shelf.seen.room is not None
    assert page.shelf.seen.room.models_dir == "/big/disk"


def drop(window: QWidget, *paths: str) -> None:
    """Hold files over a widget and let them go."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(300, 300), action, data, left, none)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(300, 300), action, data, left, none))


def test_files_dropped_on_the_window_are_added_and_each_refusal_is_said(stage: Stage) -> None:
    drop(stage.window, "/downloads/模型 📦.gguf", "/pictures/cat.png")
    stage.settle()
    assert stage.window.toast.text() == "模型 📦 was added."
    assert "cat.png" in stage.window.failure.text()
    assert stage.window.models.drop.hint.isHidden()
    drop(stage.window, "/a.png", "/b.png")
    stage.settle()
    assert stage.window.failure.text() == "2 files were not added."
    stage.window.failure.details.click()
    assert "/a.png" in stage.window.failure.log_text()


@pytest.mark.parametrize("size", [(900, 600), (1280, 800)], ids=str)
@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_is_cut_and_nothing_overlaps(
    page: LibraryPage, stage: Stage, language: str, size: tuple[int, int]
) -> None:
    stage.window.panel_button.setChecked(False)
    details(page, "four")
    details(page, "closed")
    details(page, "coder").download.click()
    stage.house.downloads.step("coder:Q4_K_M", state=DownloadState.FAILED, failure=ErrorReport(ErrorCode.DISK_FULL))
    stage.appearance.choose_language(language)
    stage.window.resize(*size)
    stage.settle()
    found = [cut_texts(page), overlaps(page)]
    page.show_disk(is_shown=True)
    stage.settle()
    found += [cut_texts(page), overlaps(page)]
    stage.appearance.choose_language(ENGLISH)
    assert found == [[], [], [], []]


def test_every_control_of_the_page_has_a_name_in_its_language(page: LibraryPage, stage: Stage) -> None:
    details(page, "closed")
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    controls = [w for kind in (QPushButton, QCheckBox) for w in page.findChildren(kind) if w.isVisible()]
    unnamed = [w.objectName() for w in controls if not (w.accessibleName() or w.text())]
    english = [w.text() for w in controls if w.text().isascii() and w.text()]
    stage.appearance.choose_language(ENGLISH)
    assert unnamed == []
    assert english == []


def test_what_the_catalogue_says_of_a_model_is_in_the_language_of_the_window(page: LibraryPage, stage: Stage) -> None:
    shipped = Catalogues().current().card("lfm2.5-8b-a1b")
    assert shipped is not None
    stage.house.library.cards = (shipped, *stage.house.library.cards)
    page.shelf.look()
    stage.settle()
    about = details(page, shipped.model_id).about
    assert about.text() == shipped.note
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    chinese = about.text()
    page.catalogue.filters.search.setText(chinese[:4])
    stage.settle()
    found = [card.card.model_id for card in page.catalogue.shown()]
    stage.appearance.choose_language(ENGLISH)
    assert chinese == card_note_in_chinese(shipped.note)
    assert found == [shipped.model_id]


def card_note_in_chinese(note: str) -> str:
    (text,) = read_ts(ts_file(CHINESE))["catalogue", note]
    return text


def test_the_tab_key_reaches_everything_on_the_page(page: LibraryPage, stage: Stage) -> None:
    details(page, "coder").download.click()
    stage.settle()
    names = [widget.objectName() for widget in page.focus_chain()]
    for wanted in ("suggest", "import-models", "tab-disk", "search-models", "context", "open-card", "download"):
        assert wanted in names
    page.suggest.setFocus()
    QApplication.processEvents()
    focus = QApplication.focusWidget()
    reached = []
    for _ in range(8):
        assert focus is not None
        reached.append(focus.objectName())
        focus = focus.nextInFocusChain()
    assert "import-models" in reached
