"""Which backend llama.cpp is built for, with which flags, and what its proof says."""

import json

import pytest

from setup_steps.llama_build import (
    LLAMA,
    BackendChoice,
    choose_backend,
    cmake_args,
    describe_build,
    is_settled,
    read_check,
)
from setup_steps.machine import Machine, VulkanTools, parse_nvidia_smi
from setup_steps.vulkan_probe import read_properties
from tests.packaging.machines import machine

RTX = ("NVIDIA GeForce RTX 4090",)
RADEON = VulkanTools(("AMD Radeon 780M",), has_glslc=True, has_headers=True)


@pytest.mark.parametrize(
    ("here", "backend"),
    [
        (machine(), "cpu"),
        (machine(has_nvcc=True), "cpu"),
        (machine(nvidia=RTX), "cpu"),
        (machine(nvidia=RTX, has_nvcc=True), "cuda"),
        (machine(nvidia=RTX, vulkan=RADEON), "vulkan"),
        (machine(vulkan=RADEON), "vulkan"),
        (machine(vulkan=VulkanTools(("AMD Radeon 780M",), has_glslc=True)), "cpu"),
        (machine(vulkan=VulkanTools(("AMD Radeon 780M",), has_headers=True)), "cpu"),
        (machine(vulkan=VulkanTools((), has_glslc=True, has_headers=True)), "cpu"),
        (machine(system="darwin", arch="arm64"), "metal"),
        (machine(system="darwin", arch="x86_64"), "cpu"),
        (machine(system="win32", nvidia=RTX, has_nvcc=True), "cuda"),
    ],
)
def test_the_backend_is_the_best_one_that_can_be_built_here(here: Machine, backend: str) -> None:
    assert choose_backend("auto", here).backend == backend


def test_a_backend_asked_for_by_name_is_taken_whatever_the_machine_has() -> None:
    assert choose_backend("vulkan", machine(nvidia=RTX, has_nvcc=True)).backend == "vulkan"


def test_the_newcomer_is_told_what_the_graphics_card_lacks() -> None:
    assert "nvcc" in choose_backend("auto", machine(nvidia=RTX)).why
    assert "glslc" in choose_backend("auto", machine(vulkan=VulkanTools(("AMD Radeon 780M",)))).why


@pytest.mark.parametrize("backend", ["cpu", "cuda", "vulkan", "metal"])
def test_no_build_is_made_for_this_processor_alone(backend: str) -> None:
    assert "-DGGML_NATIVE=OFF" in cmake_args(backend, machine()).split()


def test_each_backend_switches_on_its_own_flag() -> None:
    assert "-DGGML_CUDA=on" in cmake_args("cuda", machine())
    assert "-DGGML_VULKAN=on" in cmake_args("vulkan", machine())
    assert cmake_args("cpu", machine()) == "-DGGML_NATIVE=OFF"
    assert "-DGGML_METAL=off" in cmake_args("cpu", machine(system="darwin"))
    assert "METAL" not in cmake_args("metal", machine(system="darwin"))


def test_cuda_code_is_built_for_the_card_that_is_there() -> None:
    assert "-DCMAKE_CUDA_ARCHITECTURES=native" in cmake_args("cuda", machine(nvidia=RTX))
    assert "ARCHITECTURES" not in cmake_args("cuda", machine())  # nothing to ask: llama.cpp's own list


def test_the_flags_of_the_user_come_last_and_so_win() -> None:
    assert cmake_args("cpu", machine(), "-DGGML_NATIVE=ON") == "-DGGML_NATIVE=OFF -DGGML_NATIVE=ON"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("  [12/193] Building CXX object vendor/llama.cpp/ggml.o", "compiling 12 of 193"),
        ("[ 45%] Building CXX object ggml.o", "compiling, 45 %"),
        ("Collecting llama-cpp-python==0.3.36", "collecting llama-cpp-python==0.3.36"),
        ("  -- Found Threads: TRUE", None),
    ],
)
def test_the_build_tells_how_far_it_is(line: str, state: str | None) -> None:
    assert describe_build(line.strip()) == state


def proof(n_decoded: int = 8, *, gpu_offload: bool = False) -> str:
    return "noise\n" + json.dumps({"version": LLAMA, "n_decoded": n_decoded, "gpu_offload": gpu_offload})


def test_a_build_that_decodes_is_good() -> None:
    assert read_check(0, proof()).problem is None
    assert not read_check(0, proof()).has_gpu
    assert read_check(0, proof(gpu_offload=True)).has_gpu


def test_a_build_that_decodes_nothing_is_not() -> None:
    assert read_check(0, proof(0)).problem is not None


def test_a_build_that_dies_is_named_by_its_signal() -> None:
    assert read_check(-11, "").problem == "it dies with SIGSEGV when it decodes"
    assert read_check(-4, proof()).problem == "it dies with SIGILL when it decodes"


def test_a_python_error_is_shown_by_its_last_line() -> None:
    problem = read_check(1, "Traceback\nImportError: libcudart.so.13: cannot open").problem
    assert problem is not None
    assert "libcudart" in problem


def test_a_windows_crash_without_output_is_still_a_problem() -> None:
    assert read_check(3221225477, "").problem == "it fails to decode: exit status 3221225477"


CPU = {"llama": LLAMA, "backend": "cpu"}
CUDA = BackendChoice("cuda", "")


def test_what_was_provided_is_not_provided_again() -> None:
    assert is_settled(CPU, BackendChoice("cpu", ""), was_asked_for=False)
    assert not is_settled(CPU, CUDA, was_asked_for=False)
    assert not is_settled(None, CUDA, was_asked_for=False)


def test_another_release_of_llama_is_provided_again() -> None:
    assert not is_settled({**CPU, "llama": "0.3.1"}, BackendChoice("cpu", ""), was_asked_for=False)


def test_a_backend_that_failed_once_is_tried_again_only_when_asked_for() -> None:
    instead = {**CPU, "instead_of": "cuda"}
    assert is_settled(instead, CUDA, was_asked_for=False)
    assert not is_settled(instead, CUDA, was_asked_for=True)


def test_the_cards_of_nvidia_smi_are_read_by_name() -> None:
    cards = "GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 1: NVIDIA RTX 4090 (UUID: GPU-2)\n"
    text = cards + "  MIG 1g.10gb Device 0: (UUID: MIG-3)\n"
    assert parse_nvidia_smi(text) == ("NVIDIA H200", "NVIDIA RTX 4090")
    assert parse_nvidia_smi("No devices were found\n") == ()


def test_a_software_renderer_is_no_vulkan_device() -> None:
    name = b"Some Card\0".ljust(256, b"\0")
    head = (0).to_bytes(16, "little")
    card, renderer = (2).to_bytes(4, "little"), (4).to_bytes(4, "little")
    assert read_properties(head + card + name) == "Some Card"
    assert read_properties(head + renderer + name) is None
