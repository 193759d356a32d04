"""Language, light or dark, the right panel: what the settings say, and how the window follows."""

from PySide6.QtCore import QObject, Slot

from layadesk.domain.errors import ErrorReport
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.ui.language import Language
from layadesk.ui.theme.theme import Theme


class Appearance(QObject):
    """The one place that reads and writes the `ui.*` settings."""

    def __init__(self, settings: Settings, *, language: Language, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._language = language
        self._theme = theme

    def apply(self) -> None:
        """Make language and colours what the settings say."""
        self._language.use(self.language)
        self._theme.use(self.theme)

    @property
    def problems(self) -> tuple[ErrorReport, ...]:
        """What was wrong with the settings file."""
        return self._settings.problems

    @property
    def language(self) -> str:
        """ "system", or the code of a language."""
        return self._settings.get(definitions.UI_LANGUAGE)

    @property
    def theme(self) -> str:
        """ "system", "light" or "dark"."""
        return self._settings.get(definitions.UI_THEME)

    @property
    def is_panel_visible(self) -> bool:
        """Whether the right panel is unfolded."""
        return self._settings.get(definitions.UI_PANEL_VISIBLE)

    def choose_language(self, choice: str) -> None:
        """Keep it and switch now."""
        self._settings.set(definitions.UI_LANGUAGE, choice)
        self._language.use(choice)

    def choose_theme(self, choice: str) -> None:
        """Keep it and switch now."""
        self._settings.set(definitions.UI_THEME, choice)
        self._theme.use(choice)

    @Slot(str)
    def follow(self, key: str) -> None:
        """A setting was changed on the Settings page."""
        if key == definitions.UI_LANGUAGE.key:
            self._language.use(self.language)
        elif key == definitions.UI_THEME.key:
            self._theme.use(self.theme)

    def keep_panel_visible(self, is_visible: bool) -> None:
        """Remember whether the panel is unfolded."""
        self._settings.set(definitions.UI_PANEL_VISIBLE, is_visible)
