"""The installed experts as the window knows them: their names, and which are in memory."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from layadesk.domain.models import InstalledModel
from layadesk.protocol.events import ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.ui.bridge import Bridge

if TYPE_CHECKING:
    from layadesk.usecases.manage_experts import Experts
    from layadesk.usecases.watch_machine import WatchWorkers


class ExpertList(QObject):
    """Signals:
    changed: experts came or went, or one was loaded or unloaded.
    """

    changed = Signal()

    def __init__(self, experts: "Experts", workers: "WatchWorkers", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._experts = experts
        self._workers = workers
        self._installed: tuple[InstalledModel, ...] = experts.list()
        bridge.follow(experts.changed, self._on_experts_changed)
        bridge.follow(workers.models, self._on_model_event)

    @property
    def installed(self) -> tuple[InstalledModel, ...]:
        """All experts, also those whose file has vanished."""
        return self._installed

    @property
    def usable(self) -> tuple[InstalledModel, ...]:
        """Those whose file is there."""
        return tuple(model for model in self._installed if model.is_present)

    def choices(self) -> tuple[tuple[str, str], ...]:
        """Id and name of each usable one."""
        return tuple((model.model_id, self.name_of(model.model_id)) for model in self.usable)

    def find(self, expert_id: str) -> InstalledModel | None:
        """One by its id."""
        return next((model for model in self._installed if model.model_id == expert_id), None)

    def name_of(self, expert_id: str) -> str:
        """How an expert is called on screen; its id when it is not installed any more.

        Where several have the same name, what tells it apart stands behind it: its quantization, else its id.
        """
        model = self.find(expert_id)
        if model is None:
            return expert_id
        namesakes = [one.quantization for one in self._installed if one.name == model.name]
        if len(namesakes) == 1:
            return model.name
        is_apart = model.quantization and namesakes.count(model.quantization) == 1
        return f"{model.name} ({model.quantization if is_apart else model.model_id})"

    def look_again(self) -> None:
        """Whether the files are still there."""
        before, self._installed = self._installed, self._experts.list()
        if self._installed != before:
            self.changed.emit()

    def is_loaded(self, expert_id: str) -> bool:
        """Whether it is in memory now."""
        return expert_id in self._workers.loaded()

    @Slot(object)
    def _on_experts_changed(self, _: object) -> None:
        self._installed = self._experts.list()
        self.changed.emit()

    @Slot(object)
    def _on_model_event(self, event: ModelLoading | ModelLoaded | ModelUnloaded) -> None:
        if not isinstance(event, ModelLoading):
            self.changed.emit()
