"""Words for the states and reasons of the domain."""

from collections.abc import Mapping
from functools import reduce
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.chat import MessageStatus
from layadesk.domain.hardware import Why
from layadesk.domain.inference import FinishReason
from layadesk.domain.routing import OutReason, RouteReason
from layadesk.domain.storage import StorageKind
from layadesk.domain.worker_state import ExitKind, WorkerKind
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.numbers import percent
from layadesk.usecases.turns import TurnPhase

translate = QCoreApplication.translate

_ROUTE_REASONS: Final[Mapping[RouteReason, str]] = {
    RouteReason.PICKED: QT_TRANSLATE_NOOP("words", "you chose it for this message"),
    RouteReason.PINNED: QT_TRANSLATE_NOOP("words", "you chose this expert"),
    RouteReason.RULE: QT_TRANSLATE_NOOP("words", "a rule of yours names it"),
    RouteReason.ONLY_EXPERT: QT_TRANSLATE_NOOP("words", "the only expert there is"),
    RouteReason.ROUTER: QT_TRANSLATE_NOOP("words", "the router chose it"),
    RouteReason.FOLLOW_UP: QT_TRANSLATE_NOOP("words", "it answered before, and this message goes on from there"),
    RouteReason.KEPT: QT_TRANSLATE_NOOP("words", "it answered before, and another would not be enough better"),
    RouteReason.UNSURE: QT_TRANSLATE_NOOP("words", "the router is not sure, so the generalist answers"),
    RouteReason.RUNNER_UP: QT_TRANSLATE_NOOP("words", "the better suited expert cannot answer now"),
    RouteReason.FAILED_OVER: QT_TRANSLATE_NOOP("words", "the expert chosen first failed while it answered"),
    RouteReason.NO_OPINION: QT_TRANSLATE_NOOP("words", "the router had no opinion, so the default expert answers"),
    RouteReason.ROUTER_AWAY: QT_TRANSLATE_NOOP("words", "the router is away, so the default expert answers"),
}
_SHORT_ROUTE_REASONS: Final[Mapping[RouteReason, str]] = {
    RouteReason.PICKED: QT_TRANSLATE_NOOP("words", "chosen"),
    RouteReason.PINNED: QT_TRANSLATE_NOOP("words", "pinned"),
    RouteReason.RULE: QT_TRANSLATE_NOOP("words", "rule"),
    RouteReason.ONLY_EXPERT: QT_TRANSLATE_NOOP("words", "only expert"),
    RouteReason.ROUTER: QT_TRANSLATE_NOOP("words", "routed"),
    RouteReason.FOLLOW_UP: QT_TRANSLATE_NOOP("words", "goes on"),
    RouteReason.KEPT: QT_TRANSLATE_NOOP("words", "kept"),
    RouteReason.UNSURE: QT_TRANSLATE_NOOP("words", "not sure"),
    RouteReason.RUNNER_UP: QT_TRANSLATE_NOOP("words", "runner-up"),
    RouteReason.FAILED_OVER: QT_TRANSLATE_NOOP("words", "took over"),
    RouteReason.NO_OPINION: QT_TRANSLATE_NOOP("words", "no opinion"),
    RouteReason.ROUTER_AWAY: QT_TRANSLATE_NOOP("words", "router away"),
}
_OUT_REASONS: Final[Mapping[OutReason, str]] = {
    OutReason.NOT_PINNED: QT_TRANSLATE_NOOP("words", "another expert is pinned"),
    OutReason.FILE_MISSING: QT_TRANSLATE_NOOP("words", "its file is missing"),
    OutReason.SUSPECT: QT_TRANSLATE_NOOP("words", "the engine died while loading it"),
    OutReason.DOES_NOT_FIT: QT_TRANSLATE_NOOP("words", "it does not fit into memory"),
    OutReason.CONTEXT_TOO_SMALL: QT_TRANSLATE_NOOP("words", "its context is too small for this prompt"),
    OutReason.REMOTE_NOT_ALLOWED: QT_TRANSLATE_NOOP("words", "it is remote, and Auto may not send anything away"),
    OutReason.REMOTE_DOWN: QT_TRANSLATE_NOOP("words", "its server does not answer"),
}
_EXITS: Final[Mapping[ExitKind, str]] = {
    ExitKind.CLEAN: QT_TRANSLATE_NOOP("words", "it ended by itself"),
    ExitKind.STOPPED_BY_US: QT_TRANSLATE_NOOP("words", "LayaDesk stopped it"),
    ExitKind.KILLED: QT_TRANSLATE_NOOP("words", "the system ended it, most likely because memory ran out ({detail})"),
    ExitKind.NATIVE_CRASH: QT_TRANSLATE_NOOP("words", "it crashed in native code ({detail})"),
    ExitKind.PYTHON_ERROR: QT_TRANSLATE_NOOP("words", "an error of its own ended it (exit code {detail})"),
    ExitKind.HUNG: QT_TRANSLATE_NOOP("words", "it did not answer any more and was ended"),
    ExitKind.BAD_BUILD: QT_TRANSLATE_NOOP("words", "its build of llama.cpp does not run on this machine ({detail})"),
    ExitKind.CPU_TOO_OLD: QT_TRANSLATE_NOOP("words", "this processor lacks {detail}, which its llama.cpp uses"),
    ExitKind.PROTOCOL_MISMATCH: QT_TRANSLATE_NOOP("words", "it and the program do not speak the same version"),
}
_EXIT_REMEDIES: Final[Mapping[ExitKind, str]] = {
    ExitKind.CLEAN: QT_TRANSLATE_NOOP("words", "Nothing has to be done."),
    ExitKind.STOPPED_BY_US: QT_TRANSLATE_NOOP("words", "Nothing has to be done."),
    ExitKind.KILLED: QT_TRANSLATE_NOOP("words", "A smaller expert or a shorter context needs less memory."),
    ExitKind.NATIVE_CRASH: QT_TRANSLATE_NOOP("words", "If it happens again, try another expert or fewer GPU layers."),
    ExitKind.PYTHON_ERROR: QT_TRANSLATE_NOOP("words", "The details say more."),
    ExitKind.HUNG: QT_TRANSLATE_NOOP("words", "If it happens again, try a shorter context or a smaller expert."),
    ExitKind.BAD_BUILD: QT_TRANSLATE_NOOP("words", "Run the set-up again; it builds llama.cpp anew for this machine."),
    ExitKind.CPU_TOO_OLD: QT_TRANSLATE_NOOP("words", "Build llama.cpp on this machine: the README says how."),
    ExitKind.PROTOCOL_MISMATCH: QT_TRANSLATE_NOOP("words", "Install LayaDesk again, if it happens again."),
}
_STATUSES: Final[Mapping[MessageStatus, str]] = {
    MessageStatus.STREAMING: QT_TRANSLATE_NOOP("words", "Being written"),
    MessageStatus.COMPLETE: QT_TRANSLATE_NOOP("words", "Complete"),
    MessageStatus.CANCELLED: QT_TRANSLATE_NOOP("words", "You stopped this answer."),
    MessageStatus.FAILED: QT_TRANSLATE_NOOP("words", "This answer could not be completed."),
    MessageStatus.INTERRUPTED: QT_TRANSLATE_NOOP("words", "The program ended before this answer was complete."),
}
_FINISH_REASONS: Final[Mapping[FinishReason, str]] = {
    FinishReason.STOP: QT_TRANSLATE_NOOP("words", "Complete"),
    FinishReason.LENGTH: QT_TRANSLATE_NOOP("words", "The answer was cut off at its length limit."),
    FinishReason.LOOP: QT_TRANSLATE_NOOP("words", "Stopped here: the answer only repeated itself."),
    FinishReason.CANCELLED: QT_TRANSLATE_NOOP("words", "You stopped this answer."),
    FinishReason.ERROR: QT_TRANSLATE_NOOP("words", "This answer could not be completed."),
}
_STORAGE: Final[Mapping[StorageKind, str]] = {
    StorageKind.SAVING: QT_TRANSLATE_NOOP("words", "Your conversations are saved."),
    StorageKind.MEMORY_ONLY: QT_TRANSLATE_NOOP("words", "Your conversations are kept in memory only and not saved."),
}
_WORKERS: Final[Mapping[WorkerKind, str]] = {
    WorkerKind.ENGINE: QT_TRANSLATE_NOOP("words", "The engine"),
    WorkerKind.ROUTER: QT_TRANSLATE_NOOP("words", "The router"),
}
_WHYS: Final[Mapping[str, str]] = {
    Why.NOT_YET: QT_TRANSLATE_NOOP("words", "there is no reading yet"),
    Why.NOT_RUNNING: QT_TRANSLATE_NOOP("words", "it is not running"),
    Why.NOTHING_MAPPED: QT_TRANSLATE_NOOP("words", "no expert is read from a mapped file"),
    Why.NO_SWAP: QT_TRANSLATE_NOOP("words", "this machine has no swap"),
    Why.CGROUP_LIMIT: QT_TRANSLATE_NOOP("words", "the limit of this container is shown"),
    Why.NO_LIMIT: QT_TRANSLATE_NOOP("words", "nothing limits it below the machine's own"),
    Why.WSL_VM: QT_TRANSLATE_NOOP("words", "this is the memory of WSL2's virtual machine, not of the PC"),
    Why.FROM_MAPPINGS: QT_TRANSLATE_NOOP("words", "counted by what the engine has mapped"),
    Why.OURS_ONLY: QT_TRANSLATE_NOOP("words", "only the engine's own share is known"),
    Why.PACKAGE_POWER: QT_TRANSLATE_NOOP("words", "of the whole chip, processor included"),
    Why.UNSUPPORTED: QT_TRANSLATE_NOOP("words", "this machine does not report it"),
    Why.NO_PERMISSION: QT_TRANSLATE_NOOP("words", "the system does not allow reading it"),
    Why.UNREADABLE: QT_TRANSLATE_NOOP("words", "it cannot be read"),
    Why.BAD_VALUE: QT_TRANSLATE_NOOP("words", "the driver reports an impossible value"),
    Why.SUSPENDED: QT_TRANSLATE_NOOP("words", "the machine was asleep"),
    Why.TIMEOUT: QT_TRANSLATE_NOOP("words", "the driver does not answer"),
    Why.NO_DRIVER: QT_TRANSLATE_NOOP("words", "the driver is not there"),
    Why.DRIVER_MISMATCH: QT_TRANSLATE_NOOP("words", "the driver was updated; restart the machine"),
    Why.NO_GPU: QT_TRANSLATE_NOOP("words", "there is no GPU that can be read"),
    Why.INTEL: QT_TRANSLATE_NOOP("words", "LayaDesk does not read Intel GPUs"),
    Why.ASLEEP: QT_TRANSLATE_NOOP("words", "the GPU is asleep"),
    Why.LOST: QT_TRANSLATE_NOOP("words", "the GPU is not there any more"),
    Why.WDDM: QT_TRANSLATE_NOOP("words", "Windows does not tell it for each program"),
    Why.WSL_BLIND: QT_TRANSLATE_NOOP("words", "WSL2 has never reported it"),
    Why.UNIFIED: QT_TRANSLATE_NOOP("words", "this GPU has no memory of its own and works in RAM"),
    Why.STUCK: QT_TRANSLATE_NOOP("words", "the driver reports 100 % although nothing is computed"),
    Why.ONLY_IN_LOADS: QT_TRANSLATE_NOOP("words", "it is read only while an expert loads"),
    Why.CONTAINER: QT_TRANSLATE_NOOP("words", "a container hides it"),
}


