import json

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.engine.json_grammar import checked_grammar, grammar_of


def refusal(schema: str) -> str:
    with pytest.raises(LayaDeskError) as refused:
        grammar_of(schema, str)
    assert refused.value.code is ErrorCode.BAD_GRAMMAR
    assert refused.value.facts["kind"] == "JSON schema"
    return str(refused.value.facts["detail"])


def nested(depth: int) -> str:
    return '{"items":' * depth + "{}" + "}" * depth


@pytest.mark.parametrize(
    ("schema", "detail"),
    [
        ("{", "JSONDecodeError"),
        ("", "JSONDecodeError"),
        (nested(100), "nested too deeply"),
        (nested(50_000), "RecursionError"),
        ('{"type": "string", "minLength": 1000000000}', "minLength"),
        ('{"type": "array", "maxItems": -1}', "maxItems"),
        ('{"pattern": "^a{99999}$"}', "pattern"),
    ],
)
def test_an_absurd_schema_is_refused_before_the_library_sees_it(schema: str, detail: str) -> None:
    assert detail in refusal(schema)


def test_whatever_the_conversion_raises_is_one_refusal() -> None:
    def convert(_: str) -> str:
        raise KeyError("$ref")

    with pytest.raises(LayaDeskError) as refused:
        grammar_of("{}", convert)
    assert "KeyError" in str(refused.value.facts["detail"])


def test_a_grammar_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(LayaDeskError):
        grammar_of("{}", lambda _: "x" * 2_000_000)


def test_an_ordinary_schema_passes() -> None:
    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    assert grammar_of(schema, str) == schema


@pytest.mark.parametrize("grammar", ["", " \n", "root ::= " + "(" * 300 + '"a"' + ")" * 300, 'root ::= "a"\x00"b"'])
def test_a_grammar_that_would_overflow_the_stack_or_is_cut_is_refused(grammar: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        checked_grammar(grammar)
    assert refused.value.code is ErrorCode.BAD_GRAMMAR


def test_brackets_in_texts_classes_and_comments_do_not_count() -> None:
    grammar = "root ::= " + " ".join(['"((("', "[(((]"] * 200) + " # " + "(" * 500 + "\n"
    assert checked_grammar(grammar) == grammar
