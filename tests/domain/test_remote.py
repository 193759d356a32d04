"""Remote experts in the domain: addresses, their marks, and what Auto may not do."""

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.remote import EndpointRemark, checked_url, host_of, is_loopback, is_remote, remarks_on
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import OutReason, Policy, PoolExpert, RouterAnswer, RouteReason, Rule, Turn
from layadesk.domain.strengths import Strengths

CODE = RouterAnswer("bundled", 0.2, {"code": 0.95, "chat": 0.05}, {"programming": 1.0}, 3, "en")
LOCAL = PoolExpert("small", is_default=True, is_loaded=True, strengths=Strengths({"code": 0.4}))
FAR = PoolExpert("remote:big", is_loaded=True, strengths=Strengths({"code": 0.95}), host="api.example.com")
ALLOWED = Policy(allows_remote=True)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" https://api.example.com/v1/ ", "https://api.example.com/v1"),
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("https://host/openai/deployments/x", "https://host/openai/deployments/x"),
        ("http://[::1]:9000/v1", "http://[::1]:9000/v1"),
    ],
)
def test_an_address_is_kept_without_what_users_paste_along(typed: str, kept: str) -> None:
    assert checked_url(typed) == kept


@pytest.mark.parametrize(
    "typed",
    ["", "api.example.com", "ftp://x/v1", "https://", "https://me:secret@host/v1", "https://h/v1?key=1", "http://h:99999",
     "https://a b/v1", "http://[::1", "file:///etc/passwd", f"https://h/{'x' * 3000}", "https://h/\n/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_no_password_is_repeated(typed: str) -> None:
    with pytest.raises(LayaDeskError) as caught:
        checked_url(typed)
    assert caught.value.code is ErrorCode.BAD_ENDPOINT
    assert "secret" not in str(caught.value)


def test_the_host_is_who_gets_the_words() -> None:
    assert host_of("https://api.example.com:8000/v1") == "api.example.com:8000"
    assert host_of("http://[::1]:9000/v1") == "[::1]:9000"
    assert host_of("no address") == "no address"


@pytest.mark.parametrize(
    ("url", "remarks"),
    [
        ("https://api.example.com/v1", ()),
        ("http://192.168.1.7:8000/v1", (EndpointRemark.PLAIN_HTTP,)),
        ("http://127.0.0.9:8000/v1", (EndpointRemark.THIS_MACHINE,)),
        ("http://localhost:1/v1", (EndpointRemark.THIS_MACHINE,)),
        ("http://localhost.evil.example/v1", (EndpointRemark.PLAIN_HTTP,)),
        ("http://127.0.0.1.evil.example/v1", (EndpointRemark.PLAIN_HTTP,)),
    ],
)
def test_an_unencrypted_way_out_of_the_machine_is_remarked(url: str, remarks: tuple[EndpointRemark, ...]) -> None:
    assert remarks_on(url) == remarks
    assert is_loopback(url) == (EndpointRemark.THIS_MACHINE in remarks)


def test_the_id_alone_says_that_an_expert_is_remote() -> None:
    assert is_remote("remote:big")
    assert not is_remote("small")


@pytest.mark.parametrize(
    "turn",
    [Turn(), Turn(current="remote:big", is_follow_up=True), Turn(current="remote:big"), Turn(second_opinion=True)],
)
def test_auto_never_sends_anything_away_unless_it_is_allowed_to(turn: Turn) -> None:
    rules = (Rule("code", "remote:big"),)
    route = choose(CODE, [LOCAL, FAR], turn=turn, policy=Policy(rules=rules))
    assert (route.expert, route.host, route.second) == ("small", None, None)
    assert route.reason is not RouteReason.RUNNER_UP, "a remote expert without a say is no better candidate"
    assert [(one.model_id, one.out, one.host) for one in route.ranking][-1] == (
        "remote:big", OutReason.REMOTE_NOT_ALLOWED, "api.example.com",
    )  # fmt: skip


def test_where_it_is_allowed_the_better_expert_is_chosen_and_the_route_says_where_it_is() -> None:
    route = choose(CODE, [LOCAL, FAR], policy=ALLOWED)
    assert (route.expert, route.host) == ("remote:big", "api.example.com")
    assert route.ranking[0].host == "api.example.com"


def test_one_that_is_down_is_out_for_auto_and_tried_where_it_is_wished() -> None:
    down = PoolExpert("remote:big", out=OutReason.REMOTE_DOWN, strengths=FAR.strengths, host="api.example.com")
    route = choose(CODE, [LOCAL, down], policy=ALLOWED)
    assert (route.expert, route.instead_of) == ("small", "remote:big")
    for turn in (Turn(picked="remote:big"), Turn(pinned="remote:big")):
        wished = choose(CODE, [LOCAL, down], turn=turn)
        assert (wished.expert, wished.host) == ("remote:big", "api.example.com"), "the last look may be old"
        assert wished.ranking[0].out is None


def test_with_none_but_remote_experts_auto_says_what_would_have_to_be_allowed() -> None:
    with pytest.raises(LayaDeskError) as caught:
        choose(CODE, [FAR])
    assert caught.value.code is ErrorCode.REMOTE_NOT_ALLOWED
    assert choose(CODE, [FAR], policy=ALLOWED).expert == "remote:big"
