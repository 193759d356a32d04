"""The models on this disk: brought in, checked, taken off without losing what is the user's, and moved."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import CardKind
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.disk import process_lock
from layadesk.model_library.download_list import DownloadEntry, DownloadList
from layadesk.paths import DataPaths
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.browse_library import Library, Pricing
from layadesk.usecases.download_models import Downloads
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.manage_experts import Experts
from layadesk.usecases.model_rooms import ModelRooms
from layadesk.usecases.price_files import PriceFiles
from layadesk.usecases.price_load import PriceLoad
from tests.fakes.gguf_files import write_gguf, write_shards

pytestmark = pytest.mark.logs_warnings
GIB = 2**30


class QuietPool:
    """The pool, as far as the library tells it of changes."""

    def __init__(self) -> None:
        self.n_told = 0

    def configure_engine(self) -> None:
        self.n_told += 1


class Desk:
    """A library over a data directory, on a machine of 32 GiB without a GPU."""

    def __init__(self, root: Path) -> None:
        self.paths = DataPaths(root)
        self.settings = Settings(self.paths)
        self.rooms = ModelRooms(self.paths, self.settings)
        self.pool = QuietPool()
        self.experts = Experts(self.rooms.inventory, cast("ExpertPool", self.pool))
        self.downloads = Downloads(self.rooms.downloads())
        pricing = Pricing(PriceFiles(PriceLoad(None)), lambda: MachineMemory(32 * GIB, 24 * GIB))
        self.library = Library(self.rooms, self.experts, self.downloads, pricing, self.settings)
        self.n_changed = 0
        self.library.changed.subscribe(self._count)

    def _count(self, _: None) -> None:
        self.n_changed += 1

    def close(self) -> None:
        self.experts.close()
        self.downloads.close()
        self.library.close()
        self.settings.flush()

    @contextmanager
    def again(self) -> "Iterator[Desk]":
        """Another run of the program over the same data."""
        found = Desk(self.paths.root)
        yield found
        found.close()

    def install(self) -> Path:
        """A file of the program's own, as a download leaves it."""
        card = self.rooms.catalogues.current().cards[0]
        path = write_gguf(self.paths.models / card.model_id / "some.gguf")
        self.rooms.inventory.add_download(path, card, "Q4_K_M")
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path / "data")
    yield found
    found.close()


def test_a_folder_is_imported_at_any_depth_and_in_place(desk: Desk, tmp_path: Path) -> None:
    music = tmp_path / "音乐"
    deep = write_gguf(music / "a" / "b" / "c" / "deep.GGUF")
    write_shards(music / "split", "big", 3)
    (music / "a" / "song.mp3").write_bytes(b"x")
    (music / "broken.gguf").write_bytes(b"nothing")
    found = desk.library.import_files([str(music)]).result()
    assert sorted(Path(model.path).name for model in found.installed) == ["big-00001-of-00003.gguf", "deep.GGUF"]
    assert [report.facts["path"] for report in found.refused] == [str(music / "broken.gguf")]
    assert deep.is_file()
    assert list(desk.paths.models.rglob("*.gguf")) == []
    assert desk.n_changed == desk.pool.n_told == 1


