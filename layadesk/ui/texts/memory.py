"""Words of the memory bill, its verdicts and its plans; the command line prints them too."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from layadesk.domain.memory_fit.bill import Basis, BillItem, MemoryBill
from layadesk.domain.memory_fit.load_record import LoadRecord, OffloadMiss
from layadesk.domain.memory_fit.plans import Plan, PlanKind
from layadesk.domain.memory_fit.speed import SpeedClass
from layadesk.domain.memory_fit.verdict import DeviceJudgement, Verdict
from layadesk.ui.texts import words
from layadesk.ui.texts.numbers import gib_with_unit, size

translate = QCoreApplication.translate


def verdict(value: Verdict) -> str:
    """One or two words."""
    match value:
        case Verdict.FITS:
            return translate("memory", "fits")
        case Verdict.TIGHT:
            return translate("memory", "fits tightly")
        case Verdict.NEEDS_OFFLOAD:
            return translate("memory", "fits in part: some layers stay on the CPU")
        case Verdict.REFUSE:
            return translate("memory", "does not fit")
        case Verdict.UNKNOWN:
            return translate("memory", "cannot be told")


def bill_item(item: BillItem) -> str:
    """What memory is for."""
    return {
        BillItem.WEIGHTS: translate("memory", "weights"),
        BillItem.KV: translate("memory", "KV cache"),
        BillItem.COMPUTE: translate("memory", "compute"),
        BillItem.OUTPUT: translate("memory", "output"),
        BillItem.MMPROJ: translate("memory", "eyes or ears (mmproj)"),
        BillItem.OVERHEAD: translate("memory", "overhead"),
        BillItem.MARGIN: translate("memory", "margin"),
    }[item]


def basis(value: Basis) -> str:
    """Where the figures come from."""
    match value:
        case Basis.ARITHMETIC:
            return translate("memory", "computed from the model's header")
        case Basis.DRY_RUN:
            return translate("memory", "told by llama.cpp for this file")
        case Basis.REPORTED:
            return translate("memory", "reported by llama.cpp after the load")
        case Basis.UNKNOWN:
            return translate("memory", "nobody can tell for this kind of model")


def speed(value: SpeedClass) -> str:
    """What reading along feels like."""
    match value:
        case SpeedClass.FAST:
            return translate("memory", "fast")
        case SpeedClass.READING:
            return translate("memory", "about reading speed")
        case SpeedClass.SLOW:
            return translate("memory", "runs, a few tokens a second, not pleasant")
        case SpeedClass.CRAWLING:
            return translate("memory", "very slow, less than two tokens a second")


def device_name(device: str) -> str:
    """`RAM` for what llama.cpp calls CPU."""
    return translate("memory", "RAM") if device == "CPU" else device


def three_numbers(judged: DeviceJudgement) -> str:
    """Needed, free, and what has to stay free (the shape of reported fault A34)."""
    return translate("memory", "{device}: needs {needed}, free {free}, {reserve} has to stay free").format(
        device=device_name(judged.device),
        needed=gib_with_unit(judged.needed_bytes),
        free=words.unknown() if judged.available_bytes is None else gib_with_unit(judged.available_bytes),
        reserve=gib_with_unit(judged.reserve_bytes),
    )


def largest(judged: DeviceJudgement) -> str:
    """The largest part of what is needed."""
    return translate("memory", "most of it for {item}: {size}").format(
        item=bill_item(judged.largest), size=gib_with_unit(judged.largest_bytes)
    )


def plan(value: Plan) -> str:
    """What to do, as a button says it."""
    texts: dict[PlanKind, Callable[[Plan], str]] = {
        PlanKind.AS_ASKED: lambda _: translate("memory", "Load as asked"),
        PlanKind.EVICT: _evict,
        PlanKind.FEWER_GPU_LAYERS: _layers,
        PlanKind.MOE_ON_CPU: lambda one: translate(
            "memory", "MoE experts of %n layer(s) on the CPU", "", one.params.n_cpu_moe
        ),
        PlanKind.HOT_MOE_ON_GPU: lambda _: translate("memory", "The MoE experts of the hottest layers on the GPU"),
        PlanKind.KV_Q8_0: _kv_type,
        PlanKind.KV_Q4_0: _kv_type,
        PlanKind.SMALLER_CONTEXT: lambda one: translate("memory", "A context of {n} tokens").format(n=one.params.n_ctx),
        PlanKind.FEWER_SEQUENCES: lambda one: translate("memory", "One conversation at a time, {n} tokens").format(
            n=one.params.n_ctx
        ),
        PlanKind.CPU_ONLY: lambda _: translate("memory", "On the CPU alone"),
        PlanKind.OTHER_QUANTIZATION: lambda one: translate("memory", "Quantization {name}").format(name=one.subject),
        PlanKind.OTHER_EXPERT: lambda one: translate("memory", "{name} instead").format(name=one.subject),
    }
    return texts[value.kind](value)


def _evict(value: Plan) -> str:
    return translate("memory", "Unload {names} first").format(names=", ".join(value.evicts))


def _layers(value: Plan) -> str:
    text = translate("memory", "{n} of {all} layers on the GPU")
    return text.format(n=value.bill.n_gpu_layers, all=value.bill.n_layers)


def _kv_type(value: Plan) -> str:
    return translate("memory", "KV cache as {kind}").format(kind=value.params.type_k)


def plan_price(value: Plan) -> str:
    """What a plan costs and how fast it is."""
    return f"{price(value.bill)} · {speed(value.speed)}"


def price(bill: MemoryBill) -> str:
    """The sums by device, in one line."""
    if bill.basis is Basis.UNKNOWN:
        return words.unknown()
    return " + ".join(f"{gib_with_unit(one.total_bytes)} {device_name(one.device)}" for one in bill.devices)


def offload_miss(record: LoadRecord) -> str:
    """Where the layers are instead of where they were asked, and why."""
    if record.miss is None:
        return ""
    reasons = {
        OffloadMiss.NO_GPU_BUILD: translate("memory", "this llama.cpp was built for the CPU alone"),
        OffloadMiss.NO_DEVICE: translate("memory", "llama.cpp found no GPU"),
        OffloadMiss.NO_LAYERS: translate("memory", "llama.cpp put no layer on the GPU"),
        OffloadMiss.FEWER_LAYERS: translate("memory", "the other layers stayed on the CPU"),
        OffloadMiss.NO_VRAM: translate("memory", "layers are reported there, but the VRAM in use has not grown"),
    }
    if record.layers_on_gpu == 0 or record.miss is OffloadMiss.NO_VRAM:
        return translate("memory", "CPU (asked GPU): {why}").format(why=reasons[record.miss])
    text = translate("memory", "{n} of {all} layers on the GPU: {why}")
    return text.format(n=record.layers_on_gpu, all=record.layers_asked, why=reasons[record.miss])


def learned(bill: MemoryBill | None) -> str:
    """What of a bill earlier loads have taught; empty where they taught nothing."""
    if bill is None or bill.correction_bytes <= 0:
        return ""
    text = translate("memory", "In the prediction: {size} that earlier loads took beyond their bill")
    return text.format(size=size(bill.correction_bytes))
