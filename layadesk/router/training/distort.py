"""What people do to a prompt: typing mistakes, a greeting, no capitals, a long paste before or after it."""

import random
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

GREETINGS: Final = {
    "en": (
        "Hi! ",
        "Hello there, ",
        "hey, ",
        "Good morning! ",
        "Hi, hope you are well. ",
        "Dear assistant, ",
        "Please, ",
    ),
    "zh": ("你好，", "您好！", "请问，", "在吗？", "嗨，", "麻烦你，", "你好呀，请"),
}
JOINTS: Final = ("\n", "\n\n", "\n\n", "\n\n---\n\n", " ", ":\n")
_PASTED: Final = 0.2
_KEYS: Final = "abcdefghijklmnopqrstuvwxyz"
_SOUNDS_ALIKE: Final = (
    "的地得",
    "在再",
    "做作",
    "像向象",
    "以已",
    "他她它",
    "那哪",
    "和合",
    "是事试式",
    "有又右",
    "写些",
    "成程城",
    "题提",
    "问文",
)
_ALIKE: Final = {c: group.replace(c, "") for group in _SOUNDS_ALIKE for c in group}


def typos(text: str, rng: random.Random, rate: float = 0.05) -> str:
    """Each letter is swapped, dropped, doubled or replaced with probability `rate`; other signs stay."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if not char.isalpha() or rng.random() >= rate:
            out.append(char)
            continue
        kind = rng.randrange(4)
        if char in _ALIKE:
            out.append(rng.choice(_ALIKE[char]))
        elif kind == 0 and at < len(text):
            out.append(text[at] + char)
            at += 1
        elif kind == 1:
            pass
        elif kind == 2:
            out.append(char + char)
        else:
            out.append(rng.choice(_KEYS) if char.isascii() else text[rng.randrange(len(text))])
    return "".join(out)


def greet(text: str, lang: str, rng: random.Random) -> str:
    """With a hello in front."""
    return rng.choice(GREETINGS[lang]) + text


def paste(text: str, pasted: Sequence[str], rng: random.Random, *, n_chars: int, after: bool) -> str:
    """With `n_chars` characters of other people's prose after or before the request."""
    parts: list[str] = []
    length = 0
    glue = rng.choice(("\n", "\n\n", " ", "\n"))
    while length < n_chars:
        part = rng.choice(pasted)
        parts.append(part)
        length += len(part) + len(glue)
    prose = glue.join(parts)[:n_chars]
    joint = rng.choice(JOINTS)
    return f"{text}{joint}{prose}" if after else f"{prose}{joint if joint != ':' else ' '}{text}"


class Side(IntEnum):
    """Where the request stands in a text that was distorted."""

    WHOLE = 0
    FIRST = 1
    LAST = 2


def distorted(text: str, lang: str, pasted: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, Side]:
    """One of them or none, as often as training wants it; and which end of the text is the request."""
    draw = rng.random()
    if draw < _PASTED and len(text) < 1500:
        other = "en" if lang == "zh" else "zh"
        prose = pasted[other if rng.random() < 0.15 else lang]
        n_chars = rng.choice((300, 600, 1000, 2000, 4000, 4000))
        side = rng.choice((Side.FIRST, Side.LAST))
        return paste(text, prose, rng, n_chars=n_chars, after=side is Side.FIRST), side
    if draw < _PASTED + 0.1:
        return typos(text, rng, rng.choice((0.03, 0.06, 0.1))), Side.WHOLE
    if draw < _PASTED + 0.14:
        return greet(text, lang, rng), Side.WHOLE
    if draw < _PASTED + 0.2:
        return text.lower().rstrip(".?!。？！"), Side.WHOLE
    return text, Side.WHOLE
