"""A model library without disk or net: entries, judgements and downloads as a test says them."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from layadesk.domain.downloads import ENDED, Download, DownloadState, download_id
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.machine import GIB, MachineMemory
from layadesk.domain.memory_fit.plans import Outlook, Task, outlook
from layadesk.domain.models import (
    CHECKPOINT,
    CardKind,
    FilePart,
    InstalledModel,
    ModelCard,
    ModelFile,
    Origin,
    Verified,
)
from layadesk.domain.proposal import Proposal
from layadesk.domain.strengths import Strengths
from layadesk.model_library.library_disk import DiskRoom, Leftover
from layadesk.protocol.feed import Feed
from layadesk.usecases.browse_library import LibraryEntry
from layadesk.usecases.fitting import Fitting
from layadesk.usecases.keep_library import Imported, Removal
from layadesk.usecases.look_at_library import LibrarySeen, Suggested

if TYPE_CHECKING:
    from tests.fakes.usecases import FakeExperts, Lane

MACHINE = MachineMemory(16 * GIB, 13 * GIB)


def card(
    model_id: str,
    *,
    name: str = "",
    sizes: dict[str, float] | None = None,
    languages: tuple[str, ...] = ("en", "zh"),
    tasks: dict[str, float] | None = None,
    kind: CardKind = CardKind.EXPERT,
    needs_consent: bool = False,
) -> ModelCard:
    """A catalogue entry; `sizes` are GiB by quantization."""
    source = f"huggingface:tests/{model_id}"
    if kind is CardKind.ROUTER:
        parts = (FilePart("model.safetensors", 640 * 2**20), FilePart("rl_agent_config.json", 700))
        files: tuple[ModelFile, ...] = (ModelFile(CHECKPOINT, parts, source),)
    else:
        files = tuple(
            ModelFile(quantization, (FilePart(f"{model_id}-{quantization}.gguf", round(gib * GIB)),), source)
            for quantization, gib in (sizes or {"Q4_K_M": 2.5}).items()
        )
    return ModelCard(
        model_id,
        name or model_id,
        source,
        "other" if needs_consent else "apache-2.0",
        languages,
        "A model of the tests.",
        files,
        kind=kind,
        license_url="https://example.org/licence" if needs_consent else None,
        needs_consent=needs_consent,
        strengths=Strengths(tasks or {}),
    )


def judged(one: ModelCard, file: ModelFile, machine: MachineMemory = MACHINE) -> Fitting:
    """By its size alone, on a machine without a GPU."""
    n_bytes = file.size_bytes or 0
    bill = MemoryBill((DeviceBill(CPU, n_bytes),), 0, 1, Basis.ARITHMETIC)
    found: Outlook = outlook(Task(lambda _: bill, machine, LoadParams(), n_layers=1))
    return Fitting(one.model_id, file.quantization, found.verdict, found)


CARDS = (
    card("four", name="Four B", sizes={"Q4_K_M": 2.5, "Q8_0": 4.2, "Q2_K": 1.6}, tasks={"reasoning": 0.8}),
    card("coder", name="Coder 7B", sizes={"Q4_K_M": 4.4}, tasks={"code": 0.95}),
    card("huge", name="Huge 27B", sizes={"Q4_K_M": 15.3, "Q8_0": 27.1}, tasks={"math": 0.9}),
    card("english", name="English 1B", sizes={"Q4_K_M": 0.7}, languages=("en",)),
    card("closed", name="Closed 3B", sizes={"Q4_K_M": 2.0}, needs_consent=True),
    card("laya-multilingual", name="Laya multilingual", kind=CardKind.ROUTER),
)


class FakeDownloads:
    """A test moves the bytes: `house.downloads.step(id, …)`."""

    def __init__(self, library: "FakeLibrary") -> None:
        self._library = library
        self.changed: Feed[tuple[Download, ...]] = Feed()
        self.rows: dict[str, Download] = {}
        self.calls: list[str] = []

    def list(self) -> tuple[Download, ...]:
        return tuple(self.rows.values())

    def start(self, model_id: str, quantization: str, *, licence_accepted: bool = False) -> str:
        found = self._library.card(model_id)
        if found.needs_consent and not licence_accepted:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="licence", value=model_id)
        wanted = download_id(model_id, quantization)
        file = found.file(quantization)
        total = None if file is None else file.size_bytes
        self.rows[wanted] = Download(wanted, model_id, quantization, DownloadState.RUNNING, 0, total)
        self.calls.append(f"start {wanted}")
        self.changed.publish(self.list())
        return wanted

    def pause(self, download_id: str) -> None:
        self.calls.append(f"pause {download_id}")
        self.step(download_id, state=DownloadState.PAUSED, bytes_per_s=None)

    def resume(self, download_id: str) -> None:
        self.calls.append(f"resume {download_id}")
        self.step(download_id, state=DownloadState.RUNNING, failure=None)

    def cancel(self, download_id: str) -> None:
        self.calls.append(f"cancel {download_id}")
        self.rows.pop(download_id, None)
        self.changed.publish(self.list())

    def step(self, download_id: str, **changes: object) -> None:
        """Another state of one row."""
        self.rows[download_id] = replace(self.rows[download_id], **changes)  # type: ignore[arg-type] # by name
        self.changed.publish(self.list())

    def finish(self, download_id: str) -> None:
        """All bytes are here: the model is installed."""
        row = self.rows[download_id]
        self._library.install(row.model_id, row.quantization)
        self.step(download_id, state=DownloadState.INSTALLED, n_bytes_done=row.n_bytes_total or 0)

    @property
    def n_running(self) -> int:
        """Those that have not ended."""
        return sum(row.state not in ENDED for row in self.rows.values())


class FakeLibrary:
    """Everything is answered on the lane of the fakes' store."""

    def __init__(self, lane: "Lane", experts: "FakeExperts") -> None:
        self._lane = lane
        self._experts = experts
        self.cards: tuple[ModelCard, ...] = CARDS
        self.machine_memory = MACHINE
        self.router_dirs: dict[str, str] = {}
        self.left: tuple[Leftover, ...] = ()
        self.room = DiskRoom("/data/models", 400 * GIB, 2 * GIB)
        self.changed = experts.changed
        self.refused: dict[str, ErrorReport] = {}
        self.contexts: list[int] = []
        self.removed: list[tuple[str, bool]] = []
        self.verdict: bool | None = True
        self.error: LayaDeskError | None = None

    def card(self, model_id: str) -> ModelCard:
        """One of the cards."""
        return next(one for one in self.cards if one.model_id == model_id)

    def entries(self) -> tuple[LibraryEntry, ...]:
        known = {one.model_id for one in self.cards}
        own = [model for model in self._experts.installed if (model.card_id or model.model_id) not in known]
        return (
            *(self._entry(one) for one in self.cards),
            *(LibraryEntry(model.model_id, None, (model,), None, model.size_bytes) for model in own),
        )

    def _entry(self, one: ModelCard) -> LibraryEntry:
        installed = tuple(m for m in self._experts.installed if m.card_id == one.model_id)
        is_router = one.model_id in self.router_dirs
        n_bytes = 640 * 2**20 if is_router else sum(model.size_bytes for model in installed)
        return LibraryEntry(one.model_id, one, installed, self.router_dirs.get(one.model_id), n_bytes)

    def install(self, model_id: str, quantization: str) -> None:
        """A downloaded one."""
        found = self.card(model_id)
        if found.kind is CardKind.ROUTER:
            self.router_dirs[model_id] = f"/data/models/{model_id}"
        else:
            file = found.file(quantization)
            size = 0 if file is None else file.size_bytes or 0
            path = f"/data/models/{model_id}-{quantization}.gguf"
            model = InstalledModel(
                model_id, found.name, path, size, "qwen3", quantization, 32768, 36, True, Origin.DOWNLOADED, 1.0,
                card_id=model_id, card_quantization=quantization,
            )  # fmt: skip
            self._experts.installed = (*self._experts.installed, model)
        self.changed.publish(None)

    def fit_all(self, n_ctx: int, on_each: Callable[[Fitting], None] | None = None) -> Future[tuple[Fitting, ...]]:
        def find() -> tuple[Fitting, ...]:
            if self.error is not None:
                raise self.error
            self.contexts.append(n_ctx)
            experts = [one for one in self.cards if one.kind is CardKind.EXPERT]
            found = tuple(judged(one, file, self.machine_memory) for one in experts for file in one.files)
            if on_each is not None:
                for fitting in found:
                    on_each(fitting)
            return found

        return self._lane.run(find)

    def removal(self, model_id: str) -> Removal:
        if model_id in self.router_dirs:
            return Removal(model_id, (self.router_dirs[model_id],), 640 * 2**20, is_users_file=False)
        model = next(m for m in self._experts.installed if m.model_id == model_id)
        return Removal(model_id, (model.path,), model.size_bytes, model.origin is Origin.IMPORTED)

    def remove(self, model_id: str, *, delete_users_file: bool = False) -> Future[int]:
        def take_off() -> int:
            removal = self.removal(model_id)
            self.removed.append((model_id, delete_users_file))
            self.router_dirs.pop(model_id, None)
            self._experts.installed = tuple(m for m in self._experts.installed if m.model_id != model_id)
            self.changed.publish(None)
            return 0 if removal.is_users_file and not delete_users_file else removal.n_bytes

        return self._lane.run(take_off)

    def delete_leftover(self, path: str) -> Future[int]:
        def delete() -> int:
            found = next(one for one in self.left if one.path == path)
            self.left = tuple(one for one in self.left if one is not found)
            return found.n_bytes

        return self._lane.run(delete)

    def verify(self, model_id: str, progress: Callable[[int, int | None], None] | None = None) -> Future[Verified]:
        def read() -> Verified:
            if progress is not None:
                progress(1, 2)
            if self.error is not None:
                raise self.error
            return Verified(model_id, ((f"/data/models/{model_id}.gguf", self.verdict),))

        return self._lane.run(read)

    def import_files(self, paths: Sequence[str], progress: object = None) -> Future[Imported]:
        def take() -> Imported:
            installed, refused = [], []
            for path in paths:
                if path in self.refused:
                    refused.append(self.refused[path])
                elif path.endswith(".gguf"):
                    installed.append(self._experts.add(path))
                else:
                    refused.append(ErrorReport(ErrorCode.GGUF_NOT_GGUF, {"path": path}))
            return Imported(tuple(installed), tuple(refused))

        return self._lane.run(take)

    def move_models_dir(self, new_dir: str, progress: Callable[[int, int | None], None] | None = None) -> Future[int]:
        def move() -> int:
            if progress is not None:
                progress(1, 4)
            if self.error is not None:
                raise self.error
            self.room = replace(self.room, models_dir=new_dir)
            return 4

        return self._lane.run(move)


class FakeLook:
    """One look at the fake library."""

    def __init__(self, library: FakeLibrary, lane: "Lane") -> None:
        self._library = library
        self._lane = lane
        self.suggested = Suggested(Proposal(None), MACHINE, {}, 400 * GIB, 8192)
        self.error: LayaDeskError | None = None
        self.asked: list[tuple[int, str]] = []

    def __call__(self) -> Future[LibrarySeen]:
        return self._lane.run(lambda: LibrarySeen(self._library.entries(), self._library.left, self._library.room))

    def suggest(self, n_ctx: int, *, language: str = "") -> Future[Suggested]:
        def find() -> Suggested:
            self.asked.append((n_ctx, language))
            if self.error is not None:
                raise self.error
            return self.suggested

        return self._lane.run(find)

    def removal(self, model_id: str) -> Future[Removal]:
        return self._lane.run(lambda: self._library.removal(model_id))
