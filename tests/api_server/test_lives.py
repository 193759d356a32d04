"""Answers that end early: the client goes, the engine dies, the server is ended, the queue is full."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import psutil
import pytest

from layadesk.api_server import answers
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import PromptMessage, Role, SamplingParams
from layadesk.engine.fair_share import STINT_S
from layadesk.protocol.events import TextDelta
from layadesk.usecases.answer_order import AnswerOrder
from tests.fakes.served import PATIENCE_S, Served, served

HELLO = [{"role": "user", "content": "hello"}]
LONG = "word " * 2000
SLOW = 50.0  # tokens a second: the whole answer would take minutes


def test_a_client_that_goes_stops_its_answer_streaming_or_not(tmp_path: Path) -> None:  # H13
    with served(tmp_path, text=LONG, decode_tps=SLOW) as running:
        stream = running.client().chat.completions.create(model="tiny", messages=HELLO, stream=True)
        for _, _chunk in zip(range(3), stream, strict=False):
            pass
        stream.close()
        running.stats.wait_until_idle()
        assert running.log.wait_for(1).status == 499
        hasty = running.client().with_options(timeout=0.5)
        with pytest.raises(openai.APITimeoutError):
            hasty.chat.completions.create(model="tiny", messages=HELLO)
        assert running.log.wait_for(2).status == 499
        began = time.monotonic()
        short = running.client().chat.completions.create(model="tiny", messages=HELLO, max_tokens=2)
        assert short.choices[0].message.content == "wo"
        running.stats.wait_until_idle()
        assert time.monotonic() - began < 10  # nothing of the long ones was in the way


class LongAnswers:
    """Four clients that read answers without end, on all places of an expert."""

    def __init__(self, running: Served) -> None:
        self.texts = [""] * 4
        self._threads = ThreadPoolExecutor(4)
        self._streams = [
            running.client().chat.completions.create(model="tiny", messages=HELLO, stream=True, user=f"long {n}")
            for n in range(4)
        ]
        self._is_over = threading.Event()
        self._readers = [self._threads.submit(self._read, n) for n in range(4)]

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.texts))

    def wait_for_more(self) -> None:
        """Until each has got more than now."""
        before = list(self.texts)
        until = time.monotonic() + PATIENCE_S
        while any(len(now) <= len(then) for now, then in zip(self.texts, before, strict=True)):
            assert time.monotonic() < until, "one of them does not go on"
            time.sleep(0.01)

    def close(self) -> None:
        self._is_over.set()
        for reader in self._readers:
            reader.result(PATIENCE_S)
        self._threads.shutdown()

    def _read(self, number: int) -> None:
        with self._streams[number] as stream:
            for chunk in stream:
                self.texts[number] += chunk.choices[0].delta.content or ""
                if self._is_over.is_set():
                    return


def test_long_answers_on_all_places_keep_neither_another_client_nor_the_window_waiting(tmp_path: Path) -> None:
    n_bound = 4 * round(4 * STINT_S * SLOW)  # tokens, some stints of all four; each whole answer has 10,000
    with served(tmp_path, text=LONG, decode_tps=SLOW) as running:
        long = LongAnswers(running)
        long.wait_for_more()
        n_before = long.n_tokens
        stream = running.client().chat.completions.create(model="tiny", messages=HELLO, stream=True, user="fifth")
        while not next(stream).choices[0].delta.content:
            pass
        assert long.n_tokens - n_before < n_bound
        n_before = long.n_tokens
        hello = (PromptMessage(Role.USER, "hello"),)
        has_begun = threading.Event()
        order = AnswerOrder("window", hello, SamplingParams(), picked="tiny", conversation_id="a talk in the window")
        running.core.answers.start(order, lambda event: has_begun.set() if isinstance(event, TextDelta) else None)
        assert has_begun.wait(PATIENCE_S)
        assert long.n_tokens - n_before < n_bound
        long.wait_for_more()  # six take turns on four places, and everyone goes on
        assert all(LONG.startswith(text) for text in long.texts)
        stream.close()
        running.core.answers.cancel("window")
        long.close()
        running.stats.wait_until_idle()


@pytest.mark.logs_warnings
def test_a_dead_engine_is_told_to_everybody_at_once_and_the_next_is_answered(tmp_path: Path) -> None:
    fault = {"kind": "kill", "at_token": 20, "contains": "die", "times": 1}
    with served(tmp_path, text=LONG, decode_tps=SLOW, faults=[fault]) as running:
        client = running.client()
        ended_at: list[float] = []

        def ask(number: int) -> type[Exception]:
            text = "die" if number == 0 else f"live {number}"
            message = [{"role": "user", "content": text}]
            try:
                if number % 2:
                    for _ in client.chat.completions.create(model="tiny", messages=message, stream=True):
                        pass
                else:
                    client.chat.completions.create(model="tiny", messages=message)
            except openai.APIError as error:
                ended_at.append(time.monotonic())
                return type(error)
            return Exception

        with ThreadPoolExecutor(6) as threads:
            kinds = list(threads.map(ask, range(6)))
        assert set(kinds) == {openai.InternalServerError, openai.APIError}  # with a status, or in the stream
        assert max(ended_at) - min(ended_at) < 5
        again = client.chat.completions.create(model="tiny", messages=HELLO, max_tokens=4)
        assert again.choices[0].message.content == "word"


def test_ending_the_server_ends_its_answers_in_words(tmp_path: Path) -> None:
    with served(tmp_path, text=LONG, decode_tps=SLOW) as running:
        stream = running.client().chat.completions.create(model="tiny", messages=HELLO, stream=True)
        next(iter(stream))
        threading.Thread(target=running.core.serve.stop).start()
        with pytest.raises(openai.APIError, match="stopped on the server's side"):
            list(stream)
        running.stats.wait_until_idle()
        assert running.log.wait_for(1).code == "answer_stopped"


def test_a_full_queue_is_429_with_the_time_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_OPEN", 2)
    with served(tmp_path, text=LONG, decode_tps=SLOW) as running:
        client = running.client()
        streams = [client.chat.completions.create(model="tiny", messages=HELLO, stream=True) for _ in range(2)]
        with pytest.raises(openai.RateLimitError) as refusal:
            client.chat.completions.create(model="tiny", messages=HELLO)
        assert refusal.value.code == "queue_full"
        assert int(refusal.value.response.headers["retry-after"]) >= 1
        for stream in streams:
            stream.close()
        running.stats.wait_until_idle()
        assert client.chat.completions.create(model="tiny", messages=HELLO, max_tokens=1).choices


def test_a_port_in_use_is_told_with_its_owner_and_another_one(tmp_path: Path, echo: Served) -> None:
    (tmp_path / "a").mkdir()
    with served(tmp_path / "a") as running:
        running.core.serve.stop()
        with pytest.raises(LayaDeskError) as refusal:
            running.core.serve.start(port=echo.port)
        assert refusal.value.code is ErrorCode.PORT_IN_USE
        facts = refusal.value.facts
        assert facts["owner"] == psutil.Process().name()
        assert facts["port"] == echo.port
        status = running.core.serve.start(port=int(facts["free_port"] or 0))
        assert status.base_url.endswith(f":{facts['free_port']}/v1")


def test_many_clients_at_once_get_their_own_answers_and_none_is_lost(echo: Served) -> None:
    client = echo.client()

    def ask(number: int) -> bool:
        text = f"question {number} " * (1 + number % 5)
        message = [{"role": "user", "content": text}]
        if number % 2:
            chunks = client.chat.completions.create(model="auto", messages=message, stream=True, user=str(number % 7))
            return "".join(one.choices[0].delta.content or "" for one in chunks) == text
        answer = client.chat.completions.create(model="auto", messages=message)
        return bool(answer.choices[0].message.content == text)

    with ThreadPoolExecutor(32) as threads:
        assert all(threads.map(ask, range(128), timeout=PATIENCE_S * 3))
