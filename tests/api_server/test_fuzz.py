"""What a machine makes of our OpenAPI document: no fault of ours, no hang, and the engine lives."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from layadesk.api_server.openapi import openapi
from tests.fakes.served import PATIENCE_S, Served

DOCUMENT = schemathesis.openapi.from_dict(openapi())
_FOUND: list[Any] = list(DOCUMENT.get_all_operations())
OPERATIONS = {found.ok().label: found.ok() for found in _FOUND}
MODES = {"as the document says": "positive", "against the document": "negative"}
CASES = [
    (label, mode)
    for label, operation in sorted(OPERATIONS.items())
    for mode in MODES
    if mode == "as the document says" or operation.body  # without a body nothing can be against it
]


@pytest.mark.parametrize(("label", "mode"), CASES)
def test_whatever_is_sent_is_answered_with_a_status_of_the_document(label: str, mode: str, echo: Served) -> None:
    operation = OPERATIONS[label]
    documented = {*operation.definition.raw["responses"], "405"}

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode(MODES[mode])))
    def ask(case: Any) -> None:
        if isinstance(case.body, dict) and "model" in case.body and mode == "as the document says":
            case.body["model"] = "tiny"  # beyond the question whether there is such a model
        status = case.call(base_url=f"http://127.0.0.1:{echo.port}", timeout=PATIENCE_S).status_code
        assert status != 500
        assert str(status) in documented

    ask()
    alive = echo.client().chat.completions.create(model="tiny", messages=[{"role": "user", "content": "alive"}])
    assert alive.choices[0].message.content == "alive"