def route_reason(reason: RouteReason) -> str:
    """Why this expert: a clause that can follow a name and a colon."""
    return translate("words", _ROUTE_REASONS[reason])


def short_route_reason(reason: RouteReason) -> str:
    """The same in a word or two, for the chip on a message."""
    return translate("words", _SHORT_ROUTE_REASONS[reason])


def out_reason(reason: OutReason) -> str:
    """Why an expert was not considered."""
    return translate("words", _OUT_REASONS[reason])


def complexity(level: int) -> str:
    """The 1–5 of the router in a word."""
    if level <= 2:
        return translate("words", "light")
    return translate("words", "medium") if level == 3 else translate("words", "heavy")


def exit_words(kind: ExitKind, detail: str) -> str:
    """How a child process ended: a clause that can follow "The engine stopped:"."""
    return translate("words", _EXITS[kind]).format(detail=detail)


def exit_remedy(kind: ExitKind) -> str:
    """What a user can do about it."""
    return translate("words", _EXIT_REMEDIES[kind])


def message_status(status: MessageStatus) -> str:
    """Where an answer stands."""
    return translate("words", _STATUSES[status])


def finish_reason(reason: FinishReason) -> str:
    """Why an answer ended."""
    return translate("words", _FINISH_REASONS[reason])


def storage_kind(kind: StorageKind) -> str:
    """Whether conversations reach the disk."""
    return translate("words", _STORAGE[kind])


