"""Chaining `concurrent.futures`: what comes after a read of the store, without a thread that waits."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

ValueT = TypeVar("ValueT")
ResultT = TypeVar("ResultT")


def then(future: Future[ValueT], step: Callable[[ValueT], ResultT]) -> Future[ResultT]:
    """The result of `step` on the result of `future`; runs on the thread that completes it. Errors pass through."""
    result: Future[ResultT] = Future()

    def go_on(done: Future[ValueT]) -> None:
        try:
            result.set_result(step(done.result()))
        except Exception as error:  # noqa: BLE001 - whatever happened belongs to who holds the future
            result.set_exception(error)

    future.add_done_callback(go_on)
    return result


def flatten(future: Future[Future[ValueT]]) -> Future[ValueT]:
    """A future of a future as one."""
    result: Future[ValueT] = Future()

    def inner_done(done: Future[ValueT]) -> None:
        error = done.exception()
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(done.result())

    def outer_done(done: Future[Future[ValueT]]) -> None:
        error = done.exception()
        if error is not None:
            result.set_exception(error)
        else:
            done.result().add_done_callback(inner_done)

    future.add_done_callback(outer_done)
    return result
