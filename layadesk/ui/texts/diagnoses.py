"""What a diagnosis noticed, why that is so, and what to do about it."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.diagnosis import Diagnosis, Symptom
from layadesk.domain.errors import Fact
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.numbers import gib_with_unit, per_second, percent, seconds
from layadesk.ui.texts.words import unknown

translate = QCoreApplication.translate

_WORDS: Final[Mapping[Symptom, tuple[str, str]]] = {
    Symptom.OUT_OF_MEMORY_AT_LOAD: (
        QT_TRANSLATE_NOOP("diagnoses", "{expert} could not be loaded; {available} of RAM are available now."),
        QT_TRANSLATE_NOOP("diagnoses", "Use a smaller quantization or a shorter context, or close other programs."),
    ),
    Symptom.FIRST_ANSWER_FAILED: (
        QT_TRANSLATE_NOOP("diagnoses", "The first answer of this session failed ({code})."),
        QT_TRANSLATE_NOOP("diagnoses", "Try again; if it fails again, run: layadesk smoke"),
    ),
    Symptom.CPU_BUILD: (
        QT_TRANSLATE_NOOP("diagnoses", "There is a GPU ({gpu}), but llama.cpp was built for the processor alone."),
        QT_TRANSLATE_NOOP("diagnoses", "Run the set-up again with --rebuild and --backend cuda or vulkan."),
    ),
    Symptom.LAYERS_ON_CPU: (
        QT_TRANSLATE_NOOP("diagnoses", "Only {on_gpu} of {layers} layers of {expert} are on the GPU."),
        QT_TRANSLATE_NOOP("diagnoses", "Allow more GPU layers, or use a smaller quantization that fits as a whole."),
    ),
    Symptom.WEAKER_GPU: (
        QT_TRANSLATE_NOOP("diagnoses", "The engine computes on {used}, although there is {better}."),
        QT_TRANSLATE_NOOP("diagnoses", "Choose the GPU with memory of its own in the settings of the engine."),
    ),
    Symptom.SPILLED: (
        QT_TRANSLATE_NOOP("diagnoses", "The GPU's memory was full, and its driver moved a part to RAM."),
        QT_TRANSLATE_NOOP("diagnoses", "Put fewer layers on the GPU, or shorten the context."),
    ),
    Symptom.ROUTER_STARVED: (
        QT_TRANSLATE_NOOP("diagnoses", "Choosing an expert took up to {took}, while all cores were busy."),
        QT_TRANSLATE_NOOP("diagnoses", "Give the engine one thread less than there are cores."),
    ),
    Symptom.ROUTER_BEHIND_LOAD: (
        QT_TRANSLATE_NOOP("diagnoses", "Choosing an expert took up to {took}, while another one was loading."),
        QT_TRANSLATE_NOOP("diagnoses", "Nothing has to be done; keep both experts in memory if it happens often."),
    ),
    Symptom.BELOW_BANDWIDTH: (
        QT_TRANSLATE_NOOP("diagnoses", "{expert} writes {tps} tokens/s, {share} of the {ceiling} that memory allows."),
        QT_TRANSLATE_NOOP(
            "diagnoses", "See whether other programs compute, memory is short, or the machine saves power."
        ),
    ),
    Symptom.PREFILL_BOUND: (
        QT_TRANSLATE_NOOP("diagnoses", "Most of the waiting is for reading the prompt: {took} for {n_prompt} tokens."),
        QT_TRANSLATE_NOOP("diagnoses", "Shorten what is sent, or put layers on a GPU: prompts gain most from it."),
    ),
    Symptom.REPETITION: (
        QT_TRANSLATE_NOOP("diagnoses", "An answer of {expert} said one thing again and again."),
        QT_TRANSLATE_NOOP(
            "diagnoses", "Set the temperature to 0.6 and the repeat penalty to 1.1, or use a larger expert."
        ),
    ),
    Symptom.ONE_EXPERT: (
        QT_TRANSLATE_NOOP(
            "diagnoses", "{expert} answered {n} of the last {total} questions; the others are hardly used."
        ),
        QT_TRANSLATE_NOOP("diagnoses", "See whether it is pinned, and whether the others' strengths are set."),
    ),
    Symptom.GPU_WAITS_FOR_CPU: (
        QT_TRANSLATE_NOOP("diagnoses", "The GPU waits while one core of the processor is full."),
        QT_TRANSLATE_NOOP("diagnoses", "Put all layers on the GPU; what is left on the processor slows down the rest."),
    ),
    Symptom.DRIVER_MISMATCH: (
        QT_TRANSLATE_NOOP("diagnoses", "The graphics driver was updated while the machine was running."),
        QT_TRANSLATE_NOOP("diagnoses", "Restart the machine."),
    ),
    Symptom.GPU_LOST: (
        QT_TRANSLATE_NOOP("diagnoses", "{gpu} does not answer any more: it fell off the bus or was unplugged."),
        QT_TRANSLATE_NOOP("diagnoses", "Restart the machine; if it happens again, look at heat and power supply."),
    ),
    Symptom.THRASH: (
        QT_TRANSLATE_NOOP("diagnoses", "Memory was so short that it was read from the disk again and again ({signs})."),
        QT_TRANSLATE_NOOP("diagnoses", "Use a smaller expert or a shorter context, or close other programs."),
    ),
    Symptom.NO_SWAP: (
        QT_TRANSLATE_NOOP(
            "diagnoses", "The largest expert takes {largest} of {ram} of RAM, and there is little swap ({swap})."
        ),
        QT_TRANSLATE_NOOP(
            "diagnoses",
            "Add swap so that the system need not end programs. Linux: sudo fallocate -l 8G /swapfile, sudo chmod 600 "
            "/swapfile, sudo mkswap /swapfile, sudo swapon /swapfile. Windows: let it manage the page file.",
        ),
    ),
}


def diagnosis_words(diagnosis: Diagnosis) -> str:
    """What was noticed."""
    return translate("diagnoses", _WORDS[diagnosis.symptom][0]).format_map(_facts(diagnosis.facts))


def diagnosis_remedy(diagnosis: Diagnosis) -> str:
    """What to do about it; empty where nothing is wrong."""
    return translate("diagnoses", _WORDS[diagnosis.symptom][1]) if diagnosis.is_trouble else ""


class _Facts(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return unknown()


def _facts(facts: Mapping[str, Fact]) -> _Facts:
    told = _Facts({name: str(value) for name, value in facts.items() if value is not None})
    for name, key in (
        ("available_bytes", "available"),
        ("largest_bytes", "largest"),
        ("ram_bytes", "ram"),
        ("swap_bytes", "swap"),
    ):
        value = facts.get(name)
        if isinstance(value, int):
            told[key] = gib_with_unit(value)
    for name, key in (("tps", "tps"), ("ceiling_tps", "ceiling")):
        value = facts.get(name)
        if isinstance(value, float):
            told[key] = per_second(value)
    share, took = facts.get("share"), facts.get("ms")
    if isinstance(share, float):
        told["share"] = percent(share)
    if isinstance(took, float):
        told["took"] = seconds(took)
    return told
