"""The bundled network: one table of piece weights, and a gate that says which sentences hold the request. Numpy only.

See `training/fit.py` for the formula. Its file is a plain .npz that is read without pickle; a foreign, truncated or
inconsistent one is refused with ROUTER_MODEL_DAMAGED.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.pieces import N_BUCKETS, Pieces

FORMAT: Final = 1
WEIGHTS_FILE: Final = "router.npz"
FACTS_FILE: Final = "router.json"
SHARPNESS: Final = 3.0
GATE_MOST: Final = 5.0
_EACH_MOST: Final = 3.0
_REST: Final = 0.15
HEADS: Final = ("task", "domain")
_MOST_PIECES: Final = 65_535  # of the vocabulary, so that its numbers are two bytes
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Facts:
    """What belongs to the weights: a version, and temperatures by head and language (`task`, `en`), measured on
    prompts that no training saw.
    """

    version: str
    temperatures: Mapping[str, Mapping[str, float]]


class Network:
    """Weights in memory, about 15 MB. One thread at a time."""

    def __init__(self, buckets: NDArray[np.uint32], table: Floats, mass: Floats, bias: Floats, facts: Facts) -> None:
        """`table` [pieces, labels + 1] has each piece's rarity folded in; `mass` [pieces] is its square."""
        n = len(buckets)
        self.facts = facts
        self._lookup = np.full(N_BUCKETS, n, dtype=np.uint16)
        self._lookup[buckets] = np.arange(n, dtype=np.uint16)
        self._table = np.zeros((n + 1, table.shape[1] + 1), dtype=np.float32)
        self._table[:n, :-1] = table
        self._table[:n, -1] = mass
        self._bias = bias
        self.n_pieces = n

    @property
    def n_bytes(self) -> int:
        """What the arrays take in memory."""
        return int(self._lookup.nbytes + self._table.nbytes)

    def forward(self, pieces: Pieces) -> Floats:
        """Scores before temperature and softmax: the tasks, then the domains."""
        rows = self._table.take(self._lookup.take(pieces.ids), axis=0)
        sums = np.add.reduceat(rows, pieces.starts, axis=0)
        mass = sums[:, -1]
        gate: Floats = _gate(sums)
        gate[-1] = 1.0  # the signs of the whole reading
        if pieces.is_cut:
            gate[:-1] *= _at_an_end(sums[:-1])
        scores: Floats = gate @ sums[:, :-2] / np.sqrt((gate * gate) @ mass + 1) + self._bias
        return scores

    def gates(self, pieces: Pieces) -> Floats:
        """How much each sentence counts, beside the one that counts most."""
        sums = np.add.reduceat(self._table.take(self._lookup.take(pieces.ids), axis=0), pieces.starts, axis=0)
        gate = _gate(sums[:-1])
        if pieces.is_cut:
            gate *= _at_an_end(sums[:-1])
        found: Floats = gate / gate.max()
        return found


def _opens(sums: Floats) -> Floats:
    """How much speaks for a sentence being part of the request: a logarithm."""
    found: Floats = np.float32(SHARPNESS) * sums[:, -2] / np.sqrt(sums[:, -1] + np.float32(1))
    return found


def _gate(sums: Floats) -> Floats:
    found: Floats = np.exp(np.clip(_opens(sums), -GATE_MOST, GATE_MOST))
    return found


def _at_an_end(sums: Floats) -> Floats:
    """A request among pastes stands at one end: the best run from either end counts fully, the rest next to nothing."""
    opens = np.clip(_opens(sums), -_EACH_MOST, _EACH_MOST)
    from_start, from_end = np.cumsum(opens), np.cumsum(opens[::-1])
    n_first, n_last = int(from_start.argmax()) + 1, int(from_end.argmax()) + 1
    found = np.full(len(opens), _REST, dtype=np.float32)
    if from_start[n_first - 1] >= from_end[n_last - 1]:
        found[:n_first] = 1.0
    else:
        found[-n_last:] = 1.0
    return found


def load_network(directory: Path) -> Network:
    """The network of a directory. Raises ROUTER_MODEL_MISSING, or ROUTER_MODEL_DAMAGED with file and flaw."""
    weights, facts_file = directory / WEIGHTS_FILE, directory / FACTS_FILE
    for file in (weights, facts_file):
        if not file.is_file():
            raise fail(ErrorCode.ROUTER_MODEL_MISSING, path=str(file))
    facts = _facts(facts_file)
    try:
        content = io.BytesIO(weights.read_bytes())  # numpy leaves a file open that is no archive
        with np.load(content, allow_pickle=False) as arrays:
            buckets = arrays["buckets"]
            table = arrays["table"].astype(np.float32)
            mass = arrays["mass"].astype(np.float32)
            bias = arrays["bias"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, MemoryError) as error:
        raise fail(ErrorCode.ROUTER_MODEL_DAMAGED, path=str(weights), detail=type(error).__name__) from error
    flaw = _flaw(buckets, table, mass, bias)
    if flaw:
        raise fail(ErrorCode.ROUTER_MODEL_DAMAGED, path=str(weights), detail=flaw)
    return Network(buckets, table, mass, bias, facts)


def _flaw(buckets: NDArray[Any], table: Floats, mass: Floats, bias: Floats) -> str:
    n_columns = len(TASKS) + len(DOMAINS) + 1
    n = len(buckets)
    if buckets.dtype != np.uint32 or n == 0 or n >= _MOST_PIECES or int(buckets.max()) >= N_BUCKETS:
        return "buckets"
    if table.shape != (n, n_columns) or not np.isfinite(table).all():
        return "table"
    if mass.shape != (n,) or not np.isfinite(mass).all() or (mass < 0).any():
        return "mass"
    if bias.shape != (n_columns - 1,) or not np.isfinite(bias).all():
        return "bias"
    return ""


def _facts(file: Path) -> Facts:
    try:
        fields = json.loads(file.read_text("utf-8"))
        _check_labels(fields)
        temperatures = {
            head: {str(lang): _temperature(value) for lang, value in fields["temperatures"][head].items()}
            for head in HEADS
        }
        return Facts(str(fields["version"]), temperatures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise fail(ErrorCode.ROUTER_MODEL_DAMAGED, path=str(file), detail=str(error)[:80]) from error


def _check_labels(fields: dict[str, Any]) -> None:
    if fields["format"] != FORMAT or tuple(fields["tasks"]) != TASKS or tuple(fields["domains"]) != DOMAINS:
        raise ValueError("made for another version")


def _temperature(value: object) -> float:
    if not isinstance(value, int | float) or not 0.05 <= value <= 20:
        raise ValueError("temperature")
    return float(value)


def save_network(
    directory: Path, buckets: NDArray[np.int64], table: Floats, idf: Floats, bias: Floats, facts: Facts
) -> None:
    """Write both files. `table` [pieces, labels + 1] as trained; rarity is folded in, weights become half floats."""
    np.savez_compressed(
        directory / WEIGHTS_FILE,
        buckets=buckets.astype(np.uint32),
        table=(table * idf[:, None]).astype(np.float16),
        mass=(idf * idf).astype(np.float16),
        bias=bias.astype(np.float32),
    )
    fields = {
        "format": FORMAT,
        "version": facts.version,
        "tasks": TASKS,
        "domains": DOMAINS,
        "temperatures": facts.temperatures,
    }
    (directory / FACTS_FILE).write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n", "utf-8")
