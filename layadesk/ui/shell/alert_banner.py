"""The machine is in trouble: the worst warning, its cause, and what can be done about it now."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, Slot
from PySide6.QtWidgets import QMenu, QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.texts.alerts import alert_words, is_urgent, unloaded_words, waiting_words
from layadesk.ui.texts.words import together
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.banner import Banner

if TYPE_CHECKING:
    from layadesk.domain.machine_alerts import Danger
    from layadesk.usecases.memory_guard import GuardState, MemoryGuard


class AlertBanner(Banner):
    """One message for each episode: closed by its cross, it stays away until something else or worse comes."""

    def __init__(
        self, guard: "MemoryGuard", *, name_of: Callable[[str], str], bridge: Bridge, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("banner-machine")
        self._guard = guard
        self._name_of = name_of
        self._state = guard.state
        self._dismissed: set[tuple[Danger, int]] = set()
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.accepted.connect(self._on_accepted)
        self.cross.clicked.connect(self._on_dismissed)
        bridge.follow(guard.feed, self._on_state)
        self._render()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange and hasattr(self, "_menu"):
            self._render()

    def menu(self) -> QMenu:
        """What is offered; filled when the button is pressed."""
        return self._menu

    @Slot(object)
    def _on_state(self, state: "GuardState") -> None:
        self._state = state
        self._dismissed &= {(alert.danger, alert.severity) for alert in state.alerts}
        self._render()

    def _render(self) -> None:
        shown = [alert for alert in self._state.alerts if (alert.danger, alert.severity) not in self._dismissed]
        if self._state.unloaded:
            names = ", ".join(self._name_of(model_id) for model_id in self._state.unloaded)
            self.show_message(unloaded_words(names), ink=Ink.DANGER)
        elif shown:
            worst = shown[0]
            text = together(alert_words(worst), waiting_words() if self._state.is_pausing else "")
            others = tuple(alert_words(alert) for alert in shown[1:])
            ink = Ink.DANGER if is_urgent(worst) else Ink.WARN
            action = self.tr("Free memory…") if self._guard.relief().loaded else ""
            self.show_message(text, ink=ink, action=action, details=others)
        else:
            self.hide()

    @Slot()
    def _on_accepted(self) -> None:
        self._menu.popup(self.action.mapToGlobal(QPoint(0, self.action.height())))

    @Slot()
    def _fill_menu(self) -> None:
        relief = self._guard.relief()
        self._menu.clear()
        choices: list[tuple[str, Callable[[], None]]] = []
        if relief.n_ctx is not None:
            text = self.tr("Shorten the context to {n_ctx} tokens and load again").format(n_ctx=relief.n_ctx)
            choices.append((text, self._guard.shrink_context))
        if relief.smaller is not None:
            text = self.tr("Move to the smaller expert {name}").format(name=self._name_of(relief.smaller))
            choices.append((text, self._guard.use_smaller))
        choices.append((self.tr("Stop and unload now; the text is kept"), self._guard.unload))
        for text, act in choices:
            self._menu.addAction(text).triggered.connect(partial(_call, act))

    @Slot()
    def _on_dismissed(self) -> None:
        if self._state.unloaded:
            self._guard.acknowledge()
        self._dismissed |= {(alert.danger, alert.severity) for alert in self._state.alerts}


def _call(act: Callable[[], None], _: bool = False) -> None:
    act()
