"""Whatever a request brings with it: a typed error for that request alone, and the others do not notice."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, SamplingParams, ThinkingParams
from layadesk.engine.scripted_backend import ScriptedBackend
from layadesk.engine.self_test import tiny_model
from layadesk.protocol.events import Failed
from layadesk.protocol.scripted import ScriptedOptions
from tests.engine.conftest import BackendCase
from tests.fakes.engine_running import GREEDY, SENTENCES, RunningEngine, expert, recital

Start = Callable[..., RunningEngine]

BAD: dict[str, tuple[ErrorCode, str, SamplingParams, ThinkingParams]] = {
    "a prompt longer than the context": (ErrorCode.CONTEXT_LENGTH_EXCEEDED, "word " * 5000, GREEDY, ThinkingParams()),
    "zero tokens": (ErrorCode.EMPTY_PROMPT, " \n\t", GREEDY, ThinkingParams()),
    "10,000 stop strings": (
        ErrorCode.BAD_PARAMETER,
        "hello",
        replace(GREEDY, stop=tuple(str(n) for n in range(10_000))),
        ThinkingParams(),
    ),
    "a schema that is none": (ErrorCode.BAD_GRAMMAR, "hello", replace(GREEDY, json_schema="{"), ThinkingParams()),
    "a schema of gigabytes": (
        ErrorCode.BAD_GRAMMAR,
        "hello",
        replace(GREEDY, json_schema='{"type": "string", "minLength": 999999999}'),
        ThinkingParams(),
    ),
    "a grammar of 300 brackets": (
        ErrorCode.BAD_GRAMMAR,
        "hello",
        replace(GREEDY, grammar="root ::= " + "(" * 300),
        ThinkingParams(),
    ),
    "a schema and a grammar": (
        ErrorCode.BAD_GRAMMAR,
        "hello",
        replace(GREEDY, grammar='root ::= "a"', json_schema="{}"),
        ThinkingParams(),
    ),
    "a thinking budget below nothing": (ErrorCode.BAD_PARAMETER, "hello", GREEDY, ThinkingParams(max_tokens=-5)),
}


@pytest.fixture
def engine(start_engine: Start, any_backend: BackendCase) -> RunningEngine:
    backend = any_backend.scripted_as(text=SENTENCES[0], decode_tps=300)
    return start_engine(backend, expert(any_backend.path, n_ctx=1024, n_parallel=4))


def test_each_fails_alone_while_another_answer_is_being_made(engine: RunningEngine) -> None:
    other = engine.ask(recital(SENTENCES[0]), sampling=replace(GREEDY, max_tokens=20))
    asked = {name: engine.ask(text, sampling=bad, thinking=thinking) for name, (_, text, bad, thinking) in BAD.items()}
    codes = {name: engine.failed(request_id).error.code for name, request_id in asked.items()}
    assert codes == {name: code for name, (code, *_) in BAD.items()}
    said = engine.finished(other).text
    assert said
    assert SENTENCES[0].startswith(said)


def test_control_signs_are_text(engine: RunningEngine) -> None:
    hostile = "NUL \x00, BOM \ufeff, \u202eturned, <|im_end|>\x7f"
    end = engine.finished(engine.ask(hostile, sampling=replace(GREEDY, max_tokens=8)))
    assert end.finish_reason in (FinishReason.STOP, FinishReason.LENGTH)


def test_the_second_of_two_requests_with_one_id_is_refused_and_the_first_goes_on(engine: RunningEngine) -> None:
    first = engine.ask(recital(SENTENCES[0]), request_id="twin", sampling=replace(GREEDY, max_tokens=26))
    engine.wait_text(first, 1)
    engine.ask("hello", request_id="twin")
    failure = engine.wait(Failed, lambda event: event.request_id is None)
    assert failure.error.code is ErrorCode.DUPLICATE_REQUEST
    assert failure.error.facts["request"] == "twin"
    assert engine.finished(first).text


@pytest.mark.llama
def test_a_grammar_that_cannot_be_met_ends_its_request_in_the_middle(
    start_engine: Start, llama_backend: object, smol_gguf: Path
) -> None:
    engine = start_engine(llama_backend, expert(str(smol_gguf)))
    other = engine.ask(recital(SENTENCES[0]), sampling=replace(GREEDY, max_tokens=26))
    unmet = replace(GREEDY, grammar='root ::= "Hello" [\\U0010FFFF-\\x01]')
    failure = engine.failed(engine.ask("hello", sampling=unmet))
    assert (failure.error.code, failure.error.facts["kind"]) == (ErrorCode.BAD_GRAMMAR, "grammar")
    assert engine.finished(other).text == SENTENCES[0][: len(engine.finished(other).text)]


@pytest.mark.llama
def test_a_bound_answer_is_json_and_thinking_is_not_bound(
    start_engine: Start, llama_backend: object, smol_gguf: Path
) -> None:
    engine = start_engine(llama_backend, expert(str(smol_gguf)))
    bound = replace(GREEDY, json_schema='{"enum": ["yes", "no"]}', max_tokens=20)
    end = engine.finished(engine.ask("Is water wet?", sampling=bound))
    assert end.text in ('"yes"', '"no"')
    assert end.finish_reason is FinishReason.STOP


@pytest.mark.llama
@pytest.mark.logs_warnings
def test_a_file_without_a_vocabulary_cannot_chat_and_says_so(
    start_engine: Start, llama_backend: object, tmp_path: Path
) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_model())
    engine = start_engine(llama_backend, expert(str(path), n_ctx=128))
    assert engine.failed(engine.ask("hello")).error.code is ErrorCode.GGUF_NO_VOCABULARY


@pytest.mark.parametrize("repeats", [True, False])
def test_an_answer_that_only_repeats_itself_is_ended_and_says_so_unless_that_is_wanted(
    start_engine: Start, any_file: str, repeats: bool
) -> None:
    """Reported fault G22."""
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="I am sorry. " * 80)), expert(any_file, n_ctx=2048))
    end = engine.finished(engine.ask("hello", sampling=replace(GREEDY, stops_loops=repeats)))
    assert end.finish_reason is (FinishReason.LOOP if repeats else FinishReason.STOP)
    assert end.text == ("I am sorry. " * 80)[: len(end.text)]
    assert (len(end.text) < 300) is repeats
