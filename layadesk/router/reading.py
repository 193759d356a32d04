"""What a request looks like to the bundled router: bounded, normalised, its pastes folded, both ends kept.

Any string is accepted: NUL, lone surrogates, one line of a megabyte. The time does not grow beyond READ_CHARS.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

READ_CHARS: Final = 16_000  # of a longer text, half from each end
HEAD_CHARS: Final = 380
TAIL_CHARS: Final = 300
MIN_BLOCK_LINES: Final = 3
QUOTE_CHARS: Final = 240  # a quotation longer than this is a paste

# Private-use characters stand for what was folded, so that the n-grams around them keep the order of things.
MARKS: Final = {
    "code": "\ue000",
    "quote": "\ue001",
    "table": "\ue002",
    "log": "\ue003",
    "blob": "\ue004",
    "link": "\ue005",
    "more": "\ue006",
}
PARAGRAPH: Final = "\ue008"  # begins a line that follows an empty one

_FENCE = re.compile(r"(```|~~~)(?:[ \t]*([\w+#.-]{0,20})[^\n`]*\n)?(.*?)\1", re.DOTALL)
_OPEN_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[ \t]*([\w+#.-]{0,20})[^\n]*\n([\s\S]*)\Z")
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{120,}")
_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"'，。；）]{3,400}")
_LONG_QUOTE = re.compile(
    rf"“[^”]{{{QUOTE_CHARS},6000}}”|「[^」]{{{QUOTE_CHARS},6000}}」|\"[^\"\n]{{{QUOTE_CHARS},6000}}\""
)
_QUOTED = re.compile(r"[ \t]*[>|][ \t]?\S")
_LOG = re.compile(
    r"[ \t]*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\],. ]"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b"
    r"|Traceback \(|File \"[^\"]+\", line \d|at [\w.$<>/]+\([^)]*\)|Caused by:|\w+(?:Error|Exception)\b:)"
)
_TABLE = re.compile(r"[^|\t,;]*(?:(?:\|[^|]*){2,}|(?:\t[^\t]*){2,}|(?:,[^,\s][^,]*){3,}|(?:;[^;\s][^;]*){3,})$")
_CODE = re.compile(
    r"[ \t]*(?:(?:def|class|import|from|return|elif|except|const|let|var|function|public|private|protected|static|void|"
    r"struct|enum|package|using|namespace|impl|fn|func|SELECT|FROM|WHERE|INSERT|UPDATE|CREATE|JOIN|GROUP BY|ORDER BY)"
    r"\b.*[(){}:;=,*]|(?:if|for|while|switch|else|try|catch)\b.*[{:]$|#include\b|#!/|//|/\*|\*/|</?\w+[^>]*>|@\w+|"
    r"[\w.\[\]\"'*&]+[ \t]*(?:[-+*/|&]?=|:=|=>|<-)[ \t]*\S|[\w.]+\(.*\)[;{]?$|\$ \w|[ \t]+return\b.*$"
    r"|[\w-]+: [\w\"'\[{/.-]+$|[}\])]+[;,]?$)"
    r"|.*[;{}][ \t]*$"
)
_PROSE_END = re.compile(r"[.!?。！？…]\s*$")
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff]"
)

_GREETING = re.compile(
    r"[\s,.!~，。！、…:]*(?:"
    r"(?:hi|hello|hey|hiya|greetings|howdy|yo|sup)(?:\s+(?:there|all|everyone|team|bot|assistant|ai|guys|folks|friend|again|mate))?"
    r"|good\s+(?:morning|afternoon|evening|day)|dear\s+(?:assistant|ai|bot)"
    r"|(?:i\s+)?hope\s+(?:you(?:'re|\s+are)\s+(?:doing\s+)?(?:well|good|fine|ok)|this\s+finds\s+you\s+well|all\s+is\s+well)"
    r"|(?:can|could|would|will)\s+you\s+(?:please|kindly|pls|plz)|(?:please|pls|plz|kindly)"
    r"|(?:您|你|大家)好[啊呀吗]?|哈喽|哈啰|嗨|在吗|在不在|早上好|下午好|晚上好|早安"
    r"|(?:请问|麻烦|劳驾|拜托)(?:一下|你|您)?(?:了)?|(?:能不能|可不可以|能否|可以)?请(?:你|您)?(?!假|求|问|教|客|示|柬|帖|愿)"
    r")(?![A-Za-z'])[\s,.!~，。！、…:]*",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"[\s,.!~，。！、…]*(?:(?:many\s+)?thanks(?:\s+(?:a\s+lot|so\s+much|in\s+advance|very\s+much))?|thank\s+you"
    r"(?:\s+(?:so\s+much|very\s+much|in\s+advance))?|thx|ty|cheers|(?:please|pls|plz)|(?:先)?谢谢(?:你|您|啦|了)?|多谢|感谢|拜托了|辛苦了|谢啦)"
    r"[\s,.!~，。！、…]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fold:
    """A paste that was folded: its kind, a language or "" where none is named, and how many lines and characters."""

    kind: str
    language: str
    n_lines: int
    n_chars: int


@dataclass(frozen=True, slots=True)
class Reading:
    """`text` is what is read, lower case, with a mark for each fold; `prose` the same before the ends were cut."""

    text: str
    prose: str
    folds: tuple[Fold, ...]
    n_chars: int
    n_lines: int


def read(text: str) -> Reading:
    """Read one request. Never raises; takes microseconds for a message, a millisecond or two for the longest."""
    n_chars, n_lines = len(text), text.count("\n") + 1
    folds: list[Fold] = []
    prose = clean(text)
    if len(prose) > READ_CHARS:
        half = READ_CHARS // 2
        prose = f"{prose[:half]}\n{prose[-half:]}"
    prose = fold(prose, folds)
    prose = strip_politeness(prose)
    read_text = prose.lower()
    if len(read_text) > HEAD_CHARS + TAIL_CHARS:
        middle = len(read_text) - HEAD_CHARS - TAIL_CHARS
        folds.append(Fold("more", "", 1, middle))
        read_text = f"{read_text[:HEAD_CHARS]}\n{MARKS['more']}\n{read_text[-TAIL_CHARS:]}"
    return Reading(read_text, prose, tuple(folds), n_chars, n_lines)


def clean(text: str) -> str:
    """Full-width letters become plain ones, control and direction signs and broken surrogates go."""
    if len(text) > 2 * READ_CHARS:
        text = f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        text = unicodedata.normalize("NFKC", text)
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def fold(text: str, folds: list[Fold]) -> str:
    """Replace pastes by marks and note each in `folds`; the white space of the rest is evened out."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda found: _mark(folds, "code", found[3], (found[2] or "").lower()), text)
        text = _OPEN_FENCE.sub(lambda found: _never_closed(folds, found), text)
    if len(text) > QUOTE_CHARS:
        text = _BLOB.sub(lambda found: _mark(folds, "blob", found[0]), text)
        text = _LONG_QUOTE.sub(lambda found: _quote(folds, found[0]), text)
    if "://" in text or "www." in text:
        text = _LINK.sub(lambda found: _mark(folds, "link", found[0]), text)
    if text.count("\n") >= MIN_BLOCK_LINES - 1:
        text = _fold_blocks(text, folds)
    if "\n" not in text:
        return " ".join(text.split())
    return _tidy(text.split("\n"))


