import json

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.engine.json_grammar import checked_grammar, grammar_of
from layadesk.engine.llama_library import json_schema_to_gbnf


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
        ("{", "it is no JSON"),
        ("", "it is no JSON"),
        (nested(100), "nested too deeply"),
        (nested(50_000), "nested too deeply"),
        ('{"type": "string", "minLength": 1000000000}', "minLength"),
        ('{"type": "array", "maxItems": -1}', "maxItems"),
        ('{"pattern": "^a{99999}$"}', "pattern"),
    ],
)
def test_an_absurd_schema_is_refused_before_the_library_sees_it(schema: str, detail: str) -> None:
    assert detail in refusal(schema)


@pytest.mark.parametrize(
    ("schema", "detail"),
    [
        ('{"type": "string", "pattern": "a"}', 'pattern must start with "^" and end with "$"'),
        ('{"type": "strange"}', "unrecognized schema"),
        ('{"type": "string", "pattern": "^a{1,2,3}$"}', "repeats what cannot be repeated"),
        ('{"type": "string", "pattern": "^*$"}', "repeats what cannot be repeated"),
        ('{"$ref": "#/$defs/none"}', "#/$defs/none"),
        ('{"properties": {"a": "string"}}', "a part of it is no schema"),
        ("[]", "a part of it is no schema"),
    ],
)
def test_what_the_library_cannot_convert_is_refused_in_words(schema: str, detail: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        grammar_of(schema, json_schema_to_gbnf)
    words = str(refused.value.facts["detail"])
    assert detail in words
    assert "Error" not in words


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
