"""From the stored curves to what each chart draws. Imports numpy, see `curve_store.py`."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt

from layadesk.domain.machine_alerts import REREAD_WARN
from layadesk.ui.monitor.chart_parts import Curve, Fill, Lane, Stretch
from layadesk.ui.monitor.columns import HOST, PERCENT, Column, GpuColumn, Key
from layadesk.ui.monitor.curve_store import CurveStore, Floats, outline, thinned
from layadesk.usecases.timeline import Band

SOLID, DASHED, DOTTED = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
LEAST_REREAD = 2.0**20  # bytes a second in the window; less is what any machine does now and then, and is not drawn
SPEED_CURVES = ((Column.DECODE, "ok", SOLID), (Column.PREFILL, "warn", DASHED), (Column.REREAD, "danger", DOTTED))


@dataclass(frozen=True, slots=True)
class View:
    """Which part of the time is drawn, on how many pixels."""

    now: float
    window_s: float
    n_pixels: int

    @property
    def since(self) -> float:
        """The left edge, and a little more, so that a line enters from outside."""
        return self.now - self.window_s - 6.0


def memory_lanes(store: CurveStore, view: View, gpu_places: Iterable[int], *, has_gpu_in_ram: bool) -> tuple[Lane, ...]:
    """One lane for each GPU with memory of its own, and one for RAM, each a share of its total."""
    lanes = [
        Lane(_stack(store, view, ((place, GpuColumn.OURS, "accent"), (place, GpuColumn.OTHERS, "others"))))
        for place in gpu_places
    ]
    parts = [
        (HOST, Column.RAM_OURS, "accent"),
        (HOST, Column.RAM_OTHERS, "others"),
        (HOST, Column.RAM_WEIGHTS, "weights"),
    ]
    if has_gpu_in_ram:
        parts.insert(1, (HOST, Column.RAM_GPU, "kv"))
    swap = _line(store, view, (HOST, Column.SWAP), "danger", DOTTED)
    lanes.append(Lane((*_stack(store, view, parts), swap)))
    return tuple(lanes)


def activity_lanes(store: CurveStore, view: View, gpu_places: Iterable[int]) -> tuple[Lane, ...]:
    """Percent: of each GPU its load, its memory's and its power; of the processor the engine's part."""
    curves = [_line(store, view, (HOST, Column.CPU), "accent", SOLID, scale=PERCENT)]
    for place in gpu_places:
        curves.append(_line(store, view, (place, GpuColumn.BUSY), "text", SOLID, scale=PERCENT))
        curves.append(_line(store, view, (place, GpuColumn.MEMORY_BUSY), "weights", DASHED, scale=PERCENT))
        curves.append(_line(store, view, (place, GpuColumn.POWER), "warn", DOTTED, scale=PERCENT))
    return (Lane(tuple(curves)),)


def speed_lanes(store: CurveStore, view: View) -> tuple[Lane, ...]:
    """Each line on a scale of its own, up to its greatest value in the window; the legend tells both. What is
    read again is as high as the chart only where it is warned of.
    """
    curves = []
    for column, token, style in SPEED_CURVES:
        top = greatest(store, view, (HOST, column)) or 0.0
        is_reread = column is Column.REREAD
        if top > 0.0 and not (is_reread and top < LEAST_REREAD):
            scale = 1.05 * max(top, REREAD_WARN if is_reread else 0.0)
            curves.append(_line(store, view, (HOST, column), token, style, scale=scale))
    return (Lane(tuple(curves)),)


def greatest(store: CurveStore, view: View, key: Key) -> float | None:
    """The greatest value in the window; None where nothing is known."""
    values = store.values(key, view.now - view.window_s)
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else None


def stretches(bands: Iterable[Band], view: View) -> tuple[Stretch, ...]:
    """The bands that reach into the window, in seconds ago."""
    return tuple(
        Stretch(band.phase.value, band.since - view.now, 0.0 if band.until is None else min(band.until - view.now, 0.0))
        for band in bands
        if (band.until is None or band.until > view.now - view.window_s) and band.since < view.now
    )


def _line(store: CurveStore, view: View, key: Key, token: str, style: Qt.PenStyle, *, scale: float = 1.0) -> Curve:
    x, y = thinned(store.times(view.since) - view.now, store.values(key, view.since) / scale, view.n_pixels)
    return Curve(x, y, token, style)


def _stack(store: CurveStore, view: View, parts: Iterable[tuple[int, str, str]]) -> tuple[Curve, ...]:
    """Parts upon each other; one that is not known takes no room and draws nothing."""
    times = store.times(view.since) - view.now
    below: Floats = np.zeros(len(times))
    curves = []
    for place, column, token in parts:
        part = store.values((place, column), view.since)
        top = below + part
        fill = Fill(*outline(times, below, top, view.n_pixels), is_hatched=column == Column.RAM_WEIGHTS)
        curves.append(Curve(*thinned(times, top, view.n_pixels), token, SOLID, fill))
        below = np.where(np.isnan(part), below, top)
    return tuple(curves)
