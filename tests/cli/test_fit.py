"""`layadesk fit` as a shell sees it."""

import re
from pathlib import Path

import pytest

from layadesk.domain.memory_fit.arithmetic import HOST_OVERHEAD_BYTES
from layadesk.domain.memory_fit.bill import CPU, DeviceBill
from layadesk.domain.memory_fit.load_record import LoadMeasure, LoadRecord
from tests.cli.conftest import REPO, Shell
from tests.fakes import gguf_models
from tests.fakes.gguf_files import Tensor, write_gguf
from tests.fakes.range_server import honest, serving
from tests.fakes.store import opened, result_of

HARDWARE = REPO / "tests" / "fixtures" / "hardware"


def test_a_model_of_the_catalogue_is_priced_for_another_machine(shell: Shell) -> None:
    done = shell.run("fit", "qwen3.8-27b", "--hardware", str(HARDWARE / "rtx-4090.json"), "--json")
    assert done.status == 0, done.err
    assert (done.json["verdict"], done.json["bill"]["n_gpu_layers"], done.json["type_k"]) == ("fits", 66, "q8_0")
    card = done.json["bill"]["devices"][0]
    assert card["device"] == "CUDA0"
    parts = ("weights", "kv", "compute", "output", "overhead", "margin")
    assert card["total_bytes"] == sum(card[f"{part}_bytes"] for part in parts)


def test_a_refusal_is_status_one_with_three_numbers_and_ways_out(shell: Shell) -> None:
    machine = str(HARDWARE / "radeon-780m-16gb.json")
    done = shell.run("fit", "qwen3.8-27b", "--hardware", machine)
    assert done.status == 1
    assert "does not fit" in done.out
    assert "needs 16.8 GiB, free 11.5 GiB" in done.out
    assert re.search(r"\d GiB \([0-9,]+ B\) too little", done.out)
    assert "qwen3.5-9b instead" in done.out
    assert done.err == ""


@pytest.mark.llama
def test_a_file_here_is_priced_by_llama_cpp_itself(shell: Shell, smol_gguf: Path) -> None:
    done = shell.run("fit", str(smol_gguf), "--n-ctx", "2048", "--kv-type", "q8_0", "--json", engine="llama")
    assert done.status == 0, done.err
    assert done.json["bill"]["basis"] == "dry_run"
    (ram,) = done.json["bill"]["devices"]
    assert (ram["weights_bytes"], ram["kv_bytes"]) == (96576768, 25067520)


@pytest.mark.llama
def test_what_earlier_loads_took_beyond_their_bill_is_in_the_price_and_said(shell: Shell, smol_gguf: Path) -> None:
    host = DeviceBill(CPU, weights_bytes=2**20)
    measure = LoadMeasure((host,), 2**20 + HOST_OVERHEAD_BYTES + 300 * 2**20, 0)
    with opened(shell.data_dir) as store:
        for _ in range(3):
            result_of(store.save_load_record(LoadRecord(1.0, "smol", "llama", CPU, 0, None, None, measure, None, 0)))
    done = shell.run("fit", str(smol_gguf), "--json", engine="llama")
    assert done.json["bill"]["correction_bytes"] == 300 * 2**20
    done = shell.run("fit", str(smol_gguf), engine="llama")
    assert "In the prediction: 300 MiB that earlier loads took beyond their bill" in done.out


def test_a_model_on_a_server_is_priced_from_its_header(shell: Shell) -> None:
    content = gguf_models.chat_model(shell.folder / "a.gguf").read_bytes()
    with serving(honest({"/a.gguf": content})) as server:
        address = f"{server.address}/a.gguf"
        done = shell.run("fit", address, "--hardware", str(HARDWARE / "no-gpu.json"), "--json")
    assert done.status == 0, done.err
    assert (done.json["model"], done.json["bill"]["basis"]) == (address, "arithmetic")
    here = shell.run("fit", str(shell.folder / "a.gguf"), "--hardware", str(HARDWARE / "no-gpu.json"), "--json")
    assert done.json["bill"] == here.json["bill"]


def test_eyes_are_an_item_of_the_bill_and_a_file_that_is_none_is_said(shell: Shell) -> None:
    model = gguf_models.chat_model(shell.folder / "a.gguf")
    tensors = [Tensor("v.blk.0.attn_q.weight", (1024, 1024), 1)]
    numbers = {"embedding_length": 1024, "feed_forward_length": 4096, "image_size": 448, "patch_size": 14}
    metadata: dict[str, object] = {f"clip.vision.{key}": value for key, value in numbers.items()}
    eyes = write_gguf(shell.folder / "mmproj.gguf", metadata | {"general.architecture": "clip"}, tensors)
    here = ("--hardware", str(HARDWARE / "rtx-4090.json"), "--json")
    plain, seeing = (shell.run("fit", str(model), *more, *here) for more in ((), ("--mmproj", str(eyes))))
    bills = [{one["device"]: one for one in done.json["bill"]["devices"]} for done in (plain, seeing)]
    assert bills[0]["CUDA0"]["mmproj_bytes"] == bills[1]["CPU"]["mmproj_bytes"] == 0
    assert bills[1]["CUDA0"]["mmproj_bytes"] == 2 * 1024 * 1024 + 4 * 4096 * (5 * 1024 + 2 * 4096)
    grown = bills[1]["CUDA0"]["total_bytes"] - bills[0]["CUDA0"]["total_bytes"]
    assert grown == bills[1]["CUDA0"]["mmproj_bytes"]
    done = shell.run("fit", str(model), "--mmproj", str(model))
    assert (done.status, done.out) == (1, "")
    assert "mmproj" in done.err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("fit", "nobody"), "nobody"),
        (("fit", ""), 'No model is called ""'),
        (("fit", "qwen3.8-27b", "--quantization", "Q9"), "Q9"),
        (("fit", "qwen3.8-27b", "--hardware", "nowhere.json"), "nowhere.json"),
        (("fit", "http://["), "http://["),
        (("fit", "qwen3.8-27b", "--n-parallel", "100000"), "n_parallel"),  # more than the engine would take
    ],
)
def test_a_mistake_is_one_line(shell: Shell, arguments: tuple[str, ...], word: str) -> None:
    done = shell.run(*arguments)
    assert (done.status, done.out) == (1, "")
    assert word in done.err
    assert done.err.count("\n") == 1


@pytest.mark.llama
def test_ask_refuses_an_expert_that_does_not_fit_in_one_line_with_numbers(shell: Shell) -> None:
    huge = gguf_models.huge_chat_model(shell.folder / "huge.gguf")
    assert shell.run("models", "import", str(huge)).status == 0
    done = shell.run("ask", "Hello", engine="llama")
    assert (done.status, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert "does not fit into memory: it needs" in done.err
    assert "have to stay free. Most of it is for weights" in done.err
