"""One place of memory: a figure, a bar of ours, others and free, and what else is known of it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from layadesk.ui.monitor.gauges import gauges
from layadesk.ui.monitor.readings import Place, Reading
from layadesk.ui.texts import words
from layadesk.ui.texts.numbers import gib, gib_with_unit, used_of_total
from layadesk.ui.theme.fonts import figure_font, small_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.figure_text import FigureText, Piece, unbroken
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import set_role

MIB = 2**20
_SHORT = 24  # characters that stand on one line


class ResourceCard(QFrame):
    """Shows a Reading."""

    def __init__(self, reading: Reading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"card-{reading.key}")
        set_role(self, "card")
        self._reading = reading
        self._is_laid_out = False
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._figure = FigureText(figure_font(), wraps=False)
        self._name = ElidedLabel(meaning=Ink.MUTED)
        self._name.setFont(small_font())
        self._meter = MeterBar()
        self._shares = FigureText(small_font(), meaning=Ink.MUTED)
        self._more = FigureText(small_font(), meaning=Ink.MUTED)
        self._lay_out()
        self._is_laid_out = True
        self.show_reading(reading)

    def show_reading(self, reading: Reading) -> None:
        """The newest figures."""
        self._reading = reading
        self._render()

    def text(self) -> str:
        """All that it says, in one line."""
        return " ".join(filter(None, (self._title.text(), self._figure.text(), self._shares_text(), self._more.text())))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.LanguageChange, QEvent.Type.PaletteChange} and self._is_laid_out:
            self._render()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GAP_S)
        top.addWidget(self._title)
        top.addStretch(1)
        top.addWidget(self._figure)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addLayout(top)
        layout.addWidget(self._name)
        layout.addWidget(self._meter)
        layout.addWidget(self._shares)
        layout.addWidget(self._more)

    def _render(self) -> None:
        reading = self._reading
        self._title.setText(self._title_text())
        self._name.set_text(reading.name)
        self._name.setVisible(bool(reading.name))
        is_known = reading.used_bytes is not None
        self._figure.set_text(
            words.unknown() if reading.used_bytes is None else used_of_total(reading.used_bytes, reading.total_bytes)
        )
        self._meter.setVisible(is_known)
        self._meter.set_shares(self._share_fractions())
        has_legend = is_known and reading.place is not Place.SWAP
        if has_legend:
            self._shares.set_pieces(self._legend_pieces())
        else:
            self._shares.set_text(self._shares_text())
        self._more.set_text(self._more_text())
        more = self._more.text()
        self._more.setVisible(bool(more))
        self.setAccessibleName(f"{self._title.text()} {reading.name}".strip())
        told = filter(None, (self._figure.text(), self._shares_text(), more))
        self.setAccessibleDescription(", ".join(told))
        self._meter.setAccessibleName(self.accessibleDescription())
        self._shares.setToolTip(self._tool_tip())

    def _title_text(self) -> str:
        match self._reading.place:
            case Place.RAM:
                return self.tr("RAM")
            case Place.SWAP:
                return self.tr("Swap")
            case Place.VRAM:
                return self.tr("VRAM")
            case Place.GPU_IN_RAM:
                return self.tr("GPU in RAM")

    def _more_text(self) -> str:
        reading = self._reading
        if reading.gpu is not None:
            told = gauges(reading.gpu, told=reading.why_used)
            return " · ".join(unbroken(one) if len(one) <= _SHORT else one for one in told)
        parts = []
        if reading.weights_bytes:
            resident = reading.weights_resident_bytes
            figure = words.unknown() if resident is None else used_of_total(resident, reading.weights_bytes)
            parts.append(self.tr("weights in RAM {figure}").format(figure=figure))
        if reading.zram_bytes:
            parts.append(self.tr("compressed in RAM: {size}").format(size=gib_with_unit(reading.zram_bytes)))
        if reading.remark is not None:
            parts.append(words.why(reading.remark))
        return " · ".join(parts)

    def _share_fractions(self) -> list[tuple[str, float]]:
        reading = self._reading
        if not reading.total_bytes or reading.others_bytes is None:
            return []
        ours = (reading.ours_bytes or 0) / reading.total_bytes
        return [("accent", ours), ("others", reading.others_bytes / reading.total_bytes)]

    def _shares_text(self) -> str:
        reading = self._reading
        if reading.used_bytes is None:
            return words.not_available(reading.why_used)
        if reading.place is Place.SWAP:
            return self.tr("in {incoming} · out {outgoing}").format(
                incoming=_rate(reading.in_bytes_per_s), outgoing=_rate(reading.out_bytes_per_s)
            )
        return " · ".join(f"{name} {figure}" for _, name, figure in self._legend())

    def _legend(self) -> list[tuple[str, str, str]]:
        """Symbol colour, name and figure of each share; the symbol of what is free is empty."""
        reading = self._reading
        return [
            ("accent", self.tr("ours"), _figure(reading.ours_bytes)),
            ("others", self.tr("others"), _figure(reading.others_bytes)),
            ("", self.tr("free"), _figure(reading.free_bytes, gib_with_unit)),
        ]

    def _legend_pieces(self) -> list[Piece]:
        pieces: list[Piece] = []
        for token, name, figure in self._legend():
            pieces += (("  ", ""),) if pieces else ()
            pieces += (("■" if token else "□", token or "muted"), (unbroken(f" {name} {figure}"), ""))
        return pieces

    def _tool_tip(self) -> str:
        reading = self._reading
        if reading.place is Place.SWAP or reading.used_bytes is None:
            return ""
        if reading.ours_bytes is None:
            return self.tr("ours: {why}").format(why=words.not_available(reading.why_ours))
        if reading.place is Place.RAM:
            return self.tr(
                "Ours is what the engine and the router hold for themselves. Weights that are read from the model "
                "file count as cache: the system takes that memory back when it needs it."
            )
        if reading.place is Place.GPU_IN_RAM:
            return self.tr("This GPU works in the machine's RAM: the two are the same memory and are not added up.")
        return self.tr("Ours is what the engine holds on this GPU.")


def _figure(n_bytes: int | None, wording: Callable[[int], str] = gib) -> str:
    return words.unknown() if n_bytes is None else wording(n_bytes)


def _rate(n_bytes: float | None) -> str:
    return words.unknown() if n_bytes is None else f"{n_bytes / MIB:.1f} MiB/s"
