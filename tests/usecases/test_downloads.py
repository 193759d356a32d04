"""Downloads against a hub that cuts, lies, refuses and hangs: what arrives is whole, and nothing is lost."""

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from layadesk.domain.downloads import Download, DownloadState
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.model_library.hub import MODELSCOPE, HubRules
from layadesk.paths import DataPaths
from layadesk.usecases.download_models import Downloads
from tests.fakes.fake_hub import FakeHub
from tests.fakes.gguf_files import write_shards
from tests.fakes.library import FILE, REPO, SIZE, TOKEN, Shelf, big_gguf, ended, wait_for

pytestmark = pytest.mark.logs_warnings
Q = "Q4_K_M"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "HF_ENDPOINT")


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as found:
        yield found


@pytest.fixture
def mirror() -> Iterator[FakeHub]:
    with FakeHub() as found:
        yield found


@pytest.fixture
def shelf(tmp_path: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    found = Shelf(DataPaths(tmp_path / "data 数据"), hub, HubRules(home=hub.url, stall_s=0.5))
    yield found
    for downloads in found.opened:
        downloads.close()


def run(shelf: Shelf, downloads: Downloads | None = None) -> Download:
    downloads = downloads or shelf.open()
    return ended(downloads, downloads.start("tiny", Q))


def failure(row: Download) -> ErrorCode | None:
    return None if row.failure is None else row.failure.code


def test_a_model_is_downloaded_checked_and_listed(shelf: Shelf) -> None:
    served = shelf.serve()
    row = run(shelf)
    assert (row.state, row.n_bytes_done, row.n_bytes_total) == (DownloadState.INSTALLED, SIZE, SIZE)
    (model,) = shelf.inventory.list()
    assert Path(model.path).read_bytes() == served.data
    assert (model.model_id, model.name, model.card_id, model.card_quantization) == ("tiny", "Tiny", "tiny", Q)
    assert not (shelf.paths.models / ".downloads").exists()
    assert row.host == f"127.0.0.1:{shelf.home.port}"


def test_a_cut_connection_is_gone_on_with_from_the_byte(shelf: Shelf, hub: FakeHub) -> None:
    served = shelf.serve()
    hub.fault(REPO, FILE, cut_after=1_000_000, cut_times=2)
    assert run(shelf).state is DownloadState.INSTALLED
    assert [request.range for request in hub.gets()] == [None, "bytes=1000000-", "bytes=2000000-"]
    assert hub.gets()[1].if_range == f'"{served.sha256}"'
    assert hub.n_sent == SIZE


def test_a_server_that_stays_away_fails_after_some_tries_and_keeps_what_came(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    fault = hub.fault(REPO, FILE, cut_after=0, cut_times=-1)
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert (row.state, failure(row)) == (DownloadState.FAILED, ErrorCode.HUB_UNREACHABLE)
    fault.cut_times = 0
    downloads.resume(row.download_id)
    assert ended(downloads, row.download_id).state is DownloadState.INSTALLED


def test_a_hub_that_is_not_there_is_named(shelf: Shelf) -> None:
    shelf.serve()
    shelf.rules = HubRules(endpoint="http://127.0.0.1:9", home=shelf.home.url)
    row = run(shelf)
    assert failure(row) is ErrorCode.HUB_UNREACHABLE
    assert row.failure is not None
    assert row.failure.facts["host"] == "127.0.0.1:9"


def test_a_silent_server_is_left_after_the_stall_time_and_gone_on_with(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, hang_after=500_000)
    downloads = shelf.open()
    which = downloads.start("tiny", Q)
    troubled = wait_for(downloads, which, lambda row: row.failure is not None)
    assert (troubled.state, troubled.n_bytes_done) == (DownloadState.RUNNING, 507_904)
    hub.faults.clear()
    assert ended(downloads, which).state is DownloadState.INSTALLED


def test_pause_and_cancel_work_within_a_second_while_the_server_is_silent(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    shelf.rules = HubRules(home=hub.url, stall_s=60)
    hub.fault(REPO, FILE, hang_after=500_000)
    downloads = shelf.open()
    which = downloads.start("tiny", Q)
    wait_for(downloads, which, lambda row: row.n_bytes_done > 0)
    began = time.monotonic()
    downloads.pause(which)
    assert ended(downloads, which).state is DownloadState.PAUSED
    hub.faults.clear()
    downloads.resume(which)
    assert ended(downloads, which).state is DownloadState.INSTALLED  # so the silent thread has let go
    assert time.monotonic() - began < 5
    assert (hub.gets()[-1].range or "").startswith("bytes=")


def test_cancel_takes_the_row_and_the_bytes_away(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, hang_after=500_000)
    downloads = shelf.open()
    which = downloads.start("tiny", Q)
    wait_for(downloads, which, lambda row: row.n_bytes_done > 0)
    downloads.cancel(which)
    assert downloads.list() == ()
    downloads.close()
    assert shelf.staged == []
    assert shelf.open().list() == ()


def test_a_wrong_sum_installs_nothing_and_says_so(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    fault = hub.fault(REPO, FILE, corrupt=True)
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert (row.state, failure(row)) == (DownloadState.FAILED, ErrorCode.DOWNLOAD_DAMAGED)
    assert shelf.inventory.list() == ()
    assert shelf.staged == []
    assert not (shelf.paths.models / "tiny").exists()
    fault.corrupt = False
    downloads.resume(row.download_id)
    assert ended(downloads, row.download_id).state is DownloadState.INSTALLED


def test_a_server_that_does_not_resume_is_read_from_the_start(shelf: Shelf, hub: FakeHub) -> None:
    served = shelf.serve()
    fault = hub.fault(REPO, FILE, cut_after=1_000_000, cut_times=1, ignore_range=True)
    assert run(shelf).state is DownloadState.INSTALLED
    assert fault.cut_times == 0
    assert Path(shelf.inventory.list()[0].path).read_bytes() == served.data


def test_other_bytes_under_the_same_name_are_not_mixed_with_the_first_ones(shelf: Shelf, hub: FakeHub) -> None:
    """If-Range: the server has changed its mind about the ETag, so it sends all of it."""
    served = shelf.serve()
    fault = hub.fault(REPO, FILE, hang_after=1_000_000, etag="first")
    downloads = shelf.open()
    which = downloads.start("tiny", Q)
    wait_for(downloads, which, lambda row: row.n_bytes_done > 900_000)
    downloads.pause(which)
    fault.hang_after, fault.etag = None, "second"
    downloads.resume(which)
    assert ended(downloads, which).state is DownloadState.INSTALLED
    assert hub.gets()[-1].if_range == '"first"'
    assert Path(shelf.inventory.list()[0].path).read_bytes() == served.data


@pytest.mark.parametrize("lie", [{"says_length": SIZE - 100}, {"says_size": SIZE + 7}, {"says_length": SIZE + 7}])
def test_a_server_that_lies_about_the_length_is_not_believed(shelf: Shelf, hub: FakeHub, lie: dict[str, int]) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, **lie)
    row = run(shelf)
    assert failure(row) is ErrorCode.HUB_CHANGED
    assert shelf.inventory.list() == ()


def test_another_file_than_the_catalogue_names_is_refused_before_its_bytes(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.add(REPO, FILE, big_gguf(seed=3))
    assert failure(run(shelf)) is ErrorCode.HUB_CHANGED
    assert hub.gets() == []


def test_too_many_requests_are_waited_out(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, status=429, status_times=3)
    assert run(shelf).state is DownloadState.INSTALLED


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (401, "RepoNotFound", ErrorCode.HUB_UNAUTHORIZED),
        (403, "GatedRepo", ErrorCode.HUB_GATED),
        (403, "", ErrorCode.HUB_GATED),
        (404, "EntryNotFound", ErrorCode.HUB_NOT_FOUND),
        (404, "RevisionNotFound", ErrorCode.HUB_NOT_FOUND),
        (429, "", ErrorCode.HUB_BUSY),
        (503, "", ErrorCode.HUB_UNREACHABLE),
    ],
)
def test_each_refusal_has_its_own_words(
    shelf: Shelf, hub: FakeHub, status: int, code: str, expected: ErrorCode
) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, status=status, error_code=code)
    row = run(shelf)
    assert (row.state, failure(row)) == (DownloadState.FAILED, expected)
    asked = len(hub.log)
    assert asked == (1 if expected not in (ErrorCode.HUB_BUSY, ErrorCode.HUB_UNREACHABLE) else 4)


def test_a_gated_model_names_the_page_and_comes_with_the_token(
    shelf: Shelf, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.serve()
    hub.gated.add(REPO)
    monkeypatch.delenv("HF_TOKEN")
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert failure(row) is ErrorCode.HUB_GATED
    assert row.failure is not None
    assert row.failure.facts["page"] == f"{hub.url}/{REPO}"
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    downloads.resume(row.download_id)
    assert ended(downloads, row.download_id).state is DownloadState.INSTALLED


def test_a_mirror_gives_the_bytes_and_never_sees_the_token(shelf: Shelf, hub: FakeHub, mirror: FakeHub) -> None:
    shelf.serve()
    mirror.repos = hub.repos
    shelf.rules = HubRules(endpoint=mirror.url, home=hub.url)
    row = run(shelf)
    assert (row.state, row.host) == (DownloadState.INSTALLED, f"127.0.0.1:{mirror.port}")
    assert [request.token for request in mirror.log] == [None, None]
    assert hub.log == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_mirror_that_wants_a_token_is_told_from_a_hub_that_does(
    shelf: Shelf, hub: FakeHub, mirror: FakeHub, status: int
) -> None:
    """Accepting the conditions and going on would help nobody: the token never goes to a mirror."""
    shelf.serve()
    mirror.repos = hub.repos
    mirror.fault(REPO, FILE, status=status, error_code="GatedRepo")
    shelf.rules = HubRules(endpoint=mirror.url, home=hub.url)
    row = run(shelf)
    assert failure(row) is ErrorCode.HUB_MIRROR_REFUSES
    assert row.failure is not None
    where = {"host": f"127.0.0.1:{mirror.port}", "home": f"127.0.0.1:{hub.port}", "page": f"{hub.url}/{REPO}"}
    assert dict(row.failure.facts) == {"repo": REPO, **where}


def test_modelscope_that_wants_a_token_names_the_hub_that_may_see_it(
    shelf: Shelf, hub: FakeHub, mirror: FakeHub
) -> None:
    shelf.serve(modelscope="other/name@master")
    mirror.add("other/name", FILE, b"")
    mirror.fault("other/name", FILE, status=403)
    shelf.rules = HubRules(endpoint=MODELSCOPE, home=hub.url, modelscope_site=mirror.url)
    row = run(shelf)
    assert failure(row) is ErrorCode.HUB_MIRROR_REFUSES
    assert row.failure is not None
    assert row.failure.facts["page"] == f"{hub.url}/{REPO}"


def test_a_mirror_with_other_bytes_installs_nothing(shelf: Shelf, hub: FakeHub, mirror: FakeHub) -> None:
    shelf.serve()
    mirror.add(REPO, FILE, big_gguf(seed=7), is_lfs=False)
    shelf.rules = HubRules(endpoint=mirror.url, home=hub.url)
    assert failure(run(shelf)) is ErrorCode.DOWNLOAD_DAMAGED
    assert shelf.inventory.list() == ()


def test_the_mirror_of_the_environment_is_used(
    shelf: Shelf, hub: FakeHub, mirror: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.serve()
    mirror.repos = hub.repos
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    assert run(shelf).host == f"127.0.0.1:{mirror.port}"


def test_a_redirect_does_not_take_the_token_along(shelf: Shelf, hub: FakeHub, mirror: FakeHub) -> None:
    shelf.serve()
    mirror.repos = hub.repos
    hub.fault(REPO, FILE, redirect=mirror.url)
    assert run(shelf).state is DownloadState.INSTALLED
    assert {request.token for request in hub.log} == {f"Bearer {TOKEN}"}
    assert [(request.method, request.token) for request in mirror.log] == [("GET", None)]


def test_a_sum_that_only_a_mirror_knows_is_not_taken(shelf: Shelf, hub: FakeHub, mirror: FakeHub) -> None:
    served = shelf.serve()
    shelf.entries.clear()
    shelf.offer("tiny", files=[{"quantization": Q, "path": FILE}])
    mirror.repos = hub.repos
    shelf.rules = HubRules(endpoint=mirror.url, home="http://127.0.0.1:9")
    assert failure(run(shelf)) is ErrorCode.HUB_NO_CHECKSUM
    shelf.rules = HubRules(endpoint=mirror.url, home=hub.url)
    assert run(shelf).state is DownloadState.INSTALLED  # its home has told the sum
    assert shelf.inventory.sums_of("tiny") == {FILE: served.sha256}  # kept, so that it can be verified later
    assert Path(shelf.inventory.list()[0].path).read_bytes() == served.data


def test_modelscope_is_used_where_it_has_the_model(shelf: Shelf, hub: FakeHub, mirror: FakeHub) -> None:
    shelf.serve(modelscope=f"{REPO}@master")
    mirror.repos = hub.repos
    shelf.rules = HubRules(endpoint=MODELSCOPE, home=hub.url, modelscope_site=mirror.url)
    row = run(shelf)
    assert (row.state, row.host) == (DownloadState.INSTALLED, f"127.0.0.1:{mirror.port}")
    assert [(one.path, one.token) for one in mirror.log] == [(f"/models/{REPO}/resolve/master/{FILE}", None)]


def test_what_is_installed_is_not_fetched_again(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    run(shelf)
    n_asked = len(hub.log)
    assert run(shelf).state is DownloadState.INSTALLED
    assert len(hub.log) == n_asked


def test_what_is_installed_but_damaged_is_fetched_again(shelf: Shelf) -> None:
    served = shelf.serve()
    run(shelf)
    (model,) = shelf.inventory.list()
    with Path(model.path).open("rb+") as file:
        file.seek(SIZE // 2)
        file.write(b"!")
    assert run(shelf).state is DownloadState.INSTALLED
    assert Path(model.path).read_bytes() == served.data
    assert [one.model_id for one in shelf.inventory.list()] == [model.model_id]


def test_what_this_version_cannot_load_is_not_put_among_the_models(shelf: Shelf) -> None:
    shelf.serve(b"no GGUF" * 1000)
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert (row.state, failure(row)) == (DownloadState.FAILED, ErrorCode.GGUF_NOT_GGUF)
    assert not (shelf.paths.models / "tiny").exists()
    downloads.cancel(row.download_id)
    downloads.close()
    assert not (shelf.paths.models / ".downloads").exists()


def test_a_split_model_is_one_row_and_complete_only_with_all_its_shards(
    shelf: Shelf, hub: FakeHub, tmp_path: Path
) -> None:
    written = write_shards(tmp_path / "made", "tiny", 2)
    shards = [(f"deep/{path.name}", path.read_bytes()) for path in written]
    served = [(path, hub.add(REPO, path, data)) for path, data in shards]
    shelf.offer("tiny", *served)
    hub.fault(REPO, shards[1][0], status=404, error_code="EntryNotFound")
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert failure(row) is ErrorCode.HUB_NOT_FOUND
    assert shelf.inventory.list() == ()
    hub.faults.clear()
    downloads.resume(row.download_id)
    row = ended(downloads, row.download_id)
    assert (row.state, len(downloads.list())) == (DownloadState.INSTALLED, 1)
    assert row.n_bytes_total == sum(len(data) for _, data in shards)
    (model,) = shelf.inventory.list()
    assert Path(model.path).name == "tiny-00001-of-00002.gguf"


def test_a_checkpoint_of_a_router_comes_into_a_folder_of_its_own(shelf: Shelf, hub: FakeHub) -> None:
    files = {"model.safetensors": b"m" * 50_000, "rl_agent_config.json": b"{}", "encoder/config.json": b"{ }"}
    served = [(path, hub.add(REPO, path, data, is_lfs=len(data) > 1000)) for path, data in files.items()]
    shelf.offer("laya-x", kind="router")
    parts = [{"path": path, "size_bytes": len(one.data), "sha256": one.sha256} for path, one in served]
    shelf.entries.clear()
    shelf.offer("laya-x", kind="router", files=[{"quantization": "checkpoint", "parts": parts}])
    downloads = shelf.open()
    card = shelf.catalogues.current().cards[0]
    assert shelf.disk.checkpoint_dir(card) is None
    assert ended(downloads, downloads.start("laya-x", "checkpoint")).state is DownloadState.INSTALLED
    folder = shelf.disk.checkpoint_dir(card)
    assert folder == shelf.paths.models / "laya-x"
    assert {path: (folder / path).read_bytes() for path in files} == files


def test_too_little_room_is_told_before_the_first_byte(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    shelf.reserve_bytes = 2**60
    downloads = shelf.open()
    row = run(shelf, downloads)
    assert (row.state, failure(row)) == (DownloadState.PAUSED, ErrorCode.NO_ROOM_FOR_DOWNLOAD)
    assert hub.gets() == []
    shelf.reserve_bytes = 0
    downloads.resume(row.download_id)
    assert ended(downloads, row.download_id).state is DownloadState.INSTALLED


def test_what_was_under_way_waits_to_be_resumed_after_a_restart(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, hang_after=1_000_000)
    first = shelf.open()
    which = first.start("tiny", Q)
    wait_for(first, which, lambda row: row.n_bytes_done >= 1_000_000)
    first.close()
    hub.faults.clear()
    second = shelf.open()
    (row,) = second.list()
    assert (row.state, row.was_interrupted, row.n_bytes_total) == (DownloadState.PAUSED, True, SIZE)
    assert row.n_bytes_done >= 1_000_000
    second.resume_interrupted()
    assert ended(second, which).state is DownloadState.INSTALLED
    assert hub.gets()[-1].range == f"bytes={row.n_bytes_done}-"


def test_a_paused_download_stays_paused_after_a_restart(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, hang_after=1_000_000)
    first = shelf.open()
    which = first.start("tiny", Q)
    wait_for(first, which, lambda row: row.n_bytes_done > 0)
    first.pause(which)
    first.close()
    (row,) = shelf.open().list()
    assert (row.state, row.was_interrupted) == (DownloadState.PAUSED, False)


@pytest.mark.parametrize(
    ("status", "reserve_bytes", "expected"),
    [
        (403, 0, (DownloadState.FAILED, ErrorCode.HUB_GATED)),
        (0, 2**60, (DownloadState.PAUSED, ErrorCode.NO_ROOM_FOR_DOWNLOAD)),
    ],
)
def test_what_stopped_a_download_is_still_told_after_a_restart(
    shelf: Shelf, hub: FakeHub, status: int, reserve_bytes: int, expected: tuple[DownloadState, ErrorCode]
) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, status=status)
    shelf.reserve_bytes = reserve_bytes
    first = shelf.open()
    before = run(shelf, first)
    first.close()
    second = shelf.open()
    (row,) = second.list()
    assert (row.state, failure(row), row.was_interrupted) == (*expected, False)
    assert row.failure == before.failure
    hub.faults.clear()
    shelf.reserve_bytes = 0
    second.resume(row.download_id)
    assert ended(second, row.download_id).failure is None


def test_a_reason_of_a_newer_version_does_not_lose_the_list(shelf: Shelf) -> None:
    shelf.serve()
    entry = {"model_id": "tiny", "quantization": Q, "is_paused": True, "failure": {"code": "hub_on_fire", "facts": {}}}
    shelf.paths.downloads.write_text(json.dumps({"downloads": [entry]}), encoding="utf-8")
    (row,) = shelf.open().list()
    assert (row.state, row.failure) == (DownloadState.PAUSED, None)


def test_a_licence_with_conditions_wants_a_yes_first(shelf: Shelf) -> None:
    shelf.serve(needs_consent=True, license_url="https://example.org/licence")
    downloads = shelf.open()
    with pytest.raises(LayaDeskError) as caught:
        downloads.start("tiny", Q)
    assert caught.value.code is ErrorCode.LICENCE_NOT_ACCEPTED
    assert caught.value.facts["page"] == "https://example.org/licence"
    assert downloads.list() == ()
    assert ended(downloads, downloads.start("tiny", Q, licence_accepted=True)).state is DownloadState.INSTALLED


@pytest.mark.parametrize(
    ("model_id", "quantization", "code"),
    [("none", Q, ErrorCode.UNKNOWN_MODEL), ("tiny", "Q9", ErrorCode.BAD_PARAMETER)],
)
def test_what_is_not_in_the_catalogue_cannot_be_started(
    shelf: Shelf, model_id: str, quantization: str, code: ErrorCode
) -> None:
    shelf.serve()
    with pytest.raises(LayaDeskError) as caught:
        shelf.open().start(model_id, quantization)
    assert caught.value.code is code


def test_more_than_allowed_wait_for_their_turn(shelf: Shelf, hub: FakeHub) -> None:
    shelf.n_parallel = 1
    for name in ("a", "b"):
        served = hub.add(REPO, f"{name}.gguf", big_gguf(100_000, seed=len(name)))
        shelf.offer(name, (f"{name}.gguf", served))
    hub.fault(REPO, "a.gguf", hang_after=50_000)
    downloads = shelf.open()
    first, second = downloads.start("a", Q), downloads.start("b", Q)
    wait_for(downloads, first, lambda row: row.state is DownloadState.RUNNING)
    assert downloads.find(second) is not None
    assert [row.state for row in downloads.list()][1] is DownloadState.QUEUED
    downloads.pause(first)
    assert ended(downloads, second).state is DownloadState.INSTALLED


def test_two_quantizations_of_one_model_are_two_experts_of_one_card(shelf: Shelf, hub: FakeHub) -> None:
    parts = {q: hub.add(REPO, f"tiny-{q}.gguf", big_gguf(50_000, seed=n)) for n, q in enumerate((Q, "Q8_0"), 2)}
    files = [
        {"quantization": q, "path": f"tiny-{q}.gguf", "size_bytes": len(one.data), "sha256": one.sha256}
        for q, one in parts.items()
    ]
    shelf.offer("tiny", files=files)
    downloads = shelf.open()
    for q in parts:
        assert ended(downloads, downloads.start("tiny", q)).state is DownloadState.INSTALLED
    found = [(model.model_id, model.name, model.card_id, model.card_quantization) for model in shelf.inventory.list()]
    assert found == [("tiny", "Tiny", "tiny", Q), ("tiny-q8-0", "Tiny Q8_0", "tiny", "Q8_0")]


def test_news_come_at_most_four_times_a_second_and_the_last_is_told(shelf: Shelf, hub: FakeHub) -> None:
    shelf.serve()
    hub.fault(REPO, FILE, bytes_per_s=4_000_000)
    downloads = shelf.open()
    told: list[tuple[float, tuple[Download, ...]]] = []
    downloads.changed.subscribe(lambda rows: told.append((time.monotonic(), rows)))
    run(shelf, downloads)
    downloads.close()
    times = [at for at, _ in told]
    assert told[-1][1][0].state is DownloadState.INSTALLED
    assert len(told) > 2
    assert all(later - earlier > 0.2 for earlier, later in pairwise(times[:-1]))  # closing tells the last at once
