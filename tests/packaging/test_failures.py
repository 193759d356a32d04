"""One sentence for each way in which an installation fails."""

import pytest

from setup_steps.failures import explain


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("CMake Error: No CMAKE_CXX_COMPILER could be found.", "No C/C++ compiler"),
        ("error: Microsoft Visual C++ 14.0 or greater is required.", "No C/C++ compiler"),
        ("-- Could NOT find Vulkan (missing: glslc)", "Vulkan's headers"),
        ("ggml-vulkan.cpp:5214: error: 'LayerSettingEXT' is not a member of 'vk'", "too old"),
        ("c++: fatal error: Killed signal terminated program cc1plus", "out of memory"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no torch==2.13.0 for this machine"),
        ("ERROR: Package 'layadesk' requires a different Python: 3.14.0 not in '<3.14'", "fits this Python"),
        ("ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED]", "certificate"),
    ],
)
def test_a_failure_is_told_in_a_sentence(output: str, words: str) -> None:
    assert words in explain(output)


def test_no_network_is_not_told_as_a_missing_package() -> None:
    output = (
        "WARNING: Retrying after connection broken by 'NewConnectionError: Temporary failure in name resolution'\n"
        "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
        "ERROR: No matching distribution found for torch==2.13.0\n"
    )
    assert "is there a network?" in explain(output)


def test_an_unknown_failure_shows_the_last_error_line() -> None:
    output = (
        "  OSError: Readme file does not exist\n  [end of output]\n× Encountered error while generating metadata.\n"
    )
    assert explain(output) == "It ended with: OSError: Readme file does not exist"


def test_silence_points_to_the_log() -> None:
    assert "log" in explain("")
