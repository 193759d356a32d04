"""Kept cells on real models: nothing is computed twice, and the words stay the same."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.inference import PromptMessage, Role
from layadesk.engine.backend import Backend
from tests.fakes.engine_running import GREEDY, SENTENCES, RunningEngine, expert, recital

pytestmark = pytest.mark.llama

KINDS = [("smol_gguf", True), ("gemma_gguf", False)]


@pytest.fixture(scope="module", params=KINDS, ids=["smol", "gemma"])
def engine(request: pytest.FixtureRequest, llama_backend: Backend) -> Iterator[RunningEngine]:
    """An engine with a model whose layers see everything, or with one that keeps only its windows of 512 tokens."""
    name, swa_full = request.param
    path: Path = request.getfixturevalue(name)
    running = RunningEngine(llama_backend, expert(str(path), n_ctx=4096, n_parallel=2, n_kept=4, swa_full=swa_full))
    yield running
    running.close()


def test_a_third_turn_says_the_same_with_and_without_kept_cells_and_computes_only_what_is_new(
    engine: RunningEngine,
) -> None:
    """Reported faults G13, G17, G18."""
    messages = recital(SENTENCES[0], 4)
    for _ in range(3):
        end = engine.finished(engine.ask(messages, sampling=replace(GREEDY, max_tokens=12)))
        messages += [PromptMessage(Role.ASSISTANT, end.text), PromptMessage(Role.USER, "Recite it.")]
    n_new = end.timings.n_prompt - end.timings.n_cached
    assert 0 < n_new < 35, "the next question, and the head of the next answer"
    engine.unload()
    plain = engine.finished(engine.ask(messages[:-2], sampling=replace(GREEDY, max_tokens=12)))
    assert plain.timings.n_cached == 0
    assert plain.text == end.text


def test_an_answer_asked_for_again_computes_next_to_nothing(engine: RunningEngine) -> None:
    messages = [PromptMessage(Role.SYSTEM, "You know many words. " * 40), *recital(SENTENCES[1], 3)]
    sampling = replace(GREEDY, max_tokens=12)
    first = engine.finished(engine.ask(messages, sampling=sampling))
    again = engine.finished(engine.ask(messages, sampling=sampling))
    assert again.text == first.text
    assert again.timings.n_prompt > 300
    assert again.timings.n_prompt - again.timings.n_cached <= 8


def test_another_conversation_shares_the_system_prompt(engine: RunningEngine) -> None:  # G20
    system = PromptMessage(Role.SYSTEM, "You recite sentences. " * 40)
    sampling = replace(GREEDY, max_tokens=12)
    engine.finished(engine.ask([system, *recital(SENTENCES[2], 1)], sampling=sampling))
    other = engine.finished(engine.ask([system, *recital(SENTENCES[3], 1)], sampling=sampling))
    assert other.timings.n_cached > 150
    engine.unload()
    alone = engine.finished(engine.ask([system, *recital(SENTENCES[3], 1)], sampling=sampling))
    assert other.text == alone.text


def test_an_answer_that_was_cut_off_goes_on_as_if_it_had_not_been_and_computes_next_to_nothing(
    engine: RunningEngine,
) -> None:
    engine.unload()
    messages = recital(SENTENCES[0], 5)
    whole = engine.finished(engine.ask(messages, sampling=replace(GREEDY, max_tokens=20)))
    engine.unload()
    begun = engine.finished(engine.ask(messages, sampling=replace(GREEDY, max_tokens=8)))
    rest = engine.finished(engine.go_on(messages, begun.text, sampling=replace(GREEDY, max_tokens=12)))
    assert begun.text + rest.text == whole.text
    assert rest.timings.n_prompt == begun.timings.n_prompt + 8
    assert rest.timings.n_prompt - rest.timings.n_cached <= 2
    engine.unload()
    cold = engine.finished(engine.go_on(messages, begun.text, sampling=replace(GREEDY, max_tokens=12)))
    assert cold.text == rest.text, "also where its cells are gone"
