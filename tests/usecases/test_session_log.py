"""What a diagnosis keeps of a session, and what a report tells of it."""

import json
from pathlib import Path

import pytest

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.diagnosis import Answered, Case, Diagnosis, Symptom
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.inference import Role, Timings
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.check_installation import Check, Finding, Level
from layadesk.usecases.health_report import HealthReport
from layadesk.usecases.memory_speed import measure_memory_bytes_per_s
from layadesk.usecases.session_log import SessionLog
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnPhase, TurnProgress, TurnStarted


def answer(message_id: str, text: str = "", error: ErrorCode | None = None) -> Message:
    report = None if error is None else ErrorReport(error)
    return Message(
        message_id, "c", None, Role.ASSISTANT, text, 0.0, MessageStatus.COMPLETE, expert_id="smol", error=report
    )


def test_of_an_answer_its_figures_are_kept_and_not_its_words() -> None:
    turns: Feed[TurnEvent] = Feed()
    log = SessionLog(turns)
    turns.publish(TurnEnded("c", "a", answer("a", "A secret. " * 30)))
    turns.publish(TurnEnded("c", "b", answer("b", "", ErrorCode.ENGINE_DIED)))
    first, second = log.answers()
    assert first == Answered("smol", is_repeating=True)
    assert second == Answered("smol", error=ErrorCode.ENGINE_DIED)
    assert "secret" not in repr(log.answers())


def test_an_answer_that_began_while_another_was_loading_says_so() -> None:
    turns: Feed[TurnEvent] = Feed()
    log = SessionLog(turns)
    turns.publish(TurnStarted("c", None, answer("a")))
    turns.publish(TurnProgress("c", "a", TurnPhase.LOADING, 0.5))
    turns.publish(TurnStarted("d", None, answer("b")))
    turns.publish(TurnProgress("c", "a", TurnPhase.PREFILL))
    turns.publish(TurnStarted("e", None, answer("x")))
    for message_id in "abx":
        turns.publish(TurnEnded("c", message_id, answer(message_id)))
    assert [one.was_loading for one in log.answers()] == [False, True, False]


def test_a_report_holds_facts_and_neither_words_of_the_user_nor_names_of_folders(tmp_path: Path) -> None:
    paths = DataPaths(tmp_path / "data of Željko")
    settings = Settings(paths)
    settings.set(definitions.SYSTEM_PROMPT, "You are my secret friend.")
    settings.set(definitions.DOWNLOAD_PROXY, "http://željko:secret@proxy.example:3128")
    settings.set(definitions.UPDATE_FEED, "https://token:s@cret@releases.example/latest?a@b")
    paths.logs.mkdir(parents=True)
    (paths.logs / "engine-native.log").write_text(f"ggml: loaded\nfile {paths.root}/x.gguf\n", encoding="utf-8")
    findings = (Finding(Check.DATA_DIR, Level.OK, {"path": str(paths.root)}),)
    case = Case(samples=(HardwareSample(1.0, 2**34, 2**33),), answers=(Answered("smol", Timings(n_decoded=5)),))
    text = HealthReport(paths, settings)(findings, case, (Diagnosis(Symptom.THRASH),))
    told = json.loads(text.partition("\n\nengine-native.log:")[0])
    assert told["machine"]["host"]["ram_total_bytes"] == {"value": 2**34, "why": None}
    assert told["diagnoses"][0]["symptom"] == "thrash"
    assert told["settings"]["inference.n_ctx"] == 8192
    assert "ggml: loaded" in text
    assert "DATA" in text
    assert told["settings"]["downloads.proxy"] == "http://…@proxy.example:3128"
    assert told["settings"]["updates.feed"] == "https://…@releases.example/latest?a@b"
    assert "secret" not in text
    assert "Željko" not in text


def test_the_speed_of_memory_is_a_speed_of_memory() -> None:
    assert 1e8 < measure_memory_bytes_per_s() < 1e13


@pytest.mark.parametrize("key", [setting.key for setting in definitions.ALL_SETTINGS])
def test_no_setting_that_holds_what_a_user_wrote_is_in_a_report(key: str, tmp_path: Path) -> None:
    paths = DataPaths(tmp_path)
    text = HealthReport(paths, Settings(paths))((), Case(), ())
    told = json.loads(text.partition("\n\nengine-native.log:")[0])
    assert (key in told["settings"]) == ("prompt" not in key)
