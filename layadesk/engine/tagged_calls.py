"""Tool calls whose arguments stand between tags, as Qwen3-Coder and its kin write them.

    <function=NAME> <parameter=KEY> VALUE </parameter> </function>

A value is text as it stands; what else it may be, only the tool's own schema says. Llama 3.1 writes the same tag around
a JSON object.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

MARK: Final = "<function="
CLOSING: Final = "</function>"
_CALL: Final = re.compile(rf"{MARK}([\w.-]+)>(.*?)(?:{CLOSING}|\Z)", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_PYTHON: Final[Mapping[str, bool | None]] = {"True": True, "False": False, "None": None}


def tagged_calls(body: str, offered: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Names and arguments (JSON text) of the calls in `body`; empty where there is nothing but words.

    `offered` has the schema of each parameter by the name of the tool.
    """
    return [(call[1], _arguments(call[2], offered.get(call[1], {}))) for call in _CALL.finditer(body)]


def _arguments(body: str, schemas: Mapping[str, Any]) -> str:
    if body.lstrip().startswith("{"):
        try:
            return json.dumps(json.loads(body), ensure_ascii=False)
        except (ValueError, RecursionError):
            return body.strip()  # the client sees what was written
    found = {one[1].strip(): _value(one[2], _kinds(schemas.get(one[1].strip()))) for one in _PARAMETER.finditer(body)}
    return json.dumps(found, ensure_ascii=False)


def _value(text: str, kinds: frozenset[str]) -> Any:
    if "null" in kinds and text.strip() in ("null", "None"):
        return None
    if not kinds or "string" in kinds:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _PYTHON.get(text.strip(), text)


def _kinds(schema: Any) -> frozenset[str]:
    """The JSON types that a schema names; empty where it names none."""
    if not isinstance(schema, dict):
        return frozenset()
    named = schema.get("type")
    kinds = frozenset(one for one in (named if isinstance(named, list) else [named]) if isinstance(one, str))
    others = [one for key in ("anyOf", "oneOf") for one in schema.get(key) or () if isinstance(one, dict)]
    return kinds.union(*(frozenset({str(one.get("type"))}) for one in others))
