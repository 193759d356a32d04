"""The API key of the server: made here, shown once, kept as a hash only."""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from layadesk.domain.server import KeyHash
from layadesk.model_library.disk import write_atomically

log = logging.getLogger(__name__)

PREFIX = "ld-"


class ServerKey:
    """The key in use, if any. Any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> KeyHash | None:
        """What the server compares with; None where no key was made. A damaged file lets nobody in."""
        try:
            fields = json.loads(self._path.read_text("utf-8"))
            return KeyHash(bytes.fromhex(fields["salt"]), bytes.fromhex(fields["sha256"]), str(fields["tail"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            log.warning("the file of the server's key cannot be read; until a new key is made nobody is let in")
            return KeyHash(b"", b"", "")

    def make(self) -> str:
        """A new key in place of the old one. Nobody can read it again later. Raises DISK_FULL, DISK_ERROR."""
        key = PREFIX + secrets.token_urlsafe(32)
        salt = secrets.token_bytes(16)
        fields = {"salt": salt.hex(), "sha256": digest_of(key, salt).hex(), "tail": key[-4:]}
        self._keep(json.dumps(fields).encode())
        return key

    @contextmanager
    def as_before_on_failure(self) -> Iterator[None]:
        """What the block does to the key is undone where it fails."""
        earlier = self._path.read_bytes() if self._path.is_file() else None
        try:
            yield
        except BaseException:
            if earlier is None:
                self.forget()
            else:
                self._keep(earlier)
            raise

    def _keep(self, content: bytes) -> None:
        write_atomically(self._path, content)
        self._path.chmod(0o600)

    def forget(self) -> None:
        """Ask for no key any more."""
        self._path.unlink(missing_ok=True)


def digest_of(key: str, salt: bytes) -> bytes:
    """One round of SHA-256 is enough: a key is 256 random bits, which nobody guesses however fast the hash is."""
    return hashlib.sha256(salt + key.encode("utf-8", "replace")).digest()


def is_key(candidate: str, kept: KeyHash) -> bool:
    """Whether this is the key; takes as long for every wrong one."""
    return hmac.compare_digest(digest_of(candidate, kept.salt), kept.digest)
