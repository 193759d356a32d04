"""The four things a model is, and what holds for all values of the domain."""

import dataclasses
import inspect
from types import ModuleType
from typing import Any

import pytest

from layadesk.domain import (
    chat,
    context_budget,
    errors,
    hardware,
    inference,
    models,
    routing,
    storage,
    worker_state,
)
from layadesk.domain.inference import LoadParams
from layadesk.domain.models import ExpertSpec, FilePart, InstalledModel, ModelCard, ModelFile, Origin

MODULES: tuple[ModuleType, ...] = (
    chat,
    context_budget,
    errors,
    hardware,
    inference,
    models,
    routing,
    storage,
    worker_state,
)
VALUES: list[Any] = [
    value
    for module in MODULES
    for value in vars(module).values()
    if inspect.isclass(value) and value.__module__ == module.__name__ and dataclasses.is_dataclass(value)
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_values_are_frozen_and_have_no_room_for_strays(value: Any) -> None:
    assert value.__dataclass_params__.frozen
    assert "__slots__" in vars(value)


def test_there_are_values_to_check() -> None:
    assert len(VALUES) > 20


def test_an_expert_is_loaded_with_the_defaults_unless_told_otherwise() -> None:
    assert ExpertSpec("tiny", "/models/tiny.gguf").params == LoadParams()


def test_what_a_catalogue_does_not_know_is_none() -> None:
    card = ModelCard("tiny", "Tiny", "owner/repo", "apache-2.0", ("en",), "small")
    assert (card.files, card.revision) == ((), None)
    file = ModelFile("Q4_K_M", (FilePart("tiny-1.gguf", 5), FilePart("tiny-2.gguf")), "huggingface:owner/repo")
    assert (file.size_bytes, file.path, file.parts[0].sha256) == (None, "tiny-1.gguf", None)


def test_an_installed_model_is_there_until_it_is_found_missing() -> None:
    model = InstalledModel("tiny", "Tiny", "/m.gguf", 1, "llama", None, None, None, True, Origin.IMPORTED, 0.0)
    assert model.is_present
    assert not dataclasses.replace(model, is_present=False).is_present
