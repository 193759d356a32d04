"""The thread "prompt": templates and tokenising happen here, so that running answers do not wait for a long history."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.engine.failure_trace import trace_of
from layadesk.engine.prompt import Prompt, PromptBuilder
from layadesk.engine.thinking import Begun
from layadesk.protocol.commands import CountTokens, Generate
from layadesk.protocol.events import TokensCounted

log = logging.getLogger(__name__)

# Some tokenisers of llama.cpp match with std::regex, which recurses for every letter of a word without end.
STACK_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class PromptReady:
    """The prompt of the sequence with arrival number `order`; `seconds` it took."""

    order: int
    model_id: str
    prompt: Prompt
    seconds: float


@dataclass(frozen=True, slots=True)
class PromptRefused:
    """No prompt could be made for the sequence with arrival number `order`."""

    order: int
    model_id: str
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class PromptCounted:
    """A count that was asked for; the expert is free again."""

    model_id: str
    event: TokensCounted


@dataclass(frozen=True, slots=True)
class _Job:
    order: int
    builder: PromptBuilder
    request: Generate


@dataclass(frozen=True, slots=True)
class _Count:
    builder: PromptBuilder
    command: CountTokens


class PromptWorker:
    """Takes prompts to build from the decode thread, and hands each result to `post`, on its own thread.

    While a job is out, its expert must stay in memory: the vocabulary is in use.
    """

    def __init__(self, post: Callable[[PromptReady | PromptRefused | PromptCounted], None]) -> None:
        self._post = post
        self._jobs: queue.SimpleQueue[_Job | _Count | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="prompt", daemon=True)

    def start(self) -> None:
        """Start working."""
        usual = threading.stack_size(STACK_BYTES)
        try:
            self._thread.start()
        finally:
            threading.stack_size(usual)

    def submit(self, order: int, builder: PromptBuilder, request: Generate) -> None:
        """Queue one prompt; first come, first served."""
        self._jobs.put(_Job(order, builder, request))

    def count(self, builder: PromptBuilder, command: CountTokens) -> None:
        """Queue one count."""
        self._jobs.put(_Count(builder, command))

    def stop(self, timeout_s: float) -> bool:
        """Let the thread end after the jobs it has; False when it did not in time."""
        self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._post(_build(job) if isinstance(job, _Job) else _count(job))


def _build(job: _Job) -> PromptReady | PromptRefused:
    request = job.request
    began = time.perf_counter()
    try:
        prompt = _prompt(job.builder, request)
        prompt = replace(prompt, grammar=job.builder.grammar(request.sampling, request.tools))
    except LayaDeskError as refusal:
        return PromptRefused(job.order, request.model_id, refusal.report)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this request's alone
        log.error("building a prompt for %s failed: %s", request.model_id, trace_of(error))  # noqa: TRY400  # see there
        report = ErrorReport(ErrorCode.INTERNAL, {"reason": "prompt", "detail": type(error).__name__})
        return PromptRefused(job.order, request.model_id, report)
    return PromptReady(job.order, request.model_id, prompt, time.perf_counter() - began)


def _count(job: _Count) -> PromptCounted:
    command = job.command
    try:
        counted = job.builder.count(command)
    except LayaDeskError as refusal:
        log.info("no count for %s: %s", command.model_id, refusal.code)
        counted = TokensCounted(command.count_id)
    except Exception as error:  # noqa: BLE001  # a count is never worth an engine
        log.error("counting tokens for %s failed: %s", command.model_id, trace_of(error))  # noqa: TRY400  # see there
        counted = TokensCounted(command.count_id)
    return PromptCounted(command.model_id, counted)


def _prompt(builder: PromptBuilder, request: Generate) -> Prompt:
    if request.is_raw:
        return builder.build_raw(request.messages[-1].text)
    return builder.build(
        request.messages,
        request.sampling.max_tokens,
        request.thinking,
        begun_by(request),
        keeps_all=request.keeps_all,
        tools=request.tools,
    )


def begun_by(request: Generate) -> Begun | None:
    """The answer that a request goes on with."""
    return Begun(request.messages[-1].text, request.thought) if request.continues else None