def test_a_folder_without_models_is_told(desk: Desk, tmp_path: Path) -> None:
    found = desk.library.import_files([str(tmp_path)]).result()
    assert found.installed == ()
    assert [(one.code, one.facts["path"]) for one in found.refused] == [(ErrorCode.NO_MODEL_FOUND, str(tmp_path))]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_deleting_a_link_frees_nothing_and_is_not_said_to(desk: Desk, tmp_path: Path) -> None:
    real = write_gguf(tmp_path / "elsewhere" / "real.gguf")
    link = tmp_path / "link.gguf"
    link.symlink_to(real)
    (model,) = desk.library.import_files([str(link)]).result().installed
    assert desk.library.removal(model.model_id).n_bytes == 0
    assert desk.library.remove(model.model_id, delete_users_file=True).result() == 0
    assert (link.is_symlink(), real.is_file()) == (False, True)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_file_goes_before_the_links_that_lead_to_it(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    real = write_gguf(folder / "b" / "c" / "real.gguf")
    (folder / "a.gguf").symlink_to(real)
    (folder / "a").symlink_to(folder / "b", target_is_directory=True)
    found = desk.library.import_files([str(folder)]).result()
    assert [model.path for model in found.installed] == [str(real)]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_that_lead_in_a_circle_are_walked_once(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    write_gguf(folder / "x" / "one.gguf")
    (folder / "x" / "again").symlink_to(folder, target_is_directory=True)
    (folder / "same.gguf").symlink_to(folder / "x" / "one.gguf")
    found = desk.library.import_files([str(folder), str(folder / "x")]).result()
    assert len(found.installed) == 1
    assert found.refused == ()


def test_removing_a_download_says_before_what_comes_free_and_frees_it(desk: Desk) -> None:
    path = desk.install()
    (model,) = desk.rooms.inventory.list()
    planned = desk.library.removal(model.model_id)
    assert (planned.n_bytes, planned.is_users_file, planned.paths) == (path.stat().st_size, False, (str(path),))
    assert desk.library.remove(model.model_id).result() == planned.n_bytes
    assert not path.parent.exists()
    assert desk.rooms.inventory.list() == ()


def test_a_file_the_user_brought_is_only_forgotten_unless_its_deletion_is_asked_for(desk: Desk, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "mine.gguf")
    for asked in (False, True):
        (model,) = desk.library.import_files([str(path)]).result().installed
        planned = desk.library.removal(model.model_id)
        assert planned.is_users_file
        freed = desk.library.remove(model.model_id, delete_users_file=asked).result()
        assert (freed, path.exists()) == (planned.n_bytes if asked else 0, not asked)


def test_all_shards_go_with_a_split_model_and_none_is_a_leftover(desk: Desk) -> None:
    shards = write_shards(desk.paths.models / desk.rooms.catalogues.current().cards[0].model_id, "big", 3)
    card = desk.rooms.catalogues.current().cards[0]
    desk.rooms.inventory.add_download(shards[0], card, "Q8_0")
    assert desk.library.leftovers() == ()
    total = sum(path.stat().st_size for path in shards)
    assert desk.library.remove(card.model_id).result() == total
    assert not any(path.exists() for path in shards)


def test_what_no_list_knows_is_shown_with_its_size_and_can_be_deleted(desk: Desk) -> None:
    desk.install()
    orphan = write_gguf(desk.paths.models / "old" / "orphan.gguf")
    part = desk.paths.models / ".downloads" / "qwen3-0.6b--Q8_0" / "x.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"12345")
    found = {Path(one.path).name: one for one in desk.library.leftovers()}
    assert set(found) == {"orphan.gguf", "qwen3-0.6b--Q8_0"}
    assert found["qwen3-0.6b--Q8_0"].download_id == "qwen3-0.6b:Q8_0"
    assert (found["qwen3-0.6b--Q8_0"].n_bytes, found["qwen3-0.6b--Q8_0"].is_partial) == (5, True)
    for one in found.values():
        assert desk.library.delete_leftover(one.path).result() == one.n_bytes
    assert not orphan.exists()
    assert not part.exists()


def test_only_a_leftover_can_be_deleted_as_one(desk: Desk, tmp_path: Path) -> None:
    mine = write_gguf(tmp_path / "mine.gguf")
    with pytest.raises(LayaDeskError) as caught:
        desk.library.delete_leftover(str(mine)).result()
    assert caught.value.code is ErrorCode.NO_LEFTOVER
    assert mine.exists()


def test_a_leftover_of_a_download_goes_with_its_row(desk: Desk) -> None:
    DownloadList(desk.paths.downloads).put(DownloadEntry("qwen3-0.6b", "Q8_0", is_paused=True))
    part = desk.paths.models / ".downloads" / "qwen3-0.6b--Q8_0" / "x.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"12345")
    with desk.again() as second:
        assert [row.download_id for row in second.downloads.list()] == ["qwen3-0.6b:Q8_0"]
        assert second.library.delete_leftover(str(part.parent)).result() == 5
        assert second.downloads.list() == ()
        assert not part.parent.exists()
    assert DownloadList(desk.paths.downloads).read() == ()


def test_what_another_process_is_downloading_is_not_deleted(desk: Desk) -> None:
    DownloadList(desk.paths.downloads).put(DownloadEntry("qwen3-0.6b", "Q8_0"))
    part = desk.paths.models / ".downloads" / "qwen3-0.6b--Q8_0" / "x.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"12345")
    with desk.again() as second, process_lock(part.with_name(".lock")):
        with pytest.raises(LayaDeskError) as caught:
            second.library.delete_leftover(str(part.parent)).result()
        assert caught.value.code is ErrorCode.DOWNLOAD_ELSEWHERE
        second.downloads.cancel("qwen3-0.6b:Q8_0").result()
        assert part.exists()  # nor by taking the row off


def test_verifying_finds_one_changed_byte(desk: Desk) -> None:
    catalogue = Catalogues().current()
    card = catalogue.cards[0]
    path = write_gguf(desk.paths.models / card.model_id / "x.gguf")
    desk.rooms.inventory.add_download(path, card, card.files[0].quantization)
    told: list[tuple[int, int | None]] = []
    unknown = desk.library.verify(card.model_id, lambda done, total: told.append((done, total))).result()
    assert unknown.files == ((str(path), None),)  # by another name than the catalogue's: nobody can tell
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    named = path.with_name(Path(card.files[0].path).name)
    desk.library.remove(card.model_id).result()
    write_gguf(named)
    desk.rooms.inventory.add_download(named, card, card.files[0].quantization)
    assert desk.library.verify(card.model_id).result().is_damaged


def test_long_work_ends_when_the_program_does(desk: Desk) -> None:
    desk.install()
    (model,) = desk.rooms.inventory.list()
    began, goes_on = threading.Event(), threading.Event()

    def slow(done: int, total: int | None) -> None:
        began.set()
        goes_on.wait(10)

    work = desk.library.verify(model.model_id, slow)
    began.wait(10)
    closing = threading.Thread(target=desk.library.close)
    closing.start()
    goes_on.set()
    closing.join(10)
    assert not closing.is_alive()
    assert isinstance(work.exception(), CancelledError | None)


@pytest.mark.parametrize("can_link", [True, False])
def test_the_models_move_to_another_disk_and_stay_the_same_models(
    desk: Desk, tmp_path: Path, can_link: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    if not can_link:
        monkeypatch.setattr(os, "link", refuse)
    old = desk.install()
    mine = write_gguf(tmp_path / "elsewhere" / "mine.gguf")
    desk.library.import_files([str(mine)]).result()
    told: list[int] = []
    new = tmp_path / "big disk"
    n_bytes = desk.library.move_models_dir(str(new), lambda done, _: told.append(done)).result()
    assert n_bytes == told[-1] == (new / old.parent.name / "some.gguf").stat().st_size
    assert not old.exists()
    assert desk.settings.get(definitions.MODELS_DIR) == str(new)
    found = {model.path: model.is_present for model in desk.rooms.inventory.list()}
    assert found == {str(new / old.parent.name / "some.gguf"): True, str(mine): True}
    desk.settings.flush()
    later = Desk(desk.paths.root)
    assert {model.path for model in later.rooms.inventory.list()} == set(found)
    later.close()


@pytest.mark.parametrize("where", ["models/inside", "models", "."])
def test_the_models_cannot_move_into_themselves(desk: Desk, where: str) -> None:
    path = desk.install()
    with pytest.raises(LayaDeskError) as caught:
        desk.library.move_models_dir(str(desk.paths.root / where)).result()
    assert caught.value.code is ErrorCode.BAD_PARAMETER
    assert path.is_file()


def test_a_move_that_finds_a_file_in_its_way_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    path = desk.install()
    new = tmp_path / "new"
    in_the_way = write_gguf(new / path.parent.name / "some.gguf")
    with pytest.raises(LayaDeskError):
        desk.library.move_models_dir(str(new)).result()
    assert path.is_file()
    assert in_the_way.is_file()
    assert desk.settings.get(definitions.MODELS_DIR) == ""


def test_the_library_shows_the_catalogue_and_then_the_users_own(desk: Desk, tmp_path: Path) -> None:
    desk.library.import_files([str(write_gguf(tmp_path / "mine.gguf"))]).result()
    desk.install()
    entries = desk.library.entries()
    assert [entry.model_id for entry in entries][-1] == "mine"
    assert entries[-1].card is None
    assert [entry.model_id for entry in entries if entry.is_installed] == ["smollm2-135m-instruct", "mine"]
    assert len([entry for entry in entries if entry.kind is CardKind.ROUTER]) == 3


def test_what_fits_is_told_for_every_file_and_the_best_is_chosen(desk: Desk) -> None:
    one_by_one: list[str] = []
    fittings = desk.library.fit_all(8192, lambda one: one_by_one.append(one.quantization)).result()
    assert len(one_by_one) == len(fittings) > 100
    by_name = {(one.model_id, one.quantization): one.verdict for one in fittings}
    assert by_name[("qwen3-0.6b", "Q8_0")] is Verdict.FITS
    assert by_name[("gemma-4-31b-it", "Q8_0")] is Verdict.REFUSE
    assert by_name[("hy-mt2-1.8b", "Q4_K_M")] is Verdict.UNKNOWN
    best = desk.library.recommended("qwen3.5-9b", 8192).result()
    assert best is not None
    assert best.quantization == "UD-Q4_K_XL"  # on a processor more bits would be slower than reading
    assert desk.library.recommended("hy-mt2-1.8b", 8192).result() is None
