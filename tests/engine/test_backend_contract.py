"""What every backend promises, on the scripted one and on llama.cpp with a real small model."""

import threading
from collections.abc import Iterator

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import DecodeOutcome, Expert, LoadCancelled, Sampler
from layadesk.engine.batch import Batch
from tests.engine.conftest import BackendCase
from tests.fakes.engine_running import GREEDY

PARAMS = LoadParams(n_ctx=256, n_batch=128, n_ubatch=64, n_parallel=3, n_kept=0)


@pytest.fixture
def expert(any_backend: BackendCase) -> Iterator[Expert]:
    loaded = any_backend.backend.load(ExpertSpec("e", any_backend.path, PARAMS), lambda _fraction: True)
    yield loaded
    loaded.close()


def tokens(expert: Expert, n: int) -> list[int]:
    found = expert.tokenize("The quick brown fox jumps over the lazy dog. " * (1 + n), parse_special=True)
    assert len(found) >= n
    return found[:n]


def decode(expert: Expert, new: list[int], seq_id: int = 0, *, position: int = 0) -> tuple[DecodeOutcome, int]:
    batch = Batch()
    row = batch.add(new, seq_id, position=position, wants_logits=True)
    return expert.decode(batch, None), row


def refused(expert: Expert, batch: Batch) -> LayaDeskError:
    with pytest.raises(LayaDeskError) as refusal:
        expert.decode(batch, None)
    assert refusal.value.code is ErrorCode.DECODE_FAILED
    return refusal.value


def go_on(expert: Expert, sampler: Sampler, row: int, seq_id: int, position: int, n: int) -> list[int]:
    made = []
    for i in range(n):
        made.append(sampler.sample(row))
        outcome, row = decode(expert, [made[-1]], seq_id, position=position + i)
        assert outcome is DecodeOutcome.OK
    return made


def test_the_facts_say_what_was_asked_for(expert: Expert) -> None:
    facts = expert.facts
    assert facts.n_ctx == 256
    assert facts.n_ctx_seq == 256
    assert facts.n_seq_max == 3
    assert facts.n_batch == 128
    assert facts.n_vocab > 256
    assert facts.memory.kv_bytes
    assert facts.architecture
    assert facts.control_texts


def test_text_comes_back_from_its_tokens(expert: Expert) -> None:
    text = "Hello, wörld! 你好 🦊"
    pieces = [expert.piece(token) for token in expert.tokenize(text, parse_special=True)]
    assert b"".join(pieces).decode() == text


def test_a_control_text_is_one_token_only_where_that_is_wanted(expert: Expert) -> None:
    text, token = next(iter(expert.facts.control_texts.items()))
    assert expert.tokenize(text, parse_special=True) == [token]
    assert token not in expert.tokenize(text, parse_special=False)
    assert expert.piece(token) == b"", "never shown"


def test_positions_are_counted_for_each_sequence(expert: Expert) -> None:
    assert expert.seq_pos_max(0) == -1
    decode(expert, tokens(expert, 5), 0)
    decode(expert, tokens(expert, 3), 1)
    assert (expert.seq_pos_max(0), expert.seq_pos_max(1), expert.seq_pos_max(2)) == (4, 2, -1)
    expert.seq_remove(0)
    assert (expert.seq_pos_max(0), expert.seq_pos_max(1)) == (-1, 2)
    expert.seq_remove(1, 1)
    assert expert.seq_pos_max(1) == 0


def test_what_would_abort_the_process_is_refused_and_changes_nothing(expert: Expert) -> None:
    decode(expert, tokens(expert, 5))
    too_long, bad_token, bad_sequence, gap, back = Batch(), Batch(), Batch(), Batch(), Batch()
    too_long.add(tokens(expert, 129), 1, position=0, wants_logits=True)
    bad_token.add([expert.facts.n_vocab], 1, position=0, wants_logits=True)
    bad_sequence.add(tokens(expert, 1), 3, position=0, wants_logits=True)
    gap.add(tokens(expert, 1), 0, position=7, wants_logits=True)
    back.add(tokens(expert, 1), 0, position=2, wants_logits=True)
    for batch in (Batch(), too_long, bad_token, bad_sequence, gap, back):
        refused(expert, batch)
    many = Batch()
    for i in range(4):
        many.add(tokens(expert, 1), 1, position=i, wants_logits=True)
    refused(expert, many)
    assert (expert.seq_pos_max(0), expert.seq_pos_max(1)) == (4, -1)
    assert decode(expert, tokens(expert, 1), position=5)[0] is DecodeOutcome.OK


