"""The list of installed models: in place, unique, tolerant of damage, and safe with two writers (D01, D02, D30)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError, UserError
from layadesk.domain.models import Origin
from layadesk.model_library.disk import process_lock
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from tests.fakes.gguf_files import chat_metadata, write_gguf, write_shards

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    return DataPaths(tmp_path / "data 数据")


@pytest.fixture
def inventory(paths: DataPaths) -> Inventory:
    return Inventory(paths, now=lambda: 1000.0)


def ids(inventory: Inventory) -> list[str]:
    """The model ids as listed."""
    return [model.model_id for model in inventory.list()]


def test_asking_an_empty_library_creates_nothing(inventory: Inventory, paths: DataPaths) -> None:
    assert inventory.list() == ()
    assert not paths.root.exists()


def test_an_imported_file_stays_where_it_is_and_is_described_by_its_header(
    inventory: Inventory, paths: DataPaths, tmp_path: Path
) -> None:
    source = write_gguf(tmp_path / "downloads" / "Tiny-Chat.Q4_0.gguf")
    model = inventory.import_file(source)
    assert Inventory(paths).list() == (model,)
    assert (model.model_id, model.path, model.name) == ("tiny-chat.q4-0", str(source), "Tiny Chat")
    assert (model.architecture, model.quantization, model.n_ctx_train, model.n_layer) == ("llama", "Q4_0", 512, 1)
    assert (model.has_chat_template, model.origin, model.installed_at) == (True, Origin.IMPORTED, 1000.0)
    assert model.size_bytes == source.stat().st_size
    assert list(paths.models.glob("**/*.gguf")) == []  # reported fault D30: nothing is copied


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("Qwen3-4B Instruct.Q4_K_M.gguf", "qwen3-4b-instruct.q4-k-m"),
        ("張 庭 綱.gguf", "張-庭-綱"),
        ("Željko (v2).GGUF", "željko-v2"),
        ("🦙🎉.gguf", "model"),
        ("..gguf", "model"),
        ("a" * 200 + ".gguf", "a" * 64),
    ],
)
def test_ids_come_from_file_names_in_any_script(inventory: Inventory, tmp_path: Path, name: str, model_id: str) -> None:
    model = inventory.import_file(write_gguf(tmp_path / "with spaces 🦙" / name))
    assert model.model_id == model_id
    assert inventory.find(model_id) == model
    assert model.is_present


def test_two_files_of_one_name_get_two_ids(inventory: Inventory, tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        inventory.import_file(write_gguf(tmp_path / folder / "chat.gguf"))
    assert ids(inventory) == ["chat", "chat-2", "chat-3"]


def test_importing_a_file_twice_gives_the_model_it_is(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "chat.gguf")
    first = inventory.import_file(source, name="Mine", note="good at nothing")
    assert inventory.import_file(source) == first
    assert ids(inventory) == ["chat"]


def test_a_link_to_a_listed_file_is_that_file(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "blob" / "chat.gguf")
    first = inventory.import_file(source)
    link = tmp_path / "other-name.gguf"
    link.symlink_to(source)
    assert inventory.import_file(link) == first


def test_a_link_keeps_its_own_readable_name(inventory: Inventory, tmp_path: Path) -> None:
    write_gguf(tmp_path / "blobs" / "0123456789abcdef")
    link = tmp_path / "Nice-Name.gguf"
    link.symlink_to(tmp_path / "blobs" / "0123456789abcdef")
    model = inventory.import_file(link)
    assert (model.model_id, model.path) == ("nice-name", str(link))


def test_a_file_that_was_exchanged_is_described_anew_under_its_old_id(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "chat.gguf")
    before = inventory.import_file(source, name="Mine")
    write_gguf(source, chat_metadata("qwen3", general__notes="x" * 500))
    after = inventory.import_file(source)
    assert (after.model_id, after.name, after.architecture) == (before.model_id, "Mine", "qwen3")
    assert after.size_bytes > before.size_bytes


def test_an_id_that_another_file_has_is_refused(inventory: Inventory, tmp_path: Path) -> None:
    inventory.import_file(write_gguf(tmp_path / "a.gguf"), model_id="mine")
    with pytest.raises(UserError) as caught:
        inventory.import_file(write_gguf(tmp_path / "b.gguf"), model_id="mine")
    assert caught.value.code is ErrorCode.MODEL_ALREADY_INSTALLED
    with pytest.raises(UserError) as caught:
        inventory.import_file(tmp_path / "a.gguf", model_id="other")
    assert (caught.value.code, caught.value.facts["model_id"]) == (ErrorCode.MODEL_ALREADY_INSTALLED, "mine")
    assert ids(inventory) == ["mine"]


def test_a_file_that_vanished_is_listed_as_absent(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "chat.gguf")
    inventory.import_file(source)
    source.unlink()
    assert [model.is_present for model in inventory.list()] == [False]


def test_a_file_that_was_moved_keeps_its_id_and_name(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "chat.gguf")
    inventory.import_file(source, name="Mine")
    (tmp_path / "new place").mkdir()
    moved = source.rename(tmp_path / "new place" / "chat.gguf")
    model = inventory.import_file(moved)
    assert (model.model_id, model.name, model.path) == ("chat", "Mine", str(moved))
    assert len(inventory.list()) == 1


def test_shards_are_one_model_that_is_absent_when_one_is_lost(inventory: Inventory, tmp_path: Path) -> None:
    shards = write_shards(tmp_path, "Big-Q4")
    model = inventory.import_file(shards[2])
    assert (model.model_id, model.path) == ("big-q4", str(shards[0]))
    assert model.size_bytes == sum(path.stat().st_size for path in shards)
    shards[1].unlink()
    assert [one.is_present for one in inventory.list()] == [False]


def test_what_is_no_chat_model_is_not_listed(inventory: Inventory, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "mmproj.gguf", {"general.architecture": "clip"})
    with pytest.raises(UserError):
        inventory.import_file(path)
    assert inventory.list() == ()


def test_a_name_from_a_hostile_file_is_one_short_readable_line(inventory: Inventory, tmp_path: Path) -> None:
    metadata = chat_metadata(general__name="a\n\x1b[31m\u202eb" + "c" * 5000)
    name = inventory.import_file(write_gguf(tmp_path / "x.gguf", metadata)).name
    assert (name[:8], len(name)) == ("a [31mbc", 100)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are always Unicode")
def test_a_name_that_is_no_unicode_is_refused(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "bad\udcff.gguf")
    with pytest.raises(UserError) as caught:
        inventory.import_file(source)
    assert caught.value.facts["reason"] == "name_not_unicode"


def test_forgetting_a_model_leaves_the_users_file(inventory: Inventory, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "chat.gguf")
    inventory.import_file(source)
    inventory.remove("chat", delete_file=True)
    assert (inventory.list(), source.exists()) == ((), True)
    with pytest.raises(UserError) as caught:
        inventory.remove("chat")
    assert caught.value.code is ErrorCode.UNKNOWN_EXPERT


# ---- damage


def test_a_bad_entry_is_skipped_told_and_kept_in_the_file(
    inventory: Inventory, paths: DataPaths, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    inventory.import_file(write_gguf(tmp_path / "a.gguf"))
    document = json.loads(paths.inventory.read_text(encoding="utf-8"))
    document["models"].insert(0, {"model_id": "from the future", "path": {"remote": "x"}})
    document["models"].append("nonsense")
    document["made_by"] = "a newer version"
    paths.inventory.write_text(json.dumps(document), encoding="utf-8")
    assert ids(inventory) == ["a"]
    assert [problem.facts["entry"] for problem in inventory.problems] == [0, 2]
    inventory.list()
    assert caplog.text.count("'entry': 0") == 1  # said once, not at every look
    inventory.import_file(write_gguf(tmp_path / "b.gguf"))
    after = json.loads(paths.inventory.read_text(encoding="utf-8"))
    assert [one["model_id"] for one in after["models"]] == ["from the future", "a", "b"]
    assert after["made_by"] == "a newer version"


def test_fields_and_origins_of_a_newer_version_survive(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "a.gguf")
    inventory.import_file(source)
    document = json.loads(paths.inventory.read_text(encoding="utf-8"))
    document["models"][0] |= {"origin": "torrent", "stars": 5}
    paths.inventory.write_text(json.dumps(document), encoding="utf-8")
    assert inventory.list()[0].origin is Origin.IMPORTED
    inventory.import_file(source)
    after = json.loads(paths.inventory.read_text(encoding="utf-8"))
    assert (after["models"][0]["stars"], after["models"][0]["origin"]) == (5, "torrent")


@pytest.mark.logs_warnings
@pytest.mark.parametrize("content", [b"", b"{\0\0", b"[]", b'{"models": 3}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_list_is_moved_aside_and_made_again_from_the_files(
    inventory: Inventory, paths: DataPaths, content: bytes
) -> None:
    write_gguf(paths.models / "loose.gguf")
    write_gguf(paths.models / "smollm2-135m-instruct" / "S.gguf")
    write_gguf(paths.models / "mmproj.gguf", {"general.architecture": "clip"})
    write_shards(paths.models / "big", "big")
    paths.inventory.write_bytes(content)
    found = {model.model_id: model.origin for model in inventory.list()}
    assert found == {
        "loose": Origin.IMPORTED,
        "smollm2-135m-instruct": Origin.STARTER,
        "big": Origin.DOWNLOADED,
    }
    assert inventory.find("smollm2-135m-instruct").name == "SmolLM2 135M Instruct"  # type: ignore[union-attr]  # found above
    aside = list(paths.models.glob("inventory.damaged-*.json"))
    assert [path.read_bytes() for path in aside] == [content]
    assert set(ids(Inventory(paths))) == set(found)


@pytest.mark.logs_warnings
def test_a_damaged_list_still_knows_the_users_own_files(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    own = write_gguf(tmp_path / "elsewhere" / "own.gguf")
    inventory.import_file(own, name="Mine")
    paths.inventory.write_bytes(b"{bad")
    (model,) = inventory.list()
    assert (model.path, model.name, model.origin) == (str(own), "Mine", Origin.IMPORTED)


def test_a_lost_list_is_made_again_from_the_files(inventory: Inventory, paths: DataPaths) -> None:
    write_gguf(paths.models / "loose.gguf")
    assert ids(inventory) == ["loose"]
    assert json.loads(paths.inventory.read_text(encoding="utf-8"))["schema_version"] == 1


@pytest.mark.logs_warnings
def test_a_list_damaged_twice_in_a_second_is_kept_twice(inventory: Inventory, paths: DataPaths) -> None:
    for content in (b"1st", b"2nd"):
        paths.models.mkdir(parents=True, exist_ok=True)
        paths.inventory.write_bytes(content)
        inventory.list()
    assert sorted(path.read_bytes() for path in paths.models.glob("*damaged*")) == [b"1st", b"2nd"]


@pytest.mark.logs_warnings
def test_a_list_that_cannot_be_read_is_not_overwritten(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    paths.models.mkdir(parents=True)
    paths.inventory.symlink_to(paths.inventory)  # reading it is an OSError, as from a failing disk; replacing it is not
    assert inventory.list() == ()
    with pytest.raises(LayaDeskError) as caught:
        inventory.import_file(write_gguf(tmp_path / "a.gguf"))
    assert caught.value.code is ErrorCode.DISK_ERROR
    assert paths.inventory.is_symlink()


def test_a_data_directory_that_cannot_be_written_is_said_and_its_models_still_listed(
    inventory: Inventory, paths: DataPaths, tmp_path: Path
) -> None:
    write_gguf(paths.models / "loose.gguf")
    paths.inventory.with_suffix(".lock").mkdir()  # no file can be made in its place, whoever runs the test
    assert ids(inventory) == ["loose"]
    with pytest.raises(LayaDeskError) as caught:
        inventory.import_file(write_gguf(tmp_path / "a.gguf"))
    assert caught.value.code is ErrorCode.DATA_DIR_READ_ONLY


def test_the_whole_data_directory_can_be_moved(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    inventory.import_file(write_gguf(paths.models / "own" / "own.gguf"), origin=Origin.DOWNLOADED)
    moved = DataPaths(paths.root.rename(tmp_path / "elsewhere"))
    assert [model.is_present for model in Inventory(moved).list()] == [True]


# ---- two processes


IMPORT_MANY = """
import sys
from pathlib import Path
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
inventory = Inventory(DataPaths(Path(sys.argv[1])))
for path in sys.argv[2:]:
    inventory.import_file(Path(path))
"""


def test_two_processes_that_import_at_once_lose_nothing(inventory: Inventory, paths: DataPaths, tmp_path: Path) -> None:
    groups = [[write_gguf(tmp_path / group / f"{group}{i}.gguf") for i in range(12)] for group in ("x", "y")]
    children = [
        subprocess.Popen([sys.executable, "-c", IMPORT_MANY, str(paths.root), *map(str, group)], cwd=REPO)
        for group in groups
    ]
    assert [child.wait(60) for child in children] == [0, 0]
    assert sorted(ids(inventory)) == sorted(path.stem for group in groups for path in group)


def test_a_lock_that_another_holds_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with process_lock(path):
        with pytest.raises(LayaDeskError) as caught, process_lock(path, timeout_s=0.05):
            pytest.fail("the lock was given twice")
        assert caught.value.code is ErrorCode.DATABASE_BUSY
    with process_lock(path, timeout_s=0.05):
        pass
