"""A desk with played workers for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.answering import PlayedDesk, played_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[PlayedDesk]:
    """One expert, `alpha`, is installed."""
    with played_desk(tmp_path / "data") as made:
        made.install()
        yield made
