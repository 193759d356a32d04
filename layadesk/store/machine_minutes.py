"""The coarse history of the machine: one row a minute, for a week. Not in `schema.TABLES`: it is no user's work, so a
refusing disk does not keep it, and a damaged file does not save it.
"""

import sqlite3
from typing import Any, Final

import msgspec

from layadesk.domain.hardware import EngineWork, GpuSample, HardwareSample
from layadesk.domain.machine_minutes import (
    GPU_MEANS,
    GPU_PEAKS,
    HOST_MEANS,
    HOST_PEAKS,
    MINUTE_S,
    WORK_PEAKS,
    MachineMinute,
)
from layadesk.store.queries import Found

KEPT_MINUTES: Final = 7 * 24 * 60  # some 4 MB
TABLE: Final = """
    CREATE TABLE machine_minute (
        minute INTEGER NOT NULL PRIMARY KEY,
        n_samples INTEGER NOT NULL,
        ram_total_bytes INTEGER,
        ram_available_bytes INTEGER,
        engine_bytes INTEGER,
        router_bytes INTEGER,
        swap_total_bytes INTEGER,
        swap_used_bytes INTEGER,
        weights_resident_bytes INTEGER,
        cpu_count INTEGER,
        engine_cpu_cores REAL,
        refault_bytes_per_s REAL,
        prefill_tps REAL,
        decode_tps REAL,
        gpus TEXT
    )
"""
_HOST: Final = (*HOST_MEANS, *HOST_PEAKS)
_COLUMNS: Final = ("minute", "n_samples", *_HOST, *WORK_PEAKS, "gpus")
_GPU: Final = ("gpu_id", "name", "kind", *GPU_MEANS, *GPU_PEAKS)
_SAVE: Final = (
    f"INSERT INTO machine_minute ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT (minute) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])} "
    "WHERE excluded.n_samples >= machine_minute.n_samples"
)
# By number, not by age: a clock that was wrong for a day must neither empty the table nor let it grow.
_FORGET: Final = (
    "DELETE FROM machine_minute WHERE minute < "
    "(SELECT minute FROM machine_minute ORDER BY minute DESC LIMIT 1 OFFSET ?)"
)
_GPUS: Final = msgspec.json.Decoder(tuple[GpuSample, ...])


def save_minute(connection: sqlite3.Connection, minute: MachineMinute) -> None:
    """Keep a minute, unless the one that is there was made of more samples; the oldest beyond KEPT_MINUTES go."""
    figures = minute.figures
    gpus = [{name: getattr(gpu, name) for name in _GPU if getattr(gpu, name) is not None} for gpu in figures.gpus]
    row = (
        minute.minute,
        minute.n_samples,
        *(getattr(figures, name) for name in _HOST),
        *(getattr(figures.work, name) for name in WORK_PEAKS),
        msgspec.json.encode(gpus).decode() if gpus else None,
    )
    connection.execute(_SAVE, row)
    connection.execute(_FORGET, (KEPT_MINUTES - 1,))


def load_minutes(connection: sqlite3.Connection, *, since: int, until: int) -> Found[tuple[MachineMinute, ...]]:
    """The minutes from `since` to `until`, both included, oldest first; one that makes no sense is left out."""
    select = f"SELECT {', '.join(_COLUMNS)} FROM machine_minute WHERE minute BETWEEN ? AND ? ORDER BY minute"
    found = (_minute(row) for row in connection.execute(select, (since, until)))
    return Found(tuple(one for one in found if one is not None), frozenset())


def _minute(row: tuple[Any, ...]) -> MachineMinute | None:
    fields = dict(zip(_COLUMNS, row, strict=True))
    try:
        gpus = () if fields["gpus"] is None else _GPUS.decode(fields["gpus"])
        numbers = {name: _number(fields[name]) for name in (*_HOST, *WORK_PEAKS)}
    except (msgspec.MsgspecError, TypeError, ValueError):
        return None
    work = EngineWork(**{name: numbers.pop(name) for name in WORK_PEAKS})
    minute = int(fields["minute"])
    figures = HardwareSample(0.0, gpus=gpus, work=work, wall_at=minute * MINUTE_S, **numbers)
    return MachineMinute(minute, int(fields["n_samples"]), figures)


def _number(value: object) -> Any:
    if value is not None and not isinstance(value, int | float):
        raise TypeError(value)
    return value
