"""The rolling copies: one a day, five kept, never half a file under a good name."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.paths import DataPaths
from layadesk.store.backups import DAILY, DAY_S, Backups
from tests.fakes.store import NOW, a_conversation, fill, opened, result_of


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def daily_copies(root: Path) -> list[str]:
    return [name for name in names_in(DataPaths(root).backups) if name.startswith("daily-")]


def test_a_copy_is_made_at_the_start_if_the_last_is_a_day_old_and_five_are_kept(tmp_path: Path) -> None:
    # E08: all history gone after a freeze
    with opened(tmp_path) as store:
        fill(store)
    assert daily_copies(tmp_path) == []
    made = []
    for day in range(8):
        for hour in (0.0, 23.9):
            with opened(tmp_path, now=NOW + day * DAY_S + hour * 3600) as store:
                result_of(store.rename("c1", f"day {day}"))
        made.append(daily_copies(tmp_path)[-1])
    assert len(set(made)) == 8
    assert daily_copies(tmp_path) == made[-5:]
    for name in made[-5:]:
        with closing(sqlite3.connect(DataPaths(tmp_path).backups / name)) as copy:
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert copy.execute("SELECT count(*) FROM message").fetchone() == (2,)
    assert names_in(DataPaths(tmp_path).backups) == daily_copies(tmp_path)  # no log, no part of a file


def test_an_empty_database_does_not_push_good_copies_out(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
    with opened(tmp_path):
        pass
    DataPaths(tmp_path).database.unlink()
    for day in range(1, 8):
        with opened(tmp_path, now=NOW + day * DAY_S) as store:
            result_of(store.add_conversation(a_conversation()))
    assert len(daily_copies(tmp_path)) == 1


def test_a_copy_that_cannot_be_made_does_no_harm(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as store:
        fill(store)
    DataPaths(tmp_path).backups.write_text("a file where the folder should be")
    with opened(tmp_path) as store:
        assert len(result_of(store.load_messages("c1"))) == 2
    assert "no backup of the database today" in caplog.text


def test_a_copy_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    # E01: a 0-byte file where the chat was
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (x)")
        backups = Backups(tmp_path)
        good = backups.make(connection, DAILY, now=NOW)
        content = good.read_bytes()
        connection.close()
        with pytest.raises(sqlite3.ProgrammingError):
            backups.make(connection, DAILY, now=NOW)
    assert names_in(tmp_path) == [good.name]
    assert good.read_bytes() == content


def test_copies_of_both_kinds_are_counted_apart(tmp_path: Path) -> None:
    backups = Backups(tmp_path)
    with closing(sqlite3.connect(":memory:")) as connection:
        for n in range(7):
            backups.make(connection, DAILY, now=NOW + n)
            backups.make(connection, f"before-v{n + 2}", now=NOW + n)
    kinds = [name.split("-")[0] for name in names_in(tmp_path)]
    assert (kinds.count("daily"), kinds.count("before")) == (5, 5)
    assert names_in(tmp_path)[0].startswith("before-v4-")


def test_the_newest_good_copy_is_found_past_damaged_newer_and_foreign_ones(tmp_path: Path) -> None:
    backups = Backups(tmp_path)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA user_version = 1")
        backups.make(connection, DAILY, now=NOW)
        good = backups.make(connection, "before-v2", now=NOW + 1)
        connection.execute("PRAGMA user_version = 2")
        backups.make(connection, DAILY, now=NOW + 2)
    (tmp_path / "daily-20990101T000000Z.sqlite3").write_bytes(b"")
    (tmp_path / "daily-20990102T000000Z.sqlite3").write_bytes(b"no database at all" * 100)
    (tmp_path / "daily-20999999T999999Z.sqlite3").write_bytes(good.read_bytes()[:700])
    (tmp_path / "notes.txt").write_text("mine")
    assert backups.newest_good(newest_version=1) == good
    assert backups.newest_good(newest_version=0) is None
    assert Backups(tmp_path / "none").newest_good(newest_version=1) is None


@pytest.mark.parametrize(("age_s", "is_due"), [(0, False), (DAY_S - 1, False), (DAY_S, True), (-1, True)])
def test_a_copy_is_due_when_the_last_is_a_day_old_or_from_the_future(
    tmp_path: Path, age_s: float, is_due: bool
) -> None:
    backups = Backups(tmp_path)
    assert backups.is_due(now=NOW)
    with closing(sqlite3.connect(":memory:")) as connection:
        backups.make(connection, DAILY, now=NOW)
    assert backups.is_due(now=NOW + age_s) is is_due


def test_a_damaged_database_is_not_copied_over_good_copies(tmp_path: Path) -> None:
    backups = Backups(tmp_path / "backups")
    path = tmp_path / "db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("word " * 500,)] * 100)
        connection.commit()
        good = [backups.make(connection, DAILY, now=NOW + n) for n in range(5)]
    with path.open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xa5" * 4096)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(LayaDeskError) as caught:
        backups.make(connection, DAILY, now=NOW + 9)
    assert caught.value.code is ErrorCode.DATABASE_DAMAGED
    assert names_in(tmp_path / "backups") == [copy.name for copy in good]
