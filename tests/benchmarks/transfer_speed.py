"""Our transfer beside `huggingface_hub`'s own, on the loopback: one file of 1 GiB, sha256 included in ours.

    python -m tests.benchmarks.transfer_speed [--gib 1.0] [--rounds 3]

The two take turns, so that what else the machine does meets both. Memory is the largest resident size of the process
that receives, above what it was before; the server is another process.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import psutil

from layadesk.model_library.download_job import DownloadJob
from layadesk.model_library.hub import Hub, HubRules
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.web import Stop

REPO, FILE = "acme/big-GGUF", "big.gguf"
COMMIT = "0" * 40
CHUNK = 1 << 20


def block() -> bytes:
    """One MiB that repeats; nothing on the way compresses it."""
    return hashlib.shake_128(b"layadesk").digest(CHUNK)


def serve(n_bytes: int) -> None:
    """Answer as a hub does, from memory, until killed."""
    piece = block()
    etag = file_sum(n_bytes)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Silent."""

        def do_HEAD(self) -> None:
            self._start()

        def do_GET(self) -> None:
            self._start()
            left = n_bytes
            try:
                while left > 0:
                    self.wfile.write(piece[:left])
                    left -= CHUNK
            except OSError:
                self.close_connection = True

        def _start(self) -> None:
            self.send_response(200)
            for name, value in (
                ("X-Repo-Commit", COMMIT),
                ("ETag", f'"{etag}"'),
                ("X-Linked-Etag", f'"{etag}"'),
                ("X-Linked-Size", str(n_bytes)),
                ("Content-Length", str(n_bytes)),
            ):
                self.send_header(name, value)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def file_sum(n_bytes: int) -> str:
    """The sha256 of the file."""
    digest, piece, left = hashlib.sha256(), block(), n_bytes
    while left > 0:
        digest.update(piece[:left])
        left -= CHUNK
    return digest.hexdigest()


@contextmanager
def served(n_bytes: int) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.transfer_speed", "--serve", str(n_bytes)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(child.stdout.readline())}"
    finally:
        child.kill()
        child.wait()


def ours(address: str, n_bytes: int, folder: Path, sha256: str) -> None:
    """Look up, transfer, sum, check."""
    from layadesk.domain.models import FilePart, ModelCard, ModelFile

    source = f"huggingface:{REPO}"
    file = ModelFile("Q8_0", (FilePart(FILE, n_bytes, sha256),), source, COMMIT)
    card = ModelCard("big", "Big", source, "mit", (), "", (file,), COMMIT)
    rules = HubRules(home=address)
    job = DownloadJob(card, file, Hub(lambda: rules), LibraryDisk(lambda: folder, lambda: 0), Stop())
    (path,) = job.run()
    assert path.stat().st_size == n_bytes


def theirs(address: str, n_bytes: int, folder: Path, sha256: str) -> None:
    """`hf_hub_download` into a local directory; it checks the size only."""
    from huggingface_hub import hf_hub_download

    path = hf_hub_download(REPO, FILE, revision=COMMIT, local_dir=folder, endpoint=address, token=False)
    assert Path(path).stat().st_size == n_bytes


def measured(run: Callable[[Path], None], folder: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor, MiB of memory above the start at the most."""
    process = psutil.Process()
    before, peak, done = process.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu, began = time.process_time(), time.perf_counter()
    run(folder)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    done.set()
    watcher.join()
    shutil.rmtree(folder)
    return took, cpu, max(0, peak[0] - before) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    os.environ.update(HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_DISABLE_TELEMETRY="1")
    n_bytes = round(options.gib * 2**30)
    sha256 = file_sum(n_bytes)
    found: dict[str, list[tuple[float, float, float]]] = {"layadesk": [], "huggingface_hub": []}
    with served(n_bytes) as address, tempfile.TemporaryDirectory() as root:
        for number in range(options.rounds + 1):  # the first warms imports and caches up
            for name, run in (("layadesk", ours), ("huggingface_hub", theirs)):
                folder = Path(root) / f"{name}-{number}"
                figures = measured(lambda place, run=run: run(address, n_bytes, place, sha256), folder)  # type: ignore[misc]
                if number:
                    found[name].append(figures)
    for name, rows in found.items():
        seconds, cpu, memory = (median(row[i] for row in rows) for i in range(3))
        rate = n_bytes / 2**20 / seconds
        figure = {"who": name, "mib_per_s": round(rate), "s": round(seconds, 2), "cpu_s": round(cpu, 2)}
        print(json.dumps(figure | {"memory_mib": round(memory, 1), "each_s": [round(row[0], 2) for row in rows]}))
    print(json.dumps({"peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}))


if __name__ == "__main__":
    main()
