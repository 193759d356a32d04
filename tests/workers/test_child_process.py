"""The exit code of a child, also while the system is not yet done with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from layadesk.workers.child_process import code_of_dying


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads /proc")
@pytest.mark.parametrize(("script", "code"), [("os.kill(os.getpid(), 9)", -9), ("os._exit(3)", 3), ("pass", None)])
def test_the_code_of_a_process_nobody_has_waited_for_is_known(script: str, code: int | None) -> None:
    with subprocess.Popen([sys.executable, "-c", f"import os; {script}"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays to be waited for
        assert code_of_dying(process.pid) == code
        assert process.wait() == (code or 0)


def test_a_process_that_lives_or_is_not_there_has_none() -> None:
    assert code_of_dying(os.getpid()) is None
    assert code_of_dying(2**22 + 1) is None