def test_a_row_without_logits_is_never_sampled(expert: Expert) -> None:
    sampler = expert.new_sampler(GREEDY, 1)
    batch = Batch()
    batch.add(tokens(expert, 4), 0, position=0, wants_logits=False)
    assert expert.decode(batch, None) is DecodeOutcome.OK
    for row in (0, 3, 4, -1):
        with pytest.raises(LayaDeskError) as refusal:
            sampler.sample(row)
        assert refusal.value.code is ErrorCode.DECODE_FAILED
    sampler.close()


def test_a_full_cache_says_so_and_changes_nothing(expert: Expert) -> None:
    assert decode(expert, tokens(expert, 128), 0)[0] is DecodeOutcome.OK
    assert decode(expert, tokens(expert, 100), 1)[0] is DecodeOutcome.OK
    assert decode(expert, tokens(expert, 60), 2)[0] is DecodeOutcome.NO_SLOT
    assert [expert.seq_pos_max(seq_id) for seq_id in range(3)] == [127, 99, -1]
    expert.seq_remove(0)
    assert decode(expert, tokens(expert, 60), 2)[0] is DecodeOutcome.OK


def test_an_aborted_decode_leaves_a_context_that_goes_on(expert: Expert) -> None:
    sampler = expert.new_sampler(GREEDY, 1)
    _outcome, row = decode(expert, tokens(expert, 5), 0)
    expected = sampler.sample(row)
    batch = Batch()
    batch.add(tokens(expert, 120), 1, position=0, wants_logits=True)
    assert expert.decode(batch, lambda: True) is DecodeOutcome.ABORTED
    assert expert.seq_pos_max(0) == 4, "what was there before stays"
    assert expert.seq_pos_max(1) < 119
    expert.seq_remove(1)
    expert.seq_remove(0)
    outcome, row = decode(expert, tokens(expert, 5), 0)
    assert outcome is DecodeOutcome.OK
    assert sampler.sample(row) == expected
    sampler.close()


def test_the_question_whether_to_abort_is_asked_while_it_computes(expert: Expert) -> None:
    asked: list[int] = []
    batch = Batch()
    batch.add(tokens(expert, 64), 0, position=0, wants_logits=True)
    assert expert.decode(batch, lambda: bool(asked.append(threading.get_ident()))) is DecodeOutcome.OK  # type: ignore[func-returns-value]  # None is False
    assert set(asked) == {threading.get_ident()}


def test_the_same_prompt_gives_the_same_tokens_alone_and_beside_others(expert: Expert) -> None:
    sampler = expert.new_sampler(GREEDY, 1)
    _outcome, row = decode(expert, tokens(expert, 12), 0)
    alone = go_on(expert, sampler, row, 0, 12, 6)
    decode(expert, tokens(expert, 30)[7:], 1)
    _outcome, row = decode(expert, tokens(expert, 12), 2)
    assert go_on(expert, sampler, row, 2, 12, 6) == alone
    sampler.close()


def test_the_same_seed_draws_the_same_tokens(expert: Expert) -> None:
    sampling = SamplingParams(temperature=1.0)
    drawn = []
    for _ in range(2):
        sampler = expert.new_sampler(sampling, 1234)
        _outcome, row = decode(expert, tokens(expert, 12))
        drawn.append(go_on(expert, sampler, row, 0, 12, 5))
        expert.seq_remove(0)
        sampler.close()
        sampler.close()
    assert drawn[0] == drawn[1]


def test_a_file_that_is_not_there_is_named(any_backend: BackendCase) -> None:
    with pytest.raises(LayaDeskError) as refusal:
        any_backend.backend.load(ExpertSpec("e", any_backend.path + ".nowhere", PARAMS), lambda _fraction: True)
    assert refusal.value.code is ErrorCode.MODEL_FILE_MISSING
    assert refusal.value.facts["path"] == any_backend.path + ".nowhere"


def test_a_load_is_called_off_by_its_progress(any_backend: BackendCase) -> None:
    with pytest.raises(LoadCancelled):
        any_backend.backend.load(ExpertSpec("e", any_backend.path, PARAMS), lambda _fraction: False)


def test_progress_rises_to_the_end(any_backend: BackendCase) -> None:
    seen: list[float] = []

    def on_progress(fraction: float) -> bool:
        seen.append(fraction)
        return True

    any_backend.backend.load(ExpertSpec("e", any_backend.path, PARAMS), on_progress).close()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_closing_twice_is_harmless(any_backend: BackendCase) -> None:
    loaded = any_backend.backend.load(ExpertSpec("e", any_backend.path, PARAMS), lambda _fraction: True)
    loaded.close()
    loaded.close()
    again = any_backend.backend.load(ExpertSpec("e", any_backend.path, PARAMS), lambda _fraction: True)
    assert again.tokenize("hello", parse_special=False)
    again.close()


def test_a_backend_names_itself_and_what_it_computes_on(any_backend: BackendCase) -> None:
    assert any_backend.backend.name in ("llama", "scripted")
    assert any_backend.backend.devices
