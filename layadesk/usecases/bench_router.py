"""Times of the router on prompts that differ: its forward pass, its whole work, and the way from the app and back."""

import queue
import random
import statistics
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psutil

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import PromptMessage, Role
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import RouterAnswer
from layadesk.protocol.events import Failed, Finished, TextDelta
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.workers.router_client import RouterClient

N_WARM_UP: Final = 30
START_S: Final = 20.0
LENGTHS: Final = (20, 60, 150, 400, 1000, 2000)
_BUSY_START_S: Final = 60.0
_PARTS: Final = {
    "en": (
        "Write a short note to {name} about the {thing}. ", "Why does the {thing} cost {number} euros in {place}? ",
        "In {place} the {thing} was mended by {name} after {number} days. ", "Compare {name} with the {thing}, ",
        "def {name}({thing}): return {number} * {thing}\n", "It rained in {place} for {number} hours; ",
    ),
    "zh": (
        "请给{name}写一张关于{thing}的便条。", "为什么{place}的{thing}要{number}元？",
        "在{place}，{name}用{number}天修好了{thing}，",
        "把{thing}和{name}比较一下。", "{place}下了{number}个小时的雨；", "{name}说{thing}有{number}种。",
    ),
}  # fmt: skip
_WORDS: Final = {
    "en": {
        "name": ("Ann", "Boris", "Chloe", "Dmitri", "Esra", "Farid"),
        "thing": ("bicycle", "parser", "contract", "teapot", "dataset", "violin"),
        "place": ("Lisbon", "Oslo", "Nairobi", "Quito", "Hanoi"),
    },
    "zh": {
        "name": ("小王", "李老师", "阿芳", "张医生", "老周"),
        "thing": ("自行车", "解析器", "合同", "茶壶", "数据集", "小提琴"),
        "place": ("上海", "昆明", "成都", "哈尔滨", "厦门"),
    },
}


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Milliseconds."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class RouterTimes:
    """One round. `forward_by_length` has the forward pass for each length of LENGTHS; `busy_with` decoded meanwhile."""

    router: str
    n: int
    busy_with: str | None
    forward: Percentiles | None
    work: Percentiles
    end_to_end: Percentiles
    forward_by_length: dict[int, Percentiles]
    rss_bytes: int | None


def bench_prompts(n: int, seed: int = 1) -> list[tuple[int, str]]:
    """`n` different prompts as (length it was made for, text), English and Chinese in turn."""
    rng = random.Random(seed)
    found = []
    for k in range(n):
        lang, length = ("en", "zh")[k % 2], LENGTHS[k // 2 % len(LENGTHS)]
        text = f"{k} "
        while len(text) < length:
            words = {name: rng.choice(many) for name, many in _WORDS[lang].items()}
            text += rng.choice(_PARTS[lang]).format(number=rng.randrange(1000), **words)
        found.append((length, text[:length]))
    return found


class BenchRouter:
    """Blocks the caller. Each prompt is new, one at a time, and counted when its answer is here."""

    def __init__(self, pool: ExpertPool, router: RouterClient, answers: AnswerRequest) -> None:
        self._pool = pool
        self._router = router
        self._answers = answers

    def idle(self, n: int) -> RouterTimes:
        """While nothing else of ours runs. Raises ROUTER_AWAY."""
        return self._times(n, None)

    def busy(self, n: int) -> RouterTimes:
        """While the default expert decodes on all cores. Raises what keeps that expert from it, and ROUTER_AWAY."""
        stop, begun = threading.Event(), queue.SimpleQueue[LayaDeskError | str]()
        decoding = threading.Thread(target=self._decode, args=(stop, begun), name="bench-decode")
        decoding.start()
        try:
            expert = begun.get(timeout=_BUSY_START_S)
            if isinstance(expert, LayaDeskError):
                raise expert
            return self._times(n, expert)
        finally:
            stop.set()
            decoding.join()

    def _times(self, n: int, busy_with: str | None) -> RouterTimes:
        prompts = bench_prompts(n + N_WARM_UP)
        for _, text in prompts[:N_WARM_UP]:
            self._ask(text)
        answers, totals = [], []
        for _, text in prompts[N_WARM_UP:]:
            began = time.perf_counter()
            answer = self._ask(text)
            try:
                choose(answer, self._pool.candidates(), policy=self._pool.policy())
            except LayaDeskError as error:
                if error.code is not ErrorCode.NO_EXPERT_INSTALLED:
                    raise
            totals.append((time.perf_counter() - began) * 1000.0)
            answers.append(answer)
        lengths = [length for length, _ in prompts[N_WARM_UP:]]
        forwards = [answer.forward_ms for answer in answers]
        known = [ms for ms in forwards if ms is not None]
        return RouterTimes(
            answers[0].router_id,
            n,
            busy_with,
            percentiles(known) if known else None,
            percentiles([answer.route_ms for answer in answers]),
            percentiles(totals),
            {
                length: percentiles([ms for at, ms in zip(lengths, forwards, strict=True) if at == length and ms])
                for length in LENGTHS
                if known and length in lengths
            },
            self._rss(),
        )

    def _ask(self, text: str) -> RouterAnswer:
        answered: queue.SimpleQueue[RouterAnswer | None] = queue.SimpleQueue()
        self._router.route(text, (), answered.put, START_S)
        answer = answered.get()
        if answer is None:
            raise fail(ErrorCode.ROUTER_AWAY)
        return answer

    def _rss(self) -> int | None:
        pid = self._router.status.pid
        try:
            return None if pid is None else int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:
            return None

    def _decode(self, stop: threading.Event, begun: "queue.SimpleQueue[LayaDeskError | str]") -> None:
        """Have answers written until `stop`."""
        sampling = self._pool.sampling()
        while not stop.is_set():
            ended = threading.Event()
            order = AnswerOrder(uuid.uuid4().hex, (PromptMessage(Role.USER, "Tell a very long story."),), sampling)
            try:
                self._answers.start(order, _Listener(begun, ended))
            except LayaDeskError as error:
                begun.put(error)
                return
            while not ended.wait(0.05):
                if stop.is_set():
                    self._answers.cancel(order.request_id)
                    ended.wait(_BUSY_START_S)


class _Listener:
    def __init__(self, begun: "queue.SimpleQueue[LayaDeskError | str]", ended: threading.Event) -> None:
        self._begun = begun
        self._ended = ended
        self._expert = ""

    def __call__(self, event: AnswerEvent) -> None:
        match event:
            case TextDelta():
                self._begun.put(self._expert)
            case Failed(error=error):
                self._begun.put(fail(error.code, **error.facts))
                self._ended.set()
            case Finished():
                self._ended.set()
            case _:
                self._expert = getattr(getattr(event, "route", None), "expert", self._expert)


def percentiles(times: Sequence[float]) -> Percentiles:
    """Of at least one time."""
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)

    return Percentiles(round(statistics.median(ordered), 4), at(0.95), at(0.99))
