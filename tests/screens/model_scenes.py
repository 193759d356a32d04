"""The Models page."""

from layadesk.domain.downloads import DownloadState
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.memory_fit.machine import GIB
from layadesk.domain.models import Origin
from layadesk.model_library.library_disk import Leftover
from layadesk.ui.shell.navigation_rail import Destination
from tests.fakes.shown_window import ShownWindow
from tests.fakes.usecases import House, expert


def furnish_empty(house: House) -> None:
    """Neither a catalogue nor an expert."""
    house.experts.installed = ()
    house.library.cards = ()


def furnish_full(house: House) -> None:
    """Downloads in all states."""
    downloads = house.downloads
    for model_id, quantization, state, share in (
        ("four", "Q8_0", DownloadState.RUNNING, 0.4),
        ("coder", "Q4_K_M", DownloadState.PAUSED, 0.7),
    ):
        which = downloads.start(model_id, quantization)
        total = downloads.rows[which].n_bytes_total or 0
        speed = 21.5e6 if state is DownloadState.RUNNING else None
        downloads.step(which, state=state, n_bytes_done=round(total * share), bytes_per_s=speed)
    downloads.finish(downloads.start("english", "Q4_K_M"))


def act_full(shown: ShownWindow) -> None:
    """One card is open."""
    shown.window.show_page(Destination.MODELS)
    shown.settle()
    shown.window.models.page.show_model("closed")


def furnish_disk(house: House) -> None:
    """What is installed, in every way a file can come here, and what was left behind."""
    house.library.install("four", "Q4_K_M")
    mine = expert("mine", name="我的模型 mine.gguf", path="/home/me/模型/mine.gguf", origin=Origin.IMPORTED)
    gone = expert("gone", name="Gone 3B", path="/media/stick/gone.gguf", origin=Origin.IMPORTED, is_present=False)
    house.experts.installed = (*house.experts.installed, mine, gone)
    house.library.router_dirs["laya-multilingual"] = "/data/models/laya-multilingual"
    house.library.left = (Leftover("/data/models/.downloads/coder", 2 * GIB, is_partial=True),)


def act_disk(shown: ShownWindow) -> None:
    """The other tab."""
    shown.window.show_page(Destination.MODELS)
    shown.settle()
    shown.window.models.page.show_disk(is_shown=True)


def furnish_failing(house: House) -> None:
    """Downloads that failed."""
    downloads = house.downloads
    damaged = ErrorReport(ErrorCode.DOWNLOAD_DAMAGED, {"file": "four-Q8_0.gguf", "host": "hf-mirror.com"})
    no_room = ErrorReport(
        ErrorCode.NO_ROOM_FOR_DOWNLOAD, {"path": "/data/models", "needs_bytes": 4 * GIB, "free_bytes": GIB}
    )
    for model_id, quantization, failure in (("four", "Q8_0", damaged), ("coder", "Q4_K_M", no_room)):
        which = downloads.start(model_id, quantization)
        downloads.step(which, state=DownloadState.FAILED, failure=failure, n_bytes_done=GIB)
    house.library.refused["/tmp/notes.gguf"] = ErrorReport(ErrorCode.GGUF_TRUNCATED, {"path": "/tmp/notes.gguf"})


def act_failing(shown: ShownWindow) -> None:
    """Files that are no models were dropped."""
    shown.window.show_page(Destination.MODELS)
    shown.settle()
    shown.window.models.page.doing.import_paths(["/tmp/notes.gguf", "/tmp/a.txt"])
