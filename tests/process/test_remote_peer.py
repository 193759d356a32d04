"""A real peer as a remote expert: llama.cpp's own server with SmolLM2, in a process of its own."""

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.app import Core
from layadesk.domain.inference import FinishReason, LoadParams, PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.routing import OutReason, RouteReason
from layadesk.domain.strengths import Strengths
from layadesk.domain.worker_state import WorkerState
from layadesk.protocol.bench import RawRun, ServerReady
from layadesk.protocol.channel import Channel
from layadesk.protocol.events import Failed, Finished, TextDelta
from layadesk.settings import definitions
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder, FailedOver, RouteChosen
from layadesk.usecases.remote_experts import RemoteEntry
from layadesk.workers import spawn
from layadesk.workers.child_process import ChildProcess
from tests.fakes.gguf_files import write_gguf
from tests.invariants import check_request

pytestmark = pytest.mark.llama
PATIENCE_S = 60.0
EVERYTHING = Strengths({}, {}, (), cost=0.0, otherwise=1.0)


class Peer:
    """The server's process."""

    def __init__(self, model: Path) -> None:
        spec = ExpertSpec("peer", str(model), LoadParams(n_ctx=2048, n_parallel=2, n_threads=2))
        self.child: ChildProcess = spawn.start_llama_server(spec)
        ready: ServerReady = Channel[RawRun, ServerReady](self.child.connection, ServerReady).receive()
        self.url = f"{ready.address}/v1"

    def kill(self) -> None:
        """Without a word."""
        self.child.process.kill()
        self.child.wait_exit_code(PATIENCE_S)


@pytest.fixture
def peer(smol_gguf: Path) -> Iterator[Peer]:
    pytest.importorskip("xllamacpp", reason="xllamacpp, llama.cpp's own server, is not installed")
    made = Peer(smol_gguf)
    yield made
    made.kill()


@pytest.fixture
def core(tmp_path: Path, peer: Peer) -> Iterator[Core]:
    """A small local expert on the scripted engine, and a better one at the peer, which Auto may use."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"text": "said here"}), "utf-8")
    made = Core(tmp_path / "data", engine=f"scripted:{script}")
    made.experts.import_file(str(write_gguf(tmp_path / "small.gguf"))).result(PATIENCE_S)
    entry = RemoteEntry(peer.url, "smollm2", "SmolLM2 over there", 2048, EVERYTHING)
    made.remotes.add(entry).result(PATIENCE_S)
    made.settings.set(definitions.ALLOW_REMOTE, True)
    made.start()
    yield made
    made.stop()


class Heard:
    """One request of Auto's, and what was heard of it."""

    def __init__(self, core: Core, text: str, max_tokens: int, request_id: str = "r") -> None:
        self.events: list[AnswerEvent] = []
        self._heard: queue.SimpleQueue[AnswerEvent] = queue.SimpleQueue()
        prompt = (PromptMessage(Role.USER, text),)
        sampling = SamplingParams(temperature=0.0, max_tokens=max_tokens)
        core.answers.start(AnswerOrder(request_id, prompt, sampling, route_deadline_s=30.0), self._hear)

    def _hear(self, event: AnswerEvent) -> None:
        self.events.append(event)
        self._heard.put(event)

    def until(self, kind: type[AnswerEvent]) -> AnswerEvent:
        """The next event of that kind."""
        while not isinstance(event := self._heard.get(timeout=PATIENCE_S), kind):
            assert not isinstance(event, Finished | Failed), event
        return event


def test_it_is_routed_to_and_when_it_is_killed_in_mid_stream_the_runner_up_answers(core: Core, peer: Peer) -> None:
    whole = Heard(core, "Name a colour.", 8)
    routed = whole.until(RouteChosen)
    assert isinstance(routed, RouteChosen)
    assert (routed.route.expert, routed.route.host) == ("remote:smollm2-over-there", peer.url[7:-3])
    end = whole.until(Finished)
    assert isinstance(end, Finished)
    assert end.timings.is_counted
    assert end.timings.n_prompt > 0
    assert end.timings.n_decoded == 8
    assert end.finish_reason is FinishReason.LENGTH
    check_request([one for one in whole.events if not isinstance(one, RouteChosen)], "r")  # type: ignore[misc]

    cut = Heard(core, "Write a long story about a fox.", 1500)
    for _ in range(5):
        cut.until(TextDelta)
    peer.kill()
    over = cut.until(FailedOver)
    assert isinstance(over, FailedOver)
    end = cut.until(Finished)
    assert isinstance(end, Finished)
    assert end.text == "said here"
    route = over.route
    assert (route.reason, route.expert, route.instead_of) == (
        RouteReason.FAILED_OVER, "small", "remote:smollm2-over-there",
    )  # fmt: skip
    assert route.host is None
    assert len(route.drafts[0].text) > 5, "what it wrote is kept"
    at = next(i for i, one in enumerate(cut.events) if isinstance(one, FailedOver))
    check_request(cut.events[1:at], "r", has_ended=False)  # type: ignore[arg-type]
    check_request(cut.events[at + 1 :], "r")  # type: ignore[arg-type]

    gone = threading.Event()
    core.remotes.changed.subscribe(lambda _: gone.set())
    while core.remotes.state(route.instead_of or "").is_up:
        assert gone.wait(PATIENCE_S), "nobody looked whether it is still there"
        gone.clear()
    later = Heard(core, "And now?", 8, "second").until(RouteChosen)
    assert isinstance(later, RouteChosen)
    assert later.route.expert == "small", "nobody asks a server that was seen to be gone"
    assert {one.out for one in later.route.ranking} == {None, OutReason.REMOTE_DOWN}
    assert core.engine.status.state is WorkerState.READY
