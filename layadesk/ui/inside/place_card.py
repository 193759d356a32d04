"""The offer to put the MoE experts of hot layers on the GPU, with what it takes and what it would gain."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.moe_placement import MoePlacement
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import words
from layadesk.ui.texts.numbers import milliseconds, size
from layadesk.ui.widgets.card import heading, make_card
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.look_inside import LookInside
    from layadesk.usecases.place_moe import PlaceMoe


class PlaceCard(QFrame):
    """Hidden while there is nothing to offer. Asks once for each answer that was watched."""

    def __init__(
        self, placing: "PlaceMoe", inside: "LookInside", *, bridge: Bridge, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._placing = placing
        self._inside = inside
        self._bridge = bridge
        self._asked_for = ("", 0)
        self._model_id = ""
        self._found: MoePlacement | None = None
        self._title: QLabel = heading()
        self.said = note()
        self.load = QPushButton()
        self.load.setObjectName("place-moe")
        self.load.clicked.connect(self._on_load)
        make_card(self, self._title, self.said, self.load)
        self.retranslate()

    def refresh(self, has_record: bool) -> None:  # the one thing it says
        """There may be a new profile."""
        answer = self._inside.last_answer() if has_record else None
        model = None if answer is None else self._inside.model(answer.model_id)
        if model is None:
            self._found = None
            self.retranslate()
            return
        key = (model.model_id, sum(model.record.counts().n_tokens))
        if key != self._asked_for:
            self._asked_for, self._model_id = key, model.model_id
            future = self._placing.advise(model.model_id, model.record)
            self._bridge.deliver(future, self._on_found, on_error=self._on_failed)

    def retranslate(self) -> None:
        """In the language of the window."""
        found = self._found
        self.setVisible(found is not None)
        self._title.setText(self.tr("Hot layers on the GPU"))
        self.load.setText(self.tr("Load it this way"))
        self.load.setAccessibleName(self.load.text())
        self.load.setToolTip(self.tr("It leaves memory now, and comes back with the next question."))
        if found is None:
            return
        gpu = sum(one.total_bytes for one in found.plan.bill.devices if one.device != CPU)
        gain = words.unknown() if found.gained_ms is None else milliseconds(found.gained_ms)
        self.said.setText(
            self.tr(
                "The MoE experts of layers {layers} read the most from RAM in what was measured. On the GPU they take"
                " {size}, {total} there in all, and a token should be {gain} faster by the bytes that are no longer"
                " read from RAM. The next answers show it."
            ).format(layers=", ".join(map(str, found.layers)), size=size(found.moved_bytes), total=size(gpu), gain=gain)
        )

    @Slot()
    def _on_load(self) -> None:
        if self._found is not None:
            self._placing.take(self._model_id, self._found.plan)
            self._found = None
            self.retranslate()

    def _on_found(self, found: MoePlacement | None) -> None:
        self._found = found
        self.retranslate()

    def _on_failed(self, _: ErrorReport) -> None:
        self._found = None
        self.retranslate()
