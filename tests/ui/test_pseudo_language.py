"""Pages in a language that is 40 % longer than English and full of accents: nothing is cut, no text is left out."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from layadesk.domain.route_counts import counts_of
from layadesk.ui.shell.navigation_rail import Destination
from tests.fakes.examples import NOW, records
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts
from tests.ui.pseudo import Pseudo


@pytest.fixture
def pseudo(stage: Stage, qapp: QApplication) -> Iterator[Stage]:
    """The window in that language."""
    stage.house.route_counts.found = counts_of(records(82, 18), now=NOW)
    translator = Pseudo()
    qapp.installTranslator(translator)
    stage.window.resize(1320, 900)
    stage.settle()
    yield stage
    qapp.removeTranslator(translator)
    stage.settle()


@pytest.mark.parametrize("page", [Destination.CHAT, Destination.MODELS, Destination.ROUTES, Destination.SETTINGS])
def test_longer_words_have_room(pseudo: Stage, page: Destination) -> None:
    if page is Destination.CHAT:
        pseudo.open(pseudo.house.converse("Hello", "Good **day**."))
    if page is Destination.MODELS:
        pseudo.window.show_page(page)
        pseudo.settle()
        pseudo.window.models.page.show_model("closed")
    pseudo.window.show_page(page)
    pseudo.settle()
    assert cut_texts(pseudo.window.pages) == []


def test_every_word_of_a_page_is_translated(pseudo: Stage) -> None:
    pseudo.window.show_page(Destination.SETTINGS)
    pseudo.settle()
    page = pseudo.window.settings_page
    labels: list[QLabel | QAbstractButton] = [*page.findChildren(QLabel), *page.findChildren(QAbstractButton)]
    shown = [label.text() for label in labels if label.isVisible() and label.text()]
    keys = ("Ctrl", "Esc", "F9", "F2")
    assert [text for text in shown if not text.startswith("[") and not any(key in text for key in keys)] == []
