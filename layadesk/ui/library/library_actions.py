"""What a user does on the Models page: download, import, verify, remove, delete what was left, move the folder."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QMessageBox, QWidget

from layadesk.domain.errors import ErrorReport, LayaDeskError
from layadesk.domain.models import Verified
from layadesk.domain.worker_state import WorkerKind
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.ui.bridge import Bridge
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.texts import library
from layadesk.ui.texts.errors import sentence
from layadesk.usecases.keep_library import Imported, Removal

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases

Step = tuple[str, int, int | None]  # of what, done, in all


class LibraryActions(QObject):
    """Signals:
    failed: an ErrorReport of something that did not happen.
    told: a sentence about something that did.
    refused: sentences about files that were not taken, one for each.
    verifying: model id, share or None. verified: model id, whether it is right, or None. not_verified: model id.
    moving: share of the bytes, or None when it is over.
    """

    failed = Signal(object)
    told = Signal(str)
    refused = Signal(object)
    verifying = Signal(str, object)
    verified = Signal(str, object)
    not_verified = Signal(str)
    moving = Signal(object)

    def __init__(self, use_cases: "UseCases", shelf: Shelf, *, bridge: Bridge, window: QWidget) -> None:
        super().__init__(window)
        self._use_cases = use_cases
        self._shelf = shelf
        self._bridge = bridge
        self._window = window
        self._steps: Feed[Step] = Feed()
        self.dialog: QFileDialog | None = None
        self.box: QMessageBox | None = None
        bridge.follow(self._steps, self._on_step)

    @Slot(str, str, bool)
    def download(self, model_id: str, quantization: str, licence_accepted: bool) -> None:
        """Queue one file."""
        try:
            self._use_cases.downloads.start(model_id, quantization, licence_accepted=licence_accepted)
        except LayaDeskError as error:
            self.failed.emit(error.report)

    @Slot(str)
    def use_router(self, setting: str) -> None:
        """Let that checkpoint route from now on."""
        self._use_cases.settings.set(definitions.ROUTER, setting)
        self._use_cases.workers.restart(WorkerKind.ROUTER)
        self._shelf.seen_changed.emit()
        self.told.emit(self.tr("It routes from the next message on."))

    @Slot()
    def choose_files(self) -> None:
        """Choose GGUF files."""
        dialog = self._new_dialog(self.tr("Import model files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([self.tr("Models (*.gguf)"), self.tr("All files (*)")])
        dialog.filesSelected.connect(self.import_paths)
        dialog.open()

    @Slot()
    def choose_folder(self) -> None:
        """Choose a folder with GGUF files."""
        dialog = self._new_dialog(self.tr("Import a folder"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.filesSelected.connect(self.import_paths)
        dialog.open()

    @Slot(list)
    def import_paths(self, paths: list[str]) -> None:
        """List what lies there, without copying it."""
        self._bridge.deliver(self._use_cases.library.import_files(paths), self._on_imported, on_error=self._on_failed)

    @Slot(str)
    def verify(self, model_id: str) -> None:
        """Read all of a model and compare its sum."""
        self.verifying.emit(model_id, None)

        def progress(n_done: int, n_all: int | None) -> None:
            self._steps.publish((model_id, n_done, n_all))

        future = self._use_cases.library.verify(model_id, progress)
        self._bridge.deliver(future, self._on_verified, on_error=partial(self._on_not_verified, model_id))

    @Slot(str)
    def ask_remove(self, model_id: str) -> None:
        """Say what removing it would do, and ask."""
        future = self._use_cases.look_at_library.removal(model_id)
        self._bridge.deliver(future, self._on_removal, on_error=self._on_failed)

    @Slot(str)
    def ask_delete_leftover(self, path: str) -> None:
        """Ask whether a file that is in no list should go."""
        found = next((one for one in self._shelf.seen.leftovers if one.path == path), None)
        if found is None:
            return
        size = library.size(found.n_bytes)
        box = self._new_box(self.tr("Delete this? It frees {size}.").format(size=size), path)
        delete = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.buttonClicked.connect(partial(self._on_leftover_answer, path, delete))
        box.open()

    @Slot()
    def choose_models_dir(self) -> None:
        """Choose where the models are to be kept."""
        dialog = self._new_dialog(self.tr("Keep the models in"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.move_models)
        dialog.open()

    @Slot(str)
    def move_models(self, folder: str) -> None:
        """Move everything the program installed there."""
        self.moving.emit(0.0)

        def progress(n_done: int, n_all: int | None) -> None:
            self._steps.publish(("", n_done, n_all))

        future = self._use_cases.library.move_models_dir(folder, progress)
        self._bridge.deliver(future, partial(self._on_moved, folder), on_error=self._on_not_moved)

    def _new_dialog(self, title: str) -> QFileDialog:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = QFileDialog(self._window, title)
        self.dialog.setWindowModality(Qt.WindowModality.WindowModal)
        return self.dialog

    def _new_box(self, question: str, more: str) -> QMessageBox:
        """With a way out that is also what Escape does."""
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle("LayaDesk")
        box.setText(question)
        box.setInformativeText(more)
        cancel = box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        self.box = box
        return box

    def _on_removal(self, removal: Removal) -> None:
        size = library.size(removal.n_bytes)
        if not removal.is_users_file:
            box = self._new_box(
                self.tr("Remove it from this disk? That frees {size}.").format(size=size), "\n".join(removal.paths)
            )
            delete = box.addButton(self.tr("Remove, {size}").format(size=size), QMessageBox.ButtonRole.DestructiveRole)
            box.buttonClicked.connect(partial(self._on_remove_answer, removal.model_id, {delete: False}))
        else:
            box = self._new_box(
                self.tr("This is your own file. Take it off the list and leave it where it is?"),
                "\n".join(removal.paths),
            )
            keep = box.addButton(self.tr("Take off the list"), QMessageBox.ButtonRole.AcceptRole)
            delete = box.addButton(
                self.tr("Delete the file too, {size}").format(size=size), QMessageBox.ButtonRole.DestructiveRole
            )
            answers: dict[QAbstractButton, bool] = {keep: False, delete: True}
            box.buttonClicked.connect(partial(self._on_remove_answer, removal.model_id, answers))
        box.open()

    def _on_remove_answer(self, model_id: str, answers: dict[QAbstractButton, bool], button: QAbstractButton) -> None:
        self.box = None
        if button in answers:
            future = self._use_cases.library.remove(model_id, delete_users_file=answers[button])
            self._bridge.deliver(future, self._on_freed, on_error=self._on_failed)

    def _on_leftover_answer(self, path: str, delete: QAbstractButton, button: QAbstractButton) -> None:
        self.box = None
        if button is delete:
            future = self._use_cases.library.delete_leftover(path)
            self._bridge.deliver(future, self._on_freed, on_error=self._on_failed)

    def _on_freed(self, n_bytes: int) -> None:
        self._shelf.look()
        if n_bytes:
            self.told.emit(self.tr("{size} came free.").format(size=library.size(n_bytes)))
        else:
            self.told.emit(self.tr("It is off the list; the file was left where it is."))

    def _on_imported(self, done: Imported) -> None:
        self._shelf.look()
        if done.installed:
            n, first = len(done.installed), done.installed[0].name
            text = self.tr("{name} was added.") if n == 1 else self.tr("%n model(s) were added.", "", n)
            self.told.emit(text.format(name=first))
        self.refused.emit([_refusal(report) for report in done.refused])

    @Slot(object)
    def _on_step(self, step: Step) -> None:
        model_id, n_done, n_all = step
        share = n_done / n_all if n_all else None
        if model_id:
            self.verifying.emit(model_id, share)
        else:
            self.moving.emit(share or 0.0)

    def _on_verified(self, found: Verified) -> None:
        known = [right for _, right in found.files if right is not None]
        self.verified.emit(found.model_id, None if not known else all(known))

    def _on_not_verified(self, model_id: str, report: ErrorReport) -> None:
        self.not_verified.emit(model_id)
        self.failed.emit(report)

    def _on_moved(self, folder: str, _: int) -> None:
        self.moving.emit(None)
        self._shelf.look()
        self.told.emit(self.tr("The models are kept in {place} now.").format(place=folder))

    def _on_not_moved(self, report: ErrorReport) -> None:
        self.moving.emit(None)
        self.failed.emit(report)

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)


def _refusal(report: ErrorReport) -> str:
    """With the file's name before it, where the sentence does not name it."""
    said = sentence(report)
    name = Path(str(report.facts.get("path") or "")).name
    return said if not name or name in said else f"{name}: {said}"
