"""A reading cut into hashed pieces, sentence by sentence: n-grams of characters and words as numbers below N_BUCKETS.

All of it is arithmetic on arrays, because a loop over pieces in Python would cost more than the network behind it.
Hashes are those of wrapping 32- and 64-bit multiplication and the same on every machine.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from layadesk.router.reading import HEAD_CHARS, PARAGRAPH, TAIL_CHARS, Reading

BUCKET_BITS: Final = 22
N_BUCKETS: Final = 1 << BUCKET_BITS
Ids = NDArray[np.int64]

_MAX_CHARS: Final = HEAD_CHARS + TAIL_CHARS + 64
_U32 = NDArray[np.uint32]
_MIX32: Final = np.uint32(0x9E3779B1)
_STEP32: Final = np.uint32(0x85EBCA6B)
_BASE: Final = 0x9E3779B97F4A7C15 | 1
_MASK64: Final = (1 << 64) - 1
_FINAL: Final = np.uint64(0xD6E8FEB86659FD93)
_SHIFT64: Final = np.uint64(64 - BUCKET_BITS)
_SHIFT32: Final = np.uint32(32 - BUCKET_BITS)


def _powers(base: int) -> NDArray[np.uint64]:
    values, power = [], 1
    for _ in range(_MAX_CHARS + 1):
        values.append(power)
        power = power * base & _MASK64
    return np.array(values, dtype=np.uint64)


_POWERS: Final = _powers(_BASE)
_INVERSE: Final = _powers(pow(_BASE, -1, 1 << 64))

# 0 space, 1 letter or digit, 2 a sign that stands alone, 3 a character that is a word by itself (Han, kana, …)
_KINDS: Final = np.full(0x3100, 1, dtype=np.uint8)
for _code in range(0x3100):
    _char = chr(_code)
    _KINDS[_code] = 0 if _char.isspace() else 1 if _char.isalnum() or _char in "'_" else 2
_KINDS[0x3040:0x3100] = 3
_ODD: Final = tuple(np.uint64((0xA0761D6478BD642F * (2 * k + 1)) & _MASK64) for k in range(12))
_PLACES: Final = np.array([(0xE7037ED1A0B428DB * (2 * k + 1)) & _MASK64 for k in range(16)], dtype=np.uint64)
_FIRST: Final = 8
_LAST: Final = 6
MAX_SENTENCES: Final = 16
_HALF: Final = MAX_SENTENCES // 2
_LINE_ENDS: Final = np.array([ord(c) for c in "\n。！？"], dtype=np.uint32)
_ZERO: Final = np.zeros(1, dtype=np.intp)
_PARAGRAPH_CODE: Final = np.uint32(ord(PARAGRAPH))
_STOPS: Final = np.array([ord(c) for c in ".!?"], dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of all sentences in a row; sentence k has `ids[starts[k] : starts[k + 1]]`, none is empty.

    What follows the last start are the signs of the whole reading: its length and what was folded. `is_cut`: of a long
    text the middle is missing.
    """

    ids: Ids
    starts: Ids
    is_cut: bool = False

    @property
    def n_sentences(self) -> int:
        """Sentences of the text; the signs are not counted."""
        return len(self.starts) - 1


def cut(reading: Reading) -> Pieces:
    """The pieces of a reading, repeated where they occur more than once; at most a few thousand."""
    codes = np.frombuffer(f"\x02{reading.text[: _MAX_CHARS - 2]}\x03".encode("utf-32-le", "replace"), dtype=np.uint32)
    grams = _char_grams(codes)
    words, words_at = _word_grams(codes, reading.text.isascii())
    begins = _sentence_begins(codes)
    if len(begins) == 1:
        only = _PLACES_OF[1]
        starts = np.array([0, sum(map(len, grams)) + sum(map(len, words)) + len(only) + 1], dtype=np.int64)
        return Pieces(_joined([*grams, *words, only, _PARAGRAPH_OF[:1, 0], _signs(reading)]), starts)
    sentence_of, kept = _numbered(begins, len(codes))
    n = len(kept)
    keys = np.concatenate(
        [
            *(sentence_of[: len(g)] for g in grams),
            *(sentence_of[at] for at in words_at),
            _PLACE_KEYS[: 3 * n],
            _PLACE_KEYS[: 3 * n : 3],
        ]
    )
    ids = _joined([*grams, *words, _PLACES_OF[n], _paragraphs(codes, kept)])
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=n), out=starts[1:])
    is_cut = bool(reading.folds) and reading.folds[-1].kind == "more"
    return Pieces(np.concatenate((ids[np.argsort(keys, kind="stable")], _signs(reading))), starts, is_cut)


def _joined(parts: "Sequence[NDArray[np.uint32] | NDArray[np.uint64] | Ids]") -> Ids:
    return np.concatenate(parts, dtype=np.int64, casting="unsafe")


