"""A build for newer processors is refused in words before it can die of an unknown instruction."""

from pathlib import Path

import pytest

from layadesk.engine.instruction_set import flags_of, missing_instructions

OLD = "processor\t: 0\nflags\t\t: fpu sse4_2 avx\nprocessor\t: 1\nflags\t\t: fpu\n"


class Build:
    """Stands for the library: tells what it was compiled for."""

    def __init__(self, *used: str) -> None:
        for name in used:
            setattr(self, f"ggml_cpu_has_{name}", lambda: 1)
        self.ggml_cpu_has_avx512 = lambda: 0


def test_what_the_build_uses_and_the_processor_lacks_is_named() -> None:
    flags = flags_of(OLD) or frozenset()
    build = Build("avx", "avx2", "fma")
    assert missing_instructions(build, has=lambda name: name in flags) == ("avx2", "fma")


def test_what_cannot_be_told_is_not_missing() -> None:
    assert missing_instructions(Build("avx2", "fma"), has=lambda name: None) == ()


def test_a_build_that_tells_nothing_lacks_nothing() -> None:
    assert missing_instructions(object(), has=lambda name: False) == ()


def test_processors_without_a_line_of_flags_are_no_x86() -> None:
    assert flags_of("processor\t: 0\nFeatures\t: fp asimd\n") is None
    assert flags_of(OLD) == frozenset({"fpu", "sse4_2", "avx"})


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="flags are read from /proc/cpuinfo")
@pytest.mark.llama
def test_the_build_of_this_environment_runs_here() -> None:
    from layadesk.engine.llama_library import native

    assert native._lib.ggml_cpu_has_avx2() in (0, 1)
    assert missing_instructions(native._lib) == ()
