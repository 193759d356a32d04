"""The experts as the window knows them: their names, which are in memory, and which run elsewhere."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from layadesk.domain.models import InstalledModel
from layadesk.domain.remote import RemoteExpert
from layadesk.protocol.events import ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import remote

if TYPE_CHECKING:
    from layadesk.usecases.manage_experts import Experts
    from layadesk.usecases.remote_experts import RemoteExperts
    from layadesk.usecases.watch_machine import WatchWorkers


class ExpertList(QObject):
    """Signals:
    changed: experts came or went, one was loaded or unloaded, or a remote one's server went or came back.
    """

    changed = Signal()

    def __init__(
        self,
        experts: "Experts",
        workers: "WatchWorkers",
        remotes: "RemoteExperts",
        settings: Settings,
        *,
        bridge: Bridge,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._remote = remotes
        self._remotes: tuple[RemoteExpert, ...] = remotes.list()
        self._settings = settings
        bridge.follow(remotes.changed, self._on_remotes_changed)
        settings.subscribe(definitions.ALLOW_REMOTE, self._on_allowed)
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

    @property
    def remotes(self) -> tuple[RemoteExpert, ...]:
        """Those that run elsewhere."""
        return self._remotes

    @property
    def auto_remotes(self) -> tuple[RemoteExpert, ...]:
        """Those of them that Auto may use now."""
        return self._remotes if self._settings.get(definitions.ALLOW_REMOTE) else ()

    @property
    def can_answer(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self.usable or self._remotes)

    def remote(self, expert_id: str) -> RemoteExpert | None:
        """One that runs elsewhere, by its id."""
        return next((one for one in self._remotes if one.model_id == expert_id), None)

    def is_away(self, expert_id: str) -> bool:
        """Whether its server did not answer the last time."""
        return self._remote.state(expert_id).is_up is False

    def choices(self) -> tuple[tuple[str, str], ...]:
        """Id and name of each usable one; where one runs elsewhere, the name says where."""
        local = ((model.model_id, self.name_of(model.model_id)) for model in self.usable)
        return (*local, *((one.model_id, remote.marked_with_host(one.name, one.host)) for one in self._remotes))

    def find(self, expert_id: str) -> InstalledModel | None:
        """One by its id."""
        return next((model for model in self._installed if model.model_id == expert_id), None)

    def name_of(self, expert_id: str) -> str:
        """How an expert is called on screen; its id when it is not installed any more.

        Where several have the same name, what tells it apart stands behind it: its quantization, else its id.
        """
        elsewhere = self.remote(expert_id)
        if elsewhere is not None:
            return remote.marked(elsewhere.name)
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
    def _on_remotes_changed(self, _: object) -> None:
        self._remotes = self._remote.list()
        self.changed.emit()

    def _on_allowed(self, _: bool) -> None:
        """On the GUI thread: only this window sets anything while it is open."""
        self.changed.emit()

    @Slot(object)
    def _on_experts_changed(self, _: object) -> None:
        self._installed = self._experts.list()
        self.changed.emit()

    @Slot(object)
    def _on_model_event(self, event: ModelLoading | ModelLoaded | ModelUnloaded) -> None:
        if not isinstance(event, ModelLoading):
            self.changed.emit()
