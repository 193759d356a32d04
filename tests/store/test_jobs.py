"""The queue in front of the writer: in order, nothing lost, needless states skipped."""

import threading
from concurrent.futures import Future
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from layadesk.store.jobs import Job, JobQueue


def job(result: object, state: str = "", *, is_state: bool = True, fence: bool = False) -> Job:
    return Job(lambda: result, [Future()], replaces=state, is_state=bool(state) and is_state, fence=fence)


def drain(jobs: JobQueue) -> list[Any]:
    jobs.close()
    results = []
    while (one := jobs.take(None)) is not None:
        results.append(one.work())
        for future in one.futures:
            future.set_result(results[-1])
    return results


def test_jobs_come_out_in_the_order_they_went_in() -> None:
    jobs = JobQueue()
    for n in range(5):
        jobs.put(job(n))
    assert drain(jobs) == [0, 1, 2, 3, 4]


def test_of_two_states_of_one_message_only_the_newer_is_written_and_both_futures_end_with_it() -> None:
    jobs = JobQueue()
    old, new = job("old", "m"), job("new", "m")
    futures = [*old.futures, *new.futures]
    for one in (old, job("other message", "n"), new):
        jobs.put(one)
    assert drain(jobs) == ["other message", "new"]
    assert [future.result(0) for future in futures] == ["new", "new"]


def test_the_end_of_an_answer_makes_its_waiting_progress_needless_but_not_the_other_way_round() -> None:
    jobs = JobQueue()
    for one in (job("progress", "m"), job("end", "m", is_state=False), job("late", "m")):
        jobs.put(one)
    assert drain(jobs) == ["end", "late"]


def test_a_state_that_a_reader_waits_for_is_not_skipped() -> None:
    jobs = JobQueue()
    for one in (job("seen by the reader", "m"), job("read", fence=True), job("newer", "m")):
        jobs.put(one)
    assert drain(jobs) == ["seen by the reader", "read", "newer"]


def test_a_state_that_was_taken_out_is_not_skipped_any_more() -> None:
    jobs = JobQueue()
    first, second = job("first", "m"), job("second", "m")
    jobs.put(first)
    assert jobs.take(None) is first
    jobs.put(second)
    assert (first.is_skipped, jobs.take(None)) == (False, second)


def test_taking_waits_for_a_job_and_ends_when_the_time_is_over_or_the_queue_is_closed() -> None:
    jobs = JobQueue()
    assert (jobs.take(0.0), jobs.is_over) == (None, False)
    taken: list[Job | None] = []
    taker = threading.Thread(target=lambda: taken.extend([jobs.take(None), jobs.take(None)]))
    taker.start()
    only = job("x")
    assert jobs.put(only)
    jobs.close()
    taker.join(10)
    assert (taken, jobs.is_over) == ([only, None], True)
    assert not jobs.put(job("late"))


@given(st.lists(st.tuples(st.sampled_from(["state", "end", "write", "fence"]), st.sampled_from("mn")), max_size=30))
def test_the_last_state_before_each_fence_is_always_written_and_every_future_ends(kinds: list[tuple[str, str]]) -> None:
    jobs = JobQueue()
    futures: list[Future[Any]] = []
    seen_by_fences: list[dict[str, int]] = []
    now: dict[str, int] = {}
    for n, (kind, name) in enumerate(kinds):
        one = job(
            (kind, name, n), name if kind in ("state", "end") else "", is_state=kind == "state", fence=kind == "fence"
        )
        if kind in ("state", "end"):
            now[name] = n
        if kind == "fence":
            seen_by_fences.append(dict(now))
        futures.extend(one.futures)
        jobs.put(one)
    written: dict[str, int] = {}
    for kind, name, n in drain(jobs):
        if kind in ("state", "end"):
            written[name] = n
        if kind == "fence":
            assert written == seen_by_fences.pop(0)
    assert written == now
    assert all(future.done() for future in futures)
