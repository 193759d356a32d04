"""PySide6 6.12.0 on CPython 3.11 aborts the interpreter after 560 emits; the pin in pyproject.toml keeps it out."""

from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

N_EMITS = 5000


class Bird(QObject):
    sang = Signal(int)


def test_five_thousand_emits_do_not_abort_the_interpreter(qtbot: QtBot) -> None:
    bird = Bird()
    heard: list[int] = []
    bird.sang.connect(heard.append)
    for n in range(N_EMITS):
        bird.sang.emit(n)
    assert heard == list(range(N_EMITS))
