"""Chat templates come out of downloaded files: they may be clumsy, broken, or made to harm."""

import time

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import PromptMessage, Role
from layadesk.engine.chat_template import CHATML, ChatTemplate, fold_system, join_neighbours

SYSTEM = PromptMessage(Role.SYSTEM, "Be brief.")
USER = PromptMessage(Role.USER, "Hi")
ASSISTANT = PromptMessage(Role.ASSISTANT, "Hello")


def refusal(source: str, *messages: PromptMessage, time_limit_s: float = 3.0) -> LayaDeskError:
    with pytest.raises(LayaDeskError) as refused:
        ChatTemplate(source, time_limit_s=time_limit_s).render(messages or (USER,))
    assert refused.value.code is ErrorCode.TEMPLATE_FAILED
    return refused.value


def rendered(source: str, *messages: PromptMessage) -> str:
    return ChatTemplate(source, bos_text="<s>", eos_text="</s>").render(messages or (USER,))


def test_chatml_writes_every_turn_and_where_the_answer_begins() -> None:
    assert rendered(CHATML, SYSTEM, USER) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_blocks_leave_no_line_breaks_as_in_the_transformers_library() -> None:
    assert rendered("{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}") == "Hi\n"


def test_what_published_templates_use_is_there() -> None:
    source = (
        "{{ bos_token }}{%- set ns = namespace(n=0) -%}{% for m in messages %}{% if m['role'] == 'system' %}"
        "{% continue %}{% endif %}{% set ns.n = ns.n + 1 %}{{ loop.index0 }}{{ m.content | trim }}{% endfor %}"
        "|{{ ns.n }}|{{ messages | tojson }}|{{ messages | map(attribute='role') | join(',') }}"
        "|{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
        "|{{ messages[-1]['content'].split('i')[0] }}|{{ {'a': [1, 2]} | tojson(indent=2) }}|{{ tools is none }}"
        "|{{ 'abc'[::-1] }}|{{ 'x' in 'xyz' }}{{ eos_token }}"
    )
    assert rendered(source, SYSTEM, PromptMessage(Role.USER, "Hi é")) == (
        '<s>1Hi é|1|[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi é"}]|system,user|1|H|'
        '{\n  "a": [\n    1,\n    2\n  ]\n}|True|cba|True</s>'
    )


def test_an_unclosed_comment_is_an_error_with_its_line_and_no_hang() -> None:  # G27
    error = refusal("fine\n\n{# never closed")
    assert error.facts["line"] == 3
    assert "comment" in str(error.facts["detail"])


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("{% if x %}", 1),
        ("a\n{{ raise_exception('Only for poets') }}", 2),
        ("a\nb\n{{ messages[7].content.strip() }}", 3),
        ("{{ nobody() }}", 1),
        ("{{ 1 / 0 }}", 1),
        ("{{ 'x' | nobody }}", 1),
        ("{% include 'other' %}", 1),
        ("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}", 1),
    ],
)
def test_a_template_that_fails_says_where(source: str, line: int) -> None:
    assert refusal(source).facts["line"] == line


def test_the_templates_own_refusal_is_passed_on_in_its_words() -> None:
    assert refusal("{{ raise_exception('Only for poets') }}").facts["detail"] == "Only for poets"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.__class__ }}",
        "{{ messages.append(1) }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ range.__self__ }}",
        "{{ ('{0.__class__}').format(messages) }}",
        "{{ messages | attr('__class__') }}",
        "{{ lipsum.__globals__ }}",
        "{{ self.__init__ }}",
    ],
)
def test_the_way_into_python_is_closed(source: str) -> None:
    try:
        shown = rendered(source)
    except LayaDeskError:
        return
    assert shown == "", "Jinja shows nothing for what it does not hand out"


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% for a in range(100000) %}{% for b in range(100000) %}{% set x = a * b %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(x=1) %}{% for i in range(60) %}{% set n = namespace() %}{% set n.a = ns.x %}"
        "{% set n.b = ns.x %}{% set ns.x = n %}{% endfor %}{{ ns.x }}",
    ],
)
def test_a_loop_without_end_is_stopped_within_its_time(source: str) -> None:
    began = time.monotonic()
    assert "no end" in str(refusal(source, time_limit_s=0.2).facts["detail"])
    assert time.monotonic() - began < 20, "it ran until pytest would have ended it"


GROW = "{% set ns = namespace(x=START) %}{% for i in range(200) %}{% set ns.x = NEXT %}{% endfor %}{{ ns.x }}"


