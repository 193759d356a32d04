"""Memory runs out while an expert writes: the guard ends the answer in the real program, and its text is kept."""

import json
from pathlib import Path

import pytest

from layadesk.app import Desk
from layadesk.domain.chat import MessageStatus
from layadesk.domain.hardware import EngineWork, HardwareSample
from layadesk.usecases.turns import TurnText
from tests.fakes.answering import PATIENCE_S, TurnLog
from tests.fakes.gguf_files import write_gguf

GIB = 2**30


@pytest.mark.logs_warnings
def test_the_last_resort_unloads_the_expert_and_keeps_what_it_wrote(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"text": "word " * 4000, "decode_tps": 50.0}), encoding="utf-8")
    desk = Desk(tmp_path / "data", engine=f"scripted:{script}")
    use_cases = desk.use_cases
    log = TurnLog(use_cases.turns)
    try:
        use_cases.experts.import_file(str(write_gguf(tmp_path / "tiny.gguf"))).result(PATIENCE_S)
        desk._core.start()
        started = use_cases.send_message(use_cases.conversations.create(), "Write.").result(PATIENCE_S)
        log.wait(lambda event: isinstance(event, TurnText))
        for tick in range(60):  # fifteen seconds of a machine with nothing left
            sample = HardwareSample(tick / 4, 64 * GIB, GIB, work=EngineWork(n_running=1, decode_tps=50.0))
            desk._core.sampler.feed.publish(sample)
        message = log.ended(started.answer.message_id).message
    finally:
        desk.stop()
    assert message.status is MessageStatus.CANCELLED
    assert message.text
    assert ("word " * 4000).startswith(message.text)
    assert use_cases.guard.state.unloaded == ("tiny",)
    assert not use_cases.workers.loaded()
