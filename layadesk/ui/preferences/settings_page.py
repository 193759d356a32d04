"""The Settings page: one row for each setting of the table, files of other programs, and the shortcuts."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.settings.definitions import ALL_SETTINGS, Setting
from layadesk.ui.bridge import Bridge
from layadesk.ui.preferences.expert_rows import ExpertRows
from layadesk.ui.preferences.remote_rows import RemoteRows
from layadesk.ui.preferences.setting_row import SettingRow
from layadesk.ui.texts.setting_texts import group_name
from layadesk.ui.texts.words import together
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, GAP_XL
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.import_settings import ImportSettings, SettingsTaken
    from layadesk.usecases.load_settings import LoadSettings
    from layadesk.usecases.remote_experts import RemoteExperts


class SettingsPage(QWidget):
    """Signals:
    failed: an ErrorReport of something that was not taken.
    setting_changed: key of a setting that was changed here.
    """

    failed = Signal(object)
    setting_changed = Signal(str)

    def __init__(
        self,
        import_settings: "ImportSettings",
        load_settings: "LoadSettings",
        remotes: "RemoteExperts",
        *,
        bridge: Bridge,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._import = import_settings
        self._settings = import_settings.settings
        self._bridge = bridge
        self.dialog: QFileDialog | None = None
        self.header = PageHeader()
        self.import_button = QPushButton()
        self.import_button.setObjectName("import-yaml")
        self.import_button.clicked.connect(self.choose_file)
        self.reset_button = QPushButton()
        self.reset_button.setObjectName("reset-all")
        self.reset_button.clicked.connect(self.reset_all)
        self.header.add_button(self.import_button)
        self.header.add_button(self.reset_button)
        self.told = note()
        self.told.setObjectName("import-told")
        self.told.hide()
        self.experts = ExpertRows(load_settings, bridge=bridge)
        self.experts.failed.connect(self.failed)
        self.remotes = RemoteRows(remotes, bridge=bridge)
        self.remotes.failed.connect(self.failed)
        self._headings: dict[str, QLabel] = {}
        self.rows: dict[str, SettingRow] = {}
        self._shortcuts = QWidget()
        self._shortcut_heading = QLabel()
        self._groups = QVBoxLayout()
        self._area = ReadingArea(spacing=GAP_S)
        self._lay_out()
        for setting in ALL_SETTINGS:
            self._settings.subscribe(setting, partial(self._on_changed, setting.key))
        self._retranslate()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        self._fill()
        stops: list[QWidget] = [self.import_button, self.reset_button, *self.experts.buttons.values()]
        stops += self.remotes.stops()
        for row in self.rows.values():
            stops += [row.editor, row.reset]
        return stops

    @Slot()
    def reset_all(self) -> None:
        """Every setting back to its default; undone by nothing, so the window's look stays as it is."""
        for key, row in self.rows.items():
            if not key.startswith("ui."):
                self._settings.reset(key)
                row.show_value()

    @Slot()
    def choose_file(self) -> None:
        """Choose a YAML file of another program."""
        self.dialog = QFileDialog(self, self.tr("Import settings"))
        self.dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self.dialog.setNameFilters([self.tr("YAML (*.yaml *.yml)"), self.tr("All files (*)")])
        self.dialog.fileSelected.connect(self.import_file)
        self.dialog.open()

    @Slot(str)
    def import_file(self, path: str) -> None:
        """Take the settings of a file; what was taken and what was not is said."""
        self._bridge.deliver(self._import(path), self._on_taken, on_error=self._on_failed)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill()
        self.experts.fill()
        self.remotes.fill()
        for row in self.rows.values():
            row.show_value()

    def hideEvent(self, event: QHideEvent) -> None:
        for row in self.rows.values():
            row.flush()
        super().hideEvent(event)

    def _lay_out(self) -> None:
        column = self._area.column
        column.setContentsMargins(GAP_L, GAP_M, GAP_L, GAP_XL)
        column.addWidget(self.told)
        self._groups.setSpacing(GAP_S)
        column.addWidget(self.experts)
        column.addWidget(self.remotes)
        column.addLayout(self._groups)
        self._shortcut_heading.setFont(strong_font())
        column.addSpacing(GAP_M)
        column.addWidget(self._shortcut_heading)
        column.addWidget(self._shortcuts)
        column.addStretch(1)
        self.header.stand_on(self, self._area)

    def _fill(self) -> None:
        """The rows, made when the page is first wanted: the window need not wait for them."""
        if self.rows:
            return
        for group, settings in _grouped(ALL_SETTINGS):
            heading = QLabel()
            heading.setFont(strong_font())
            self._headings[group] = heading
            self._groups.addSpacing(GAP_M)
            self._groups.addWidget(heading)
            for setting in settings:
                row = SettingRow(setting, self._settings)
                row.refused.connect(self.failed)
                self.rows[setting.key] = row
                self._groups.addWidget(row)
        self._retranslate()

    def _retranslate(self) -> None:
        self.header.title.set_text(self.tr("Settings"))
        self.import_button.setText(self.tr("Import YAML…"))
        self.reset_button.setText(self.tr("Reset all"))
        for button in (self.import_button, self.reset_button):
            button.setAccessibleName(button.text())
        for group, heading in self._headings.items():
            heading.setText(group_name(group))
        self._shortcut_heading.setText(self.tr("Shortcuts"))
        if self.rows:
            self._fill_shortcuts()

    def _fill_shortcuts(self) -> None:
        old = self._shortcuts.layout()
        if old is not None:
            QWidget().setLayout(old)  # Qt's way to take a layout off
        for label in self._shortcuts.findChildren(QLabel):
            label.deleteLater()
        grid = QGridLayout(self._shortcuts)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(GAP_L)
        for row, (keys, what) in enumerate(self._shortcut_words()):
            grid.addWidget(QLabel(keys), row, 0)
            grid.addWidget(note(what), row, 1)

    def _shortcut_words(self) -> Sequence[tuple[str, str]]:
        return (
            ("Ctrl+N", self.tr("New chat")),
            ("Ctrl+F", self.tr("Search all conversations")),
            ("Ctrl+L", self.tr("Write a message")),
            ("Esc", self.tr("Stop the answer")),
            ("Ctrl+PgUp, Ctrl+PgDown", self.tr("Conversation before, after")),
            ("Ctrl+End", self.tr("Newest message")),
            ("F2, Del, Ctrl+Z", self.tr("Rename, delete the conversation in the list, take that back")),
            ("Ctrl+1 … Ctrl+7", self.tr("Pages")),
            ("F9", self.tr("Machine and route at the right")),
        )

    def _on_changed(self, key: str, _: object) -> None:
        """On the GUI thread: only this page and the menus of the window set anything while it is open."""
        for row in self.rows.values():
            if key in (row.setting.key, row.setting.needs):
                row.show_value()
        self.setting_changed.emit(key)

    def _on_taken(self, taken: "SettingsTaken") -> None:
        for row in self.rows.values():
            row.show_value()
        parts = [self.tr("%n setting(s) were taken.", "", len(taken.taken))]
        if taken.ignored:
            parts.append(self.tr("Not used here: {keys}.").format(keys=", ".join(taken.ignored)))
        if taken.experts:
            parts.append(self.tr("Add these experts yourself: {names}.").format(names=", ".join(taken.experts)))
        self.told.setText(together(*parts))
        self.told.show()

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)


def _grouped(settings: Sequence[Setting[Any]]) -> list[tuple[str, list[Setting[Any]]]]:
    groups: dict[str, list[Setting[Any]]] = {}
    for setting in settings:
        groups.setdefault(setting.key.split(".")[0], []).append(setting)
    return list(groups.items())
