"""The messages above every page, the gravest first."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from layadesk.domain.worker_state import WorkerKind
from layadesk.ui.bridge import Bridge
from layadesk.ui.shell.alert_banner import AlertBanner
from layadesk.ui.shell.failure_banner import FailureBanner
from layadesk.ui.shell.storage_banner import StorageBanner
from layadesk.ui.shell.update_banner import UpdateBanner
from layadesk.ui.shell.worker_banner import WorkerBanner
from layadesk.ui.widgets.banner import Banner

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class Banners:
    """`failure` is for what has just not worked; the others look after themselves."""

    def __init__(self, use_cases: "UseCases", *, name_of: Callable[[str], str], bridge: Bridge) -> None:
        self.failure = FailureBanner()
        self.update = UpdateBanner(use_cases.updates, bridge=bridge)
        self.all: tuple[Banner, ...] = (
            AlertBanner(use_cases.guard, name_of=name_of, bridge=bridge),
            StorageBanner(use_cases.storage, bridge=bridge),
            WorkerBanner(WorkerKind.ENGINE, use_cases.workers, bridge=bridge),
            WorkerBanner(WorkerKind.ROUTER, use_cases.workers, bridge=bridge),
            self.failure,
            self.update,
        )

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [widget for banner in self.all for widget in banner.focus_chain()]