def _tidy(lines: list[str]) -> str:
    """Without empty lines, but with a mark where a paragraph begins, and with single spaces."""
    kept: list[str] = []
    is_new = False
    for line in lines:
        words = " ".join(line.split())
        if words:
            kept.append(PARAGRAPH + words if is_new and kept else words)
        is_new = not words
    return "\n".join(kept)


def strip_politeness(text: str) -> str:
    """Without hello, please and thank you at either end, where something is left without them."""
    kept = text
    for _ in range(4):
        kept = kept.removeprefix(PARAGRAPH)
        found = _GREETING.match(kept)
        if found is None or found.end() == 0:
            break
        kept = kept[found.end() :]
    thanks = _THANKS.search(kept, max(len(kept) - 60, 0))
    if thanks is not None:
        kept = kept[: thanks.start()]
    return kept if len(kept.encode()) >= 6 else text


def _mark(folds: list[Fold], kind: str, content: str, language: str = "") -> str:
    folds.append(Fold(kind, language, content.strip("\n").count("\n") + 1, len(content)))
    return f"\n{MARKS[kind]}\n" if kind != "link" else MARKS[kind]


def _never_closed(folds: list[Fold], found: re.Match[str]) -> str:
    """Such a fence may have been opened in what was cut off before: its last paragraph is kept."""
    language, content = found[1].lower(), found[2]
    last = content.rfind("\n\n")
    if last < 0:
        return _mark(folds, "code", content, language)
    return _mark(folds, "code", content[:last], language) + content[last:]


def _quote(folds: list[Fold], quoted: str) -> str:
    """A long quotation keeps its first and last words: what it is about is told there."""
    folds.append(Fold("quote", "", quoted.count("\n") + 1, len(quoted)))
    return f"{quoted[:100]}\n{MARKS['quote']}\n{quoted[-60:]}"


def _fold_blocks(text: str, folds: list[Fold]) -> str:
    """Fold runs of at least MIN_BLOCK_LINES lines that are code, quoted, a table or a log."""
    lines = text.split("\n")
    kinds = [_kind_of(line) for line in lines]
    out: list[str] = []
    start = 0
    while start < len(lines):
        kind, end = kinds[start], start + 1
        if not kind:
            out.append(lines[start])
            start = end
            continue
        while end < len(lines) and (kinds[end] == kind or _continues(lines, kinds, end, kind)):
            end += 1
        if end - start >= MIN_BLOCK_LINES:
            block = lines[start:end]
            # A table's head and a quotation's first line say what it is about.
            out.append(block[0][:120] if kind in ("table", "quote") else "")
            out.append(_mark(folds, kind, "\n".join(block)).strip("\n"))
        else:
            out.extend(lines[start:end])
        start = end
    return "\n".join(out)


def _continues(lines: list[str], kinds: list[str], at: int, kind: str) -> bool:
    """An empty or indented line, or one of another kind, inside a block that goes on."""
    if kind == "quote":
        return False
    following = kinds[at + 1] if at + 1 < len(kinds) else ""
    line = lines[at]
    if not line.strip():
        return following == kind
    if line[0] in " \t" and kind in ("code", "log"):
        return True
    return bool(kinds[at]) and following == kind


def _kind_of(line: str) -> str:
    if not line or line.isspace() or len(line) > 1000:
        return ""
    if _QUOTED.match(line):
        return "table" if line.count("|") > 2 else "quote"
    if _LOG.match(line):
        return "log"
    if len(line) < 400 and _TABLE.match(line) and not _PROSE_END.search(line):
        return "table"
    if line.isascii() and _CODE.match(line):
        return "code"
    return ""
