"""`layadesk smoke` and `layadesk doctor`."""

import argparse
import time
from typing import Any

import msgspec

from layadesk.cli.printing import EXIT_FAILED, EXIT_OK, complain, print_json, running_core, speak


def smoke(options: argparse.Namespace) -> int:
    """Load, route, answer, measure."""
    from layadesk.usecases.smoke_test import SmokeTest  # noqa: PLC0415

    began = time.monotonic()
    with running_core(options.data_dir, options.engine) as core:
        steps = SmokeTest(core.ask)(expert=options.expert)
    passed = all(step.passed for step in steps)
    seconds = round(time.monotonic() - began, 2)
    if options.json:
        print_json({"passed": passed, "seconds": seconds, "steps": [msgspec.to_builtins(step) for step in steps]})
    else:
        for step in steps:
            print(f"{'ok  ' if step.passed else 'FAIL'}  {step.name:8} {_listed(step.measured)}".rstrip())
        print(f"{'passed' if passed else 'FAILED'} in {seconds} s")
    for step in steps:
        if step.error is not None:
            complain(step.error, options.data_dir)
            break
    return EXIT_OK if passed else EXIT_FAILED


def doctor(options: argparse.Namespace) -> int:
    """Check the installation and say what to do; with `--probe`, what each sensor of this machine says."""
    if options.probe:
        return _probe(options)
    from layadesk.ui.texts.diagnoses import diagnosis_remedy, diagnosis_words  # noqa: PLC0415 - QtCore
    from layadesk.ui.texts.findings import finding_remedy, finding_words  # noqa: PLC0415
    from layadesk.usecases.check_installation import Level  # noqa: PLC0415

    with running_core(options.data_dir, options.engine) as core:
        health = core.diagnosis().now()
    is_bad = any(finding.level is Level.FAIL for finding in health.findings)
    if options.json:
        print_json(
            {"findings": msgspec.to_builtins(health.findings), "diagnoses": msgspec.to_builtins(health.diagnoses)}
        )
        return EXIT_FAILED if is_bad else EXIT_OK
    speak(options.data_dir)
    for finding in health.findings:
        remedy = "" if finding.level is Level.OK else finding_remedy(finding)
        _say(finding.level, finding_words(finding), remedy)
    for diagnosis in health.diagnoses:
        level = Level.FAIL if diagnosis.is_serious else Level.WARN if diagnosis.is_trouble else Level.OK
        _say(level, diagnosis_words(diagnosis), diagnosis_remedy(diagnosis))
    return EXIT_FAILED if is_bad else EXIT_OK


def _say(level: str, words: str, remedy: str) -> None:
    print(f"{level.upper():4}  {words}")
    if remedy:
        print(f"      → {remedy}")


def _probe(options: argparse.Namespace) -> int:
    from layadesk.usecases.probe_machine import described, probe_machine  # noqa: PLC0415

    with running_core(options.data_dir, options.engine) as core:
        sample = probe_machine(core.observed)
    told = described(sample)
    if options.json:
        print_json(told)
        return EXIT_OK
    from layadesk.ui.texts.words import why  # noqa: PLC0415 - QtCore

    speak(options.data_dir)
    for title, fields in (("host", told["host"]), *((gpu["name"], gpu["fields"]) for gpu in told["gpus"])):
        print(title)
        for name, figure in fields.items():
            reason = "" if figure["why"] is None else f"  ({why(figure['why'])})"
            print(f"  {name:26} {_figure(figure['value'])}{reason}")
    if told["gpus_why"] is not None:
        print(f"GPUs: n/a ({why(told['gpus_why'])})")
    return EXIT_OK


def _listed(measured: dict[str, Any]) -> str:
    return "  ".join(f"{name} {_figure(value)}" for name, value in measured.items())


def _figure(value: Any) -> str:
    if value is None:
        return "n/a"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
