"""The sampler chain on SmolLM2: what each stage does to real logits, and what a grammar may not do to the process."""

import json
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams, PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.engine import self_test
from layadesk.engine.backend import Backend
from layadesk.engine.batch import Batch
from layadesk.engine.llama_expert import LlamaExpert
from layadesk.engine.llama_sampler import LlamaSampler
from layadesk.engine.prompt import PromptBuilder

pytestmark = pytest.mark.llama

PLAIN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repeat_penalty=1.0)
GREEDY = replace(PLAIN, temperature=0.0)


@pytest.fixture(scope="module")
def model(llama_backend: Backend, smol_gguf: Path) -> Iterator[LlamaExpert]:
    loaded = llama_backend.load(ExpertSpec("s", str(smol_gguf), LoadParams(n_ctx=1024)), lambda _: True)
    assert isinstance(loaded, LlamaExpert)
    yield loaded
    loaded.close()


@pytest.fixture
def row(model: LlamaExpert) -> int:
    """The row of logits after a question."""
    model.seq_remove(0)
    messages = [PromptMessage(Role.USER, "Name a colour.")]
    batch = Batch()
    last = batch.add(PromptBuilder(model).build(messages, None).tokens, 0, position=0, wants_logits=True)
    model.decode(batch, None)
    return last


def drawn(model: LlamaExpert, row: int, sampling: SamplingParams, n: int = 200) -> Counter[int]:
    """What comes first, with many seeds."""
    found: Counter[int] = Counter()
    for seed in range(n):
        sampler = model.new_sampler(sampling, seed)
        found[sampler.sample(row)] += 1
        sampler.close()
    return found


def written(model: LlamaExpert, sampling: SamplingParams, n_tokens: int = 20, seed: int = 1) -> str:
    """An answer of one sampler, token by token."""
    model.seq_remove(0)
    tokens = PromptBuilder(model).build([PromptMessage(Role.USER, "Name a colour.")], None).tokens
    sampler = model.new_sampler(sampling, seed)
    text, position = b"", 0
    try:
        for _ in range(n_tokens):
            batch = Batch()
            last = batch.add(tokens, 0, position=position, wants_logits=True)
            model.decode(batch, None)
            position += len(tokens)
            tokens = [sampler.sample(last)]
            if model.is_eog(tokens[0]):
                break
            text += model.piece(tokens[0])
    finally:
        sampler.close()
    return text.decode("utf-8", "replace")


def refusal(model: LlamaExpert, sampling: SamplingParams) -> str:
    with pytest.raises(LayaDeskError) as refused:
        written(model, sampling, 40)
    assert refused.value.code is ErrorCode.BAD_GRAMMAR
    return str(refused.value.facts["detail"])


def test_greedy_takes_the_largest_logit(model: LlamaExpert, row: int) -> None:
    assert drawn(model, row, GREEDY, 3) == {int(np.argmax(model._logits(row))): 3}


def test_the_candidates_that_are_looked_at_give_the_same_draws_as_the_whole_vocabulary(
    model: LlamaExpert, row: int
) -> None:
    usual = SamplingParams()
    for seed in range(40):
        quick, whole = model.new_sampler(usual, seed), model.new_sampler(usual, seed)
        whole._k = None
        assert [quick.sample(row) for _ in range(5)] == [whole.sample(row) for _ in range(5)]
        quick.close()
        whole.close()


