"""Where models are kept and come from, as the settings say: what the library, the downloads and the pool share."""

from pathlib import Path

from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.download_list import DownloadList
from layadesk.model_library.hub import Hub, HubRules
from layadesk.model_library.install import Installer
from layadesk.model_library.inventory import Inventory
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.verify import Verifier
from layadesk.paths import DataPaths
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.download_models import DownloadRooms


class ModelRooms:
    """Settings are asked when they are needed, so a change counts for the next download."""

    def __init__(self, paths: DataPaths, settings: Settings) -> None:
        self._paths = paths
        self._settings = settings
        self.catalogues = Catalogues(paths.catalogue)
        self.disk = LibraryDisk(self.models_dir, self._reserve_bytes)
        self.inventory = Inventory(paths, self.catalogues, models_dir=self.models_dir())
        self.verifier = Verifier(self.catalogues, self.inventory, self.disk)
        self.hub = Hub(self._hub_rules)

    def downloads(self) -> DownloadRooms:
        """What downloads work with."""
        return DownloadRooms(
            self.catalogues,
            self.hub,
            self.disk,
            Installer(self.inventory, self.disk, self.verifier),
            DownloadList(self._paths.downloads),
            lambda: self._settings.get(definitions.DOWNLOAD_PARALLEL),
        )

    def models_dir(self) -> Path:
        """As set, or in the data directory."""
        chosen = self._settings.get(definitions.MODELS_DIR)
        return Path(chosen) if chosen else self._paths.models

    def _reserve_bytes(self) -> int:
        return round(self._settings.get(definitions.DOWNLOAD_RESERVE) * 2**30)

    def _hub_rules(self) -> HubRules:
        get = self._settings.get
        return HubRules(get(definitions.DOWNLOAD_ENDPOINT), get(definitions.DOWNLOAD_PROXY))
