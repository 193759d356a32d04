"""One model of the catalogue: a line with its name, size and whether it fits, which opens to everything else."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from layadesk.domain.models import CardKind, ModelCard
from layadesk.ui.library.card_details import CardDetails
from layadesk.ui.library.filters import tasks_of
from layadesk.ui.library.quantization_list import show_fit
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.texts import library
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.texts.numbers import percent
from layadesk.ui.theme.fonts import figure_font, strong_font
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XL, GAP_XS, ICON_PX, Ink
from layadesk.ui.widgets.badge import Badge
from layadesk.ui.widgets.roles import note, set_look, set_role
from layadesk.usecases.browse_library import LibraryEntry

MOST_TASKS = 4


class ModelCardView(QFrame):
    """Signals:
    download_requested, chat_requested, router_requested, page_requested: as of `CardDetails`.
    opened: it was opened or closed; the order of the Tab key is another one.
    """

    download_requested = Signal(str, str, bool)
    chat_requested = Signal(str)
    router_requested = Signal(str)
    page_requested = Signal(str)
    opened = Signal()

    def __init__(self, entry: LibraryEntry, card: ModelCard, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(f"card-{card.model_id}")
        self.entry = entry
        self.card = card
        self._shelf = shelf
        self.details: CardDetails | None = None
        self.head = QToolButton()
        self.head.setObjectName("open-card")
        set_role(self.head, "fold")
        self.head.setCheckable(True)
        self.head.setFont(strong_font())
        self.head.setIconSize(QSize(ICON_PX, ICON_PX))
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.head.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.head.toggled.connect(self._on_toggled)
        self._size = QLabel()
        self._size.setFont(figure_font())
        set_look(self._size, "ink", "muted")
        self.badge = Badge()
        self.badge.setObjectName("fit-badge")
        self._line = note()
        self._lay_out()
        self.refresh()

    def show_entry(self, entry: LibraryEntry, card: ModelCard) -> None:
        """What the catalogue and the disk say of it now."""
        self.entry, self.card = entry, card
        self.refresh()

    def open_up(self) -> None:
        """Show what it opens to."""
        self.head.setChecked(True)

    def line(self) -> str:
        """What stands below the name."""
        return self._line.text()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.head, *(self.details.focus_chain() if self.details is not None else ())]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.refresh()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(GAP_S, GAP_S, GAP_M, 0)
        row.setSpacing(GAP_M)
        row.addWidget(self.head, 1)
        row.addWidget(self._size)
        row.addWidget(self.badge)
        below = QHBoxLayout()
        below.setContentsMargins(GAP_XL + GAP_M, 0, GAP_M, GAP_S)
        below.addWidget(self._line)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_XS)
        self._column.addLayout(row)
        self._column.addLayout(below)

    @Slot()
    def refresh(self) -> None:
        """Judgements, downloads, the disk or the language have changed."""
        entry, card = self.entry, self.card
        best = self._shelf.best(entry)
        self.head.setText(card.name)
        set_icon(self.head, "chevron-down" if self.head.isChecked() else "chevron-right", Ink.MUTED)
        shown = card.file(best.quantization) if best is not None else card.files[0] if card.files else None
        self._size.setText(library.file_size(shown))
        self._render_badge()
        self._line.setText(" · ".join(self._words()))
        name = (card.name, self.badge.accessibleName(), self._size.text(), self._line.text())
        self.head.setAccessibleName(", ".join(filter(None, name)))
        if self.details is not None:
            self.details.show_entry(entry)

    def _render_badge(self) -> None:
        best = self._shelf.best(self.entry)
        if self.card.kind is CardKind.ROUTER:
            is_here = self.entry.is_installed
            self.badge.setVisible(is_here)
            if is_here:
                self.badge.show_words(self.tr("installed"), Ink.OK)
            return
        if best is None and self._shelf.is_judged(self.card.model_id) and self.card.files:
            best = self._shelf.fitting(self.card.model_id, self.card.files[0].quantization)
        show_fit(self.badge, best)

    def _words(self) -> list[str]:
        entry, card = self.entry, self.card
        parts = []
        running = self._shelf.running_of(card.model_id)
        if running is not None:
            share = "" if running.share is None else f" {percent(running.share)}"
            parts.append(f"{library.state_words(running)}{share}")
        elif entry.is_installed and card.kind is CardKind.EXPERT:
            parts.append(self.tr("installed"))
        if card.kind is CardKind.ROUTER:
            parts.append(self.tr("router"))
        parts += [", ".join(task_name(task) for task in tasks_of(entry)[:MOST_TASKS])]
        parts += [", ".join(library.language_name(code) for code in card.languages)]
        parts += [library.license_name(card.license)]
        return [part for part in parts if part]

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        if is_open and self.details is None:
            self.details = CardDetails(self.card, self._shelf)
            self.details.download_requested.connect(self.download_requested)
            self.details.chat_requested.connect(self.chat_requested)
            self.details.router_requested.connect(self.router_requested)
            self.details.page_requested.connect(self.page_requested)
            self._column.addWidget(self.details)
        if self.details is not None:
            self.details.setVisible(is_open)
        self.refresh()
        self.opened.emit()
