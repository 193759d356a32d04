"""The list of remote experts on disk."""

import json
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.remote import RemoteExpert
from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import Strengths
from layadesk.model_library.remote_list import RemoteList

BIG = RemoteExpert(
    "remote:big", "Big", "https://api.example.com/v1", "big-70b", 32768,
    Strengths({"code": 0.9}, {}, ("en", "zh"), Effort.HEAVY, 0.9),
)  # fmt: skip
SMALL = RemoteExpert("remote:small", "小模型", "http://localhost:8080/v1", "small")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "models" / "remote.json"


def test_what_is_kept_is_there_again(path: Path) -> None:
    kept = RemoteList(path)
    kept.put(BIG)
    kept.put(SMALL)
    again = RemoteList(path)
    assert again.experts() == (BIG, SMALL)
    assert again.find("remote:big") == BIG
    assert again.problems() == ()
    again.drop("remote:big")
    again.drop("remote:nobody")
    assert kept.experts() == (SMALL,)


def test_a_changed_entry_keeps_its_place_and_ids_are_new_and_marked(path: Path) -> None:
    kept = RemoteList(path)
    kept.put(BIG)
    kept.put(SMALL)
    other = RemoteExpert("remote:big", "Bigger", "https://other.example/v1", "x")
    kept.put(other)
    assert kept.experts() == (other, SMALL)
    assert kept.free_id("Big") == "remote:big-2"
    assert kept.free_id("Neu: 70B!") == "remote:neu-70b"


BAD = [
    5,
    {},
    {"model_id": "big", "base_url": "https://h/v1", "model": "x"},
    {"model_id": "remote:a", "base_url": "nowhere", "model": "x"},
    {"model_id": "remote:a", "base_url": "https://u:p@h/v1", "model": "x"},
    {"model_id": "remote:a", "base_url": "https://h/v1", "model": ""},
    {"model_id": "remote:a", "base_url": "https://h/v1", "model": "x", "n_ctx": 5},
    {"model_id": "remote:a", "base_url": "https://h/v1", "model": "x", "strengths": {"tasks": {"cooking": 1}}},
    {"model_id": "remote:small", "base_url": "https://h/v1", "model": "a second one"},
]


@pytest.mark.logs_warnings
@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_bad_entry_costs_only_itself_is_said_and_is_carried_along(path: Path, bad: object) -> None:
    RemoteList(path).put(SMALL)
    document = json.loads(path.read_text("utf-8"))
    document["experts"].append(bad)
    path.write_text(json.dumps(document), "utf-8")
    kept = RemoteList(path)
    assert kept.experts() == (SMALL,)
    (problem,) = kept.problems()
    assert problem.code is ErrorCode.REMOTE_LIST_DAMAGED
    kept.put(BIG)
    assert bad in json.loads(path.read_text("utf-8"))["experts"]
    assert kept.experts() == (SMALL, BIG)


@pytest.mark.logs_warnings
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"experts": 5}', b"[" * 50_000])
def test_a_file_that_is_no_list_is_said_and_kept_beside_the_new_one(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    kept = RemoteList(path)
    assert kept.experts() == ()
    assert len(kept.problems()) == 1
    kept.put(BIG)
    assert kept.experts() == (BIG,)
    assert [one.read_bytes() for one in path.parent.glob("remote.damaged-*")] == [content]
