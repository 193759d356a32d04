"""What two experts wrote before the final answer of a second opinion: folded away under one line, opened at a click."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QToolButton, QVBoxLayout, QWidget

from layadesk.domain.routing import Draft
from layadesk.ui.texts.errors import sentence
from layadesk.ui.theme.fonts import small_font, strong_font
from layadesk.ui.theme.tokens import GAP_S, GAP_XS
from layadesk.ui.widgets.roles import note, set_role


class DraftsView(QWidget):
    """Hidden where there are no drafts.

    Signals:
        folded: it was opened or closed, so that heights have changed.
    """

    folded = Signal()

    def __init__(self, *, name_of: Callable[[str], str]) -> None:
        super().__init__()
        self.setObjectName("drafts")
        set_role(self, "plain")
        self._name_of = name_of
        self._drafts: tuple[Draft, ...] = ()
        self.fold = QToolButton()
        self.fold.setObjectName("drafts-fold")
        self.fold.setCheckable(True)
        self.fold.setFont(small_font())
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.setArrowType(Qt.ArrowType.RightArrow)
        self.fold.setAutoRaise(True)
        self.fold.toggled.connect(self._on_toggled)
        self._inside = QWidget()
        self._inside.hide()
        self._list = QVBoxLayout(self._inside)
        self._list.setContentsMargins(GAP_S, 0, 0, 0)
        self._list.setSpacing(GAP_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_XS)
        layout.addWidget(self.fold)
        layout.addWidget(self._inside)
        self.hide()

    def show_drafts(self, drafts: Sequence[Draft]) -> None:
        """The drafts as they are kept with the route."""
        if tuple(drafts) != self._drafts:
            self._drafts = tuple(drafts)
            self._render()

    def shown_text(self) -> str:
        """What stands in it, also while it is folded."""
        return "\n".join(label.text() for label in self._inside.findChildren(QLabel))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _render(self) -> None:
        self.setVisible(bool(self._drafts))
        self.fold.setText(self.tr("%n draft(s) before this answer", "", len(self._drafts)))
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for draft in self._drafts:
            name = QLabel(self._name_of(draft.expert))
            name.setFont(strong_font())
            text = QLabel(draft.text.strip() or self.tr("It wrote nothing."))
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._list.addWidget(name)
            self._list.addWidget(text)
            if draft.error is not None:
                failed = note()
                failed.setText(sentence(draft.error))
                self._list.addWidget(failed)

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        self.fold.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._inside.setVisible(is_open)
        self.folded.emit()
