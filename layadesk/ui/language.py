"""The language of the window and of the command line's errors: read from `assets/i18n/*.ts` at start, no compile step.

The source strings are English; `layadesk_en.ts` holds only what English needs beyond them, its plural forms.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from layadesk.paths import assets_dir

log = logging.getLogger(__name__)

SYSTEM = "system"
ENGLISH = "en"
CHINESE = "zh_CN"
OWN_NAMES: Final[Mapping[str, str]] = {ENGLISH: "English", CHINESE: "简体中文"}

_PLURALS: Final[Mapping[str, Callable[[int], int]]] = {ENGLISH: lambda n: 0 if n == 1 else 1, CHINESE: lambda _: 0}

Forms = tuple[str, ...]
Messages = Mapping[tuple[str, str], Forms]


def read_ts(path: Path) -> dict[tuple[str, str], Forms]:
    """`(context, source) → forms`; one form for ordinary strings, one per plural form for counted ones.

    Untranslated entries are left out, so that Qt falls back to the source.
    """
    messages: dict[tuple[str, str], Forms] = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is None or translation.get("type") in {"vanished", "obsolete", "unfinished"}:
                continue
            counted = [form.text or "" for form in translation.iter("numerusform")]
            forms = tuple(counted) if counted else (translation.text or "",)
            if all(forms):
                messages[name, message.findtext("source", "")] = forms
    return messages


class TsTranslator(QTranslator):
    """Answers Qt's look-ups from a .ts file. Any thread, like every translator."""

    def __init__(self, messages: Messages, plural: Callable[[int], int], *, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._plural = plural

    def translate(
        self,
        context: str,
        sourceText: str,  # noqa: N803 - Qt's name
        disambiguation: str | None = None,
        n: int = -1,
    ) -> str | None:
        """None is Qt's null string: the next translator is asked, then the source is shown."""
        forms = self._messages.get((context, sourceText))
        if forms is None:
            return None
        return forms[self._plural(n)] if len(forms) > 1 and n >= 0 else forms[0]

    def isEmpty(self) -> bool:
        return False


class Language:
    """Installs the translators of one language at a time. Every widget hears a change as LanguageChange."""

    def __init__(self, app: QCoreApplication) -> None:
        self._app = app
        self._installed: list[QTranslator] = []
        self.current = ENGLISH

    def use(self, choice: str) -> None:
        """`choice` is "system" or one of OWN_NAMES."""
        language = system_language() if choice not in OWN_NAMES else choice
        if self._installed and language == self.current:
            return
        for translator in self._installed:
            self._app.removeTranslator(translator)
        self.current = language
        QLocale.setDefault(QLocale(language))
        self._installed = [*_qt_texts(language, self._app), _own_texts(language, self._app)]
        for translator in self._installed:
            self._app.installTranslator(translator)


def system_language(wanted: Sequence[str] | None = None) -> str:
    """The first of the system's languages (`wanted`, as `zh-Hans-CN`) that there is; English otherwise."""
    for name in QLocale.system().uiLanguages() if wanted is None else wanted:
        short = name.replace("_", "-").split("-")[0].lower()
        if short == "zh":
            return CHINESE
        if short == "en":
            return ENGLISH
    return ENGLISH


def ts_file(language: str) -> Path:
    """Where the translation of a language lies."""
    return assets_dir() / "i18n" / f"layadesk_{language}.ts"


def _own_texts(language: str, parent: QObject) -> QTranslator:
    try:
        messages = read_ts(ts_file(language))
    except (OSError, ElementTree.ParseError) as error:
        log.warning("no translation for %s: %s", language, error)
        messages = {}
    return TsTranslator(messages, _PLURALS[language], parent=parent)


def _qt_texts(language: str, parent: QObject) -> list[QTranslator]:
    """Qt's own words, as in the menu of a text field."""
    if language == ENGLISH:
        return []
    translator = QTranslator(parent)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    return [translator] if translator.load(f"qtbase_{language}", folder) else []
