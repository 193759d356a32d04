"""What the experts are good at, on disk."""

import json
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.routing_labels import GROUPS, Effort
from layadesk.domain.strengths import Strengths
from layadesk.model_library.expert_table import ExpertTable

pytestmark = pytest.mark.logs_warnings


def table(folder: Path, entries: object, shipped: dict[str, Strengths] | None = None) -> ExpertTable:
    path = folder / "experts.json"
    path.write_text(json.dumps({"experts": entries}), "utf-8")
    return ExpertTable(path, shipped)


def test_groups_stand_for_their_tasks_and_a_task_beats_its_group(tmp_path: Path) -> None:
    found = table(tmp_path, {"a": {"tasks": {"translate": 0.9, "writer": 0.3}}}).table()["a"]
    assert found.tasks == {**dict.fromkeys(GROUPS["writer"], 0.3), "translate": 0.9}


def test_the_users_word_comes_before_what_ships_and_unknown_ids_are_kept(tmp_path: Path) -> None:
    shipped = {"a": Strengths(cost=0.1), "b": Strengths(cost=0.2)}
    found = table(tmp_path, {"a": {"cost": 0.9}, "not-installed": {}}, shipped).table()
    assert (found["a"].cost, found["b"].cost, "not-installed" in found) == (0.9, 0.2, True)


@pytest.mark.parametrize(
    "entry",
    [
        {"tasks": {"cooking": 1}},
        {"tasks": {"code": 2}},
        {"tasks": {"code": True}},
        {"tasks": []},
        {"domains": {"sport": 0.5}},
        {"languages": "en"},
        {"effort_ceiling": "huge"},
        {"cost": -1},
        {"can_think": "yes"},
        {"colour": "red"},
        7,
    ],
)
def test_a_bad_entry_is_left_out_and_reported_and_the_others_count(tmp_path: Path, entry: object) -> None:
    found = table(tmp_path, {"bad": entry, "good": {"cost": 0.3}})
    assert set(found.table()) == {"good"}
    (problem,) = found.problems()
    assert (problem.code, problem.facts["entry"]) == (ErrorCode.EXPERT_TABLE_DAMAGED, "bad")


@pytest.mark.parametrize("content", ["", "[]", '{"experts": 3}', "\x00\xff", "{" * 5000])
def test_a_file_that_is_no_table_leaves_the_guesses(tmp_path: Path, content: str) -> None:
    (tmp_path / "experts.json").write_text(content, "latin-1")
    found = ExpertTable(tmp_path / "experts.json")
    assert not found.table()
    assert len(found.problems()) == 1


def test_what_is_set_is_there_at_the_next_start_and_can_be_taken_back(tmp_path: Path) -> None:
    strengths = Strengths({"code": 0.9}, {"law": 0.7}, ("zh",), Effort.HEAVY, 0.25, can_think=True, otherwise=0.4)
    first = table(tmp_path, {"other": {"cost": 0.3}, "broken": {"cost": 7}})
    first.set("a", strengths)
    assert ExpertTable(tmp_path / "experts.json").table()["a"] == strengths
    first.set("a", None)
    assert set(first.table()) == {"other"}
    assert "broken" in json.loads((tmp_path / "experts.json").read_text())["experts"], "what cannot be read is kept"


def test_a_change_on_disk_is_seen(tmp_path: Path) -> None:
    found = table(tmp_path, {"a": {"cost": 0.3}})
    assert found.table()["a"].cost == 0.3
    table(tmp_path, {"a": {"cost": 0.75, "can_think": True}})
    assert found.table()["a"].cost == 0.75
    (tmp_path / "experts.json").unlink()
    assert not found.table()
