"""Environment variables that native libraries read while they are loaded; set before llama.cpp is imported."""

import os
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from layadesk.protocol.options import BACKEND_MODULES

# How OpenMP threads wait for each other decides the speed on a CPU. SmolLM2, two threads on two cores, tokens/s alone
# and beside two busy programs: spinning without bound 99 / 6, sleeping at once 26 / 47, a bounded spin 111 / 37.
_WAITING = {
    "GOMP_SPINCOUNT": "10000",  # GNU: turns of an empty loop
    "KMP_BLOCKTIME": "1",  # LLVM and Intel: milliseconds
}
# Without this, an abort() in ggml first looks for a debugger, for seconds, before the app may learn of it.
_CRASHING = {"GGML_NO_BACKTRACE": "1"}


def apply_engine_environment(environ: MutableMapping[str, str]) -> None:
    """Set what the engine wants in `environ`, but nothing the user has decided about."""
    wanted = dict(_CRASHING)
    if "OMP_WAIT_POLICY" not in environ:
        wanted |= _WAITING
    for name, value in wanted.items():
        environ.setdefault(name, value)


def backend_modules(environ: Mapping[str, str], shipped: Sequence[Path] = ()) -> tuple[str, ...]:
    """Shared libraries that hold more backends of ggml, such as one for Vulkan, built for the same llama.cpp.

    Those of the variable take the place of the shipped ones; an empty variable means none.
    """
    named = environ.get(BACKEND_MODULES)
    places = (str(path) for path in shipped) if named is None else named.split(os.pathsep)
    return tuple(place for place in places if place)
