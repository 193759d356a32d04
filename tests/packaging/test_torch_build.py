"""Which torch is taken, from what pip offers and what the machine has."""

import json
from pathlib import Path
from typing import Any

import pytest

from setup_steps.torch_build import (
    NO_TORCH_INDEX,
    download_bytes,
    needs_cuda_libraries,
    offered_by,
    plan_torch,
)
from tests.packaging.machines import machine

CPU_INDEX = "https://torch.example/cpu"
CUDA_REQUIRES = [
    "filelock",
    'cuda-bindings<14,>=13.0.3; platform_system == "Linux" and python_version < "3.15"',
    'nvidia-cudnn-cu13==9.20.0.48; platform_system == "Linux"',
]
RTX = ("NVIDIA GeForce RTX 4090",)


def offered(*requires: str) -> dict[str, Any]:
    return {"metadata": {"name": "torch", "requires_dist": list(requires)}}


def test_a_cpu_build_that_pip_offers_is_taken_as_it_is() -> None:
    plan = plan_torch(offered("filelock", "jinja2"), machine(), CPU_INDEX)
    assert plan.arguments == ("torch==2.13.0",)
    assert not plan.is_cuda


def test_a_cuda_sized_offer_without_a_card_sends_us_to_the_index_of_cpu_builds() -> None:
    plan = plan_torch(offered(*CUDA_REQUIRES), machine(), CPU_INDEX)
    assert plan.arguments == ("torch==2.13.0", "--no-deps", "--index-url", CPU_INDEX)
    assert not plan.is_cuda


def test_a_folder_with_the_wheel_serves_as_an_index(tmp_path: Path) -> None:
    plan = plan_torch(offered(*CUDA_REQUIRES), machine(), str(tmp_path))
    assert plan.arguments == ("torch==2.13.0", "--no-deps", "--no-index", "--find-links", str(tmp_path))


def test_whoever_wants_no_index_of_cpu_builds_gets_what_pip_finds_and_is_told_its_size() -> None:
    plan = plan_torch(offered(*CUDA_REQUIRES), machine(), NO_TORCH_INDEX)
    assert plan.arguments == ("torch==2.13.0",)
    assert plan.is_cuda


def test_the_index_of_cpu_builds_is_asked_where_pip_offers_nothing() -> None:
    assert "--index-url" in plan_torch(None, machine(), CPU_INDEX).arguments


def test_with_an_nvidia_card_the_cuda_build_is_taken() -> None:
    plan = plan_torch(offered(*CUDA_REQUIRES), machine(nvidia=RTX), CPU_INDEX)
    assert plan.arguments == ("torch==2.13.0",)
    assert plan.is_cuda
    assert RTX[0] in plan.why


def test_windows_and_mac_builds_from_the_usual_index_are_never_cuda_sized() -> None:
    for system in ("win32", "darwin"):
        plan = plan_torch(offered(*CUDA_REQUIRES), machine(system=system), CPU_INDEX)
        assert plan.arguments == ("torch==2.13.0",)
        assert not plan.is_cuda


@pytest.mark.parametrize(("arch", "expected"), [("x86_64", True), ("aarch64", False)])
def test_cuda_libraries_for_another_processor_do_not_count(arch: str, *, expected: bool) -> None:
    requires = ['nvidia-nccl-cu12==2.27; platform_system == "Linux" and platform_machine == "x86_64"']
    assert needs_cuda_libraries(requires, system="linux", arch=arch) is expected


def test_a_report_of_pip_is_read_for_torch_alone(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    entries = [{"metadata": {"name": "numpy"}}, {"metadata": {"name": "torch", "version": "2.13.0+cpu"}}]
    report.write_text(json.dumps({"install": entries}), encoding="utf-8")
    found = offered_by(report)
    assert found is not None
    assert found["metadata"]["version"] == "2.13.0+cpu"


@pytest.mark.parametrize("text", ["", "{}", '{"install": []}'])
def test_a_report_without_torch_offers_nothing(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.json"
    report.write_text(text, encoding="utf-8")
    assert offered_by(report) is None


def test_a_size_is_told_only_when_every_part_of_it_is_known() -> None:
    sizes = {"a": 3, "b": 4, "c": None}
    assert download_bytes(["a", "b"], sizes.__getitem__) == 7
    assert download_bytes(["a", "c"], sizes.__getitem__) is None
