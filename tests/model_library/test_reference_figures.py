"""Every figure of `models.json` beside the collected facts it was made from, where these are on this machine."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from layadesk.domain.models import CardKind, ModelCard, ModelFile
from layadesk.domain.sampling_defaults import FIELDS
from layadesk.model_library.catalogue import read_catalogue
from layadesk.paths import catalogue_file

BESIDE = Path(__file__).parents[3] / "shared" / "reference"  # beside the project
REFERENCE = Path(os.environ.get("LAYADESK_TEST_REFERENCE", BESIDE)) / "catalogue.json"
UNITS = {"GiB": 2**30, "MiB": 2**20}
SPECIAL = {"n_kv_heads", "key_length", "value_length", "n_ff", "sliding_window", "experts", "ssm"}


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    if not REFERENCE.is_file():
        pytest.skip("the collected facts are not on this machine")
    found: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def cards() -> dict[str, ModelCard]:
    return {card.model_id: card for card in read_catalogue(catalogue_file()).cards}


def value(fact: Any) -> Any:
    return fact.get("v") if isinstance(fact, dict) and "v" in fact else fact


def records(model: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """(repository, path) → the facts of that file, with its pin."""
    found = {}
    for repo in model["repos"]:
        pin = repo["pin"].get("revision") if isinstance(repo["pin"], dict) else None
        for file in repo["files"]:
            found[(repo["repo"], file["path"])] = {**file, "pin": pin}
    default = model["default_file"]
    found[(default["repo"], default["path"])] |= {
        name: default[name] for name in ("bytes", "sha256") if default.get(name)
    }
    return found


def check_file(file: ModelFile, facts: dict[str, Any]) -> None:
    part = file.parts[0]
    exact = facts["bytes"] if isinstance(facts["bytes"], int) else None
    assert part.size_bytes == exact
    assert part.sha256 == facts.get("sha256")
    assert file.revision == (facts["pin"] if facts["pin"] and len(facts["pin"]) == 40 else None)
    assert file.quantization == facts["quant"]
    if file.rounded_bytes is not None:
        rounded = facts["size_rounded"]
        assert abs(file.rounded_bytes / UNITS[rounded["unit"]] - rounded["value"]) < rounded["plus_minus"]


def test_all_experts_of_the_reference_are_there_with_their_pins_sizes_and_sums(
    reference: dict[str, Any], cards: dict[str, ModelCard]
) -> None:
    for model in reference["models"]:
        card, known = cards[model["id"]], records(model)
        default = model["default_file"]
        files = [file for file in card.files if file.source.startswith("huggingface:")]
        assert (files[0].path, files[0].parts[0].size_bytes) == (default["path"], default["bytes"])
        assert files[0].revision == default["revision"]
        for file in files:
            check_file(file, known[(file.source.removeprefix("huggingface:"), file.path)])


def test_the_numbers_of_the_architectures_are_those_of_the_reference(
    reference: dict[str, Any], cards: dict[str, ModelCard]
) -> None:
    keys = {
        "n_embd": "embedding_length",
        "n_heads": "attention.head_count",
        "vocab": "vocab_size",
        "context_length": "context_length",
        "full_attention_interval": "full_attention_interval",
        "n_ff": "feed_forward_length",
        "sliding_window": "attention.sliding_window",
        "key_length": "attention.key_length",
        "value_length": "attention.value_length",
    }
    for model in reference["models"]:
        gguf, arch = cards[model["id"]].gguf, {name: value(fact) for name, fact in model["arch"].items()}
        name = arch["general.architecture"]
        assert gguf["general.architecture"] == name
        drafts = gguf.get(f"{name}.nextn_predict_layers", 0)
        assert isinstance(drafts, int)
        assert gguf[f"{name}.block_count"] == arch["n_layers"] + drafts
        for theirs, ours in keys.items():
            if isinstance(arch.get(theirs), int):
                assert gguf[f"{name}.{ours}"] == arch[theirs], (model["id"], ours)
        for theirs, number in (arch["ssm"] if isinstance(arch.get("ssm"), dict) else {}).items():
            assert gguf[f"{name}.ssm.{theirs}"] == number
        if isinstance(arch.get("experts"), dict):
            assert gguf[f"{name}.expert_count"] == arch["experts"]["count"]
            assert gguf[f"{name}.expert_used_count"] == arch["experts"]["used"]


def test_the_recommended_sampling_is_that_of_the_reference(
    reference: dict[str, Any], cards: dict[str, ModelCard]
) -> None:
    for model in reference["models"]:
        card, known = cards[model["id"]], {name: value(fact) for name, fact in model["sampling"].items()}
        thinking = known.get("thinking_general") or known.get("thinking") or {}
        for wanted, ours in (
            (known.get("all") or known["non_thinking"], card.sampling),
            (thinking, card.sampling_thinking),
        ):
            for name in FIELDS:
                expected = wanted.get(name)
                assert getattr(ours, name) == (expected if isinstance(expected, int | float) else None), model["id"]


def test_the_router_checkpoints_are_those_of_the_reference(
    reference: dict[str, Any], cards: dict[str, ModelCard]
) -> None:
    by_repo = {card.source.removeprefix("huggingface:"): card for card in cards.values()}
    sizes = {
        file["sha256"]: file["bytes"]
        for checkpoint in reference["laya"]["checkpoints"]
        for file in checkpoint["files"]
        if file["bytes"]
    }
    for checkpoint in reference["laya"]["checkpoints"]:
        card = by_repo[checkpoint["repo"]]
        assert (card.kind, card.revision, card.modelscope) == (
            CardKind.ROUTER,
            checkpoint["revision"],
            checkpoint["modelscope"],
        )
        ours = {part.path: (part.size_bytes, part.sha256) for part in card.files[0].parts}
        assert ours == {file["path"]: (sizes[file["sha256"]], file["sha256"]) for file in checkpoint["files"]}
