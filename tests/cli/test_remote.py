"""`layadesk models remote`, and a question that is answered elsewhere, on a scripted server."""

import json
import stat
import sys
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Shell
from tests.fakes.http_peer import Exchange, HttpPeer, http_peer

KEY = "sk-very-secret"


def allow_remote(shell: Shell) -> None:
    settings = {"schema": 1, "values": {"router.allow_remote": True}}
    (shell.data_dir / "settings.json").write_text(json.dumps(settings), "utf-8")


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    with http_peer() as made:
        yield made


def test_one_is_added_listed_tested_asked_and_removed(shell: Shell, peer: HttpPeer) -> None:
    added = shell.run("models", "remote", "add", peer.url, "big", "--name", "Big", "--key-env", "THE_KEY", THE_KEY=KEY)
    assert added.status == 0, added.err
    assert added.out.startswith("remote:big: Big, big → 127.0.0.1:")
    assert "The server is a program on this machine." in added.out
    assert "keys.json, which only you may read" in added.out, "no keyring in tests, and that is said"
    keys = shell.data_dir / "keys.json"
    assert KEY in keys.read_text("utf-8")
    assert sys.platform == "win32" or stat.S_IMODE(keys.stat().st_mode) == 0o600
    others = [path for path in shell.data_dir.rglob("*") if path.is_file() and path != keys]
    assert all(KEY.encode() not in path.read_bytes() for path in others)
    assert "remote:big" in shell.run("models", "remote", "list").out
    tested = shell.run("models", "remote", "test", "remote:big")
    assert (tested.status, "Hello" in tested.out) == (0, True)
    asked = shell.run("ask", "hi", "--expert", "remote:big")
    assert (asked.status, asked.out) == (0, "Hello\n")
    assert f"goes to another program here → 127.0.0.1:{peer.port}" in asked.err
    assert peer.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    removed = shell.run("models", "remote", "remove", "remote:big")
    assert removed.status == 0
    assert KEY not in keys.read_text("utf-8")
    assert shell.run("models", "remote", "list", "--json").json == {"experts": []}


def test_auto_asks_a_remote_expert_only_where_that_is_allowed(shell: Shell, peer: HttpPeer) -> None:
    shell.run("models", "remote", "add", peer.url, "big", "--no-key")
    refused = shell.run("ask", "hi")
    assert refused.status == 1
    assert "Auto may not send anything away" in refused.err
    assert peer.asked == []
    allow_remote(shell)
    assert shell.run("ask", "hi").out == "Hello\n"


def test_one_that_breaks_off_is_replaced_and_the_terminal_says_so(shell: Shell, peer: HttpPeer) -> None:
    def break_off(exchange: Exchange) -> None:
        exchange.head()
        exchange.say("half an ans")

    peer.script = break_off
    shell.install()
    shell.script(text="a whole answer")
    shell.run("models", "remote", "add", peer.url, "big", "--no-key", "--good-at", "code,math,chat,knowledge")
    allow_remote(shell)
    done = shell.run("ask", "Write quicksort in Python, please.", "--json")
    found = done.json
    assert (found["text"], found["expert"]) == ("a whole answer", "tiny")
    assert found["route"]["reason"] == "failed_over"
    assert found["route"]["instead_of"] == "remote:big"
    assert found["route"]["drafts"][0]["text"] == "half an ans"
    shown = shell.run("ask", "Write quicksort in Python, please.")
    assert shown.out.endswith("a whole answer\n")
    assert "because remote:big failed" in shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "nowhere", "x"), ("address",)),
        (("add", "https://h/v1", "x", "--good-at", "cooking"), ("cooking",)),
        (("add", "https://h/v1", "x", "--context", "3"), ("context",)),
        (("add", "https://h/v1", "x", "--key-env", "NOT_SET"), ("--key-env",)),
        (("add", "https://h/v1", "x", "--id", "remote:gone"), ("remote:gone",)),
        (("remove", "remote:gone"), ("remote:gone",)),
        (("test", "remote:gone"), ("remote:gone",)),
    ],
)
def test_what_cannot_be_is_said_in_one_line(shell: Shell, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = shell.run("models", "remote", *arguments)
    lines = done.err.strip().splitlines()
    assert (done.status, len(lines)) == (1, 1)
    assert all(word in lines[0] for word in ("layadesk:", *words))


def test_an_unencrypted_way_out_is_remarked(shell: Shell) -> None:
    done = shell.run("models", "remote", "add", "http://192.0.2.1:8000", "x", "--no-key")
    assert "everyone on the way can read your messages" in done.out
