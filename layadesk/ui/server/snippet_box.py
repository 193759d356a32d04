"""Code to copy: one of several at a time, chosen by its name."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from layadesk.ui.markup.code_view import CodeText
from layadesk.ui.server.snippets import Snippet
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_role


class SnippetBox(QFrame):
    """Buttons with the names, the code below them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "code-frame")
        self._snippets: tuple[Snippet, ...] = ()
        self._shown = 0
        self.tabs: list[QPushButton] = []
        self.copy_button = IconButton("copy")
        self.copy_button.setObjectName("copy-snippet")
        self.copy_button.clicked.connect(self._on_copy)
        self.code = CodeText()
        self._row = QHBoxLayout()
        self._row.setSpacing(GAP_S)
        self._row.addStretch(1)
        self._row.addWidget(self.copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addLayout(self._row)
        layout.addWidget(self.code)
        self._retranslate()

    def show_snippets(self, snippets: Sequence[Snippet]) -> None:
        """The same names each time, with the code as it is now."""
        self._snippets = tuple(snippets)
        if not self.tabs:
            for index, snippet in enumerate(self._snippets):
                tab = QPushButton(snippet.language)
                tab.setCheckable(True)
                tab.setAccessibleName(snippet.language)
                tab.clicked.connect(lambda _=False, index=index: self.show_one(index))
                self.tabs.append(tab)
                self._row.insertWidget(index, tab)
        self.show_one(self._shown)

    def show_one(self, index: int) -> None:
        """One of them."""
        self._shown = index
        for number, tab in enumerate(self.tabs):
            tab.setChecked(number == index)
            tab.setFont(strong_font() if number == index else self.font())
        code = self._snippets[index].code
        if self.code.toPlainText() != code:
            self.code.setPlainText(code)
        bar = self.code.horizontalScrollBar().sizeHint().height()
        line = self.code.blockBoundingRect(self.code.document().firstBlock()).height()  # more than the font's spacing
        n_lines = self.code.document().blockCount()
        self.code.setFixedHeight(ceil(self.code.contentOffset().y() + line * n_lines) + bar + 2)
        self.code.setAccessibleName(self._snippets[index].language)

    def stops(self) -> list[QWidget]:
        """For the Tab key."""
        return [*self.tabs, self.copy_button]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._snippets[self._shown].code)

    def _retranslate(self) -> None:
        self.copy_button.set_name(self.tr("Copy this code"))
