"""Prices from a child of its own: a hostile file ends nothing but its price; answers are kept by file."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis
from layadesk.protocol.dry_run import DryRunOptions, NotPriced, Priced
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.dry_runner import DryRunner
from layadesk.workers.spawn import spawn_child, start_dry_run
from tests.fakes import gguf_models

pytestmark = pytest.mark.llama
PARAMS = LoadParams(n_ctx=512)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return gguf_models.llama(tmp_path / "a.gguf")


class Counting:
    """Starts real children and counts them."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, options: DryRunOptions) -> ChildProcess:
        self.n += 1
        return start_dry_run(options)


def test_a_child_prices_all_parameters_and_says_what_there_is_to_compute_on(path: Path, tmp_path: Path) -> None:
    runner = DryRunner(tmp_path)
    small, large = runner.price(str(path), (PARAMS, LoadParams(n_ctx=4096)))
    assert isinstance(small, Priced)
    assert isinstance(large, Priced)
    assert small.bill.basis is Basis.DRY_RUN
    assert large.bill.on(CPU).kv_bytes == 8 * small.bill.on(CPU).kv_bytes
    assert [one.kind for one in runner.devices if one.device == CPU] == ["cpu"]


def test_what_is_known_is_not_asked_again_until_the_file_changes(path: Path, tmp_path: Path) -> None:
    start = Counting()
    runner = DryRunner(tmp_path, start=start)
    assert runner.kept(str(path), PARAMS) is None
    runner.price(str(path), (PARAMS,))
    runner.price(str(path), (PARAMS,))
    assert start.n == 1
    assert isinstance(runner.kept(str(path), PARAMS), Priced)
    os.utime(path, ns=(1, 1))
    assert runner.kept(str(path), PARAMS) is None
    runner.price(str(path), (PARAMS,))
    assert start.n == 2


def test_parameters_that_llama_cpp_refuses_say_so_and_the_others_are_priced(path: Path, tmp_path: Path) -> None:
    bad = LoadParams(n_ctx=512, type_v="q8_0", flash_attn="off")
    refused, priced = DryRunner(tmp_path).price(str(path), (bad, PARAMS))
    assert isinstance(refused, NotPriced)
    assert refused.error.code is ErrorCode.BAD_PARAMETER
    assert isinstance(priced, Priced)


@pytest.mark.parametrize(
    "content",
    [b"", b"GGUF", b"not a model" * 100, b"GGUF\3\0\0\0" + b"\xff" * 64],
    ids=["empty", "cut", "text", "huge"],
)
def test_a_hostile_file_has_no_price_but_a_reason(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    (answer,) = DryRunner(tmp_path).price(str(path), (PARAMS,))
    assert isinstance(answer, NotPriced)
    assert answer.error.code is ErrorCode.MODEL_LOAD_FAILED
    assert answer.error.facts["detail"]


def test_a_file_that_is_not_there_has_no_price(tmp_path: Path) -> None:
    (answer,) = DryRunner(tmp_path).price(str(tmp_path / "nowhere.gguf"), (PARAMS,))
    assert isinstance(answer, NotPriced)
    assert answer.error.code is ErrorCode.MODEL_FILE_MISSING


def die(connection: "Connection[Any, Any]", _options: DryRunOptions) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(connection: "Connection[Any, Any]", _options: DryRunOptions) -> None:
    threading.Event().wait(60.0)


def babble(connection: "Connection[Any, Any]", _options: DryRunOptions) -> None:
    connection.send_bytes(b"\xc1 this is no message")


@pytest.fixture
def started() -> Iterator[list[ChildProcess]]:
    children: list[ChildProcess] = []
    yield children
    assert all(_is_gone(child.pid) for child in children)


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("behave", [die, hang, babble], ids=["is killed", "hangs", "babbles"])
@pytest.mark.logs_warnings
def test_a_child_that_gives_no_answer_ends_nothing_but_its_price(
    behave: Callable[..., None],
    path: Path,
    tmp_path: Path,
    started: list[ChildProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("layadesk.workers.dry_runner.TIMEOUT_S", 1.5)

    def start(options: DryRunOptions) -> ChildProcess:
        started.append(spawn_child(behave, options, name="test-dry-run"))
        return started[-1]

    (answer,) = DryRunner(tmp_path, start=start).price(str(path), (PARAMS,))
    assert isinstance(answer, NotPriced)
    assert answer.error.code is ErrorCode.MODEL_LOAD_FAILED


def test_a_load_in_earnest_reports_the_same_and_measures_itself(path: Path, tmp_path: Path) -> None:
    runner = DryRunner(tmp_path)
    (said,) = runner.price(str(path), (PARAMS,))
    loaded = runner.load_in_earnest(str(path), PARAMS)
    assert isinstance(said, Priced)
    assert isinstance(loaded, Priced)
    assert loaded.bill.devices == said.bill.devices
    assert loaded.bill.basis is Basis.REPORTED
    assert loaded.private_bytes is not None
    assert loaded.private_bytes > said.bill.on(CPU).kv_bytes
