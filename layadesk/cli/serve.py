"""`layadesk serve`: the HTTP server without a window, until Ctrl-C or SIGTERM."""

import argparse
import signal
import sys
import threading
from types import FrameType

from layadesk.cli.printing import EXIT_OK, running_core


def serve(options: argparse.Namespace) -> int:
    """Say where it listens, and listen."""
    over = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    with running_core(options.data_dir, options.engine) as core:
        if options.api_key:
            key = core.serve.start_with_key(host=options.host, port=options.port)
            print(f"API key (shown only now): {key}")
        elif options.no_api_key:
            core.serve.start_without_key(host=options.host, port=options.port)
        else:
            core.serve.start(host=options.host, port=options.port)
        status = core.serve.status
        key = "Clients have to send the API key." if core.serve.key is not None else "No API key is asked for."
        print(f"LayaDesk answers at {status.base_url}", flush=True)
        print(f"{key} Ctrl-C ends it.", flush=True)
        earlier = [signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)]
        while not over.wait(0.5):  # on Windows a wait without end hears no Ctrl-C
            pass
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), earlier, strict=True):
            signal.signal(number, handler)
        print("Ending…", file=sys.stderr)
    return EXIT_OK
