"""The chat and the welcome."""

from dataclasses import replace
from datetime import UTC, datetime

from layadesk.domain.chat import Attachment, AttachmentKind, Message, MessageStatus
from layadesk.domain.context_budget import ContextCount
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.inference import FinishReason, MemoryUse, Role, Timings
from layadesk.domain.memory_fit.machine import GIB
from layadesk.domain.proposal import Proposal
from layadesk.domain.routing import RankedExpert, Route, RouteReason
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.usecases.look_at_library import Suggested
from tests.fakes.examples import NAMES, PROPOSAL, REFUSED, load_outlook
from tests.fakes.machines import CPU_16, RTX_4090
from tests.fakes.shown_window import ShownWindow
from tests.fakes.usecases import House, expert

DAY_S = 86_400.0
HOUR_S = 3_600.0
ANSWER = """## Quicksort in Rust

The **pivot** splits the slice: smaller items go before it. With $n$ items one pass takes $n - 1$ comparisons

$$T(n) = 2\\,T\\left(\\frac{n}{2}\\right) + O(n) = O(n \\log n)$$

```rust
fn quicksort<T: Ord>(items: &mut [T]) {
    if items.len() < 2 { return; } // 已经有序
    let pivot = partition(items);
    let (left, right) = items.split_at_mut(pivot);
    quicksort(left);
}
```

| input | time | note |
|---|---:|---|
| random | 3.1 ms | as expected |
| sorted | 48.0 ms | a bad pivot |

1. It costs \\$5 or $10 to run, which is money and not maths.
2. See [the book](https://doc.rust-lang.org/book/) for *more*.

> 快速排序在平均情况下很快。
"""
THINKING = "The user wants quicksort in Rust. I should explain the pivot, and say when it is slow."
ROUTE = Route(
    "coder",
    RouteReason.ROUTER,
    (RankedExpert("coder", 0.81), RankedExpert("smol", 0.2)),
    router_id="bundled",
    task="code",
    task_probs={"code": 0.93, "math": 0.04, "chat": 0.03},
    complexity=3,
    domain="programming",
    domain_probs={"programming": 0.88, "science": 0.12},
    language="en",
    confidence=0.93,
    route_ms=0.21,
)
TIMINGS = Timings(
    load_ms=1200.0, ttft_ms=400.0, decode_ms=4000.0, n_prompt=2100, n_cached=1900, n_decoded=244, n_ctx=8192
)
MEMORY = MemoryUse(4 * GIB, GIB, 100 * 2**20)
TITLES = (
    ("Quicksort in Rust", 0.0),
    ("旅行计划:杭州两日游", 0.0),
    ("A very long title about nothing in particular that has to be cut somewhere", 1.0),
    ("Recipe for bread", 5.0),
    ("税务问题", 60.0),
)


def furnish_empty(house: House) -> None:
    """No expert, no conversation."""
    house.experts.installed = ()


def furnish_full(house: House) -> None:
    """Conversations of several days, in folders and pinned."""
    house.experts.installed = (*house.experts.installed, expert("coder", name="Coder 7B", path="/models/coder.gguf"))
    house.counts.found = ContextCount("coder", 2400, 2400, 0, 8192, is_exact=True)
    for title, age_days in TITLES:
        conversation_id = house.converse("Hello", "Good day.", title=title)
        change(house, conversation_id, updated_at=noon() - age_days * DAY_S)
        if title == "Recipe for bread":
            change(house, conversation_id, folder="Kitchen", is_pinned=True)


def change(house: House, conversation_id: str, **fields: object) -> None:
    """Another value of some fields of a conversation."""
    books = house.books
    books.conversations[conversation_id] = replace(books.conversations[conversation_id], **fields)  # type: ignore[arg-type] # by name


def noon() -> float:
    """Of today, so that the list says "Today" at any time of the day."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0).timestamp()


def act_full(shown: ShownWindow) -> None:
    """A conversation with everything in it, its second answer in two versions, a draft below."""
    house = shown.house
    conversation_id = next(c.conversation_id for c in house.books.conversations.values() if c.title == TITLES[0][0])
    leaf = house.books.conversations[conversation_id].leaf_id
    code = Attachment("sort.rs", AttachmentKind.CODE, "fn main() {}", 420)
    question = Message(
        "q1", conversation_id, leaf, Role.USER, "Write quicksort in Rust and explain the pivot.", 1.8e9,
        attachments=(code,),
    )  # fmt: skip
    one, other = (
        Message(
            name, conversation_id, "q1", Role.ASSISTANT, text, 1.8e9 + 1, expert_id="coder", route=ROUTE,
            finish_reason=FinishReason.STOP, timings=TIMINGS, memory=MEMORY, thinking=THINKING, n_dropped=n_dropped,
        )
        for name, text, n_dropped in (("a1", "No.", 0), ("a2", ANSWER, 2))
    )  # fmt: skip
    house.books.add(question, one, other)
    change(house, conversation_id, updated_at=noon())
    shown.open(conversation_id)
    shown.window.page.composer.text_box.setPlainText("And how do I choose a better pivot?\n怎样选择更好的基准?")
    shown.window.page.transcript.go_to_end()


def act_failing(shown: ShownWindow) -> None:
    """One answer was stopped, the engine died in another, the next load is refused; nothing is saved."""
    house = shown.house
    stopped = shown.send("Tell me a story.")
    house.say(stopped, "Once upon a time there was a fox who")
    house.finish(stopped, MessageStatus.CANCELLED)
    shown.settle()
    died = shown.send("And then?")
    house.say(died, "Then the fox went")
    house.finish(
        died, MessageStatus.FAILED, ErrorReport(ErrorCode.ENGINE_DIED, {"kind": "killed", "detail": "SIGKILL"})
    )
    shown.settle()
    house.loads.outlooks["smol"] = load_outlook(9)
    house.loads.outlook_feed.publish(load_outlook(9))
    refused = shown.send("Go on, please.")
    house.route(refused, Route("smol", RouteReason.ONLY_EXPERT, (RankedExpert("smol", None),)))
    house.finish(refused, MessageStatus.FAILED, REFUSED)
    ended = WorkerExit(ExitKind.KILLED, "SIGKILL", ("llama_decode: out of memory",))
    house.workers.feed.publish(WorkerStatus(WorkerKind.ENGINE, WorkerState.GIVEN_UP, ended))
    house.workers.feed.publish(WorkerStatus(WorkerKind.ROUTER, WorkerState.WAITING, ended, retry_in_s=2.0))
    house.storage.feed.publish(StorageStatus(StorageKind.MEMORY_ONLY, ErrorReport(ErrorCode.DISK_FULL), 2))
    shown.settle()


def furnish_welcome_empty(house: House) -> None:
    """Nothing fits."""
    house.settings.set("ui.welcome", True)
    house.look.suggested = Suggested(Proposal(None), CPU_16, {}, 412 * GIB, 8192)


def furnish_welcome_full(house: House) -> None:
    """Two experts that fit together."""
    house.settings.set("ui.welcome", True)
    house.look.suggested = Suggested(PROPOSAL, RTX_4090, NAMES, 412 * GIB, 8192)


def furnish_welcome_failing(house: House) -> None:
    """The catalogue cannot be read."""
    house.settings.set("ui.welcome", True)
    house.look.error = fail(ErrorCode.CATALOGUE_DAMAGED, path="/data/models.json", detail="line 3")
