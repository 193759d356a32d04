"""Golden cases of the policy: three machines, and everything that comes before the router's word."""

from dataclasses import replace

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.follow_up import command_task, is_follow_up, slash_word
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import OutReason, Policy, PoolExpert, Route, RouterAnswer, RouteReason, Rule, Turn
from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import Strengths

GENERAL = Strengths(languages=("en", "zh"), effort_ceiling=Effort.HEAVY, cost=0.4)
CODER = Strengths({"code": 0.95}, {"programming": 0.8}, ("en", "zh"), Effort.HEAVY, 0.5, otherwise=0.4)
THINKER = Strengths(
    {"math": 0.9, "reasoning": 0.9}, {"science": 0.6}, ("en", "zh"), Effort.HEAVY, 0.7, can_think=True, otherwise=0.4
)
TINY = Strengths({"chat": 0.55}, {}, ("en",), Effort.LIGHT, 0.0)

# A 24 GB card holds one 14B expert and a small one; loading from a fast disk.
BIG_CARD = (
    PoolExpert("general-14b", is_default=True, is_loaded=True, strengths=GENERAL, n_ctx=32768, prefill_tps=3000),
    PoolExpert("coder-14b", strengths=CODER, n_ctx=32768, load_s=4.0, prefill_tps=3000),
    PoolExpert("thinker-14b", strengths=THINKER, n_ctx=32768, load_s=4.0, prefill_tps=3000),
    PoolExpert("tiny", is_loaded=True, strengths=TINY, n_ctx=8192, prefill_tps=20000),
)
# An iGPU with shared memory: the larger coder does not fit beside the desktop.
SHARED_MEMORY = (
    PoolExpert("general-7b", is_default=True, is_loaded=True, strengths=GENERAL, n_ctx=16384, prefill_tps=250),
    PoolExpert(
        "coder-14b",
        strengths=CODER,
        n_ctx=16384,
        load_s=12.0,
        prefill_tps=120,
        out=OutReason.DOES_NOT_FIT,
        out_facts={"needs_bytes": 11_000_000_000, "free_bytes": 6_000_000_000},
    ),
    PoolExpert(
        "coder-3b", strengths=replace(CODER, tasks={"code": 0.8}, cost=0.1), n_ctx=16384, load_s=5.0, prefill_tps=400
    ),
)
# Two cores: everything is slow, so a change must be worth it.
CPU = (
    PoolExpert("general-3b", is_default=True, is_loaded=True, strengths=GENERAL, n_ctx=8192, prefill_tps=40),
    PoolExpert("coder-3b", strengths=CODER, n_ctx=8192, load_s=8.0, prefill_tps=40),
)

CODE = RouterAnswer("bundled", 0.2, {"code": 0.9, "knowledge": 0.1}, {"programming": 0.95, "general": 0.05}, 3, "en")
MATH = RouterAnswer("bundled", 0.2, {"math": 0.85, "reasoning": 0.15}, {"math": 1.0}, 5, "zh")
HELLO = RouterAnswer("bundled", 0.2, {"chat": 0.97, "knowledge": 0.03}, {"general": 0.9, "daily_life": 0.1}, 1, "en")
UNCLEAR = RouterAnswer("bundled", 0.2, {"code": 0.4, "knowledge": 0.35, "chat": 0.25}, {"general": 1.0}, 3, "en")


def chosen(route: Route) -> tuple[str, RouteReason]:
    return route.expert, route.reason


@pytest.mark.parametrize(
    ("answer", "expert", "reason"),
    [
        (CODE, "coder-14b", RouteReason.ROUTER),
        (MATH, "thinker-14b", RouteReason.ROUTER),
        (HELLO, "tiny", RouteReason.ROUTER),
        (replace(HELLO, language="zh"), "general-14b", RouteReason.ROUTER),
        (UNCLEAR, "general-14b", RouteReason.UNSURE),
    ],
)
def test_on_a_large_card_each_kind_of_request_finds_its_expert(
    answer: RouterAnswer, expert: str, reason: RouteReason
) -> None:
    assert chosen(choose(answer, BIG_CARD)) == (expert, reason)


def test_on_shared_memory_the_runner_up_answers_and_the_route_says_in_whose_place_and_what_it_lacked() -> None:
    route = choose(CODE, SHARED_MEMORY)
    assert chosen(route) == ("coder-3b", RouteReason.RUNNER_UP)
    assert route.instead_of == "coder-14b"
    barred = next(one for one in route.ranking if one.model_id == "coder-14b")
    assert (barred.out, barred.facts["needs_bytes"]) == (OutReason.DOES_NOT_FIT, 11_000_000_000)
    assert all(one.terms is not None for one in route.ranking), "also those that are out are weighed"


