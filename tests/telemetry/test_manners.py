"""What sampling must never do: start a program, walk a page table, ask about files of other programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, os, sys, threading
opened, spawned = set(), []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])
    elif event in {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn"}:
        spawned.append(event)
from layadesk.telemetry.pace import Pace
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed
enough = threading.Semaphore(0)
observed = Observed(os.getpid, lambda: None, weight_files=lambda: (sys.executable,))
sampler = Sampler(observed, pace=Pace(idle_hz=10))
sampler.feed.subscribe(lambda sample: enough.release())
sys.addaudithook(hook)
sampler.start()
for _ in range(25):
    assert enough.acquire(timeout=30)
sampler.stop()
print(json.dumps({"opened": sorted(opened), "spawned": spawned, "pid": os.getpid()}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_sampling_starts_no_program_and_reads_no_page_tables() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=REPO, capture_output=True, encoding="utf-8", timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["spawned"] == []
    assert f"/proc/{told['pid']}/status" in told["opened"]  # the hook sees what the sensors read
    assert [path for path in told["opened"] if "smaps" in path or "pagemap" in path] == []
    mine = {"self", str(told["pid"])}
    processes = {path.split("/")[2] for path in told["opened"] if path.startswith("/proc/")}
    assert {name for name in processes if name.isdigit()} - mine == set()