@pytest.mark.parametrize(
    "source",
    [
        "{{ 10 ** 10 ** 10 }}",
        "{{ 2 ** 64 ** 2 }}",
        "{{ 'a' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'a' }}",
        "{{ [0] * 10 ** 9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:{}}'.format(1, 1000000000) }}",
        "{{ '{x:{w}}'.format_map({'x': 1, 'w': 1000000000}) }}",
        "{{ 'x'.center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x'.zfill(1000000000) }}",
        "{{ '\t'.expandtabs(1000000000) }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ ('x' * 1000000).translate({120: 'y' * 1000000}) }}",
        "{{ (1).to_bytes(1000000000, 'big') }}",
        "{{ 1 | round(1000000000) }}",
        "{{ ('f' * 3000000) | int(0, 16) }}",
        "{{ [[]] | sum(start=[]) }}",
        "{{ (range(100000) | list) | join('x' * 100000) }}",
        "{{ ('x' * 100000).join(range(100000) | map('string') | list) }}",
        "{{ ('x' * 1000000) | replace('x', 'y' * 1000000) }}",
        "{{ ('x' * 1000000).replace('x', 'y' * 1000000) }}",
        "{{ ('\n' * 1000000) | indent(9999, true, true) }}",
        "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% for i in range(100000) %}{% set x = 'x' * 1000000 %}{% endfor %}",
        GROW.replace("START", "3").replace("NEXT", "ns.x * ns.x"),
        GROW.replace("START", "'aa'").replace("NEXT", "ns.x ~ ns.x"),
        GROW.replace("START", "'aa'").replace("NEXT", "ns.x + ns.x"),
        GROW.replace("START", "'aa'").replace("NEXT", "ns.x | replace('a', 'aa')"),
        GROW.replace("START", "'aa'").replace("NEXT", "ns.x.replace('a', 'aa')"),
        GROW.replace("START", "'aa'").replace("NEXT", "[ns.x, ns.x] | join"),
        GROW.replace("START", "[1]").replace("NEXT", "ns.x + ns.x"),
        GROW.replace("START", "[1]").replace("NEXT", "[ns.x, ns.x]"),
        GROW.replace("START", "[1]").replace("NEXT", "(ns.x, ns.x)"),
        GROW.replace("START", "[1]").replace("NEXT", "{'a': ns.x, 'b': ns.x}"),
        GROW.replace("START", "[1]").replace("NEXT", "dict(a=ns.x, b=ns.x)"),
        GROW.replace("START", "[1]").replace("NEXT", "[ns.x] * 2"),
        "{% set ns = namespace(x='aa') %}{% for i in range(200) %}{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}"
        "{% set ns.x = y %}{% endfor %}",
        "{% macro m(s) %}{{ s }}{{ s }}{% endmacro %}" + GROW.replace("START", "'aa'").replace("NEXT", "m(ns.x)"),
    ],
)  # fmt: skip
def test_a_bomb_is_refused_before_it_grows(source: str) -> None:
    # One that goes off takes gigabytes, or hangs in C where no time limit reaches it.
    assert "no end" not in str(refusal(source, time_limit_s=20.0).facts["detail"])


def test_a_template_longer_than_any_real_one_is_not_even_read() -> None:
    assert refusal("x" * 300_000).facts["detail"] == "template too long"


def test_a_template_that_refuses_a_system_role_gets_it_in_the_first_user_turn() -> None:  # G26
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    )
    assert rendered(source, SYSTEM, USER) == "[user]Be brief.\n\nHi"
    assert rendered(source, USER) == "[user]Hi"


def test_a_template_that_silently_drops_a_system_role_gets_it_in_the_first_user_turn() -> None:
    source = "{% for m in messages %}{% if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}"
    assert rendered(source, SYSTEM, USER) == "[user]Be brief.\n\nHi"


def test_a_template_that_wants_turns_to_alternate_gets_neighbours_as_one() -> None:
    source = (
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    )
    assert (
        rendered(source, SYSTEM, USER, USER, ASSISTANT, USER) == "[user]Be brief.\n\nHi\n\nHi[assistant]Hello[user]Hi"
    )


def test_no_clock_enters_the_prompt_unless_the_template_cannot_do_without() -> None:  # G14
    optional = "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}{% else %}no date{% endif %}"
    assert rendered(optional) == "no date"
    assert rendered("{{ strftime_now('%H:%M:%S') }}") == "00:00:00", "a day at most, or each turn would be a new prompt"
    assert len(rendered("{{ strftime_now('%Y-%m-%d') }}")) == 10


def test_a_broken_template_fails_the_same_way_at_every_request() -> None:
    template = ChatTemplate("{{ 1 / 0 }}")
    for _ in range(2):
        with pytest.raises(LayaDeskError, match="ZeroDivisionError"):
            template.render([USER])


def test_system_text_without_a_user_turn_becomes_one() -> None:
    assert fold_system([SYSTEM, ASSISTANT]) == [PromptMessage(Role.USER, "Be brief."), ASSISTANT]
    assert fold_system([USER]) == [USER]


def test_neighbours_are_joined_by_an_empty_line() -> None:
    assert join_neighbours([USER, USER, ASSISTANT]) == [PromptMessage(Role.USER, "Hi\n\nHi"), ASSISTANT]