@pytest.mark.parametrize("cut", [{"top_p": 0.5}, {"min_p": 0.05}, {"top_p": 0.6, "min_p": 0.1}], ids=str)
def test_cuts_by_probability_made_here_leave_what_the_librarys_leave(
    model: LlamaExpert, row: int, cut: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampling = replace(PLAIN, temperature=3.0, **cut)  # type: ignore[arg-type]  # all of them are floats
    quick = drawn(model, row, sampling, 400)
    monkeypatch.setattr(LlamaSampler, "_shorten", lambda _self, stages: stages)
    whole = drawn(model, row, sampling, 400)
    assert quick.keys() == whole.keys()


def test_a_seed_repeats_an_answer_and_another_seed_does_not(model: LlamaExpert) -> None:
    hot = replace(PLAIN, temperature=1.5)
    assert written(model, hot, seed=3) == written(model, hot, seed=3)
    assert written(model, hot, seed=3) != written(model, hot, seed=4)


def test_top_k_keeps_that_many(model: LlamaExpert, row: int) -> None:
    likeliest = set(np.argsort(model._logits(row))[-3:].tolist())
    assert set(drawn(model, row, replace(PLAIN, temperature=3.0, top_k=3))) <= likeliest


@pytest.mark.parametrize(
    "narrow",
    [
        replace(PLAIN, top_p=0.5),
        replace(PLAIN, min_p=0.5),
        replace(PLAIN, typical_p=0.3),
        replace(PLAIN, top_n_sigma=0.5),
        replace(PLAIN, mirostat=2, mirostat_tau=0.5),
    ],
    ids=["top_p", "min_p", "typical_p", "top_n_sigma", "mirostat"],
)
def test_every_filter_narrows_the_choice(model: LlamaExpert, row: int, narrow: SamplingParams) -> None:
    n_free = len(drawn(model, row, replace(PLAIN, temperature=1.0)))
    assert len(drawn(model, row, replace(narrow, temperature=1.0))) < n_free


def test_mirostat_1_draws_too(model: LlamaExpert) -> None:
    assert written(model, replace(PLAIN, mirostat=1, mirostat_tau=3.0), 10)


def test_xtc_leaves_out_the_likeliest(model: LlamaExpert, row: int) -> None:
    likeliest = int(np.argmax(model._logits(row)))
    assert likeliest in drawn(model, row, PLAIN)
    without = drawn(model, row, replace(PLAIN, xtc_probability=1.0, xtc_threshold=0.05))
    assert likeliest not in without


def test_a_bias_forbids_and_forces(model: LlamaExpert, row: int) -> None:
    likeliest = int(np.argmax(model._logits(row)))
    forbidden = replace(GREEDY, logit_bias=((likeliest, float("-inf")),))
    assert likeliest not in drawn(model, row, forbidden, 3)
    forced = replace(GREEDY, top_k=40, logit_bias=((7, 1000.0), (10**9, 5.0)))  # the second is no token of this model
    assert drawn(model, row, forced, 3) == {7: 3}


def test_the_tokens_that_end_an_answer_can_be_forbidden(model: LlamaExpert, row: int) -> None:
    ends = {token for token in model.facts.control_texts.values() if model.is_eog(token)}
    asked = replace(GREEDY, logit_bias=tuple((token, 1000.0) for token in ends))
    assert set(drawn(model, row, asked, 3)) <= ends
    for sampling in (asked, replace(asked, temperature=1.0), replace(asked, top_k=40, temperature=2.0)):
        assert not ends & set(drawn(model, row, replace(sampling, ignore_eos=True), 20))


@pytest.mark.parametrize(
    "punished",
    [
        replace(GREEDY, repeat_penalty=9.0, repeat_last_n=64),
        replace(GREEDY, frequency_penalty=10.0, repeat_last_n=64),
        replace(GREEDY, presence_penalty=10.0, repeat_last_n=64),
    ],
    ids=["repeat", "frequency", "presence"],
)
def test_each_penalty_makes_a_token_that_was_said_less_likely(
    model: LlamaExpert, row: int, punished: SamplingParams
) -> None:
    free, bound = model.new_sampler(GREEDY, 1), model.new_sampler(punished, 1)
    assert len({free.sample(row) for _ in range(4)}) == 1
    assert len({bound.sample(row) for _ in range(4)}) > 1
    free.close()
    bound.close()


def test_dry_makes_it_harder_to_go_on_with_a_repetition(model: LlamaExpert, row: int) -> None:
    dry = model.new_sampler(replace(GREEDY, dry_multiplier=50.0, dry_base=2.0, dry_breakers=("\n",)), 1)
    assert len({dry.sample(row) for _ in range(8)}) > 1
    dry.close()


SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}, "n": {"type": "integer"}},
    "required": ["colour", "n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("sampling", [replace(PLAIN, temperature=2.0), SamplingParams()])
def test_an_answer_bound_to_a_schema_is_json_that_fits_it(model: LlamaExpert, sampling: SamplingParams) -> None:
    bound = replace(sampling, grammar=model.schema_grammar(json.dumps(SCHEMA)), logit_bias=((10**6, 1.0),))
    said = json.loads(written(model, bound, 80))
    assert said["colour"] in ("red", "blue")
    assert isinstance(said["n"], int)


def test_a_token_that_is_free_is_not_bound(model: LlamaExpert, row: int) -> None:
    sampler = model.new_sampler(replace(GREEDY, grammar='root ::= "zzz"'), 1)
    assert sampler.sample(row, is_free=True) == int(np.argmax(model._logits(row)))
    assert model.piece(sampler.sample(row)).startswith(b"z")
    sampler.close()


@pytest.mark.parametrize(
    "grammar",
    ["nonsense", 'x ::= "a"', "root ::= nope", 'root ::= root "a" | "a"', 'root ::= "a', "root ::= [\x07"],
)
def test_a_grammar_that_is_none_is_refused(model: LlamaExpert, grammar: str) -> None:
    assert "not understood" in refusal(model, replace(GREEDY, grammar=grammar))


def test_a_grammar_that_no_token_can_meet_ends_in_a_refusal(model: LlamaExpert) -> None:
    assert "no text can go on" in refusal(model, replace(GREEDY, grammar="root ::= [\\U0010FFFF-\\x01]"))


def test_a_grammar_that_would_take_minutes_for_one_token_is_given_up(
    model: LlamaExpert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layadesk.engine.llama_sampler.GRAMMAR_LIMIT_S", 0.2)
    endless = replace(GREEDY, grammar="root ::= " + '"a"? ' * 400)
    assert "too ambiguous" in refusal(model, endless)


def test_what_a_file_recommends_is_read_from_its_metadata(
    llama_backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = self_test._metadata()

    def advised() -> list[bytes]:
        string, key = self_test._string, "general.sampling."
        return [
            *plain,
            string(f"{key}temp") + struct.pack("<If", 6, 0.75),
            string(f"{key}top_k") + struct.pack("<Ii", 5, 20),
            string(f"{key}penalty_repeat") + struct.pack("<If", 6, -3.0),
        ]

    monkeypatch.setattr(self_test, "_metadata", advised)
    path = tmp_path / "advised.gguf"
    path.write_bytes(self_test.tiny_model())
    loaded = llama_backend.load(ExpertSpec("s", str(path), LoadParams(n_ctx=64, n_parallel=1)), lambda _: True)
    assert loaded.facts.recommended == SamplingDefaults(temperature=0.75, top_k=20)
    loaded.close()
