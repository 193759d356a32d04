"""Which language a request is asked in: told from its prose, never from code or long quotations inside it."""

import re
from typing import Final

from layadesk.router.reading import Reading

_SMALL_WORDS: Final = {
    "en": "the and is are to of in it you for what how my can this that with do please i me not be have on or",
    "fr": "le la les des une est et je vous pour dans que qui pas sur avec mon ce une du au comment",
    "de": "der die das und ist nicht ich ein eine zu mit wie kann für auf den mir bitte auch im von",
    "es": "el la los las una es y de que en por para con mi como no se qué cómo puedo un del",
    "pt": "o a os as um uma é e de que em por para com meu como não se do da você",
    "it": "il lo la gli una è e di che in per con mio come non si del della un sono",
    "nl": "de het een en is van ik je niet op te dat voor met hoe kan mijn",
}
_WORDS: Final = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
_SCRIPTS: Final = (
    ("ko", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff\u3400-\u4dbf]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)
_LATIN: Final = re.compile("[a-z\u00c0-\u024f]+")
_WINDOW: Final = 240  # characters at either end; a paste in the middle has no say


def detect(reading: Reading) -> str | None:
    """An ISO 639-1 code, or None where there is nothing to tell it from.

    Scripts are weighed by characters, Latin text by words: "帮我看看这个 function 为什么 return None" is Chinese.
    Of a long text the shorter of its first and last lines counts: there it is asked.
    """
    text = reading.text
    if len(text) > 2 * _WINDOW:
        lines = [line for line in text.split("\n") if line.strip()]
        ends = {lines[0][:_WINDOW], lines[-1][-_WINDOW:]} if lines else {text}
        text = min(ends, key=len) if len(ends) > 1 and min(map(len, ends)) > 3 else text[:_WINDOW] + text[-_WINDOW:]
    weights = {code: float(len(pattern.findall(text))) for code, pattern in _SCRIPTS} if not text.isascii() else {}
    if weights.get("ja"):
        weights["ja"] += weights.pop("zh", 0.0)  # Japanese writes with Han characters too
    words = _LATIN.findall(text)
    if words:
        weights["latin"] = float(len(words))
    if not any(weights.values()):
        return None
    best = max(weights, key=lambda code: weights[code])
    return _latin(words) if best == "latin" else best


def _latin(words: list[str]) -> str:
    """The language whose small words are most of these; English where none speaks up."""
    hits = {code: sum(word in small for word in words) for code, small in _WORDS.items()}
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] > hits["en"] else "en"
