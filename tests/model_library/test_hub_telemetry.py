"""Nothing is sent to a hub but what a download needs."""

import os
import subprocess
import sys

_ASK = """
import layadesk.model_library.hub
from huggingface_hub.utils import _detect_agent, build_hf_headers

def refuse():
    raise SystemExit("it asks the hub for a list that nobody wanted")

_detect_agent._fetch_registry = refuse
print(build_hf_headers(token=False)["user-agent"])
"""


def test_the_library_of_the_hub_says_nothing_of_this_machine_and_asks_nothing_by_itself() -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", _ASK], env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stdout
    assert "agent" not in done.stdout
