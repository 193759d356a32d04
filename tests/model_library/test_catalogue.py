"""models.json: what ships is right, and a bad entry costs only itself."""

import hashlib
import json
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.model_library.catalogue import SCHEMA_VERSION, STARTER_MODEL_ID, Catalogue, Catalogues, read_catalogue
from layadesk.model_library.gguf_header import read_header
from layadesk.paths import catalogue_file


def entry(**changes: object) -> dict[str, object]:
    """A right entry, changed."""
    file = {"quantization": "Q4_0", "path": "a.gguf", "size_bytes": 10, "sha256": "ab" * 32}
    return {
        "model_id": "a",
        "name": "A",
        "source": "python-package:a",
        "license": "mit",
        "languages": ["en"],
        "note": "",
        "files": [file],
    } | changes


def catalogue(path: Path, *entries: object, **top: object) -> Catalogue:
    """What is read from a catalogue of those entries."""
    path.write_text(json.dumps({"schema_version": 2, "models": list(entries)} | top), encoding="utf-8")
    return read_catalogue(path)


def test_the_catalogue_that_ships_is_valid_and_has_the_starter() -> None:
    shipped = read_catalogue(catalogue_file())
    assert shipped.problems == ()
    starter = shipped.card(STARTER_MODEL_ID)
    assert starter is not None
    assert starter.languages == ("en",)
    assert all(card.files[0].size_bytes for card in shipped.cards)
    assert all(part.sha256 for card in shipped.cards for part in card.files[0].parts)  # the one that is offered first


@pytest.mark.llama
@pytest.mark.parametrize(("model_id", "fixture"), [(STARTER_MODEL_ID, "smol_gguf"), ("gemma-3-270m", "gemma_gguf")])
def test_sizes_and_sums_are_those_of_the_real_files(
    request: pytest.FixtureRequest, model_id: str, fixture: str
) -> None:
    path: Path = request.getfixturevalue(fixture)
    card = read_catalogue(catalogue_file()).card(model_id)
    assert card is not None
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    header = read_header(path)
    found = (path.stat().st_size, digest, header.quantization)
    assert found == (card.files[0].size_bytes, card.files[0].parts[0].sha256, card.files[0].quantization)


def test_what_the_makers_recommend_for_sampling_is_read(tmp_path: Path) -> None:
    advised = entry(sampling={"temperature": 0.7, "top_p": 0.8, "top_k": 20, "of_a_newer_version": 1})
    read = catalogue(tmp_path / "m.json", advised, entry(model_id="b"))
    assert read.cards[0].sampling == SamplingDefaults(temperature=0.7, top_p=0.8, top_k=20)
    assert read.cards[1].sampling == SamplingDefaults()


@pytest.mark.parametrize(
    "bad",
    [
        {"model_id": "b"},
        entry(model_id=""),
        entry(model_id=7),
        entry(source="nowhere"),
        entry(languages="en"),
        entry(files=[{"quantization": "Q4_0"}]),
        entry(files=[{"quantization": "Q4_0", "path": "a", "sha256": "AB" * 32}]),
        entry(files=[{"quantization": "Q4_0", "path": "a", "size_bytes": 0}]),
        entry(sampling={"temperature": -1}),
        entry(sampling={"top_k": "many"}),
        entry(sampling=[]),
        entry(model_id="good"),  # twice
        entry(model_id="../up"),
        entry(model_id="con"),
        entry(files=[{"quantization": "Q4_0", "path": "../a.gguf"}]),
        entry(files=[{"quantization": "Q4_0", "path": "/etc/a.gguf"}]),
        entry(files=[{"quantization": "Q4_0", "path": "a\\..\\a.gguf"}]),
        entry(files=[{"quantization": q, "path": f"{q}/a.gguf"} for q in ("Q4_0", "Q8_0")]),  # one name on this disk
        entry(files=[{"quantization": "Q4_0", "path": f"{name}.gguf"} for name in "ab"]),
        entry(files=[{"quantization": "Q4_0", "parts": [{"path": "a.gguf"}, {"path": "b.gguf"}]}]),
        entry(source="huggingface:../../x"),
        entry(source="huggingface:owner/repo", revision="main"),
        entry(modelscope="nowhere"),
        entry(license_url="http://plain.example"),
        entry(kind="router"),
        entry(kind="picture"),
        entry(strengths={"tasks": {"juggling": 1}}),
        entry(files=[{"quantization": "Q4_0", "path": "a", "rounded_bytes": -1}]),
        None,
        "text",
    ],
)
def test_a_bad_entry_is_skipped_and_reported_and_the_others_stay(
    tmp_path: Path, bad: object, caplog: pytest.LogCaptureFixture
) -> None:
    read = catalogue(tmp_path / "m.json", entry(model_id="good"), bad, entry(model_id="last"))
    assert [card.model_id for card in read.cards] == ["good", "last"]
    assert [(problem.code, problem.facts["entry"]) for problem in read.problems] == [(ErrorCode.CATALOGUE_DAMAGED, 1)]
    assert "entry 1" in caplog.text


