"""What was done when: bands of the phases of each answer."""

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.inference import Role
from layadesk.protocol.feed import Feed
from layadesk.usecases.timeline import KEPT_S, Timeline
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnPhase, TurnProgress, TurnStarted, TurnText
from tests.fakes.sensors import FakeClock


class Talk:
    """Answers on a clock of the test."""

    def __init__(self) -> None:
        self.clock = FakeClock(100.0)
        self.feed: Feed[TurnEvent] = Feed()
        self.timeline = Timeline(self.feed, self.clock)

    def say(self, event: TurnEvent, after_s: float = 0.0) -> None:
        self.clock.now += after_s
        self.feed.publish(event)

    def answer(self, message_id: str = "m") -> Message:
        return Message(message_id, "c", None, Role.ASSISTANT, "", 0.0, MessageStatus.STREAMING)

    def bands(self) -> list[tuple[str, float, float | None]]:
        return [(band.phase.value, band.since, band.until) for band in self.timeline.bands()]


def test_each_phase_of_an_answer_is_a_band_and_the_last_one_is_open() -> None:
    talk = Talk()
    talk.say(TurnStarted("c", None, talk.answer()))
    talk.say(TurnProgress("c", "m", TurnPhase.LOADING, 0.1), 0.5)
    talk.say(TurnProgress("c", "m", TurnPhase.LOADING, 0.9), 1.0)
    talk.say(TurnProgress("c", "m", TurnPhase.PREFILL), 0.5)
    talk.say(TurnText("c", "m", "Hello", 0, 1), 2.0)
    talk.say(TurnText("c", "m", " you", 5, 2), 0.5)
    assert talk.bands() == [
        ("routing", 100.0, 100.5),
        ("loading", 100.5, 102.0),
        ("prefill", 102.0, 104.0),
        ("decode", 104.0, None),
    ]
    talk.say(TurnEnded("c", "m", talk.answer()), 1.5)
    assert talk.bands()[-1] == ("decode", 104.0, 106.0)


def test_answers_at_the_same_time_have_bands_of_their_own() -> None:
    talk = Talk()
    talk.say(TurnStarted("c", None, talk.answer("a")))
    talk.say(TurnStarted("d", None, talk.answer("b")), 1.0)
    talk.say(TurnText("c", "a", "x", 0, 1), 1.0)
    found = {(band.message_id, band.phase.value) for band in talk.timeline.bands()}
    assert found == {("a", "routing"), ("a", "decode"), ("b", "routing")}


def test_bands_of_more_than_half_an_hour_ago_are_forgotten() -> None:
    talk = Talk()
    for number in range(3):
        talk.say(TurnStarted("c", None, talk.answer(str(number))), KEPT_S / 2 + 1)
        talk.say(TurnEnded("c", str(number), talk.answer(str(number))), 1.0)
    assert [band.message_id for band in talk.timeline.bands()] == ["1", "2"]
