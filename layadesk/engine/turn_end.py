"""How a template ends an answer: where a file does not name that mark as an end, an answer ends there all the same.

Converters forget to, and llama.cpp knows the marks of families by their text only. A model then goes on after its
answer, in the user's words, or says its mark again and again until the context is full.
"""

import re
from collections.abc import Callable, Sequence

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.inference import PromptMessage, Role

_ANSWER = "An answer to be found again."
_TURNS = (PromptMessage(Role.USER, "Hello."), PromptMessage(Role.ASSISTANT, _ANSWER), PromptMessage(Role.USER, "Well?"))
_MARK = re.compile(r"\s*(<[^<>\s]{1,40}>)")


def turn_end(render: Callable[[Sequence[PromptMessage]], str]) -> str:
    """The mark that follows an answer; empty where nothing does that looks like one, or the template fails."""
    try:
        _, found, rest = render(_TURNS).rpartition(_ANSWER)
    except LayaDeskError:
        return ""
    mark = _MARK.match(rest) if found else None
    return "" if mark is None else mark[1]
