"""What pip's and the compiler's output means, in one sentence; the log has the rest."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Reason:
    pattern: str
    sentence: str


# the first that matches wins: pip reports a missing network as "no matching distribution" at the end
_REASONS = (
    _Reason(r"No space left on device|Errno 28\b|not enough space on the disk", "The disk is full."),
    _Reason(
        r"CERTIFICATE_VERIFY_FAILED", "The package index's certificate is not trusted here (a proxy? see pip's --cert)."
    ),
    _Reason(r"ProxyError|Tunnel connection failed", "The proxy refused the connection to the package index."),
    _Reason(
        r"NewConnectionError|Temporary failure in name resolution|getaddrinfo failed|Network is unreachable"
        r"|Name or service not known|ConnectionResetError|ReadTimeout|ConnectTimeout|Max retries exceeded",
        "The package index cannot be reached: is there a network?",
    ),
    _Reason(
        r"No CMAKE_C(XX)?_COMPILER could be found|CMAKE_C(XX)?_COMPILER not set|Microsoft Visual C\+\+ .* required"
        r"|command '(gcc|cc|cl\.exe)' failed: No such file",
        "No C/C++ compiler was found, and there is no ready-made llama.cpp for this machine.",
    ),
    _Reason(
        r"Could not find nvcc|CUDA Toolkit not found|Failed to find nvcc", "The CUDA toolkit (nvcc) was not found."
    ),
    _Reason(r"Could NOT find Vulkan", "Vulkan's headers, library or glslc were not found."),
    _Reason(r"LayerSettingEXT", "The Vulkan headers of this system are too old for llama.cpp."),
    _Reason(
        r"Killed signal terminated program|cannot allocate memory|out of memory", "The compiler ran out of memory."
    ),
    _Reason(r"Permission denied|Errno 13\b", "A file could not be written: permission denied."),
    _Reason(r"Requires-Python|requires a different Python", "No release of it fits this Python."),
    _Reason(r"No matching distribution found for (?P<what>\S+)", "The package index has no {what} for this machine."),
    _Reason(r"hash(es)? .*(mismatch|do not match)", "A download was damaged on its way; run the command again."),
)


def explain(output: str) -> str:
    """One sentence about why a command failed, or one that says to look into the log."""
    for reason in _REASONS:
        found = re.search(reason.pattern, output, re.IGNORECASE)
        if found:
            return reason.sentence.format(**found.groupdict())
    told = [
        found for line in output.splitlines() if (found := re.match(r"\s*((\w+\.)*\w*Error|error|ERROR): .+", line))
    ]
    return f"It ended with: {told[-1][0].strip()}" if told else "Its output says no more than the log."
