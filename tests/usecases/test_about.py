"""Licences are read from what packages say about themselves."""

from email.message import Message
from pathlib import Path

import pytest

from layadesk.usecases.about import About, licence_of, required_by


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT", "License": "whatever"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
        ({"License-Expression": "MIT AND " * 20 + "ISC"}, "MIT AND " * 20 + "ISC"),
        ({"License": "Permission is\ngranted", "Classifier": "License :: OSI Approved :: MIT License"}, "MIT License"),
        ({"License": "x" * 400}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_licence_is_the_expression_else_the_name_else_the_classifier(
    fields: dict[str, str], licence: str | None
) -> None:
    metadata = Message()
    for name, value in fields.items():
        metadata[name] = value
    assert licence_of(metadata) == licence  # type: ignore[arg-type]


def test_what_a_package_needs_is_followed_to_the_end_with_extras_and_without_what_this_machine_does_not_need() -> None:
    needs = {
        "program": ["Lib_A[fast]>=1", "elsewhere; sys_platform == 'nowhere'", "tests; extra == 'test'"],
        "lib-a": ["lib.b", "speed; extra == 'fast'", "slow; extra == 'slow'"],
        "lib-b": ["Lib-A"],  # in a circle
    }
    assert required_by("program", lambda name: needs.get(name, ())) == {"lib-a", "lib-b", "speed"}


def test_all_that_is_brought_along_is_named_and_not_only_what_is_asked_for_by_name(tmp_path: Path) -> None:
    names = [part.name.lower() for part in About(tmp_path).parts()]
    assert {"torch", "transformers", "tokenizers", "shiboken6", "httpcore2"} <= set(names)
    assert names == sorted(names)
    assert "pytest" not in names
    assert "layadesk" not in names
