"""An old chat goes on at once: its cells come back from disk after a restart, an unload and an eviction."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.inference import PromptMessage, Role, Timings
from layadesk.protocol.commands import ForgetConversation
from tests.engine.conftest import BackendCase
from tests.fakes.engine_running import GREEDY, SENTENCES, RunningEngine, expert, recital

Start = Callable[..., RunningEngine]
SHORT = replace(GREEDY, max_tokens=8)
MESSAGES = recital(SENTENCES[0], 3)


def first_turn(engine: RunningEngine, conversation_id: str = "talk") -> list[PromptMessage]:
    end = engine.finished(engine.ask(MESSAGES, sampling=SHORT, conversation_id=conversation_id))
    return [*MESSAGES, PromptMessage(Role.ASSISTANT, end.text), PromptMessage(Role.USER, "Go on.")]


def next_turn(engine: RunningEngine, messages: list[PromptMessage], conversation_id: str = "talk") -> Timings:
    return engine.finished(engine.ask(messages, sampling=SHORT, conversation_id=conversation_id)).timings


def test_a_conversation_goes_on_at_once_after_the_engine_was_restarted(
    start_engine: Start, any_backend: BackendCase, tmp_path: Path
) -> None:
    first = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    messages = first_turn(first)
    first.close()
    second = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    times = next_turn(second, messages)
    assert times.n_prompt - times.n_cached < 50
    assert times.restore_ms is not None


def test_cells_are_on_disk_soon_after_an_answer_and_not_only_at_the_end(
    start_engine: Start, any_backend: BackendCase, tmp_path: Path
) -> None:
    engine = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    first_turn(engine)
    engine.wait_until(lambda: list(tmp_path.glob("*.cells")) != [])
    (file,) = tmp_path.glob("*.cells")
    assert file.stat().st_size > 0


def test_a_conversation_that_had_to_make_room_comes_back(
    start_engine: Start, any_backend: BackendCase, tmp_path: Path
) -> None:
    engine = start_engine(any_backend.backend, expert(any_backend.path, n_parallel=1, n_kept=1), cells_dir=tmp_path)
    messages = first_turn(engine)
    for i in range(2):
        engine.finished(engine.ask(recital(SENTENCES[1 + i], 3), sampling=SHORT, conversation_id=f"other {i}"))
    times = next_turn(engine, messages)
    assert times.n_prompt - times.n_cached < 50
    assert times.restore_ms is not None


@pytest.mark.logs_warnings
def test_a_file_that_was_cut_short_is_computed_again_and_harms_nobody(
    start_engine: Start, any_backend: BackendCase, tmp_path: Path
) -> None:
    first = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    messages = first_turn(first)
    first.close()
    (path,) = tmp_path.glob("*.cells")
    path.write_bytes(path.read_bytes()[:-100])
    second = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    times = next_turn(second, messages)
    assert times.n_cached == 0
    assert times.n_decoded > 0


def test_of_a_forgotten_conversation_nothing_is_left_in_memory_or_on_disk(
    start_engine: Start, any_backend: BackendCase, tmp_path: Path
) -> None:
    engine = start_engine(any_backend.backend, expert(any_backend.path), cells_dir=tmp_path)
    messages = first_turn(engine)
    engine.wait_until(lambda: list(tmp_path.glob("*.cells")) != [])
    engine.send(ForgetConversation("talk"))
    engine.wait_until(lambda: list(tmp_path.glob("*.cells")) == [])
    assert next_turn(engine, messages).n_cached == 0


@pytest.mark.llama
def test_cells_of_another_cache_type_are_not_taken(
    start_engine: Start, llama_backend: object, smol_gguf: Path, tmp_path: Path
) -> None:
    first = start_engine(llama_backend, expert(str(smol_gguf)), cells_dir=tmp_path)
    messages = first_turn(first)
    first.close()
    second = start_engine(llama_backend, expert(str(smol_gguf), type_k="q8_0", type_v="q8_0"), cells_dir=tmp_path)
    assert next_turn(second, messages).n_cached == 0
