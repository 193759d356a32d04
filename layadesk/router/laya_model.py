"""Laya checkpoints as a decision model, through the `laya` package. Slow to load and to ask: see `standing_in.py`."""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.laya_questions import COMPLEXITY_OF, DOMAINS_OF, QUESTIONS, TASKS_OF
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.excerpt import excerpt
from layadesk.router.language import detect
from layadesk.router.laya_files import ENGLISH, MULTILINGUAL, check, checkpoints
from layadesk.router.reading import Reading, read

log = logging.getLogger(__name__)

LAYA: Final = "laya:"
MOST_THREADS: Final = 4
_WIRE: Final = {
    "choice": ("type", "choice", "confidence", "probabilities"),
    "score": ("type", "score", "confidence", "probabilities", "legend"),
    "noul": ("type", "noul"),
}
_PROBE_S: Final = 60
_WARM_UP: Final = ("hi", "explain " + "why the sky is blue " * 12, "请解释" + "一下为什么天是蓝的" * 20)
_PROBE: Final = (
    "import torch\n"
    "layer = torch.nn.Linear(64, 64).to(torch.bfloat16)\n"
    "layer(torch.ones(8, 64, dtype=torch.bfloat16))\n"
    "assert torch.ops.mkldnn._is_mkldnn_bf16_supported()\n"
)


def prepare_environment(*, use_gpu: bool) -> None:
    """Before torch is imported: no network, no second fight for the cores, no GPU unless it is wanted."""
    os.environ.update(
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        TOKENIZERS_PARALLELISM="false",
        KMP_BLOCKTIME="0",
        OMP_WAIT_POLICY="PASSIVE",
    )
    if not use_gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


@dataclass(frozen=True, slots=True)
class _Loaded:
    name: str
    agent: Any


class LayaModel:
    """The checkpoints of one directory. Loaded, asked and dropped on one thread."""

    def __init__(self, directory: Path, *, use_gpu: bool = False) -> None:
        """Load; seconds. Raises ROUTER_MODEL_MISSING, ROUTER_MODEL_DAMAGED, ImportError without the package, and
        whatever `laya` raises for weights that do not belong to their configuration.
        """
        found = checkpoints(directory)
        for place in found.values():
            check(place)
        import laya  # noqa: PLC0415 - torch and transformers, only where Laya is wanted
        import torch  # noqa: PLC0415

        torch.set_num_threads(min(MOST_THREADS, max(1, (os.cpu_count() or 2) // 2)))
        device = "cuda" if use_gpu and torch.cuda.is_available() else "cpu"
        self.device = device
        self.is_bf16 = device == "cpu" and supports_bf16()
        self._by_name: dict[str, _Loaded] = {}
        for name, place in found.items():
            agent = laya.Agent(str(place), device=device)
            if self.is_bf16:
                agent.model.to(torch.bfloat16)
            self._by_name[name] = _Loaded(name, agent)
        for text in _WARM_UP:
            for loaded in self._by_name.values():
                loaded.agent.predict({"request": text, "previous": ""}, dict(QUESTIONS))

    def ask(self, reading: Reading, language: str | None, history: Sequence[str]) -> RouterAnswer:
        """One decision; `route_ms` is all of it and `forward_ms` the package's part."""
        start = time.perf_counter()
        loaded = self._checkpoint(language)
        state = {"request": excerpt(reading), "previous": history[-1][:200] if history else ""}
        before = time.perf_counter()
        found = loaded.agent.predict(state, dict(QUESTIONS), lang=language)["answers"]
        forward_ms = (time.perf_counter() - before) * 1000.0
        complexity = found["complexity"]["choice"]
        return RouterAnswer(
            f"{LAYA}{loaded.name}",
            (time.perf_counter() - start) * 1000.0,
            spread(found["task"]["probabilities"], TASKS_OF, TASKS),
            spread(found["domain"]["probabilities"], DOMAINS_OF, DOMAINS),
            COMPLEXITY_OF[complexity],
            language,
            forward_ms,
        )

    def decide(self, state: str, questions: str) -> str:
        """Questions of a client's own, in Jev's strict wire format. Raises BAD_PARAMETER for what cannot be asked."""
        from laya.confidence import jev_confidence  # noqa: PLC0415 - with the package

        loaded = self._checkpoint(detect(read(state)))
        try:
            found = loaded.agent.predict(json.loads(state), json.loads(questions))
        except (ValueError, TypeError, KeyError) as error:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="questions", value=type(error).__name__) from error
        answers = {}
        for name, answer in found["answers"].items():
            kept = {key: answer[key] for key in _WIRE[answer["type"]] if key in answer}
            if "confidence" in kept:
                kept["confidence"] = jev_confidence(answer)
            answers[name] = kept
        usage = {key: int(found.get("usage", {}).get(key, 0)) for key in ("input_tokens", "output_tokens")}
        return json.dumps({"model": f"{LAYA}{loaded.name}", "answers": answers, "usage": usage})

    def _checkpoint(self, language: str | None) -> _Loaded:
        """English prose to the English one, all else to the multilingual one, as far as they are there."""
        wanted = (ENGLISH, MULTILINGUAL) if language in ("en", None) else (MULTILINGUAL, ENGLISH)
        for name in wanted:
            if name in self._by_name:
                return self._by_name[name]
        return next(iter(self._by_name.values()))


def spread(
    probabilities: Mapping[str, float], table: Mapping[str, Mapping[str, float]], ours: Sequence[str]
) -> dict[str, float]:
    """Laya's probabilities in our labels; they sum to 1."""
    found = dict.fromkeys(ours, 0.0)
    for label, p in probabilities.items():
        for one, share in table[label].items():
            found[one] += float(p) * share
    total = sum(found.values()) or 1.0
    return {label: p / total for label, p in found.items()}


def supports_bf16() -> bool:
    """Whether this CPU computes with bfloat16: tried in a process of its own, because one that cannot dies of it."""
    if getattr(sys, "frozen", False):
        return False  # the bundle's executable is no Python to try it with
    try:
        done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.info("bfloat16 could not be tried: %s", type(error).__name__)
        return False
    return done.returncode == 0
