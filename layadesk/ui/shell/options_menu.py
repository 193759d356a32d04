"""The menu below the list: light or dark, language, models and conversations from files, and what this program is."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from layadesk.ui.language import OWN_NAMES
from layadesk.ui.shell.about_dialog import AboutDialog
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import ICON_PX, Ink
from layadesk.usecases.about import About


class OptionsButton(QToolButton):
    """Signals:
    add_model_requested: a model file should be added.
    import_requested: conversations should be taken in from a file.
    export_requested: all conversations should be written to a file.
    trash_requested: what was deleted should be shown.
    """

    add_model_requested = Signal()
    import_requested = Signal()
    export_requested = Signal()
    trash_requested = Signal()

    def __init__(self, appearance: Appearance, about: About, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("options")
        self._about = about
        self._appearance = appearance
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_icon(self, "options", Ink.MUTED)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.setMenu(self._menu)
        self._retranslate()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.setText(self.tr("Options"))
        self.setAccessibleName(self.tr("Options"))

    @Slot()
    def _fill_menu(self) -> None:
        self._menu.clear()
        themes = self._menu.addMenu(self.tr("Appearance"))
        themes.setObjectName("themes")
        self._add_choices(
            themes,
            [("system", self.tr("Follow the system")), ("light", self.tr("Light")), ("dark", self.tr("Dark"))],
            self._appearance.theme,
        )
        themes.triggered.connect(self._on_theme_chosen)
        languages = self._menu.addMenu(self.tr("Language"))
        languages.setObjectName("languages")
        self._add_choices(
            languages, [("system", self.tr("Follow the system")), *OWN_NAMES.items()], self._appearance.language
        )
        languages.triggered.connect(self._on_language_chosen)
        self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a model file…"))
        add.triggered.connect(self.add_model_requested)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("Import conversations…")).triggered.connect(self.import_requested)
        self._menu.addAction(self.tr("Export all conversations…")).triggered.connect(self.export_requested)
        self._menu.addAction(self.tr("Deleted conversations…")).triggered.connect(self.trash_requested)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("About LayaDesk")).triggered.connect(self._show_about)

    def _add_choices(self, menu: QMenu, choices: list[tuple[str, str]], current: str) -> None:
        group = QActionGroup(menu)
        for value, text in choices:
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(value == current)
            action.setData(value)
            group.addAction(action)

    @Slot()
    def _show_about(self) -> None:
        AboutDialog(self._about, self.window()).open()

    @Slot(QAction)
    def _on_theme_chosen(self, action: QAction) -> None:
        self._appearance.choose_theme(str(action.data()))

    @Slot(QAction)
    def _on_language_chosen(self, action: QAction) -> None:
        self._appearance.choose_language(str(action.data()))
