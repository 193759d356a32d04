"""API keys: in the system's keyring, and where there is none in a file that only its owner may read. Never elsewhere.

A keyring may ask its owner for a password, so every call may block for long: never on the GUI thread.
"""

import contextlib
import json
import logging
import os
import threading
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from layadesk.domain.errors import ErrorCode, fail
from layadesk.settings.file import write_whole

log = logging.getLogger(__name__)

SERVICE: Final = "LayaDesk"


class KeyPlace(StrEnum):
    """Where a key is kept; `ui/texts` has the words."""

    KEYRING = "keyring"
    FILE = "file"


class Ring(Protocol):
    """A keyring as the package `keyring` has them; anything may be raised."""

    def get_password(self, service: str, username: str) -> str | None:
        """The key of that name."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""

    def delete_password(self, service: str, username: str) -> None:
        """Forget it."""


def system_ring() -> Ring:
    """The system's own keyring. Its import is slow."""
    import keyring  # noqa: PLC0415 - looks for all backends there are

    return keyring.get_keyring()


class KeyStore:
    """Keys by name, of one data directory. Any thread but the GUI's."""

    def __init__(self, path: Path, ring: Ring | None = None) -> None:
        """`ring` None: that of the system, looked for when it is first needed."""
        self._path = path
        self._ring = ring
        self._lock = threading.Lock()

    def get(self, name: str) -> str | None:
        """A key; None where there is none."""
        with self._lock:
            kept = self._in_file().get(name)
            if kept is not None:
                return kept
            try:
                return self._system().get_password(SERVICE, self._called(name)) or None
            except Exception as error:  # noqa: BLE001 - each backend has its own
                log.info("the keyring gives nothing: %s", type(error).__name__)
                return None

    def put(self, name: str, key: str) -> KeyPlace:
        """Keep a key; says where. Raises KEY_NOT_KEPT."""
        with self._lock:
            if self._put_in_ring(name, key):
                self._change_file(name, None)
                return KeyPlace.KEYRING
            self._change_file(name, key)
            return KeyPlace.FILE

    def drop(self, name: str) -> None:
        """Forget a key wherever it is; silent where there is none."""
        with self._lock:
            self._change_file(name, None)
            with contextlib.suppress(Exception):
                self._system().delete_password(SERVICE, self._called(name))

    def _put_in_ring(self, name: str, key: str) -> bool:
        try:
            ring = self._system()
            ring.set_password(SERVICE, self._called(name), key)
            return ring.get_password(SERVICE, self._called(name)) == key
        except Exception as error:  # noqa: BLE001 - each backend has its own
            log.info("no keyring takes the key: %s", type(error).__name__)
            return False

    def _system(self) -> Ring:
        if self._ring is None:
            self._ring = system_ring()
        return self._ring

    def _called(self, name: str) -> str:
        """Two data directories have keys of their own."""
        return f"{name} ({self._path.parent})"

    def _in_file(self) -> dict[str, str]:
        try:
            keys = json.loads(self._path.read_bytes())["keys"]
            return {name: key for name, key in keys.items() if isinstance(key, str)}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def _change_file(self, name: str, key: str | None) -> None:
        keys = self._in_file()
        if keys.get(name) == key:
            return
        keys.pop(name, None)
        if key is not None:
            keys[name] = key
        try:
            write_whole(self._path, json.dumps({"keys": keys}).encode(), mode=0o600)
        except OSError as error:
            raise fail(ErrorCode.KEY_NOT_KEPT, detail=os.strerror(error.errno) if error.errno else "") from error
