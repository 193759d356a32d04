"""`layadesk fit`: the memory bill, the verdict and the ways out. Nothing is loaded."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from layadesk.cli.printing import EXIT_FAILED, EXIT_OK, print_json, running_core, speak
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import Plan
from layadesk.domain.memory_fit.verdict import Verdict

if TYPE_CHECKING:
    from layadesk.usecases.fit import FitAnswer

_GIB = 2**30


def fit(options: argparse.Namespace) -> int:
    """Price `options.model`; the exit status is 1 where it does not fit as asked."""
    from layadesk.usecases.fit import FitWish  # noqa: PLC0415 - `--help` answers without it

    wish = FitWish(options.n_ctx, options.n_parallel, options.kv_type, options.n_gpu_layers, options.mmproj)
    machine = None if options.hardware is None else read_hardware(options.hardware)
    with running_core(options.data_dir, options.engine, started=False) as core:
        if machine is None and core.paths.database.is_file():  # what was learned here says nothing of another machine
            core.learn_from_loads()
        answer = core.fit(options.model, quantization=options.quantization, wish=wish, machine=machine)
    if options.json:
        print_json(as_json(answer))
    else:
        speak(options.data_dir)
        for line in as_text(answer):
            print(line)
    return EXIT_FAILED if answer.outlook.verdict is Verdict.REFUSE else EXIT_OK


def read_hardware(path: Path) -> MachineMemory:
    """A machine from a JSON file with the fields of MachineMemory. Raises BAD_PARAMETER."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=MachineMemory)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="hardware", value=str(path), detail=str(error)[:200]) from error


def as_json(answer: "FitAnswer") -> dict[str, Any]:
    """The whole answer, sums included."""
    outlook = answer.outlook
    return {
        "model": answer.subject,
        "quantization": answer.quantization,
        "verdict": outlook.verdict,
        "params": msgspec.to_builtins(answer.wish),
        **_plan_json(outlook.asked),
        "plans": [_plan_json(plan) for plan in outlook.plans],
        "machine": msgspec.to_builtins(answer.machine),
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    bill = plan.bill
    judged = {one.device: one for one in plan.judgement.devices}
    devices = []
    for device in bill.devices:
        one = judged.get(device.device)
        devices.append(
            msgspec.to_builtins(device)
            | {"total_bytes": device.total_bytes}
            | ({} if one is None else msgspec.to_builtins(one) | {"missing_bytes": one.missing_bytes})
        )
    return {
        "kind": plan.kind,
        "subject": plan.subject,
        "evicts": plan.evicts,
        "bill": {
            "basis": bill.basis,
            "total_bytes": bill.total_bytes,
            "correction_bytes": bill.correction_bytes,
            "n_gpu_layers": bill.n_gpu_layers,
            "n_layers": bill.n_layers,
            "devices": devices,
        },
        "plan_verdict": plan.judgement.verdict,
        "speed": plan.speed,
        "tokens_per_s_estimate": round(plan.tokens_per_s, 1),
        "n_ctx": plan.params.n_ctx,
        "n_parallel": plan.params.n_parallel,
        "type_k": plan.params.type_k,
        "n_cpu_moe": plan.params.n_cpu_moe,
    }


def as_text(answer: "FitAnswer") -> list[str]:
    """For a person."""
    from layadesk.ui.texts import memory, words  # noqa: PLC0415 - QtCore
    from layadesk.ui.texts.numbers import gib_with_unit  # noqa: PLC0415

    outlook, asked = answer.outlook, answer.outlook.asked
    params = answer.wish
    title = " · ".join(part for part in (answer.subject, answer.quantization) if part)
    lines = [f"{title}: {memory.verdict(outlook.verdict)}"]
    lines.append(f"  {memory.basis(asked.bill.basis)}; {_cells(params.n_ctx, params.n_parallel)}, KV {params.type_k}")
    if memory.learned(asked.bill):
        lines.append(f"  {memory.learned(asked.bill)}")
    for device in asked.bill.devices:
        parts = "  ".join(f"{memory.bill_item(item)} {n / _GIB:.2f}" for item, n in device.items if n)
        lines.append(f"  {memory.device_name(device.device):8} {device.total_bytes / _GIB:6.2f} GiB   {parts}")
    for judged in asked.judgement.devices:
        lines.append(f"  {memory.three_numbers(judged)}: {memory.verdict(judged.verdict)}")
    worst = asked.judgement.worst
    if worst.missing_bytes and outlook.verdict not in (Verdict.FITS, Verdict.TIGHT):
        exact = f"{gib_with_unit(worst.missing_bytes)} ({worst.missing_bytes:,} B)"
        missing = exact if worst.available_bytes is not None else words.unknown()
        lines.append(f"  {memory.device_name(worst.device)}: {missing} too little; {memory.largest(worst)}")
    for number, plan in enumerate(outlook.plans, 1):
        lines.append(f"  {number}. {memory.plan(plan)}: {memory.plan_price(plan)}")
    return lines


def _cells(n_ctx: int, n_parallel: int) -> str:
    return f"{n_ctx} cells for up to {n_parallel}"
