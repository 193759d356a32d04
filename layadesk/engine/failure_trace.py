"""An unforeseen error for the log, without its words: they may quote a message, and logs never do."""

import traceback


def trace_of(error: BaseException) -> str:
    """The type of an error and the places it came through."""
    return "".join([f"{type(error).__name__}\n", *traceback.format_tb(error.__traceback__)]).rstrip()