def worker_name(kind: WorkerKind) -> str:
    """The child at the beginning of a sentence."""
    return translate("words", _WORKERS[kind])


def together(*sentences: str) -> str:
    """Sentences in a row, as the language writes them: with a space between, or without. Empty ones are left out."""
    return reduce(_one_more, (sentence for sentence in sentences if sentence), "")


def _one_more(text: str, sentence: str) -> str:
    if not text:
        return sentence
    return translate("words", "{text} {sentence}").format(text=text, sentence=sentence)


def unknown() -> str:
    """What stands in the place of a figure that is not known."""
    return translate("words", "n/a")


def why(reason: str | None) -> str:
    """Why a figure is not there: a clause for `n/a, because …`. An unknown code is shown as it is."""
    known = _WHYS.get(reason or Why.NOT_YET)
    return str(reason) if known is None else translate("words", known)


def not_available(reason: str | None) -> str:
    """`n/a, because …`."""
    return translate("words", "n/a, because {why}").format(why=why(reason))


def phase(phase: TurnPhase, *, fraction: float | None = None, position: int | None = None) -> str:
    """What an unfinished answer is waiting for."""
    how_far = "" if fraction is None else f" {percent(fraction)}"
    match phase:
        case TurnPhase.QUEUED:
            if not position:
                return translate("words", "Waiting, next in line…")
            return translate("words", "Waiting, %n request(s) ahead…", "", position)
        case TurnPhase.ROUTING:
            return translate("words", "Choosing an expert…")
        case TurnPhase.LOADING:
            return translate("words", "Loading the expert…") + how_far
        case TurnPhase.PREFILL:
            return translate("words", "Reading the conversation…") + how_far
        case TurnPhase.DECODE:
            return translate("words", "Writing…")
