"""Licences are read from what packages say about themselves."""

from email.message import Message

import pytest

from layadesk.usecases.about import licence_of


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT", "License": "whatever"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
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
