"""What views of messages need, without a thread: no formula is ever drawn, work beside is done at once."""

from collections.abc import Callable
from typing import TypeVar

from layadesk.ui.markup.formulas import Drawn
from layadesk.ui.markup.parts import Kit

ResultT = TypeVar("ResultT")


class NoFormulas:
    def find(self, tex: str, *, is_display: bool) -> Drawn | None:
        return None


class AtOnce:
    def run(self, work: Callable[[], ResultT], on_result: Callable[[ResultT], None]) -> None:
        on_result(work())

    def close(self) -> None:
        """Nothing to end."""


def still_kit() -> Kit:
    return Kit(NoFormulas(), AtOnce())
