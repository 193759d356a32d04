"""The MoE experts at work: the field, the balance of each layer, and the tokens of the answer with where they went."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.moe_experts import MoeRecord, balance_of
from layadesk.ui.bridge import Bridge
from layadesk.ui.inside.balance_rows import BalanceRows
from layadesk.ui.inside.heat_map import FULL_AT, HeatMap
from layadesk.ui.inside.token_ribbon import TokenRibbon
from layadesk.ui.texts import words
from layadesk.ui.texts.inside import cost
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.theme.tokens import GAP_L
from layadesk.ui.widgets.card import card, heading
from layadesk.ui.widgets.flow_layout import FlowLayout
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.usecases.look_inside import InsideAnswer, LookInside

ANSWER, CONVERSATION, MODEL = "answer", "conversation", "model"


class MoeView(QWidget):
    """Shows what was counted over the last answer, its conversation, or since its model was loaded."""

    def __init__(self, inside: "LookInside", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._inside = inside
        self._bridge = bridge
        self._answer: InsideAnswer | None = None
        self._of_conversation: MoeRecord | None = None
        self.record: MoeRecord | None = None
        self.period, self.phase, self.task = QComboBox(), QComboBox(), QComboBox()
        for box, names in ((self.period, (ANSWER, CONVERSATION, MODEL)), (self.phase, ("", "prefill", "decode"))):
            for name in names:
                box.addItem("", name)
        for name, box in (("period", self.period), ("phase", self.phase), ("task", self.task)):
            box.setObjectName(f"inside-{name}")
            box.currentIndexChanged.connect(self._on_period if box is self.period else self._render)
        self.map = HeatMap()
        self.map.cell_chosen.connect(self._on_cell)
        self.cell = note()
        self.legend = note()
        self.cost = note()
        self.balance = BalanceRows()
        self.ribbon = TokenRibbon()
        self.ribbon.token_chosen.connect(self._on_token)
        self.token = note()
        self._is_pointed_at = False
        self._titles = {key: heading() for key in ("map", "balance", "tokens")}
        self._tokens_card = card(self._titles["tokens"], self.token, self.ribbon)
        self._lay_out()
        self.retranslate()

    def refresh(self) -> None:
        """There may be something new."""
        self._answer = self._inside.last_answer()
        if self._answer is not None and self._answer.conversation_id and self.period.currentData() == CONVERSATION:
            future = self._inside.conversation(self._answer.conversation_id)
            self._bridge.deliver(future, self._on_conversation, on_error=self._on_failed)
        self._fill_tasks()
        self._render()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.period, self.phase, self.task, self.map, self.ribbon]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)

    def retranslate(self) -> None:
        """In the language of the window."""
        for box, texts in (
            (self.period, (self.tr("Last answer"), self.tr("Conversation"), self.tr("Since it was loaded"))),
            (self.phase, (self.tr("Reading and writing"), self.tr("Reading the prompt"), self.tr("Writing"))),
        ):
            for index, text in enumerate(texts):
                box.setItemText(index, text)
        self.period.setAccessibleName(self.tr("Period"))
        self.phase.setAccessibleName(self.tr("Phase"))
        self.task.setAccessibleName(self.tr("Task"))
        self._titles["map"].setText(self.tr("MoE experts by layer"))
        self._titles["balance"].setText(self.tr("Balance of each layer"))
        self._titles["tokens"].setText(self.tr("Which token went where"))
        for key, widget in (("map", self.map), ("balance", self.balance), ("tokens", self.ribbon)):
            widget.setAccessibleName(self._titles[key].text())
        self.legend.setText(
            self.tr(
                "Layers from top to bottom, MoE experts from left to right. Pale is idle, full colour {n} times the"
                " even share or more. Arrow keys move over the field."
            ).format(n=f"{FULL_AT:.0f}")
        )
        self._fill_tasks()
        self._render()

    def _lay_out(self) -> None:
        choices = QWidget()
        set_role(choices, "plain")
        row = FlowLayout(choices)
        for box in (self.period, self.phase, self.task):
            row.addWidget(box)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_L)
        column.addWidget(card(self._titles["map"], choices, self.map, self.cell, self.legend, self.cost))
        column.addWidget(self._tokens_card)
        column.addWidget(card(self._titles["balance"], self.balance))

    def _fill_tasks(self) -> None:
        """Of the tasks that were seen; the choice stays where it is still there."""
        answer = self._answer
        model = None if answer is None or not answer.model_id else self._inside.model(answer.model_id)
        names = ["", *sorted(model.by_task)] if model is not None else [""]
        shown = self.task.currentData() or ""
        self.task.blockSignals(True)  # Qt's own
        self.task.clear()
        for name in names:
            self.task.addItem(task_name(name) if name else self.tr("All tasks"), name)
        self.task.setCurrentIndex(max(0, self.task.findData(shown)))
        self.task.blockSignals(False)
        self.task.setVisible(self.period.currentData() == MODEL)

    def _chosen(self) -> MoeRecord | None:
        answer = self._answer
        if answer is None:
            return None
        match self.period.currentData():
            case "answer":
                return answer.record
            case "conversation":
                return self._of_conversation or answer.record
            case _:
                pass
        model = self._inside.model(answer.model_id)
        if model is None:
            return None
        return model.by_task.get(self.task.currentData() or "", model.record)

    @Slot()
    def _on_period(self) -> None:
        self._of_conversation = None
        self.refresh()

    @Slot()
    def _render(self) -> None:
        record = self.record = self._chosen()
        phase = self.phase.currentData() or None
        if record is None:
            return
        self.map.show_counts(record.layers, record.shape.n_expert, record.counts(phase))
        head = (self.tr("Layer"), self.tr("Tokens"), self.tr("Variation"), self.tr("Entropy"), self.tr("Busiest"))
        self.balance.show_balance((*head, self.tr("Idle")), balance_of(record, phase))
        answer = self._answer
        has_tokens = answer is not None and bool(answer.tokens) and self.period.currentData() == ANSWER
        self._tokens_card.setVisible(has_tokens)
        if answer is not None and has_tokens:
            self.ribbon.show_tokens([token.text for token in answer.tokens])
        else:
            self.map.mark({})
        if not self._is_pointed_at:
            self.token.setText(self.tr("Point at a token to see its MoE experts."))
        self.cost.setText(cost(record))
        self._on_cell(*self.map.cursor_cell)

    @Slot(int, int)
    def _on_cell(self, row: int, expert: int) -> None:
        if self.record is None or row >= len(self.record.layers):
            return
        share = self.map.share(row, expert)
        self.cell.setText(
            self.tr("Layer {layer}, MoE expert {expert}: {share} times the even share.").format(
                layer=self.record.layers[row],
                expert=expert,
                share=words.unknown() if share is None else f"{share:.2f}",
            )
        )
        self.map.setAccessibleDescription(self.cell.text())
        if self.ribbon.current >= 0 and self._tokens_card.isVisibleTo(self):
            self._tell_token()

    @Slot(int)
    def _on_token(self, number: int) -> None:
        if self._answer is None or number >= len(self._answer.tokens):
            return
        token, record = self._answer.tokens[number], self._answer.record
        n_used = record.shape.n_expert_used
        self.map.mark({row: token.in_layer(row, n_used) for row in range(len(record.layers))})
        self._tell_token()

    def _tell_token(self) -> None:
        """In the layer of the cursor; the field shows all of them."""
        answer = self._answer
        if answer is None or not 0 <= self.ribbon.current < len(answer.tokens):
            return
        token, record = answer.tokens[self.ribbon.current], answer.record
        row = min(self.map.cursor_cell[0], len(record.layers) - 1)
        experts = ", ".join(map(str, token.in_layer(row, record.shape.n_expert_used))) or words.unknown()
        self._is_pointed_at = True
        self.token.setText(
            self.tr("“{token}” in layer {layer}: MoE experts {experts}. All its layers are outlined above.").format(
                token=token.text.strip() or "␣", layer=record.layers[row], experts=experts
            )
        )

    def _on_conversation(self, answers: "tuple[InsideAnswer, ...]") -> None:
        total: MoeRecord | None = None
        for one in answers:
            total = one.record if total is None else total + one.record
        self._of_conversation = total
        self._render()

    def _on_failed(self, _: ErrorReport) -> None:
        self._of_conversation = None