def test_unknown_sizes_stay_unknown(tmp_path: Path) -> None:
    card = catalogue(tmp_path / "m.json", entry(files=[{"quantization": "Q4_0", "path": "a"}])).cards[0]
    assert (card.files[0].size_bytes, card.files[0].parts[0].sha256, card.revision) == (None, None, None)


@pytest.mark.logs_warnings
@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"schema_version": 1, "models": {}}', "[" * 100_000, "\udcff"]
)
def test_a_catalogue_that_cannot_be_read_gives_no_cards_and_one_problem(tmp_path: Path, content: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    read = read_catalogue(path)
    assert read.cards == ()
    assert [problem.code for problem in read.problems] == [ErrorCode.CATALOGUE_DAMAGED]


@pytest.mark.logs_warnings
def test_a_missing_catalogue_gives_no_cards_and_one_problem(tmp_path: Path) -> None:
    assert len(read_catalogue(tmp_path / "none.json").problems) == 1


def test_a_file_may_lie_elsewhere_than_the_others_and_in_parts(tmp_path: Path) -> None:
    parts = [{"path": f"x/b-0000{n}-of-00002.gguf", "size_bytes": n} for n in (1, 2)]
    files = [{"quantization": "Q4_0", "path": "a.gguf"}, {"quantization": "BF16", "parts": parts}]
    elsewhere = {"quantization": "Q8_0", "path": "c.gguf", "source": "huggingface:other/repo", "revision": "a" * 40}
    source = {"source": "huggingface:owner/repo", "revision": "b" * 40}
    card = catalogue(tmp_path / "m.json", entry(files=[*files, elsewhere], **source)).cards[0]
    assert [(file.source[12:], (file.revision or "")[:1], file.size_bytes) for file in card.files] == [
        ("owner/repo", "b", None),
        ("owner/repo", "b", 3),
        ("other/repo", "a", None),
    ]
    assert card.files[1].path == "x/b-00001-of-00002.gguf"


@pytest.mark.logs_warnings
def test_the_users_catalogue_adds_and_replaces_and_its_bad_entries_are_told(tmp_path: Path) -> None:
    catalogue(tmp_path / "shipped.json", entry(), entry(model_id="b"))
    own = tmp_path / "own.json"
    found = Catalogues(own, tmp_path / "shipped.json")
    assert [card.model_id for card in found.current().cards] == ["a", "b"]
    catalogue(own, entry(name="Mine"), entry(model_id="c"), {"model_id": "bad"})
    assert [(card.model_id, card.name) for card in found.current().cards] == [("a", "Mine"), ("b", "A"), ("c", "A")]
    (problem,) = found.current().problems
    assert (problem.code, problem.facts["path"], problem.facts["entry"]) == (
        ErrorCode.OWN_CATALOGUE_DAMAGED, str(own), 2,
    )  # fmt: skip
    assert str(problem.facts["detail"]).startswith("bad: ")
    own.unlink()
    assert [card.name for card in found.current().cards] == ["A", "A"]


@pytest.mark.logs_warnings
def test_a_newer_catalogue_is_read_as_far_as_it_can_be_understood(tmp_path: Path) -> None:
    read = catalogue(tmp_path / "m.json", entry(stars=5), schema_version=SCHEMA_VERSION + 1, extra=1)
    assert [card.model_id for card in read.cards] == ["a"]
    assert len(read.problems) == 1
