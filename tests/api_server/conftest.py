"""One server for the tests that leave it as it was."""

from collections.abc import Iterator

import pytest

from tests.fakes.served import Served, served


@pytest.fixture(scope="session")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two experts whose answer is the last user message."""
    with served(tmp_path_factory.mktemp("echo"), experts=("tiny", "other"), text=None) as running:
        yield running