def test_on_a_cpu_a_conversation_stays_where_it_is_unless_the_gain_is_worth_the_reading() -> None:
    chat_then_code = Turn(current="general-3b", n_history=3000, n_prompt=3100)
    assert chosen(choose(CODE, CPU, turn=replace(chat_then_code, n_history=0))) == ("coder-3b", RouteReason.ROUTER)
    kept = choose(replace(CODE, domain_probs={}), CPU, turn=chat_then_code)
    assert chosen(kept) == ("general-3b", RouteReason.KEPT)
    assert (kept.instead_of, kept.n_reprefill) == ("coder-3b", 0)


def test_a_change_says_how_much_is_read_again() -> None:
    route = choose(CODE, BIG_CARD, turn=Turn(current="general-14b", n_history=900, n_prompt=950))
    assert (route.expert, route.previous, route.n_reprefill) == ("coder-14b", "general-14b", 900)


def test_the_order_is_pick_pin_rule_router() -> None:
    policy = Policy(rules=(Rule("code", "general-14b"), Rule("/sql", "thinker-14b")))
    everything = Turn(picked="tiny", pinned="thinker-14b", slash="sql")
    assert chosen(choose(CODE, BIG_CARD, turn=everything, policy=policy)) == ("tiny", RouteReason.PICKED)
    pinned = replace(everything, picked=None)
    assert chosen(choose(CODE, BIG_CARD, turn=pinned, policy=policy)) == ("thinker-14b", RouteReason.PINNED)
    slashed = replace(pinned, pinned=None)
    route = choose(HELLO, BIG_CARD, turn=slashed, policy=policy)
    assert (*chosen(route), route.rule) == ("thinker-14b", RouteReason.RULE, "/sql")
    plain = choose(CODE, BIG_CARD, turn=Turn(), policy=policy)
    assert (*chosen(plain), plain.rule) == ("general-14b", RouteReason.RULE, "code")
    assert choose(None, BIG_CARD, turn=Turn(slash="code"), policy=policy).rule == "code", "the user said what it is"


def test_a_rule_for_an_expert_that_cannot_answer_or_is_unknown_is_passed_over() -> None:
    policy = Policy(rules=(Rule("code", "coder-14b"), Rule("code", "nobody")))
    assert choose(CODE, SHARED_MEMORY, policy=policy).reason is RouteReason.RUNNER_UP


def test_a_follow_up_stays_with_its_expert_whatever_the_router_thinks() -> None:
    turn = Turn(current="coder-14b", is_follow_up=True, n_history=200, n_prompt=210)
    assert chosen(choose(HELLO, BIG_CARD, turn=turn)) == ("coder-14b", RouteReason.FOLLOW_UP)
    gone = replace(turn, current="removed")
    assert choose(HELLO, BIG_CARD, turn=gone).expert == "tiny"


def test_an_unsure_router_leaves_a_conversation_where_it_is() -> None:
    route = choose(UNCLEAR, BIG_CARD, turn=Turn(current="thinker-14b", n_prompt=10))
    assert chosen(route) == ("thinker-14b", RouteReason.UNSURE)
    assert route.sureness is not None
    assert choose(UNCLEAR, BIG_CARD, policy=Policy(confidence=0.3)).reason is RouteReason.ROUTER


def test_an_expert_whose_context_cannot_hold_the_prompt_is_out_and_a_ceiling_on_the_answer_plays_no_part() -> None:
    route = choose(HELLO, BIG_CARD, turn=Turn(n_prompt=9000))
    assert route.expert == "general-14b"
    small = next(one for one in route.ranking if one.model_id == "tiny")
    assert (small.out, small.facts) == (OutReason.CONTEXT_TOO_SMALL, {"n_prompt": 9000, "n_ctx": 8192})
    assert route.instead_of == "tiny"


def test_a_conversation_that_no_context_holds_goes_on_without_its_oldest_messages() -> None:
    route = choose(CODE, CPU, turn=Turn(n_prompt=10_000, n_least=300))
    assert route.expert == "coder-3b"
    assert choose(CODE, BIG_CARD, turn=Turn(pinned="tiny", n_prompt=9000, n_least=50)).expert == "tiny"


