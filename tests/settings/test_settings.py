"""The settings in force and their file, also a hostile one."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.paths import DataPaths
from layadesk.settings.definitions import (
    ALL_SETTINGS,
    N_CTX,
    SYSTEM_PROMPT,
    TEMPERATURE,
    UI_LANGUAGE,
    UI_PANEL_VISIBLE,
    UI_THEME,
)
from layadesk.settings.file import MAX_FILE_BYTES, SettingsFile, load, save
from layadesk.settings.settings import Settings
from tests.settings.test_definitions import JSON_VALUES


def path_of(root: Path) -> Path:
    return DataPaths(root).settings


def write(root: Path, content: object) -> None:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    path_of(root).write_bytes(raw)


def read(root: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path_of(root).read_bytes())
    return content


def test_without_a_file_everything_is_at_its_default_and_no_file_is_made(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    assert all(settings.get(one) == one.default for one in ALL_SETTINGS)
    assert settings.problems == ()
    assert list(tmp_path.iterdir()) == []


def test_what_was_set_is_there_after_a_restart(tmp_path: Path) -> None:
    root = tmp_path / "new" / "数据 🎉"
    settings = Settings(DataPaths(root))
    settings.set(N_CTX, 4096)
    settings.set("sampling.temperature", 1)
    settings.set(SYSTEM_PROMPT, "Sei kurz. 排序 🎉")
    settings.set(UI_PANEL_VISIBLE, False)
    settings.flush()
    again = Settings(DataPaths(root))
    assert again.problems == ()
    assert (again.get(N_CTX), again.get("sampling.temperature")) == (4096, 1.0)
    assert again.get(SYSTEM_PROMPT) == "Sei kurz. 排序 🎉"
    assert again.get(UI_PANEL_VISIBLE) is False
    assert again.get(UI_THEME) == "system"
    assert [path.name for path in root.iterdir()] == ["settings.json"]


def test_the_file_holds_only_what_differs_from_the_defaults(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    settings.set(N_CTX, 4096)
    settings.set(UI_THEME, "dark")
    settings.set(UI_THEME, "system")
    settings.flush()
    assert read(tmp_path) == {"schema": 1, "values": {"inference.n_ctx": 4096}}
    settings.reset(N_CTX)
    settings.flush()
    assert settings.get(N_CTX) == 8192
    assert read(tmp_path) == {"schema": 1, "values": {}}


def test_a_bad_value_or_key_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    told: list[object] = []
    settings.subscribe(N_CTX, told.append)
    for attempt in (
        lambda: settings.set(N_CTX, 3),
        lambda: settings.set("inference.n_ctx", "many"),
        lambda: settings.set("no.such.key", 1),
        lambda: settings.reset("no.such.key"),
        lambda: settings.get("no.such.key"),
        lambda: settings.subscribe("no.such.key", told.append),
    ):
        with pytest.raises(LayaDeskError) as caught:
            attempt()
        assert caught.value.code is ErrorCode.BAD_SETTING
    settings.flush()
    assert (settings.get(N_CTX), told) == (8192, [])
    assert not path_of(tmp_path).exists()


def test_subscribers_hear_real_changes_of_their_setting_only(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    told: list[object] = []
    end = settings.subscribe("ui.theme", told.append)
    settings.set(UI_THEME, "system")
    settings.set(UI_THEME, "dark")
    settings.set(UI_THEME, "dark")
    settings.set(UI_LANGUAGE, "en")
    settings.reset(UI_THEME)
    settings.reset(UI_THEME)
    end()
    settings.set(UI_THEME, "light")
    assert told == ["dark", "system"]
    settings.flush()


def test_a_subscriber_may_change_settings_itself(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    settings.subscribe(UI_THEME, lambda _: settings.set(UI_LANGUAGE, "en"))
    settings.set(UI_THEME, "dark")
    assert settings.get(UI_LANGUAGE) == "en"
    settings.flush()
    assert set(read(tmp_path)["values"]) == {"ui.theme", "ui.language"}


def test_many_threads_may_change_settings_at_once(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    heard: list[int] = []
    settings.subscribe(N_CTX, heard.append)

    def change(first: int) -> None:
        for n in range(50):
            settings.set(N_CTX, first + n)

    threads = [threading.Thread(target=change, args=(1000 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    settings.flush()
    assert heard[-1] == settings.get(N_CTX) == read(tmp_path)["values"]["inference.n_ctx"]
    assert len(heard) == 200


def test_changes_are_told_to_all_in_the_order_they_were_made(tmp_path: Path) -> None:
    settings = Settings(DataPaths(tmp_path))
    second_is_over = threading.Event()
    heard: list[str] = []

    def set_second() -> None:
        settings.set(UI_THEME, "light")
        second_is_over.set()

    second = threading.Thread(target=set_second)

    def linger(value: str) -> None:
        if value == "dark":
            second.start()
            second_is_over.wait(0.2)  # it cannot come while this change is being told

    settings.subscribe(UI_THEME, linger)
    settings.subscribe(UI_THEME, heard.append)
    settings.set(UI_THEME, "dark")
    second.join(10)
    settings.flush()
    assert heard == ["dark", "light"]


@pytest.mark.logs_warnings
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\0\0",
        b"not json",
        b'{"schema": 1, "values": {"inference.n_ctx": 4096}',
        b"\xff\xfe{}",
        b"[]",
        b"null",
        b'"text"',
        b'{"values": []}',
        b'{"values": null}',
        b"[" * 100_000,
        b'{"x":' * 2000 + b"1" + b"}" * 2000,
        b'{"values": {"n": ' + b"9" * 5000 + b"}}",
        b" " * (MAX_FILE_BYTES + 1),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_file_that_makes_no_sense_means_defaults_is_told_and_kept(tmp_path: Path, content: bytes) -> None:
    # E01: a 0-byte file is one of them
    write(tmp_path, content)
    settings = Settings(DataPaths(tmp_path))
    assert [one.code for one in settings.problems] == [ErrorCode.SETTINGS_DAMAGED]
    assert all(settings.get(one) == one.default for one in ALL_SETTINGS)
    assert path_of(tmp_path).read_bytes() == content
    settings.set(N_CTX, 4096)
    settings.set(UI_THEME, "dark")
    settings.flush()
    assert (tmp_path / "settings.json.bak").read_bytes() == content
    assert Settings(DataPaths(tmp_path)).problems == ()
    assert Settings(DataPaths(tmp_path)).get(N_CTX) == 4096


@pytest.mark.logs_warnings
def test_bad_values_are_at_their_defaults_and_the_good_ones_beside_them_hold(tmp_path: Path) -> None:
    values = {
        "inference.n_ctx": 4096,
        "inference.n_parallel": 99,
        "sampling.temperature": "warm",
        "ui.theme": "dark",
        "ui.panel_visible": 0,
        "ui.language": {"en": True},
        "chat.system_prompt": "\ud83c",
    }
    write(tmp_path, {"schema": 1, "values": values})
    before = path_of(tmp_path).read_bytes()
    settings = Settings(DataPaths(tmp_path))
    assert {one.code for one in settings.problems} == {ErrorCode.BAD_SETTING}
    bad = ["inference.n_parallel", "sampling.temperature", "ui.panel_visible", "ui.language", "chat.system_prompt"]
    assert [one.facts["key"] for one in settings.problems] == bad
    assert (settings.get(N_CTX), settings.get(UI_THEME)) == (4096, "dark")
    assert (settings.get(TEMPERATURE), settings.get(UI_PANEL_VISIBLE)) == (0.6, True)
    settings.set(N_CTX, 2048)
    settings.flush()
    assert read(tmp_path)["values"] == {"inference.n_ctx": 2048, "ui.theme": "dark"}
    assert (tmp_path / "settings.json.bak").read_bytes() == before


def test_what_a_newer_program_wrote_is_kept(tmp_path: Path) -> None:
    # E03: unknown field kept
    newer = {"schema": 7, "values": {"ui.theme": "dark", "ui.sound": {"on": [1, None, "\ud83c"]}}, "devices": ["a"]}
    write(tmp_path, newer)
    settings = Settings(DataPaths(tmp_path))
    assert settings.problems == ()
    settings.set(N_CTX, 4096)
    settings.flush()
    newer["values"]["inference.n_ctx"] = 4096  # type: ignore[index]  # the type of a literal
    assert read(tmp_path) == newer


def test_a_file_from_an_editor_on_windows_is_read(tmp_path: Path) -> None:
    write(tmp_path, b'\xef\xbb\xbf{\r\n"values": {"ui.theme": "dark"}\r\n}')
    assert Settings(DataPaths(tmp_path)).get(UI_THEME) == "dark"


def test_renamed_settings_keep_their_value_and_removed_ones_go_without_a_word(tmp_path: Path) -> None:
    write(tmp_path, {"values": {"context": 4096, "ui.animations": 1, "look": "light", "ui.theme": "dark"}})
    renamed = {"context": "inference.n_ctx", "look": "ui.theme"}
    found = load(path_of(tmp_path), renamed=renamed, removed=frozenset({"ui.animations"}))
    assert found == SettingsFile(values={"inference.n_ctx": 4096, "ui.theme": "dark"})


@pytest.mark.logs_warnings
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_folder_or_an_endless_pipe_in_the_files_place_does_not_stop_the_start(tmp_path: Path) -> None:
    makers: list[Callable[[Path], None]] = [Path.mkdir, os.mkfifo]
    for number, make in enumerate(makers):
        root = tmp_path / str(number)
        root.mkdir()
        make(path_of(root))
        settings = Settings(DataPaths(root))
        assert [one.code for one in settings.problems] == [ErrorCode.SETTINGS_DAMAGED]


@pytest.mark.logs_warnings
def test_where_nothing_can_be_written_a_change_holds_in_memory_and_the_problem_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    settings = Settings(DataPaths(tmp_path / "file" / "data"))
    told: list[ErrorReport] = []
    settings.problem_feed.subscribe(told.append)
    settings.set(N_CTX, 4096)
    settings.flush()
    settings.set(UI_THEME, "dark")
    settings.flush()
    assert (settings.get(N_CTX), settings.get(UI_THEME)) == (4096, "dark")
    assert [one.code for one in told] == [ErrorCode.DATA_DIR_READ_ONLY]
    assert settings.problems == tuple(told)
    (tmp_path / "file").unlink()
    settings.set(UI_LANGUAGE, "en")
    settings.flush()
    assert settings.problems == ()
    assert set(read(tmp_path / "file" / "data")["values"]) == {"inference.n_ctx", "ui.theme", "ui.language"}


def test_a_save_that_breaks_off_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # E01: never replace before the new content is on the disk
    save(path_of(tmp_path), SettingsFile(values={"ui.theme": "dark"}))
    before = path_of(tmp_path).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LayaDeskError) as caught:
        save(path_of(tmp_path), SettingsFile(values={"ui.theme": "light"}))
    assert caught.value.code is ErrorCode.DISK_FULL
    assert path_of(tmp_path).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.logs_warnings
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([one.key for one in ALL_SETTINGS]) | st.text(max_size=5), JSON_VALUES))
def test_no_file_whatever_is_in_it_stops_the_program_or_a_save(tmp_path: Path, values: dict[str, Any]) -> None:
    write(tmp_path, {"values": values})
    found = load(path_of(tmp_path))
    save(path_of(tmp_path), found)
    again = load(path_of(tmp_path))
    assert (again.values, again.problems) == (found.values, ())
    assert repr(again.strangers) == repr(found.strangers)  # NaN is not equal to itself
