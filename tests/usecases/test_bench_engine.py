"""What the figures of the bench mean; that they are right is for the machine they are taken on."""

import time
from collections.abc import Sequence

import pytest

from layadesk.domain.inference import PromptMessage
from layadesk.usecases.bench_contenders import Heard
from layadesk.usecases.bench_engine import BenchEngine, Ratio, bench_spec


def heard(asked_at: float, *pieces: tuple[float, int]) -> Heard:
    one = Heard(asked_at)
    for at, n in pieces:
        one.hear(at, n)
    one.end(pieces[-1][0] if pieces else asked_at)
    return one


class Timed:
    """Answers in known times: the first token after 1 s where a long beginning is new, else after 0.05 s."""

    def __init__(self, name: str, tps: float) -> None:
        self.name = name
        self._tps = tps
        self._known: set[str] = set()
        self.n_called_off = 0

    def ask(self, messages: Sequence[PromptMessage], max_tokens: int, conversation: str = "") -> Heard:
        first = 0.05 if messages[0].text in self._known or len(messages[0].text) < 500 else 1.0
        self._known.add(messages[0].text)
        answer = Heard(0.0, text="Yes.")
        for n in range(1, max_tokens + 1):
            answer.hear(first + (n - 1) / self._tps, n)
        answer.end(first + max_tokens / self._tps)
        answer.call_off = self._called_off
        return answer

    def _called_off(self) -> None:
        self.n_called_off += 1

    def restart(self) -> bool:
        return self.name == "layadesk"


def ratios(*contenders: Timed, sections: Sequence[str]) -> dict[tuple[str, str], Ratio]:
    ours, *rivals = contenders
    bench = BenchEngine(
        bench_spec("model.gguf", 2, 8192),
        ours,  # type: ignore[arg-type]  # the sections asked for need no more of it
        n_threads=2,
        n_rounds=2,
        rival=rivals[0] if rivals else None,
    )
    return {(one.name, one.contender): one for one in bench.run(sections).ratios}


def test_the_speed_of_an_answer_is_that_after_its_first_piece() -> None:
    one = heard(10.0, (12.0, 1), (13.0, 3), (14.0, 5))
    assert (one.ttft_s, one.tps) == (2.0, 2.0)
    assert heard(10.0, (12.0, 1)).tps is None
    assert heard(10.0).ttft_s is None


def test_only_gaps_in_the_span_count_also_those_that_reach_into_it() -> None:
    one = heard(0.0, (1.0, 1), (2.0, 2), (6.0, 3), (6.5, 4))
    assert one.gaps(3.0, 6.2) == [4.0, 0.5]
    assert one.gaps(0.0, 1.5) == [1.0]


def test_how_many_tokens_had_come_is_known_for_each_moment() -> None:
    one = heard(0.0, (1.0, 1), (2.0, 4))
    assert [one.n_at(moment) for moment in (0.5, 1.0, 1.9, 2.0)] == [0, 1, 1, 4]


def test_waiting_for_tokens_ends_with_the_answer_too() -> None:
    began = time.perf_counter()
    heard(0.0, (1.0, 1)).wait_tokens(100)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(("value", "is_least", "met"), [(0.98, True, True), (0.96, True, False), (0.96, False, True)])
def test_an_aim_is_met_from_its_own_side(value: float, is_least: bool, met: bool) -> None:
    assert Ratio("s", "n", "layadesk", value, 0.97, is_least).is_met is met
    assert Ratio("s", "n", "layadesk", value).is_met is None


def test_turns_are_related_to_a_cold_one_and_aims_are_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layadesk.usecases.bench_engine.REST_S", 0.0)
    found = ratios(Timed("layadesk", 50.0), Timed("llama-server", 40.0), sections=["ttft"])
    ours = found["third turn : cold", "layadesk"]
    assert ours.value == pytest.approx(0.05)
    assert (ours.aim, ours.is_met) == (0.06, True)
    assert found["third turn : cold", "llama-server"].aim is None
    assert ("after a restart : cold", "layadesk") in found
    assert ("after a restart : cold", "llama-server") not in found
    assert found["shared system prompt : new system prompt", "layadesk"].value == pytest.approx(0.05)


def test_conversations_together_are_related_to_one() -> None:
    found = ratios(Timed("layadesk", 50.0), sections=["parallel"])
    assert found["8 conversations : one by one", "layadesk"].value == pytest.approx(8.0, rel=0.05)


def test_the_readers_are_called_off_when_the_long_prompt_is_there() -> None:
    ours = Timed("layadesk", 50.0)
    found = ratios(ours, sections=["gap"])
    assert ours.n_called_off == 3
    assert found["worst gap, s", "layadesk"].value == pytest.approx(0.02)
    assert found["long prompt in company : alone", "layadesk"].value == pytest.approx(1.0)