def test_a_remote_expert_that_is_down_is_passed_over_and_named() -> None:
    pool = (*BIG_CARD[:1], replace(BIG_CARD[1], out=OutReason.REMOTE_DOWN), BIG_CARD[3])
    route = choose(CODE, pool)
    assert route.instead_of == "coder-14b"
    assert next(one.out for one in route.ranking if one.model_id == "coder-14b") is OutReason.REMOTE_DOWN


def test_where_nothing_fits_the_refusal_carries_the_bill() -> None:
    facts = {"needs_bytes": 9, "free_bytes": 4}
    pool = [replace(one, out=OutReason.DOES_NOT_FIT, out_facts=facts) for one in CPU]
    with pytest.raises(LayaDeskError) as caught:
        choose(CODE, pool)
    assert (caught.value.code, caught.value.facts["needs_bytes"]) == (ErrorCode.OUT_OF_MEMORY, 9)
    with pytest.raises(LayaDeskError) as caught:
        choose(CODE, CPU, turn=Turn(n_prompt=10_000))
    assert (caught.value.code, caught.value.facts["n_ctx"]) == (ErrorCode.CONTEXT_LENGTH_EXCEEDED, 8192)


def test_heavy_requests_keep_away_from_small_experts() -> None:
    pool = (PoolExpert("small", strengths=replace(TINY, languages=())), PoolExpert("large", strengths=GENERAL))
    light = replace(HELLO, task_probs={"knowledge": 1.0}, complexity=1)
    assert choose(light, pool).expert == "small"
    assert choose(replace(light, complexity=5), pool).expert == "large"


def test_between_equals_the_default_answers() -> None:
    pool = (PoolExpert("a"), PoolExpert("b", is_default=True), PoolExpert("c"))
    assert choose(CODE, pool).expert == "b"


def test_a_second_opinion_comes_from_the_next_best_that_can_answer_and_only_where_it_is_wanted() -> None:
    assert choose(CODE, BIG_CARD).second is None
    assert choose(CODE, BIG_CARD, policy=Policy(topk=2)).second == "general-14b"
    assert choose(MATH, BIG_CARD, policy=Policy(heavy_topk=True)).second is not None
    assert choose(CODE, BIG_CARD, policy=Policy(heavy_topk=True)).second is None, "not heavy"
    assert choose(CODE, BIG_CARD, turn=Turn(second_opinion=True)).second is not None
    assert choose(CODE, BIG_CARD, turn=Turn(second_opinion=False), policy=Policy(topk=2)).second is None
    assert choose(CODE, BIG_CARD[:1], policy=Policy(topk=2)).second is None


def test_thinking_is_switched_on_for_heavy_requests_on_experts_that_can() -> None:
    assert choose(MATH, BIG_CARD, policy=Policy(enhance=True)).thinks
    assert not choose(replace(MATH, complexity=2), BIG_CARD, policy=Policy(enhance=True)).thinks
    assert not choose(MATH, BIG_CARD).thinks
    assert not choose(replace(CODE, complexity=5), BIG_CARD, policy=Policy(enhance=True)).thinks


@pytest.mark.parametrize(
    "text",
    [
        "继续",
        "continue",
        "fix it",
        "再短一点",
        "in Python please",
        "换成英文的",
        "why?",
        "第二个呢",
        "and the second one in Rust?",
        "make it shorter",
    ],
)
def test_these_go_on_with_what_was_said(text: str) -> None:
    assert is_follow_up(text, has_history=True)
    assert not is_follow_up(text, has_history=False)


@pytest.mark.parametrize(
    "text",
    [
        "Write a Python function that merges two sorted lists",
        "帮我写一封给房东的信，说明下个月要退租，语气客气一些",
        "What is the capital of Mongolia?",
        "/code",
        "Andes mountains: how high?",
        "ok so now something else entirely, can you plan a three day trip to Lisbon for us?",
    ],
)
def test_these_stand_alone(text: str) -> None:
    assert not is_follow_up(text, has_history=True)


def test_slash_words_name_tasks_in_both_languages() -> None:
    assert (slash_word("/Code sort this"), slash_word(" /翻译 你好"), slash_word("a /code")) == ("code", "翻译", None)
    assert (slash_word("/usr/bin/python fails"), slash_word("/")) == (None, None)
    assert (command_task("翻译"), command_task("tldr"), command_task("writer"), command_task("zzz")) == (
        "translate", "summarise", "writing", None,
    )  # fmt: skip
