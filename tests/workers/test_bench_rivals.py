"""The processes the bench compares the engine with."""

import queue
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams, PromptMessage, Role
from layadesk.domain.models import ExpertSpec
from layadesk.workers.bench_rivals import LlamaServer, RawLoop

pytestmark = pytest.mark.llama


def spec(path: Path) -> ExpertSpec:
    return ExpertSpec("bench", str(path), LoadParams(n_ctx=512, n_parallel=2, n_threads=2))


def test_the_raw_loop_decodes_what_was_asked_and_says_what_it_cannot(smol_gguf: Path) -> None:
    raw = RawLoop(spec(smol_gguf))
    try:
        reply = raw.run(n_seq=2, n_prompt=8, n_tokens=4)
        assert reply.n_decoded == 8
        assert reply.decode_s > 0
        with pytest.raises(LayaDeskError) as refused:
            raw.run(n_seq=1, n_prompt=500, n_tokens=100)
        assert refused.value.code is ErrorCode.DECODE_FAILED
        assert raw.run(n_seq=1, n_prompt=8, n_tokens=2).n_decoded == 2
    finally:
        raw.close()


def test_llama_cpps_server_streams_tokens(smol_gguf: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `bench` is not installed")
    server = LlamaServer(spec(smol_gguf))
    ended: queue.SimpleQueue[bool] = queue.SimpleQueue()
    texts: list[str] = []
    try:
        asked = [PromptMessage(Role.USER, "Name a colour.")]
        server.stream(asked, 6, lambda _, text: texts.append(text), lambda: ended.put(True))
        assert ended.get(timeout=60)
    finally:
        server.close()
    assert len(texts) >= 1