def _sentence_begins(codes: _U32) -> NDArray[np.intp]:
    """Where sentences begin, 0 first. One ends at a line's end, at 。！？ and at .!? before a space."""
    ends = (codes == _LINE_ENDS[0]) | (codes == _LINE_ENDS[1]) | (codes == _LINE_ENDS[2]) | (codes == _LINE_ENDS[3])
    stops = (codes == _STOPS[0]) | (codes == _STOPS[1]) | (codes == _STOPS[2])
    ends[:-1] |= stops[:-1] & (codes[1:] == 32)
    ends[-2:] = False  # the end of the text begins nothing
    at = np.flatnonzero(ends)
    at = at[np.diff(at, append=at[-1:] + 9) > 1] if len(at) else at  # "?!" ends one sentence
    return np.concatenate((_ZERO, at + 1))


def _numbered(begins: NDArray[np.intp], n_codes: int) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """For each character its sentence, below MAX_SENTENCES, and where those begin; the middle of many is one."""
    if len(begins) > MAX_SENTENCES:
        begins = np.concatenate((begins[:_HALF], begins[-_HALF:]))
    number = np.zeros(n_codes, dtype=np.uint8)
    number[begins[1:]] = 1
    return np.cumsum(number, dtype=np.uint8), begins


def _paragraphs(codes: _U32, begins: NDArray[np.intp]) -> Ids:
    """For each sentence a piece that says in which paragraph it stands, counted from both ends."""
    number = np.cumsum(codes == _PARAGRAPH_CODE)[begins]
    found: Ids = _PARAGRAPH_OF[np.minimum(number, 2), np.minimum(number[-1] - number, 2)]
    return found


def _char_grams(codes: _U32) -> list[_U32]:
    """Two to five characters in a row, spaces and the two ends included; each list starts at the first character."""
    gram = codes * _MIX32
    single = gram
    found = []
    for n in range(2, 6):
        gram = gram[:-1] * _STEP32 + single[n - 1 :]
        found.append((gram ^ (gram >> np.uint32(15))) * _MIX32 >> _SHIFT32)
    return found


def _word_grams(codes: _U32, is_ascii: bool) -> tuple[list[NDArray[np.uint64]], list[NDArray[np.intp]]]:
    """One to three words, two with a gap, and the words at either end with their place; and where each begins."""
    starts, ends = _words(codes, is_ascii)
    sums = np.empty(len(codes) + 1, dtype=np.uint64)
    sums[0] = 0
    np.cumsum(codes * _POWERS[: len(codes)], out=sums[1:])
    words = (sums[ends] - sums[starts]) * _INVERSE[starts]
    words = (words ^ (words >> np.uint64(29))) * _FINAL
    pairs = words[:-1] * _ODD[1] + words[1:]
    first, last = words[:_FIRST], words[: -_LAST - 1 : -1]
    found = [
        words,
        pairs,
        pairs[:-1] * _ODD[2] + words[2:],
        words[:-2] * _ODD[3] + words[2:] * _ODD[4],
        first * _ODD[5] + _PLACES[: len(first)],
        last * _ODD[6] + _PLACES[: len(last)],
    ]
    at = [starts, starts[:-1], starts[:-2], starts[:-2], starts[: len(first)], starts[: -_LAST - 1 : -1]]
    return [(grams ^ (grams >> np.uint64(31))) * _FINAL >> _SHIFT64 for grams in found], at


def _words(codes: _U32, is_ascii: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where words begin and end: a run of letters and digits, or any other visible character alone."""
    kinds = _KINDS[np.minimum(codes, 0x30FF)]
    if not is_ascii:
        wide = codes >= 0x3100
        kinds[wide] = 3
        kinds[wide & (((codes >= 0xE000) & (codes < 0xF900)) | ((codes >= 0x1F000) & (codes < 0x20000)))] = 2
    inside = kinds == 1
    alone = kinds > 1
    begins, stops = alone.copy(), alone.copy()
    begins[1:] |= inside[1:] & ~inside[:-1]
    stops[:-1] |= inside[:-1] & ~inside[1:]
    begins[0] = stops[0] = begins[-1] = stops[-1] = False  # the two end signs are no words
    return np.flatnonzero(begins), np.flatnonzero(stops) + 1


def _named(name: str) -> int:
    return zlib.crc32(name.encode()) & (N_BUCKETS - 1)


_PLACES_OF: Final = [
    np.array(
        [
            _named(name)
            for k in range(n)
            for name in (f"from start {k}", f"from end {n - 1 - k}", f"{min(k, 2)} and {min(n - 1 - k, 2)}")
        ],
        dtype=np.int64,
    )
    for n in range(MAX_SENTENCES + 1)
]
_PLACE_KEYS: Final = np.repeat(np.arange(MAX_SENTENCES, dtype=np.uint8), 3)


_PARAGRAPH_OF: Final = np.array([[_named(f"paragraph {a} {b}") for b in range(3)] for a in range(3)], dtype=np.int64)


def _signs(reading: Reading) -> Ids:
    """What cannot be seen in n-grams: length, lines, and what was folded."""
    names = [f"chars {reading.n_chars.bit_length()}", f"lines {min(reading.n_lines, 40).bit_length()}"]
    for folded in reading.folds[:6]:
        names.append(f"fold {folded.kind}")
        names.append(f"fold {folded.kind} {folded.n_chars.bit_length()}")
        if folded.language:
            names.append(f"fold language {folded.language}")
    return np.array([_named(name) for name in names], dtype=np.int64)
