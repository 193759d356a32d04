"""What lies on this disk: models, routers, what was left behind, and the folder for all of it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.models import InstalledModel
from layadesk.ui.library.installed_row import InstalledRow
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.texts import library, words
from layadesk.ui.texts.numbers import gib_with_unit
from layadesk.ui.theme.fonts import small_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.usecases.browse_library import LibraryEntry


class DiskView(QWidget):
    """Signals:
    chat_requested, verify_requested, remove_requested: the model's id.
    leftover_requested: path of a leftover that should be deleted.
    move_requested: the models folder should be another one.
    focus_changed: other controls are there.
    """

    chat_requested = Signal(str)
    verify_requested = Signal(str)
    remove_requested = Signal(str)
    leftover_requested = Signal(str)
    move_requested = Signal()
    focus_changed = Signal()

    def __init__(self, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self.rows: dict[str, InstalledRow] = {}
        self.routers: dict[str, _PlainRow] = {}
        self.leftovers: dict[str, _PlainRow] = {}
        self._place = ElidedLabel()
        self._room = note()
        self.move_button = QPushButton()
        self.move_button.setObjectName("move-models")
        self.move_button.clicked.connect(self.move_requested)
        self._moving = MeterBar()
        self._moving.hide()
        self._none = note()
        self._left_title = QLabel()
        self._left_title.setFont(strong_font())
        self._left_note = note()
        self._column, self._left_column = QVBoxLayout(), QVBoxLayout()
        self._lay_out()
        shelf.seen_changed.connect(self._on_seen)
        self._retranslate()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        stops: list[QWidget] = [self.move_button]
        stops += [widget for row in self.rows.values() for widget in row.focus_chain()]
        return stops + [row.delete for row in (*self.routers.values(), *self.leftovers.values())]

    def show_moving(self, share: float | None) -> None:
        """How far the move of the folder is; None: it is over."""
        self._moving.setVisible(share is not None)
        self._moving.set_shares([("accent", share or 0.0)])
        self.move_button.setEnabled(share is None)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        where = QVBoxLayout()
        where.setSpacing(GAP_XS)
        where.addWidget(self._place)
        where.addWidget(self._room)
        where.addWidget(self._moving)
        head = QHBoxLayout()
        head.setSpacing(GAP_M)
        head.addLayout(where, 1)
        head.addWidget(self.move_button, 0, Qt.AlignmentFlag.AlignTop)
        for column in (self._column, self._left_column):
            column.setSpacing(GAP_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        layout.addWidget(self._none)
        layout.addLayout(self._column)
        layout.addSpacing(GAP_S)
        layout.addWidget(self._left_title)
        layout.addWidget(self._left_note)
        layout.addLayout(self._left_column)

    @Slot()
    def _on_seen(self) -> None:
        seen = self._shelf.seen
        models = {model.model_id: model for entry in seen.entries for model in entry.installed}
        self._bring_models(models)
        checkpoints = {entry.model_id: entry for entry in seen.entries if entry.router_dir is not None}
        _drop(self.routers, set(checkpoints))
        for model_id, entry in checkpoints.items():
            if model_id not in self.routers:
                row = _PlainRow(model_id)
                row.delete_requested.connect(self.remove_requested)
                self.routers[model_id] = row
                self._column.addWidget(row)
            self._show_router(entry)
        _drop(self.leftovers, {one.path for one in seen.leftovers})
        for one in seen.leftovers:
            if one.path not in self.leftovers:
                row = _PlainRow(one.path)
                row.delete_requested.connect(self.leftover_requested)
                self.leftovers[one.path] = row
                self._left_column.addWidget(row)
        self._retranslate()
        self.focus_changed.emit()

    def _bring_models(self, models: dict[str, InstalledModel]) -> None:
        for gone in self.rows.keys() - models.keys():
            row = self.rows.pop(gone)
            row.setParent(None)
            row.deleteLater()
        for model_id, model in models.items():
            if model_id in self.rows:
                self.rows[model_id].show_model(model)
                continue
            row = InstalledRow(model)
            row.chat_requested.connect(self.chat_requested)
            row.verify_requested.connect(self.verify_requested)
            row.remove_requested.connect(self.remove_requested)
            self.rows[model_id] = row
            self._column.addWidget(row)

    def _show_router(self, entry: "LibraryEntry") -> None:
        name = entry.model_id if entry.card is None else entry.card.name
        self.routers[entry.model_id].show_words(
            name,
            f"{self.tr('router')} · {library.size(entry.n_bytes_on_disk)} · {entry.router_dir}",
            self.tr("Remove {name}…").format(name=name),
        )

    def _retranslate(self) -> None:
        seen = self._shelf.seen
        room = seen.room
        place = words.unknown() if room is None else room.models_dir
        free = words.unknown() if room is None or room.free_bytes is None else gib_with_unit(room.free_bytes)
        self._place.set_text(self.tr("Models are kept in {place}").format(place=place))
        used = sum(entry.n_bytes_on_disk for entry in seen.entries)
        self._room.setText(self.tr("{used} in use, {free} free").format(used=library.size(used), free=free))
        self.move_button.setText(self.tr("Move…"))
        self.move_button.setAccessibleName(self.tr("Keep the models in another folder…"))
        self._none.setText(self.tr("There is no model on this disk yet."))
        self._none.setVisible(not self.rows and not self.routers)
        self._left_title.setText(self.tr("Left behind"))
        self._left_note.setText(self.tr("Unfinished downloads, and model files that are in no list."))
        for widget in (self._left_title, self._left_note):
            widget.setVisible(bool(self.leftovers))
        for entry in seen.entries:
            if entry.model_id in self.routers:
                self._show_router(entry)
        for one in seen.leftovers:
            if one.path in self.leftovers:
                what = self.tr("unfinished download") if one.is_partial else self.tr("in no list")
                name = one.path.replace("\\", "/").rsplit("/", 1)[-1]
                self.leftovers[one.path].show_words(
                    name,
                    f"{what} · {library.size(one.n_bytes)} · {one.path}",
                    self.tr("Delete {name}, {size}").format(name=name, size=library.size(one.n_bytes)),
                )


class _PlainRow(QFrame):
    """A name, a line about it, and a button that deletes it.

    Signals:
        delete_requested: the key it was made with.
    """

    delete_requested = Signal(str)

    def __init__(self, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self._key = key
        self._title = ElidedLabel()
        self._line = ElidedLabel(meaning=Ink.MUTED)
        self._line.setFont(small_font())
        self.delete = IconButton("trash")
        self.delete.setObjectName("delete-row")
        self.delete.clicked.connect(self._on_delete)
        texts = QVBoxLayout()
        texts.setSpacing(GAP_XS // 2)
        texts.addWidget(self._title)
        texts.addWidget(self._line)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_S)
        row.addLayout(texts, 1)
        row.addWidget(self.delete)

    def show_words(self, title: str, line: str, delete: str) -> None:
        """What it says, and what its button does."""
        self._title.set_text(title)
        self._line.set_text(line)
        self.delete.set_name(delete)
        self.setAccessibleName(f"{title}, {line}")

    def text(self) -> str:
        """All that it says."""
        return f"{self._title.text()} {self._line.text()}"

    @Slot()
    def _on_delete(self) -> None:
        self.delete_requested.emit(self._key)


def _drop(rows: dict[str, _PlainRow], kept: set[str]) -> None:
    for gone in rows.keys() - kept:
        row = rows.pop(gone)
        row.setParent(None)
        row.deleteLater()
