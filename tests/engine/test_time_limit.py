import sys
import threading
from collections.abc import Callable

import pytest

from layadesk.engine.time_limit import TEMPLATE_FILE, TimeLimit, TimeLimitExceeded


def template(source: str) -> Callable[[], object]:
    """A function that Python takes for a compiled template."""
    names: dict[str, Callable[[], object]] = {}
    exec(compile(source, TEMPLATE_FILE, "exec"), names)
    return names["root"]


ENDLESS = [
    "def root():\n while True:\n  pass\n",
    "def root():\n while True:\n  try:\n   while True: x = 1\n  except Exception: continue\n",
    "def root():\n def inner():\n  for i in iter(int, 1): yield i\n for i in inner(): pass\n",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_a_loop_without_end_is_stopped(source: str) -> None:
    loop = template(source)
    with pytest.raises(TimeLimitExceeded), TimeLimit(0.05):
        loop()


def test_code_that_ends_in_time_is_left_alone() -> None:
    total = template("def root():\n n = 0\n for i in range(1000):\n  n += i\n return n\n")
    with TimeLimit(30.0):
        assert total() == 499_500


def test_afterwards_the_thread_is_as_it_was() -> None:
    before = sys.gettrace()
    with pytest.raises(TimeLimitExceeded), TimeLimit(0.01):
        template(ENDLESS[0])()
    assert sys.gettrace() is before
    with TimeLimit(0.0):
        pass
    assert sys.gettrace() is before


def test_an_error_inside_the_block_comes_out_as_itself() -> None:
    with pytest.raises(ZeroDivisionError), TimeLimit(30.0):
        template("def root():\n return 1 / 0\n")()


def test_only_its_own_thread_is_stopped() -> None:
    ended: list[str] = []

    def limited() -> None:
        try:
            with TimeLimit(0.05):
                template(ENDLESS[0])()
        except TimeLimitExceeded:
            ended.append("limited")

    thread = threading.Thread(target=limited)
    thread.start()
    thread.join(30)
    assert ended == ["limited"]
