"""What stands above each chart: a piece of each line, its name, its value now or at the cursor."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication

from layadesk.ui.monitor.columns import HOST, Column, GpuColumn, Key
from layadesk.ui.texts import words
from layadesk.ui.texts.numbers import per_second
from layadesk.ui.widgets.figure_text import Piece, unbroken

if TYPE_CHECKING:
    from layadesk.ui.monitor.curve_store import CurveStore
    from layadesk.ui.monitor.timeline_picture import View

translate = QCoreApplication.translate
MIB: Final = 2**20
LINE, DASHES, DOTS, AREA, HATCH = "━", "╍", "┈", "■", "▨"
Item = tuple[str, str, str, str]  # symbol, token, name, value
Texts = tuple[tuple[Piece, ...], str]  # as it is shown, and as it is read out


class Legend:
    """Of one moment. Words are in the context "Legend"."""

    def __init__(self, figures: Mapping[Key, float | None], gpu_ids: Sequence[str]) -> None:
        self._figures = figures
        self._gpu_ids = gpu_ids

    def memory(self, own_memory: Iterable[int]) -> Texts:
        """Shares of VRAM and RAM."""
        others = translate("Legend", "others")
        items: list[Item] = []
        for place in own_memory:
            name = self._gpu_word(place, translate("Legend", "VRAM ours"))
            items.append((AREA, "accent", name, self._share(place, GpuColumn.OURS)))
            items.append((AREA, "others", others, self._share(place, GpuColumn.OTHERS)))
        items.append((AREA, "accent", translate("Legend", "RAM ours"), self._share(HOST, Column.RAM_OURS)))
        items.append((AREA, "others", others, self._share(HOST, Column.RAM_OTHERS)))
        for symbol, token, name, column in (
            (AREA, "kv", translate("Legend", "GPU in RAM"), Column.RAM_GPU),
            (HATCH, "weights", translate("Legend", "weights, cached"), Column.RAM_WEIGHTS),
            (DOTS, "danger", translate("Legend", "swap"), Column.SWAP),
        ):
            if self._figures.get((HOST, column)) is not None:
                items.append((symbol, token, name, self._share(HOST, column)))
        return _texts(items)

    def activity(self) -> Texts:
        """Percent of GPUs and of the processor."""
        items: list[Item] = []
        for place in range(len(self._gpu_ids)):
            for symbol, token, name, column in (
                (LINE, "text", self._gpu_word(place, translate("Legend", "GPU")), GpuColumn.BUSY),
                (DASHES, "weights", translate("Legend", "memory busy"), GpuColumn.MEMORY_BUSY),
                (DOTS, "warn", translate("Legend", "power"), GpuColumn.POWER),
            ):
                items.append((symbol, token, name, self._percent(place, column)))
        items.append((LINE, "accent", translate("Legend", "engine on the processor"), self._percent(HOST, Column.CPU)))
        return _texts(items)

    def speed(self, store: "CurveStore", view: "View") -> Texts:
        """Tokens a second, and what is read again; with the top of each line's scale."""
        from layadesk.ui.monitor.timeline_picture import LEAST_REREAD, greatest  # noqa: PLC0415 - numpy

        tokens = translate("Legend", "{value} tok/s (top {top})")
        items: list[Item] = []
        for column, symbol, token, name in (
            (Column.DECODE, LINE, "ok", translate("Legend", "writing")),
            (Column.PREFILL, DASHES, "warn", translate("Legend", "reading")),
        ):
            top = greatest(store, view, (HOST, column))
            value = self._figures.get((HOST, column))
            if top is not None:
                told = words.unknown() if value is None else per_second(value)
                text = tokens.format(value=told, top=per_second(top)) if top else f"{told} tok/s"
                items.append((symbol, token, name, text))
        if (greatest(store, view, (HOST, Column.REREAD)) or 0.0) >= LEAST_REREAD:
            again = self._figures.get((HOST, Column.REREAD))
            told = words.unknown() if again is None else f"{again / MIB:.1f} MiB/s"
            items.append((DOTS, "danger", translate("Legend", "read again from disk"), told))
        if not items:
            nothing = translate("Legend", "Nothing has been computed yet.")
            return ((nothing, ""),), nothing
        return _texts(items)

    def _gpu_word(self, place: int, word: str) -> str:
        return word if len(self._gpu_ids) < 2 else f"{word} {place + 1}"

    def _share(self, place: int, column: str) -> str:
        value = self._figures.get((place, column))
        return words.unknown() if value is None else f"{100 * value:.0f} %"

    def _percent(self, place: int, column: str) -> str:
        value = self._figures.get((place, column))
        return words.unknown() if value is None else f"{value:.0f} %"


def _texts(items: Sequence[Item]) -> Texts:
    pieces: list[Piece] = []
    for symbol, token, name, value in items:
        pieces += (("  ", ""),) if pieces else ()
        pieces += ((symbol, token), (unbroken(f" {name} {value}"), ""))
    return tuple(pieces), ", ".join(f"{name} {value}" for _, _, name, value in items)
