"""Figures of the engine as ratios in one run: against a raw decode loop, against one by one, against itself without a
cache, and against llama.cpp's own server. Those compared take turns, so that a busy machine is unfair to all alike.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from layadesk.domain.inference import LoadParams, PromptMessage, Role
from layadesk.domain.models import ExpertSpec
from layadesk.usecases.bench_contenders import MODEL_ID, Contender, Heard, OurEngine
from layadesk.workers.bench_rivals import RawLoop

N_DECODE: Final = 96
N_TOGETHER: Final = 64
N_ASKED: Final = 60  # tokens of a short question, until one was counted: the raw loop has as many before its first
N_COLD: Final = 1000
N_SYSTEM: Final = 500
N_LONG: Final = 3000
N_READERS: Final = 3
REST_S: Final = 4.0  # for what is computed to get to disk
KV_TYPES: Final = ("f16", "q8_0", "q4_0")
_WORDS: Final = (
    "the a river stone light paper green old small house garden market winter summer bread water boat child woman man"
    " letter window music road hill tree bird night morning city school story number colour silver early late open"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured thing of one contender: the median of its `rounds`."""

    section: str
    name: str
    contender: str
    value: float
    unit: str
    rounds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """What a figure means. `aim` is met from above where `is_least`, else from below; None: nothing is aimed at."""

    section: str
    name: str
    contender: str
    value: float
    aim: float | None = None
    is_least: bool = True

    @property
    def is_met(self) -> bool | None:
        """Whether the aim is reached."""
        if self.aim is None:
            return None
        return self.value >= self.aim if self.is_least else self.value <= self.aim


