"""What the style sheet reads from a widget: its role and the meaning of its colour."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import Ink


def set_role(widget: QWidget, role: str) -> None:
    """Give `widget` the look of `role` in `theme/style.py`; may change while it is shown."""
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    set_look(widget, "role", role)


def set_look(widget: QWidget, name: str, value: str) -> None:
    """Set one property the style sheet asks for, and draw anew when it is another one."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    if not widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        return  # it will be styled when it is shown
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)


def note(text: str = "", *, ink: Ink = Ink.MUTED) -> QLabel:
    """A label in small type that wraps."""
    label = QLabel(text)
    label.setFont(small_font())
    label.setWordWrap(True)
    label.setProperty("ink", ink.value)
    return label
