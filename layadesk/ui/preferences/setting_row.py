"""One setting on the page: its name, what it does, an editor chosen by its type, and the way back to the default."""

from typing import Any

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from layadesk.domain.errors import LayaDeskError
from layadesk.settings.definitions import Setting, SettingValue
from layadesk.settings.settings import Settings
from layadesk.ui.texts.setting_texts import applies_words, choice_name, setting_description, setting_name
from layadesk.ui.texts.words import together
from layadesk.ui.theme.tokens import GAP_M, GAP_XS
from layadesk.ui.widgets.calm_wheel import leave_wheel_to_page
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import note

LONG_TEXTS = {"chat.system_prompt", "models.thinking", "models.load", "router.rules"}
EDITOR_WIDTH = 220
TEXT_HEIGHT = 84
TYPING_MS = 400
Editor = QCheckBox | QComboBox | QSpinBox | QDoubleSpinBox | QLineEdit | QPlainTextEdit


class SettingRow(QWidget):
    """Follows the setting, also when it is changed elsewhere.

    Signals:
        refused: the message of a value that is not valid; it was not taken.
    """

    refused = Signal(object)

    def __init__(self, setting: Setting[Any], settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        self._settings = settings
        self._is_showing = False
        self.name = QLabel()
        self.description = note()
        self.editor: Editor = _editor_for(setting)
        self.editor.setObjectName(f"setting-{setting.key}")
        self.reset = IconButton("refresh")
        self.reset.clicked.connect(self._on_reset)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._on_edited)
        self._connect()
        self._lay_out()
        self.show_value()
        self._retranslate()

    @Slot()
    def show_value(self) -> None:
        """Bring the editor up to date; what is being typed is not disturbed."""
        value = self._settings.get(self.setting)
        if value != self.value():
            self._is_showing = True
            _put(self.editor, value)
            self._is_showing = False
        self.reset.setEnabled(value != self.setting.default)
        self.editor.setEnabled(self._has_what_it_needs())
        self._describe()

    def value(self) -> SettingValue:
        """What the editor holds."""
        match self.editor:
            case QCheckBox():
                return self.editor.isChecked()
            case QComboBox():
                return str(self.editor.currentData())
            case QSpinBox() | QDoubleSpinBox():
                return self.editor.value()
            case QLineEdit():
                return self.editor.text()
            case QPlainTextEdit():
                return self.editor.toPlainText()

    def flush(self) -> None:
        """Take what was typed last at once."""
        if self._typing.isActive():
            self._typing.stop()
            self._on_edited()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _connect(self) -> None:
        match self.editor:
            case QCheckBox():
                self.editor.toggled.connect(self._on_edited)
            case QComboBox():
                leave_wheel_to_page(self.editor)
                self.editor.currentIndexChanged.connect(self._on_edited)
            case QSpinBox() | QDoubleSpinBox():
                leave_wheel_to_page(self.editor)
                self.editor.valueChanged.connect(self._on_typed)
            case QLineEdit() | QPlainTextEdit():
                self.editor.textChanged.connect(self._on_typed)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GAP_XS // 2)
        words.addWidget(self.name)
        words.addWidget(self.description)
        is_long = isinstance(self.editor, QPlainTextEdit)
        if is_long:
            self.editor.setFixedHeight(TEXT_HEIGHT)
        else:
            self.editor.setFixedWidth(EDITOR_WIDTH)
        row = QHBoxLayout()
        row.setSpacing(GAP_M)
        row.addLayout(words, 1)
        if not is_long:
            row.addWidget(self.editor)
        row.addWidget(self.reset)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_XS, 0, GAP_XS)
        layout.addLayout(row)
        if is_long:
            layout.addWidget(self.editor)

    def _retranslate(self) -> None:
        key = self.setting.key
        self.name.setText(setting_name(key))
        self._describe()
        self.editor.setAccessibleName(setting_name(key))
        self.reset.set_name(self.tr("{name}: back to the default").format(name=setting_name(key)))
        if isinstance(self.editor, QComboBox):
            for index in range(self.editor.count()):
                self.editor.setItemText(index, choice_name(str(self.editor.itemData(index))))

    def _has_what_it_needs(self) -> bool:
        return not self.setting.needs or bool(str(self._settings.get(self.setting.needs)).strip())

    def _describe(self) -> None:
        sentences = [setting_description(self.setting.key)]
        when = applies_words(self.setting.applies)
        if when:
            sentences.append(self.tr("Felt {when}.").format(when=when))
        if not self._has_what_it_needs():
            needed = setting_name(self.setting.needs)
            sentences.append(self.tr("First fill in “{needed}”.").format(needed=needed))
        self.description.setText(together(*sentences))
        self.editor.setAccessibleDescription(self.description.text())

    @Slot()
    def _on_edited(self) -> None:
        if self._is_showing:
            return
        try:
            self._settings.set(self.setting, self.value())
        except LayaDeskError as error:
            self.refused.emit(error.report)
        self.reset.setEnabled(self._settings.get(self.setting) != self.setting.default)

    @Slot()
    def _on_typed(self) -> None:
        """Not at each key: a prompt is longer than that."""
        if not self._is_showing:
            self._typing.start()

    @Slot()
    def _on_reset(self) -> None:
        self._typing.stop()
        self._settings.reset(self.setting)
        self.show_value()


def _editor_for(setting: Setting[Any]) -> Editor:
    if setting.type is bool:
        return QCheckBox()
    if setting.choices:
        box = QComboBox()
        for choice in setting.choices:
            box.addItem(choice_name(choice), choice)
        return box
    if setting.type is int:
        number = QSpinBox()
        number.setRange(int(setting.minimum or 0), int(setting.maximum or 2**31 - 1))
        number.setGroupSeparatorShown(True)
        return number
    if setting.type is float:
        fraction = QDoubleSpinBox()
        fraction.setRange(float(setting.minimum or 0), float(setting.maximum or 1e9))
        fraction.setDecimals(2)
        fraction.setSingleStep(0.05)
        return fraction
    if setting.key in LONG_TEXTS:
        text = QPlainTextEdit()
        text.setTabChangesFocus(True)
        return text
    return QLineEdit()


def _put(editor: Editor, value: SettingValue) -> None:
    match editor:
        case QCheckBox():
            editor.setChecked(bool(value))
        case QComboBox():
            editor.setCurrentIndex(max(editor.findData(value), 0))
        case QSpinBox():
            editor.setValue(int(value))
        case QDoubleSpinBox():
            editor.setValue(float(value))
        case QLineEdit():
            editor.setText(str(value))
        case QPlainTextEdit():
            editor.setPlainText(str(value))
