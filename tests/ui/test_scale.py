"""Reported faults J08, J09: at 100, 125, 150 and 200 % nothing is cut, nothing overlaps, everything is sharp."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, sys
from pathlib import Path
from tests.fakes.usecases import House
from tests.ui.looks import cut_texts, overlaps
from layadesk.ui.application import make_application
from layadesk.ui.bridge import Bridge
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.theme.theme import Theme

house = House(Path(sys.argv[1]))
conversation_id = house.converse("A question " * 30, "An answer. " * 90, title="请帮我安排一次杭州两日游")
app = make_application()
bridge = Bridge()
appearance = Appearance(house.settings, language=Language(app), theme=Theme(app))
appearance.apply()
window = MainWindow(house.use_cases, bridge=bridge, appearance=appearance)
window.panel_button.setChecked(True)
window.resize(900, 600)
window.show()
window.page.show_conversation(conversation_id)
found = []
for language in ("en", "zh_CN"):
    appearance.choose_language(language)
    for _ in range(30):
        house.store.wait(lambda: None)
        app.processEvents()
    found += cut_texts(window) + overlaps(window)
picture = window.grab()
shown = len(window.page.transcript.shown_views())
print(json.dumps({"found": found, "shown": shown, "ratio": picture.devicePixelRatio(), "width": picture.width()}))
window.close()
bridge.close()
house.close()
"""


@pytest.mark.parametrize("scale", ["1", "1.25", "1.5", "2"])
def test_the_window_is_whole_and_sharp(tmp_path: Path, scale: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=REPO,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["found"] == []
    assert result["shown"] == 2
    assert result["ratio"] == pytest.approx(float(scale))
    assert result["width"] == pytest.approx(900 * float(scale), abs=2)
