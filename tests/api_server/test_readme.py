"""What the README tells people to type works word for word, against `layadesk serve` with the starter expert."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
README = (REPO / "README.md").read_text(encoding="utf-8").partition("## The server")[2]
CURL = re.findall(r"```\n(curl .*?)```", README, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, smol_gguf: Path) -> Iterator[None]:
    """`layadesk serve` as it is typed, apart from the data directory."""
    with socket.socket() as trial:
        if trial.connect_ex(("127.0.0.1", 8000)) == 0:
            pytest.skip("port 8000, which the README names, is in use on this machine")
    folder = tmp_path_factory.mktemp("starter")
    layadesk = [sys.executable, "-m", "layadesk"]
    where = ["--data-dir", str(folder)]
    added = subprocess.run(
        [*layadesk, "models", "import", str(smol_gguf), "--origin", "starter", *where], cwd=REPO, check=True
    )
    assert added.returncode == 0
    environ = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = [*layadesk, "serve", *where]
    with subprocess.Popen(command, cwd=REPO, env=environ, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().strip() == "LayaDesk answers at http://127.0.0.1:8000/v1"
        yield
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


@pytest.mark.llama
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("command", CURL)
def test_the_curl_of_the_readme_is_answered(command: str, serving: None) -> None:
    began = time.monotonic()
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert '"role": "assistant"' in done.stdout
    assert '"error"' not in done.stdout
    assert time.monotonic() - began < 90


@pytest.mark.llama
@pytest.mark.parametrize("program", PYTHON)
def test_the_python_of_the_readme_prints_an_answer(program: str, serving: None) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_readme_shows_both() -> None:
    assert CURL
    assert PYTHON
