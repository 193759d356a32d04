"""The ledger of loads: a row a load. Not in `schema.TABLES`: it is no user's work, so a refusing disk does not keep it,
and a damaged file does not save it.
"""

import sqlite3
from typing import Any, Final

import msgspec

from layadesk.domain.memory_fit.load_record import LoadRecord
from layadesk.store.queries import Found

KEPT_RECORDS: Final = 1000  # about 1 MB
TABLE: Final = """
    CREATE TABLE load_record (
        record_id INTEGER PRIMARY KEY,
        loaded_at REAL NOT NULL,
        model_id TEXT NOT NULL,
        architecture TEXT NOT NULL,
        backend TEXT NOT NULL,
        n_vocab INTEGER NOT NULL,
        params TEXT,
        predicted TEXT,
        measure TEXT NOT NULL,
        layers_asked INTEGER,
        layers_on_gpu INTEGER NOT NULL,
        vram_bytes INTEGER,
        miss TEXT
    )
"""
_COLUMNS: Final = (
    "loaded_at", "model_id", "architecture", "backend", "n_vocab", "params", "predicted", "measure", "layers_asked",
    "layers_on_gpu", "vram_bytes", "miss",
)  # fmt: skip
_JSON: Final = ("params", "predicted", "measure")
_SAVE: Final = f"INSERT INTO load_record ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_FORGET: Final = (
    "DELETE FROM load_record WHERE record_id <= (SELECT record_id FROM load_record ORDER BY record_id DESC"
    " LIMIT 1 OFFSET ?)"
)


def save_record(connection: sqlite3.Connection, record: LoadRecord) -> None:
    """Keep a load; the oldest beyond KEPT_RECORDS go."""
    connection.execute(_SAVE, [_value(record, name) for name in _COLUMNS])
    connection.execute(_FORGET, (KEPT_RECORDS,))


def load_records(connection: sqlite3.Connection, *, limit: int) -> Found[tuple[LoadRecord, ...]]:
    """The last loads, newest first; one that makes no sense is left out."""
    rows = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM load_record ORDER BY record_id DESC LIMIT ?", (limit,)
    )
    found = (_record(row) for row in rows)
    return Found(tuple(one for one in found if one is not None), frozenset())


def _value(record: LoadRecord, name: str) -> Any:
    value = getattr(record, name)
    return msgspec.json.encode(value).decode() if name in _JSON and value is not None else value


def _record(row: tuple[Any, ...]) -> LoadRecord | None:
    fields = dict(zip(_COLUMNS, row, strict=True))
    try:
        for name in _JSON:
            fields[name] = None if fields[name] is None else msgspec.json.decode(fields[name])
        return msgspec.convert(fields, LoadRecord)
    except (msgspec.MsgspecError, TypeError, UnicodeError):
        return None
