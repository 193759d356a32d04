"""The user's own rules as text, one a line: `code → coder-7b`, `domain:law → lawyer`, `/sql → coder-7b`."""

import re
from typing import Final

from layadesk.domain.routing import Rule
from layadesk.domain.routing_labels import DOMAINS, GROUPS, TASKS

_LINE: Final = re.compile(r"\s*(\S+?)\s*(?:→|->|=>|＝|=)\s*(\S+)\s*$")


def parse_rules(text: str) -> tuple[Rule, ...]:
    """The rules that can be understood, in their order; the others are in `flawed_rules`."""
    found = (_LINE.match(line) for line in text.splitlines())
    return tuple(Rule(one[1].lower(), one[2]) for one in found if one and _is_known(one[1].lower()))


def flawed_rules(text: str) -> tuple[str, ...]:
    """The lines that are no rules: without an arrow, or for something that no router says."""
    lines = (line for line in text.splitlines() if line.strip())
    return tuple(line for line in lines if not parse_rules(line))


def _is_known(when: str) -> bool:
    if when.startswith("/"):
        return len(when) > 1
    return when in TASKS or when in GROUPS or (when.removeprefix("domain:") in DOMAINS and when.startswith("domain:"))
