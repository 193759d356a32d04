"""Run by the environment's Python: can everything be imported? `test` also asks for what the checks need.

`thorough` imports what takes seconds, too, which is otherwise only looked for: done once after each installation.
Looks for the old `pynvml` distribution, too: its files overwrite those of `nvidia-ml-py`. Prints one JSON object.
"""

import importlib.metadata
import importlib.util
import json
import sys

_MODULES = (
    "PySide6.QtWidgets",
    "huggingface_hub",
    "jinja2",
    "layadesk",
    "msgspec",
    "numpy",
    "platformdirs",
    "psutil",
    "pynvml",
    "pyqtgraph",
)
_SLOW_MODULES = ("torch", "llama_cpp")
_TEST_MODULES = ("pytest", "pytestqt", "pytest_timeout", "hypothesis", "ruff", "mypy", "importlinter", "gguf")


def missing_modules(*, with_tests: bool, thorough: bool) -> dict[str, str]:
    """Module names and why they cannot be had."""
    missing = {name: "not installed" for name in _SLOW_MODULES if importlib.util.find_spec(name) is None}
    wanted = _MODULES + (_TEST_MODULES if with_tests else ()) + (_SLOW_MODULES if thorough else ())
    for name in wanted:
        try:
            __import__(name)
        except (ImportError, OSError, RuntimeError) as problem:  # native parts fail in ways of their own
            missing[name] = str(problem)
    return missing


if __name__ == "__main__":
    installed = {str(one.metadata["Name"]).lower() for one in importlib.metadata.distributions()}
    missing = missing_modules(with_tests="test" in sys.argv, thorough="thorough" in sys.argv)
    facts = {"missing": missing, "old_pynvml": "pynvml" in installed}
    print(json.dumps(facts))
