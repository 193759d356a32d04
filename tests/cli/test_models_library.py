"""`layadesk models`: from the catalogue to an installed expert in a terminal, killed and interrupted on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import REPO, Shell
from tests.fakes.fake_hub import FakeHub
from tests.fakes.gguf_files import write_gguf
from tests.fakes.gguf_models import Shape, chat_model
from tests.fakes.library import FILE, SIZE, big_gguf
from tests.fakes.library import REPO as HUB_REPO

WAIT_S = 30.0


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as found:
        yield found


@pytest.fixture
def shop(shell: Shell, hub: FakeHub) -> Shell:
    """A shell whose catalogue has one more model, which the hub serves."""
    served = hub.add(HUB_REPO, FILE, big_gguf())
    file = {"quantization": "Q4_K_M", "path": FILE, "size_bytes": SIZE, "sha256": served.sha256}
    entry = {
        "model_id": "tiny",
        "name": "Tiny",
        "source": f"huggingface:{HUB_REPO}",
        "license": "mit",
        "languages": ["en"],
        "note": "For tests.",
        "files": [file],
    }
    shell.data_dir.mkdir(parents=True)
    text = json.dumps({"schema_version": 2, "models": [entry]})
    (shell.data_dir / "models.json").write_text(text, encoding="utf-8")
    return shell


def environment(hub: FakeHub) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.url, "NO_PROXY": "127.0.0.1", "HF_TOKEN": ""}


def started(shop: Shell, hub: FakeHub) -> "subprocess.Popen[str]":
    """`models download tiny` in a process of its own."""
    command = [sys.executable, "-m", "layadesk", "models", "download", "tiny", "--data-dir", str(shop.data_dir)]
    return subprocess.Popen(
        command,
        cwd=REPO,
        env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en", **environment(hub)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def part_of(shop: Shell) -> Path:
    return shop.data_dir / "models" / ".downloads" / "tiny--Q4_K_M" / f"{FILE}.part"


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def test_a_model_is_found_downloaded_verified_and_removed(shop: Shell, hub: FakeHub) -> None:
    assert "tiny " in shop.run("models", "list", "--catalogue").out
    shown = shop.run("models", "show", "tiny")
    assert "licence mit" in shown.out
    done = shop.run("models", "download", "tiny", "--json", **environment(hub))
    assert done.status == 0, done.err
    assert "Q4_K_M" in done.err
    assert done.json["download"]["state"] == "installed"
    (model,) = shop.run("models", "list", "--json").json["models"]
    assert (model["model_id"], model["card_quantization"], model["size_bytes"]) == ("tiny", "Q4_K_M", SIZE)
    verified = shop.run("models", "verify", "tiny", "--json")
    assert (verified.status, verified.json["is_damaged"]) == (0, False)
    with Path(model["path"]).open("rb+") as file:
        file.seek(SIZE // 2)
        file.write(b"!")
    damaged = shop.run("models", "verify", "tiny")
    assert (damaged.status, "DAMAGED" in damaged.out) == (1, True)
    assert shop.run("models", "remove", "tiny", "--json").json["freed_bytes"] == SIZE
    assert not Path(model["path"]).exists()


def test_killed_in_the_middle_it_goes_on_from_the_byte(shop: Shell, hub: FakeHub) -> None:
    hub.fault(HUB_REPO, FILE, hang_after=SIZE * 6 // 10)
    child = started(shop, hub)
    wait_until(lambda: size_of(part_of(shop)) >= SIZE * 6 // 10)
    child.kill()
    child.communicate()
    kept = size_of(part_of(shop))
    hub.faults.clear()
    done = shop.run("models", "download", "tiny", **environment(hub))
    assert done.status == 0, done.err
    assert hub.gets()[-1].range == f"bytes={kept}-"
    assert hub.n_sent == SIZE
    assert shop.run("models", "verify", "tiny").status == 0


@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C for one process there")
def test_ctrl_c_pauses_and_says_how_to_go_on(shop: Shell, hub: FakeHub) -> None:
    hub.fault(HUB_REPO, FILE, hang_after=SIZE // 2)
    child = started(shop, hub)
    wait_until(lambda: size_of(part_of(shop)) >= SIZE // 2)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=WAIT_S)
    assert (child.returncode, out) == (130, "")
    assert "Resume with: layadesk models download tiny --quantization Q4_K_M" in err
    assert "Traceback" not in err
    assert size_of(part_of(shop)) >= SIZE // 2


def test_what_was_left_behind_is_listed_and_deleted(shop: Shell, hub: FakeHub) -> None:
    shop.install("mine")  # where there is no list yet, what lies there is taken into it
    assert "Nothing was left behind" in shop.run("models", "list", "--leftovers").out
    hub.fault(HUB_REPO, FILE, corrupt=True)
    assert shop.run("models", "download", "tiny", **environment(hub)).status == 1
    orphan = write_gguf(shop.data_dir / "models" / "old" / "orphan.gguf")
    part_of(shop).write_bytes(b"12345")
    found = shop.run("models", "list", "--leftovers", "--json").json["leftovers"]
    folder = str(part_of(shop).parent)
    assert {one["path"]: one["download_id"] for one in found} == {folder: "tiny:Q4_K_M", str(orphan): None}
    told = shop.run("models", "list", "--leftovers").out
    assert "unfinished download" in told
    assert "in no list" in told
    for path in (folder, str(orphan)):
        assert shop.run("models", "remove", path).status == 0
    assert "Nothing was left behind" in shop.run("models", "list", "--leftovers").out
    assert not orphan.exists()
    refused = shop.run("models", "remove", str(orphan))
    assert (refused.status, "models list --leftovers" in refused.err) == (1, True)


def test_sizes_below_a_gibibyte_are_told(shop: Shell, hub: FakeHub) -> None:
    assert "3 MiB" in shop.run("models", "show", "tiny").out
    assert "3 MiB" in shop.run("models", "download", "tiny", **environment(hub)).out
    listed = shop.run("models", "list").out
    assert "3 MiB" in listed
    assert "0.0 GiB" not in listed
    assert "3 MiB came free" in shop.run("models", "remove", "tiny").out


def test_what_goes_wrong_is_one_line_with_a_remedy(shop: Shell, hub: FakeHub) -> None:
    hub.fault(HUB_REPO, FILE, status=403, error_code="GatedRepo")
    done = shop.run("models", "download", "tiny", **environment(hub))
    assert done.status == 1
    assert f"https://huggingface.co/{HUB_REPO}" in done.err.splitlines()[-1]
    assert "models list --catalogue" in shop.run("models", "download", "nothing").err
    for action in ("verify", "remove"):
        assert shop.run("models", action, "tiny").err.endswith("layadesk models list\n")
    needs = shop.run("models", "download", "lfm2.5-8b-a1b", "--quantization", "Q4_K_M")
    assert (needs.status, "lfm-open-license-1.0" in needs.err, "--accept-licence" in needs.err) == (1, True, True)


def test_numbers_that_the_catalogue_lacks_are_read_from_the_hub_when_that_is_asked_for(
    shop: Shell, hub: FakeHub
) -> None:
    model = chat_model(shop.folder / "served.gguf", Shape(2, 64, 4, 2, 16, 128, 260))
    hub.add(HUB_REPO, FILE, model.read_bytes())
    assert shop.run("models", "show", "tiny", "--json").json["fit"] == {"Q4_K_M": "unknown"}
    assert hub.log == []
    asked = shop.run("models", "show", "tiny", "--ask-hub", "--json", **environment(hub))
    assert asked.json["fit"] == {"Q4_K_M": "fits"}
    assert {request.token for request in hub.log} == {None}
    assert all(request.range is not None for request in hub.log)


def test_a_quantization_is_found_however_it_is_spelled(shop: Shell, hub: FakeHub) -> None:
    done = shop.run("models", "download", "tiny", "--quantization", "q4_k_m", "--json", **environment(hub))
    assert (done.status, done.json["download"]["quantization"]) == (0, "Q4_K_M")


def test_one_name_for_several_files_is_refused_as_bad_usage(shell: Shell) -> None:
    files = [str(write_gguf(shell.folder / name)) for name in ("a.gguf", "b.gguf")]
    for paths in (files, [str(shell.folder)]):
        done = shell.run("models", "import", *paths, "--name", "Mine")
        assert (done.status, "--name is for one file" in done.err) == (2, True)
    assert shell.run("models", "list", "--json").json["models"] == []


def test_folders_are_imported_and_what_is_no_model_is_told(shell: Shell) -> None:
    folder = shell.folder / "collection"
    write_gguf(folder / "a" / "one.gguf")
    write_gguf(folder / "b" / "two.gguf")
    (folder / "b" / "no.gguf").write_bytes(b"text")
    done = shell.run("models", "import", str(folder), "--json")
    assert done.status == 0
    assert [model["model_id"] for model in done.json["models"]] == ["one", "two"]
    assert [report["code"] for report in done.json["refused"]] == ["gguf_not_gguf"]
    removed = shell.run("models", "remove", "one")
    assert "Its file stays" in removed.out
    assert (folder / "a" / "one.gguf").is_file()
