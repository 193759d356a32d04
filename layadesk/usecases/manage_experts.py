"""The experts on this disk: list them, and bring in a GGUF that lies somewhere."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.models import InstalledModel, Origin
from layadesk.model_library.inventory import Inventory
from layadesk.protocol.feed import Feed
from layadesk.usecases.expert_pool import ExpertPool

log = logging.getLogger(__name__)


class Experts:
    """Any thread; an import runs on a thread of its own, because a header on a slow disk takes its time."""

    def __init__(self, inventory: Inventory, pool: ExpertPool) -> None:
        self._inventory = inventory
        self._pool = pool
        self._executor = ThreadPoolExecutor(1, "import")
        self.changed: Feed[None] = Feed()

    def list(self) -> tuple[InstalledModel, ...]:
        """All installed experts; those whose file has vanished are marked."""
        return self._inventory.list()

    def import_file(
        self, path: str, *, origin: Origin = Origin.IMPORTED, name: str | None = None
    ) -> Future[InstalledModel]:
        """Check a GGUF by its header and add it in place, without copying it (the starter alone is copied).

        Fails with the GGUF_* and MODEL_FILE_* codes, before the engine has seen the file.
        """
        return self._executor.submit(self._import, Path(path), origin, name)

    def adopt_starter(self, shipped: Path | None) -> None:
        """Install the starter expert that came with the program, the first time it runs. Blocks, a third of a second.

        Removed by the user, it stays away. A failure is logged: the program is of use without it.
        """
        if shipped is None or not self._inventory.is_new:
            return
        try:
            self._import(shipped, Origin.STARTER, None)
        except (LayaDeskError, OSError) as error:
            log.warning("the starter expert could not be installed: %s", error)

    def _import(self, path: Path, origin: Origin, name: str | None) -> InstalledModel:
        if origin is Origin.STARTER:
            model = self._inventory.add_starter(path)
        else:
            model = self._inventory.import_file(path, origin=origin, name=name)
        self.has_changed()
        return model

    def has_changed(self) -> None:
        """The list of models has grown or shrunk: the engine and who watches are told. Any thread."""
        self._pool.configure_engine()
        self.changed.publish(None)

    def close(self) -> None:
        """Wait for an import that runs; nothing new is taken."""
        self._executor.shutdown(wait=True)
