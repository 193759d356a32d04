"""API keys: in a keyring, or in a file that only its owner may read; nowhere else."""

import os
import stat
import sys
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.settings.key_store import KeyPlace, KeyStore


class WorkingRing:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class NoRing:
    """As on a machine without a keyring: everything raises."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("no keyring")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError("no keyring")

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("no keyring")


class Forgetful(WorkingRing):
    """Takes a key without a word and does not keep it."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


def test_a_key_is_kept_in_the_keyring_and_in_no_file(tmp_path: Path) -> None:
    ring = WorkingRing()
    keys = KeyStore(tmp_path / "keys.json", ring)
    assert keys.put("remote:big", "sk-1") is KeyPlace.KEYRING
    assert KeyStore(tmp_path / "keys.json", ring).get("remote:big") == "sk-1"
    assert list(tmp_path.iterdir()) == []
    keys.drop("remote:big")
    assert keys.get("remote:big") is None
    keys.drop("remote:big")


@pytest.mark.parametrize("ring", [NoRing(), Forgetful()])
def test_without_a_keyring_that_keeps_it_a_file_of_its_owner_does(tmp_path: Path, ring: NoRing | Forgetful) -> None:
    path = tmp_path / "data" / "keys.json"
    keys = KeyStore(path, ring)
    assert keys.put("remote:big", "sk-1") is KeyPlace.FILE
    assert keys.put("remote:other", "sk-2") is KeyPlace.FILE
    assert KeyStore(path, ring).get("remote:big") == "sk-1"
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    keys.drop("remote:big")
    assert (keys.get("remote:big"), keys.get("remote:other")) == (None, "sk-2")
    assert "sk-1" not in path.read_text("utf-8")


def test_a_key_moves_into_the_keyring_when_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    KeyStore(path, NoRing()).put("remote:big", "sk-1")
    ring = WorkingRing()
    assert KeyStore(path, ring).put("remote:big", "sk-2") is KeyPlace.KEYRING
    assert "sk-" not in path.read_text("utf-8")
    assert KeyStore(path, ring).get("remote:big") == "sk-2"


def test_two_data_directories_have_keys_of_their_own(tmp_path: Path) -> None:
    ring = WorkingRing()
    KeyStore(tmp_path / "a" / "keys.json", ring).put("remote:big", "sk-a")
    assert KeyStore(tmp_path / "b" / "keys.json", ring).get("remote:big") is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"keys": 5}', b'{"keys": {"remote:big": 5}}', b"\xff"])
def test_a_damaged_file_holds_no_keys_and_takes_new_ones(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    keys = KeyStore(path, NoRing())
    assert keys.get("remote:big") is None
    keys.put("remote:big", "sk-1")
    assert keys.get("remote:big") == "sk-1"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_where_nothing_can_be_kept_that_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LayaDeskError) as caught:
        KeyStore(tmp_path / "data" / "keys.json", NoRing()).put("remote:big", "sk-1")
    tmp_path.chmod(0o700)
    assert caught.value.code is ErrorCode.KEY_NOT_KEPT
    assert "sk-1" not in str(caught.value)


def test_a_folder_in_the_place_of_the_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "keys.json" / "x").mkdir(parents=True)
    with pytest.raises(LayaDeskError) as caught:
        KeyStore(tmp_path / "keys.json", NoRing()).put("remote:big", "sk-1")
    assert caught.value.code is ErrorCode.KEY_NOT_KEPT
