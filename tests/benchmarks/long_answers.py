"""Clients with long answers have all places of an expert: how long do another client and the window wait?

    python -m tests.benchmarks.long_answers [--model FILE.gguf] [--clients 4] [--max-tokens 400] [--rounds 5]

Without a model the engine is the scripted one, at 20 tokens a second. Prints one JSON object: the waits for a first
token of the window and of one more client, each with `--rounds` questions one after the other, and the tokens per
second of all together.
"""

import argparse
import json
import queue
import statistics
import tempfile
import threading
import time
import uuid
from pathlib import Path

from layadesk.domain.inference import PromptMessage, Role, SamplingParams
from layadesk.protocol.events import Failed, Finished, TextDelta
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder
from tests.fakes.served import Served, served

STORY = "Tell me a very long story about a ship, a storm and a lighthouse."


class Long:
    """Clients that ask for a long answer again and again."""

    def __init__(self, running: Served, n_clients: int, max_tokens: int) -> None:
        self.n_tokens = 0
        self._is_over = threading.Event()
        self._running, self._max_tokens = running, max_tokens
        self._has_begun = [threading.Event() for _ in range(n_clients)]
        self._threads = [threading.Thread(target=self._ask, args=(n,)) for n in range(n_clients)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        for begun in self._has_begun:
            begun.wait(60.0)

    def stop(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, number: int) -> None:
        client = self._running.client()
        while not self._is_over.is_set():
            message = [{"role": "user", "content": f"{STORY} It is story number {number}."}]
            stream = client.chat.completions.create(
                model="tiny", messages=message, stream=True, user=f"long {number}", max_tokens=self._max_tokens
            )
            with stream:
                for chunk in stream:
                    self.n_tokens += bool(chunk.choices and chunk.choices[0].delta.content)
                    self._has_begun[number].set()
                    if self._is_over.is_set():
                        break


def wait_of_client(running: Served) -> float:
    began = time.monotonic()
    message = [{"role": "user", "content": "Name three colours."}]
    client = running.client()
    with client.chat.completions.create(
        model="tiny", messages=message, stream=True, user="one more", max_tokens=8
    ) as stream:
        while not next(stream).choices[0].delta.content:
            pass
        seconds = time.monotonic() - began
        for _ in stream:
            pass
    return seconds


def wait_of_window(running: Served) -> float:
    events: queue.SimpleQueue[AnswerEvent] = queue.SimpleQueue()
    hello = (PromptMessage(Role.USER, "Name three colours."),)
    order = AnswerOrder(
        uuid.uuid4().hex, hello, SamplingParams(max_tokens=8), picked="tiny", conversation_id="a talk in the window"
    )
    began = time.monotonic()
    running.core.answers.start(order, events.put)
    seconds: float | None = None
    while not isinstance(event := events.get(timeout=300.0), Finished | Failed):
        if isinstance(event, TextDelta) and seconds is None:
            seconds = time.monotonic() - began
    assert seconds is not None
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    files = None if options.model is None else {"tiny": options.model}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), files=files, text="word " * 2000, decode_tps=20.0) as running,
    ):
        long = Long(running, options.clients, options.max_tokens)
        long.start()
        began, n_before = time.monotonic(), long.n_tokens
        window = [wait_of_window(running) for _ in range(options.rounds)]
        client = [wait_of_client(running) for _ in range(options.rounds)]
        tps = (long.n_tokens - n_before) / (time.monotonic() - began)
        long.stop()
    figures = {"clients": options.clients, "max_tokens": options.max_tokens, "long_chunks_per_s": round(tps, 1)}
    for name, waits in (("window", window), ("client", client)):
        figures |= {f"{name}_first_s_median": round(statistics.median(waits), 2)}
        figures |= {f"{name}_first_s_max": round(max(waits), 2)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
