"""A report to paste into a question or a bug report: facts of the installation and the machine, never message text."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from layadesk import __version__
from layadesk.domain.diagnosis import Case, Diagnosis
from layadesk.paths import DataPaths
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.check_installation import Finding
from layadesk.usecases.probe_machine import described

N_LOG_LINES = 40
_LOGIN = re.compile(r"://[^/\s\"]*@")
_TEXT_OF_THE_USER = frozenset({definitions.SYSTEM_PROMPT.key})


class HealthReport:
    """Makes the text. Names of folders are shortened, because they hold the user's name."""

    def __init__(self, paths: DataPaths, settings: Settings) -> None:
        self._paths = paths
        self._settings = settings

    def __call__(self, findings: tuple[Finding, ...], case: Case, diagnoses: tuple[Diagnosis, ...]) -> str:
        """One JSON object and the last lines of the engine's log."""
        told: dict[str, Any] = {
            "layadesk": __version__,
            "findings": msgspec.to_builtins(findings),
            "diagnoses": msgspec.to_builtins(diagnoses),
            "devices": list(case.devices),
            "loaded": msgspec.to_builtins(list(case.loaded.values())),
            "alerts": msgspec.to_builtins(list(case.alerts)[-20:]),
            "settings": self._plain_settings(),
            "machine": described(case.newest),
            "ram_bytes_per_s": case.bandwidth_bytes_per_s,
            "answers": msgspec.to_builtins(list(case.answers)[-10:]),
        }
        log = "\n".join(_last_lines(self._paths.logs / "engine-native.log"))
        text = json.dumps(told, ensure_ascii=False, indent=1, default=str)
        return _without_logins(self._without_folders(f"{text}\n\nengine-native.log:\n{log}\n"))

    def _plain_settings(self) -> dict[str, Any]:
        kept = (setting for setting in definitions.ALL_SETTINGS if setting.key not in _TEXT_OF_THE_USER)
        return {setting.key: self._settings.get(setting) for setting in kept if not _is_private(setting.key)}

    def _without_folders(self, text: str) -> str:
        for folder, name in ((self._paths.root, "DATA"), (Path.home(), "HOME")):
            for written in {str(folder), str(folder).replace("\\", "\\\\")}:
                if len(written) > 1:
                    text = text.replace(written, name)
        return text


def _without_logins(text: str) -> str:
    """Addresses, as of a proxy, without the name and the password in them."""
    return _LOGIN.sub("://…@", text)


def _is_private(key: str) -> bool:
    """Settings that hold what a user wrote, or a secret, whatever rooms add to them later."""
    return "prompt" in key or key.endswith(("key", "token", "secret", "password", "text"))


def _last_lines(path: Path) -> Iterable[str]:
    try:
        with path.open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - 16_384))
            return log.read().decode("utf-8", "replace").splitlines()[-N_LOG_LINES:]
    except OSError:
        return ()