@dataclass(slots=True)
class BenchReport:
    """What was measured, in the order of measuring; `notes` say what could not be."""

    model: str
    n_threads: int
    figures: list[Figure] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class BenchEngine:
    """Runs the sections that are asked for. Blocks; tells each figure as it comes."""

    def __init__(
        self,
        spec: ExpertSpec,
        ours: OurEngine,
        *,
        n_threads: int,
        n_rounds: int,
        raw: RawLoop | None = None,
        rival: Contender | None = None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._spec = spec
        self._ours = ours
        self._raw = raw
        self._contenders: list[Contender] = [ours, *([] if rival is None else [rival])]
        self._n_rounds = n_rounds
        self._tell = on_progress
        self._n_prompts = 0
        self._n_asked = N_ASKED
        self.report = BenchReport(spec.path, n_threads)

    def run(self, sections: Sequence[str]) -> BenchReport:
        """Measure."""
        for contender in self._contenders:
            heard = contender.ask(self._asked(20), 8).wait()
            if heard.timings is not None:
                self._n_asked = heard.timings.n_prompt
        parts = {
            "single": self._single,
            "parallel": self._parallel,
            "ttft": self._ttft,
            "gap": self._gap,
            "kv": self._kv,
        }
        for section in sections:
            self._tell(section)
            parts[section]()
        return self.report

    # The sections

    def _single(self) -> None:
        """One stream against the raw loop, in turns."""
        rounds: dict[str, list[float]] = {}
        for _ in range(self._n_rounds):
            if self._raw is not None:
                raw = self._raw.run(n_seq=1, n_prompt=self._n_asked, n_tokens=N_DECODE)
                rounds.setdefault("raw loop", []).append(raw.n_decoded / raw.decode_s)
            for contender in self._contenders:
                heard = contender.ask(self._asked(20), N_DECODE).wait()
                if heard.tps is not None and heard.n_at(float("inf")) >= N_DECODE // 3:
                    rounds.setdefault(contender.name, []).append(heard.tps)
                else:
                    self.report.notes.append(f"single: {contender.name} ended after {heard.n_at(float('inf'))} tokens")
        self._keep("single", "one stream", "tok/s", rounds)
        self._against_raw("single", "one stream", rounds, 0.97)

    def _parallel(self) -> None:
        """1, 2, 4 and 8 conversations at once, against one by one and against the raw loop of as many sequences."""
        alone: dict[str, float] = {}
        for n in (1, 2, 4, 8):
            rounds: dict[str, list[float]] = {}
            for _ in range(self._n_rounds):
                if self._raw is not None:
                    raw = self._raw.run(n_seq=n, n_prompt=self._n_asked, n_tokens=N_TOGETHER)
                    rounds.setdefault("raw loop", []).append(raw.n_decoded / raw.decode_s)
                for contender in self._contenders:
                    total = self._together(contender, n)
                    if total is not None:
                        rounds.setdefault(contender.name, []).append(total)
            name = f"{n} conversations"
            self._keep("parallel", name, "tok/s", rounds)
            self._against_raw("parallel", name, rounds, 0.95 if n == 8 else None)
            for contender_name, values in rounds.items():
                alone.setdefault(contender_name, statistics.median(values))
                speed_up = statistics.median(values) / alone[contender_name]
                self._ratio("parallel", f"{name} : one by one", contender_name, speed_up)

    def _ttft(self) -> None:
        """First token of a new, a second and a third turn; of a shared system prompt; of a turn after a restart."""
        times: dict[str, dict[str, list[float]]] = {}

        def note(name: str, contender: Contender, heard: Heard) -> None:
            if heard.ttft_s is not None:
                times.setdefault(name, {}).setdefault(contender.name, []).append(heard.ttft_s * 1000)

        for _ in range(self._n_rounds):
            for contender in self._contenders:
                self._turns(contender, note)
                self._shared_system(contender, note)
        for name, rounds in times.items():
            self._keep("ttft", name, "ms", rounds)
        aims = {"second turn": None, "third turn": 0.06, "after a restart": 0.05}
        for name, aim in aims.items():
            self._relate("ttft", name, "cold", times, aim)
        self._relate("ttft", "shared system prompt", "new system prompt", times, 0.1)

    def _gap(self) -> None:
        """What three readers feel while a prompt of 3,000 tokens arrives, and what their company costs it."""
        alone: dict[str, list[float]] = {}
        found: dict[str, dict[str, list[float]]] = {}
        for _ in range(max(1, self._n_rounds - 1)):
            for contender in self._contenders:
                lonely = contender.ask(self._asked(N_LONG), 4).wait()
                alone.setdefault(contender.name, []).append((lonely.ttft_s or 0.0) * 1000)
                for name, value in self._gap_once(contender).items():
                    found.setdefault(name, {}).setdefault(contender.name, []).append(value)
        self._keep("gap", "long prompt alone, first token", "ms", alone)
        for name, rounds in found.items():
            self._keep("gap", name, "ms", rounds)
        for contender_name, values in found.get("worst gap of the others", {}).items():
            self._ratio("gap", "worst gap, s", contender_name, max(values) / 1000, 0.5, is_least=False)
        for contender_name, values in found.get("long prompt in company, first token", {}).items():
            cost = statistics.median(values) / statistics.median(alone[contender_name])
            self._ratio("gap", "long prompt in company : alone", contender_name, cost, 1.3, is_least=False)

    def _kv(self) -> None:
        """The speed and the size of the cache by the type of its cells."""
        rounds: dict[str, dict[str, list[float]]] = {}
        for _ in range(max(1, self._n_rounds - 1)):
            for kv_type in KV_TYPES:
                params = replace(self._spec.params, type_k=kv_type, type_v=kv_type)
                loaded = self._ours.load(replace(self._spec, params=params))
                heard = self._ours.ask(self._asked(N_COLD), N_TOGETHER).wait()
                timings = heard.timings
                size = loaded.memory.kv_bytes
                figures = {
                    "prefill, tok/s": None if timings is None else timings.prefill_tps,
                    "decode, tok/s": heard.tps,
                    "KV cache, MiB": None if size is None else size / 2**20,
                }
                for name, value in figures.items():
                    if value is not None:
                        rounds.setdefault(name, {}).setdefault(kv_type, []).append(value)
        for name, by_type in rounds.items():
            self._keep("kv", name, name.rsplit(", ", 1)[1], by_type)
            base = statistics.median(by_type["f16"])
            for kv_type, values in by_type.items():
                self._ratio("kv", f"{name} : f16", kv_type, statistics.median(values) / base)
        self._ours.load(self._spec)

    # Their parts

    def _together(self, contender: Contender, n: int) -> float | None:
        """Tokens per second of `n` answers together, over the time in which all of them run."""
        answers = [contender.ask(self._asked(20), N_TOGETHER) for _ in range(n)]
        for one in answers:
            one.wait()
        if not all(len(one.pieces) > 1 for one in answers):
            return None
        begin = max(one.pieces[0][0] for one in answers)
        end = min(one.pieces[-1][0] for one in answers)
        n_tokens = sum(one.n_at(end) - one.n_at(begin) for one in answers)
        if end <= begin or n_tokens < 8 * n:
            self.report.notes.append(f"parallel: {contender.name}: {n} answers overlapped for {n_tokens} tokens only")
            return None
        return n_tokens / (end - begin)

    def _turns(self, contender: Contender, note: Callable[[str, Contender, Heard], None]) -> None:
        self._n_prompts += 1
        conversation = f"bench-{self._n_prompts}"
        history = self._asked(N_COLD)
        for name in ("cold", "second turn", "third turn", "after a restart"):
            if name == "after a restart":
                time.sleep(REST_S)
                if not contender.restart():
                    return
            heard = contender.ask(history, 24, conversation).wait()
            note(name, contender, heard)
            question = PromptMessage(Role.USER, f"And {self._text(12)}?")
            history = [*history, PromptMessage(Role.ASSISTANT, heard.text or "Yes."), question]

    def _shared_system(self, contender: Contender, note: Callable[[str, Contender, Heard], None]) -> None:
        system = PromptMessage(Role.SYSTEM, self._text(N_SYSTEM))
        for name in ("new system prompt", "shared system prompt"):
            heard = contender.ask([system, PromptMessage(Role.USER, f"What of {self._text(12)}?")], 8).wait()
            note(name, contender, heard)

    def _gap_once(self, contender: Contender) -> dict[str, float]:
        readers = [contender.ask(self._asked(20), 4000) for _ in range(N_READERS)]
        for one in readers:
            one.wait_tokens(8)
        long = contender.ask(self._asked(N_LONG), 4)
        long.wait()
        first = long.pieces[0][0] if long.pieces else time.perf_counter()
        gaps = sorted(gap for one in readers for gap in one.gaps(long.asked_at, first))
        for one in readers:
            one.call_off()
            one.wait()
        if len(gaps) < N_READERS or not long.pieces:
            self.report.notes.append(f"gap: the readers of {contender.name} had ended before the long prompt was there")
            return {}
        return {
            "worst gap of the others": gaps[-1] * 1000,
            "p95 gap of the others": gaps[int(0.95 * (len(gaps) - 1))] * 1000,
            "long prompt in company, first token": (first - long.asked_at) * 1000,
        }

    def _asked(self, n_words: int) -> list[PromptMessage]:
        """A question that begins as none before it: nothing of it can be in a cache."""
        return [PromptMessage(Role.USER, f"Tell a long story of {self._text(n_words)}.")]

    def _text(self, n_words: int) -> str:
        self._n_prompts += 1
        rng = random.Random(self._n_prompts)
        return " ".join([str(self._n_prompts), *rng.choices(_WORDS.split(), k=n_words)])

    # What comes of it

    def _keep(self, section: str, name: str, unit: str, rounds: dict[str, list[float]]) -> None:
        for contender, values in rounds.items():
            figure = Figure(section, name, contender, statistics.median(values), unit, tuple(values))
            self.report.figures.append(figure)
            self._tell(f"  {name}, {contender}: {figure.value:.1f} {unit}")

    def _ratio(
        self,
        section: str,
        name: str,
        contender: str,
        value: float,
        aim: float | None = None,
        *,
        is_least: bool = True,
    ) -> None:
        aims = aim if contender == self._ours.name else None
        self.report.ratios.append(Ratio(section, name, contender, value, aims, is_least))

    def _against_raw(self, section: str, name: str, rounds: dict[str, list[float]], aim: float | None) -> None:
        """The median of the ratios of each round: the machine's mood is the same within one."""
        raw = rounds.get("raw loop")
        for contender, values in rounds.items():
            if raw is not None and contender != "raw loop":
                pairs = [value / base for value, base in zip(values, raw, strict=False)]
                self._ratio(section, f"{name} : raw loop", contender, statistics.median(pairs), aim)

    def _relate(
        self, section: str, name: str, base: str, times: dict[str, dict[str, list[float]]], aim: float | None
    ) -> None:
        for contender, values in times.get(name, {}).items():
            pairs = [value / cold for value, cold in zip(values, times[base][contender], strict=False)]
            self._ratio(section, f"{name} : {base}", contender, statistics.median(pairs), aim, is_least=False)


def bench_params(n_threads: int, n_ctx: int) -> LoadParams:
    """How all contenders load the model: eight conversations, one cache."""
    return LoadParams(n_ctx=n_ctx, n_parallel=8, n_threads=n_threads)


def bench_spec(path: str, n_threads: int, n_ctx: int) -> ExpertSpec:
    """The model as the bench loads it."""
    return ExpertSpec(MODEL_ID, path, bench_params(n_threads, n_ctx))
