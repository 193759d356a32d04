"""Take settings out of a YAML file of another program."""

from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from layadesk.settings.settings import Settings
from layadesk.settings.yaml_import import read_yaml


@dataclass(frozen=True, slots=True)
class SettingsTaken:
    """Keys that were set, keys of the file that mean nothing here, and models to add by hand."""

    taken: tuple[str, ...]
    ignored: tuple[str, ...]
    experts: tuple[str, ...]


class ImportSettings:
    """GUI thread: a settings file is small, and its change must not race with the page."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __call__(self, path: str) -> Future[SettingsTaken]:
        """Fails with SETTINGS_FILE_FOREIGN, and changes nothing then."""
        done: Future[SettingsTaken] = Future()
        try:
            found = read_yaml(Path(path))
            for key, value in found.values.items():
                self.settings.set(key, value)
            done.set_result(SettingsTaken(tuple(found.values), found.ignored, found.experts))
        except Exception as error:  # noqa: BLE001 - whatever happened belongs to who holds the future
            done.set_exception(error)
        return done
