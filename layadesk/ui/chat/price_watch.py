"""What the next message would cost in memory, asked before anything is sent."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import memory
from layadesk.ui.texts.numbers import seconds

if TYPE_CHECKING:
    from layadesk.usecases.load_gate import LoadGate, LoadOutlook

translate = QCoreApplication.translate


class PriceWatch(QObject):
    """Keeps the last outlook of each expert and asks for one that is missing. GUI thread.

    Signals:
        changed: an outlook came.
    """

    changed = Signal()

    def __init__(self, loads: "LoadGate", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._loads = loads
        self._bridge = bridge
        self._known: dict[str, LoadOutlook] = {}
        self._asked: set[str] = set()
        bridge.follow(loads.outlook_feed, self._on_outlook)

    def known(self, model_id: str) -> "LoadOutlook | None":
        """What was found last."""
        return self._known.get(model_id)

    def ask(self, model_id: str) -> None:
        """Have it priced, once; the answer comes with `changed`."""
        if model_id not in self._asked:
            self._asked.add(model_id)
            self._bridge.deliver(self._loads.look(model_id), self._on_outlook, on_error=self._on_error)

    def forget(self) -> None:
        """Experts came or went, so what is free has changed: ask anew when next asked for."""
        self._asked.clear()

    def _on_outlook(self, found: "LoadOutlook") -> None:
        self._known[found.model_id] = found
        self._asked.add(found.model_id)
        self.changed.emit()

    def _on_error(self, error: ErrorReport) -> None:
        """Sending will say it; here the line just names no price."""


def price_words(name: str, found: "LoadOutlook | None") -> str:
    """`→ coder-7b · needs 5.1 GiB VRAM · evicts chat-8b · about 4 s to load`."""
    parts = [f"→ {name}"]
    if found is None or found.outlook is None:
        parts.append(translate("hint", "is loaded first"))
        return " · ".join(parts)
    if found.is_refused:
        parts.append(memory.verdict(found.outlook.verdict))
        parts.append(memory.three_numbers(found.outlook.asked.judgement.worst))
        return " · ".join(parts)
    plan = found.outlook.automatic or found.outlook.asked
    parts.append(translate("hint", "needs {size}").format(size=memory.price(plan.bill)))
    if plan.evicts:
        parts.append(translate("hint", "unloads {names}").format(names=", ".join(plan.evicts)))
    if found.load_s is not None:
        parts.append(translate("hint", "about {time} to load").format(time=seconds(max(found.load_s, 0.1) * 1000)))
    return " · ".join(parts)
