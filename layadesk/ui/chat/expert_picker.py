"""Who answers in this conversation: Auto, or one expert that is pinned."""

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.texts.card_notes import card_note
from layadesk.ui.texts.remote import marked_with_host, where_to
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.roles import set_role


class ExpertPicker(QToolButton):
    """Signals:
    chosen: the id of the expert to pin, "" for Auto.
    add_requested: a model file should be added.
    """

    chosen = Signal(str)
    add_requested = Signal()

    def __init__(self, experts: ExpertList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("expert-picker")
        self._experts = experts
        self._pinned: str | None = None
        set_role(self, "picker")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands behind the name
        set_icon(self, "chevron-down", Ink.MUTED)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._menu.triggered.connect(self._on_triggered)
        self.setMenu(self._menu)
        experts.changed.connect(self._update_text)
        self._update_text()

    def show_pin(self, expert_id: str | None) -> None:
        """The pin of the conversation that is shown."""
        self._pinned = expert_id
        self._update_text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._update_text()
        super().changeEvent(event)

    @Slot()
    def _update_text(self) -> None:
        name = self.tr("Auto") if self._pinned is None else self._experts.name_of(self._pinned)
        shown = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, 180)
        self.setText(self.tr("Expert: {name}").format(name=shown))
        self.setAccessibleName(self.tr("Expert: {name}").format(name=name))
        self.setToolTip(self.tr("Who answers in this conversation"))

    @Slot()
    def _fill_menu(self) -> None:
        self._menu.clear()
        self._experts.look_again()
        group = QActionGroup(self._menu)
        self._add_choice(group, "", self.tr("Auto: the router chooses"))
        self._menu.addSeparator()
        for model in self._experts.installed:
            text = self._experts.name_of(model.model_id).replace("&", "&&")
            if not model.is_present:
                text = self.tr("{name} (file missing)").format(name=text)
            elif self._experts.is_loaded(model.model_id):
                text = self.tr("{name} (loaded)").format(name=text)
            action = self._add_choice(group, model.model_id, text)
            action.setEnabled(model.is_present)
            action.setToolTip(card_note(model.note) if model.is_present else self.tr("Its file is missing."))
        for remote in self._experts.remotes:
            text = marked_with_host(remote.name, remote.host)
            is_away = self._experts.is_away(remote.model_id)
            if is_away:
                text = self.tr("{name}: no answer").format(name=text)
            action = self._add_choice(group, remote.model_id, text.replace("&", "&&"))
            action.setToolTip(where_to(remote.host))
        if self._experts.can_answer:
            self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a model file…"))
        add.setObjectName("add-model")

    def _add_choice(self, group: QActionGroup, expert_id: str, text: str) -> QAction:
        action = self._menu.addAction(text)
        action.setCheckable(True)
        action.setChecked((self._pinned or "") == expert_id)
        action.setData(expert_id)
        group.addAction(action)
        return action

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.objectName() == "add-model":
            self.add_requested.emit()
        else:
            self.chosen.emit(str(action.data()))
