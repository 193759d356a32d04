"""Many clients at once against a real server on the scripted engine: is an answer lost, crossed or late?

    python -m tests.benchmarks.many_clients [--clients 64] [--seconds 60]

Every client asks again and again, half of them streaming, each with a text of its own that it must get back; one in
twenty goes away in mid-answer. Prints one JSON object.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import openai

from tests.fakes.served import Served, served


@dataclass(slots=True)
class Tally:
    n_right: int = 0
    n_crossed: int = 0
    n_failed: int = 0
    n_left: int = 0
    first_s: list[float] = field(default_factory=list)
    whole_s: list[float] = field(default_factory=list)


async def one_client(client: openai.AsyncOpenAI, number: int, until: float, tally: Tally) -> None:
    chance = random.Random(number)
    turn = 0
    while time.monotonic() < until:
        turn += 1
        text = f"client {number} turn {turn} " + "word " * chance.randrange(40)
        began = time.monotonic()
        try:
            said = await ask(client, text, chance, tally, streams=number % 2 == 0)
        except openai.APIError as error:
            tally.n_failed += 1
            print(f"client {number}: {type(error).__name__} {error}")
            continue
        if said is None:
            tally.n_left += 1
            continue
        tally.whole_s.append(time.monotonic() - began)
        if said == text:
            tally.n_right += 1
        else:
            tally.n_crossed += 1


async def ask(
    client: openai.AsyncOpenAI, text: str, chance: random.Random, tally: Tally, *, streams: bool
) -> str | None:
    """The answer; None for one that was left in the middle."""
    if not streams:
        whole = await client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": text}])
        return whole.choices[0].message.content
    leaves = chance.random() < 0.05
    began = time.monotonic()
    stream = await client.chat.completions.create(
        model="tiny", messages=[{"role": "user", "content": text}], stream=True
    )
    parts: list[str] = []
    async for chunk in stream:
        part = chunk.choices[0].delta.content or ""
        if part and not any(parts):
            tally.first_s.append(time.monotonic() - began)
        parts.append(part)
        if leaves and part:
            await stream.close()
            return None
    return "".join(parts)


async def run(running: Served, n_clients: int, seconds: float) -> Tally:
    tally = Tally()
    until = time.monotonic() + seconds
    limits = {"base_url": running.base_url, "api_key": "none", "max_retries": 0, "timeout": 60.0}
    clients = [openai.AsyncOpenAI(**limits) for _ in range(n_clients)]  # type: ignore[arg-type]  # of mixed types
    await asyncio.gather(*(one_client(client, n, until, tally) for n, client in enumerate(clients)))
    for client in clients:
        await client.close()
    return tally


def percentile(values: list[float], share: float) -> float | None:
    return round(sorted(values)[int(share * (len(values) - 1))] * 1000, 1) if values else None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), text=None) as running:
        began = time.monotonic()
        tally = asyncio.run(run(running, options.clients, options.seconds))
        seconds = time.monotonic() - began
        running.stats.wait_until_idle()
    figures = {
        "clients": options.clients,
        "seconds": round(seconds, 1),
        "right": tally.n_right,
        "crossed": tally.n_crossed,
        "failed": tally.n_failed,
        "left": tally.n_left,
        "answers_per_s": round(tally.n_right / seconds, 1),
        "first_ms_p50": percentile(tally.first_s, 0.5),
        "first_ms_p95": percentile(tally.first_s, 0.95),
        "whole_ms_p50": percentile(tally.whole_s, 0.5),
        "whole_ms_p95": percentile(tally.whole_s, 0.95),
        "whole_ms_max": percentile(tally.whole_s, 1.0),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
