"""The user's rules as text."""

from layadesk.domain.route_rules import flawed_rules, parse_rules
from layadesk.domain.routing import Rule


def test_rules_are_read_line_by_line_with_any_arrow() -> None:
    text = "code → coder-7b\n/SQL -> coder-7b\n\n domain:law=lawyer \nwriter => qwen"
    assert parse_rules(text) == (
        Rule("code", "coder-7b"),
        Rule("/sql", "coder-7b"),
        Rule("domain:law", "lawyer"),
        Rule("writer", "qwen"),
    )
    assert not flawed_rules(text)


def test_what_is_no_rule_is_named_and_the_rest_counts() -> None:
    text = "cooking → chef\ncode coder\nlaw → a\n/ → b\nmath → m"
    assert parse_rules(text) == (Rule("math", "m"),)
    assert flawed_rules(text) == ("cooking → chef", "code coder", "law → a", "/ → b")
