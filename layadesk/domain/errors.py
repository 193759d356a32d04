"""Every error of LayaDesk as a code and its facts; the sentences are made where they are shown.

LayaDeskError
├─ UserError            the person can mend it: a damaged file, a missing expert, a prompt that is too long
├─ EnvironmentFailure   the machine cannot: disk full, memory gone, database damaged
├─ EngineFailure        a child process died, hung, or could not load a model
└─ Bug                  a promise of ours was broken; always reported with its log

Raise with `fail(ErrorCode.X, **facts)`: the class follows from the code, so nobody can pair them wrongly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Fact = str | int | float | bool | None


class ErrorCode(StrEnum):
    """One code per cause a user can tell apart; `ui/texts.py` has a sentence and a remedy for each."""

    # model files
    MODEL_FILE_MISSING = "model_file_missing"
    MODEL_FILE_UNREADABLE = "model_file_unreadable"
    REMOTE_FILE_UNREADABLE = "remote_file_unreadable"
    GGUF_EMPTY = "gguf_empty"
    GGUF_NOT_GGUF = "gguf_not_gguf"
    GGUF_VERSION = "gguf_version"
    GGUF_TRUNCATED = "gguf_truncated"
    GGUF_DAMAGED = "gguf_damaged"
    GGUF_UNKNOWN_ARCHITECTURE = "gguf_unknown_architecture"
    GGUF_NOT_CHAT = "gguf_not_chat"
    GGUF_NO_VOCABULARY = "gguf_no_vocabulary"
    GGUF_SPLIT_INCOMPLETE = "gguf_split_incomplete"
    MODEL_ALREADY_INSTALLED = "model_already_installed"
    NO_MODEL_FOUND = "no_model_found"
    NO_LEFTOVER = "no_leftover"
    UNKNOWN_MODEL = "unknown_model"
    MODEL_NOT_HERE = "model_not_here"
    CATALOGUE_DAMAGED = "catalogue_damaged"
    OWN_CATALOGUE_DAMAGED = "own_catalogue_damaged"
    INVENTORY_DAMAGED = "inventory_damaged"
    # downloads
    LICENCE_NOT_ACCEPTED = "licence_not_accepted"
    NOT_DOWNLOADABLE = "not_downloadable"
    HUB_UNREACHABLE = "hub_unreachable"
    HUB_BUSY = "hub_busy"
    HUB_UNAUTHORIZED = "hub_unauthorized"
    HUB_GATED = "hub_gated"
    HUB_MIRROR_REFUSES = "hub_mirror_refuses"
    HUB_NOT_FOUND = "hub_not_found"
    HUB_CHANGED = "hub_changed"
    HUB_NO_CHECKSUM = "hub_no_checksum"
    DOWNLOAD_DAMAGED = "download_damaged"
    DOWNLOAD_ELSEWHERE = "download_elsewhere"
    NO_ROOM_FOR_DOWNLOAD = "no_room_for_download"
    # requests
    NO_EXPERT_INSTALLED = "no_expert_installed"
    UNKNOWN_EXPERT = "unknown_expert"
    EXPERT_BUSY = "expert_busy"
    EMPTY_PROMPT = "empty_prompt"
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
    TEMPLATE_FAILED = "template_failed"
    BAD_PARAMETER = "bad_parameter"
    BAD_GRAMMAR = "bad_grammar"
    DUPLICATE_REQUEST = "duplicate_request"
    QUEUE_FULL = "queue_full"
    UNKNOWN_CONVERSATION = "unknown_conversation"
    CHAT_FILE_UNREADABLE = "chat_file_unreadable"
    ATTACHMENT_UNREADABLE = "attachment_unreadable"
    EXPORT_FAILED = "export_failed"
    SETTINGS_FILE_FOREIGN = "settings_file_foreign"
    CONVERSATION_BUSY = "conversation_busy"
    CANNOT_CONTINUE = "cannot_continue"
    # remote experts
    BAD_ENDPOINT = "bad_endpoint"
    REMOTE_NOT_ALLOWED = "remote_not_allowed"
    REMOTE_UNREACHABLE = "remote_unreachable"
    REMOTE_TIMED_OUT = "remote_timed_out"
    REMOTE_KEY_REFUSED = "remote_key_refused"
    REMOTE_NOT_FOUND = "remote_not_found"
    REMOTE_BUSY = "remote_busy"
    REMOTE_REFUSED = "remote_refused"
    REMOTE_FAILED = "remote_failed"
    REMOTE_BAD_ANSWER = "remote_bad_answer"
    REMOTE_CUT_OFF = "remote_cut_off"
    REMOTE_REDIRECTS = "remote_redirects"
    REMOTE_LIST_DAMAGED = "remote_list_damaged"
    KEY_NOT_KEPT = "key_not_kept"
    # the server
    PORT_IN_USE = "port_in_use"
    ADDRESS_UNAVAILABLE = "address_unavailable"
    API_KEY_NEEDED = "api_key_needed"
    # the machine
    DATA_DIR_READ_ONLY = "data_dir_read_only"
    DISK_FULL = "disk_full"
    DISK_ERROR = "disk_error"
    DATABASE_DAMAGED = "database_damaged"
    DATABASE_TOO_NEW = "database_too_new"
    DATABASE_BUSY = "database_busy"
    DATABASE_MIGRATION_FAILED = "database_migration_failed"
    OUT_OF_MEMORY = "out_of_memory"
    ALREADY_RUNNING = "already_running"
    QT_MISSING_LIBRARY = "qt_missing_library"
    NO_DISPLAY = "no_display"
    SAFE_MODE = "safe_mode"
    # the children
    MODEL_LOAD_FAILED = "model_load_failed"
    MODEL_SUSPECT = "model_suspect"
    LOAD_REFUSED = "load_refused"
    LOAD_PRICE_UNKNOWN = "load_price_unknown"
    DECODE_FAILED = "decode_failed"
    ENGINE_DIED = "engine_died"
    ENGINE_GAVE_UP = "engine_gave_up"
    ENGINE_HUNG = "engine_hung"
    ENGINE_BAD_BUILD = "engine_bad_build"
    ENGINE_CPU_TOO_OLD = "engine_cpu_too_old"
    PROTOCOL_MISMATCH = "protocol_mismatch"
    ROUTER_AWAY = "router_away"
    ROUTER_MODEL_MISSING = "router_model_missing"
    ROUTER_MODEL_DAMAGED = "router_model_damaged"
    ROUTER_UNKNOWN = "router_unknown"
    EXPERT_TABLE_DAMAGED = "expert_table_damaged"
    TOO_FEW_CORRECTIONS = "too_few_corrections"
    NOTHING_TO_UNDO = "nothing_to_undo"
    # ours
    BAD_SETTING = "bad_setting"
    SETTINGS_DAMAGED = "settings_damaged"
    INTERNAL = "internal"


# A load that was not tried, because its price could not be paid or told.
LOAD_REFUSALS = frozenset({ErrorCode.LOAD_REFUSED, ErrorCode.LOAD_PRICE_UNKNOWN})


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error as a value: what is stored with a message and what crosses a process border."""

    code: ErrorCode
    facts: Mapping[str, Fact] = field(default_factory=dict)


class LayaDeskError(Exception):
    """Base of all errors that have a code. `facts` are numbers, names and paths, never sentences."""

    def __init__(self, code: ErrorCode, facts: Mapping[str, Fact] | None = None) -> None:
        self.code = code
        self.facts: dict[str, Fact] = dict(facts or {})
        super().__init__(f"{code}: {self.facts}" if self.facts else str(code))

    @property
    def report(self) -> ErrorReport:
        """The same error as a frozen value."""
        return ErrorReport(self.code, dict(self.facts))


class UserError(LayaDeskError):
    """The person can mend it."""


class EnvironmentFailure(LayaDeskError):
    """The machine, its disk or its drivers stand in the way."""


class EngineFailure(LayaDeskError):
    """A child process died, hung, or could not do its work."""


class Bug(LayaDeskError):
    """We broke a promise."""


_ENVIRONMENT = frozenset(
    {
        ErrorCode.LOAD_REFUSED,
        ErrorCode.LOAD_PRICE_UNKNOWN,
        ErrorCode.DATA_DIR_READ_ONLY,
        ErrorCode.DISK_FULL,
        ErrorCode.DISK_ERROR,
        ErrorCode.DATABASE_DAMAGED,
        ErrorCode.DATABASE_TOO_NEW,
        ErrorCode.DATABASE_BUSY,
        ErrorCode.DATABASE_MIGRATION_FAILED,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.ALREADY_RUNNING,
        ErrorCode.QT_MISSING_LIBRARY,
        ErrorCode.NO_DISPLAY,
        ErrorCode.SAFE_MODE,
        ErrorCode.REMOTE_UNREACHABLE,
        ErrorCode.REMOTE_TIMED_OUT,
        ErrorCode.REMOTE_BUSY,
        ErrorCode.REMOTE_FAILED,
        ErrorCode.REMOTE_BAD_ANSWER,
        ErrorCode.REMOTE_CUT_OFF,
        ErrorCode.KEY_NOT_KEPT,
    }
)
_ENGINE = frozenset(
    {
        ErrorCode.MODEL_LOAD_FAILED,
        ErrorCode.MODEL_SUSPECT,
        ErrorCode.DECODE_FAILED,
        ErrorCode.ENGINE_DIED,
        ErrorCode.ENGINE_GAVE_UP,
        ErrorCode.ENGINE_HUNG,
        ErrorCode.ENGINE_BAD_BUILD,
        ErrorCode.ENGINE_CPU_TOO_OLD,
        ErrorCode.PROTOCOL_MISMATCH,
        ErrorCode.ROUTER_AWAY,
    }
)


def fail(code: ErrorCode, /, **facts: Fact) -> LayaDeskError:
    """The error of the class that belongs to `code`; write `raise fail(...)`."""
    kind: type[LayaDeskError] = UserError
    if code in _ENVIRONMENT:
        kind = EnvironmentFailure
    elif code in _ENGINE:
        kind = EngineFailure
    elif code is ErrorCode.INTERNAL:
        kind = Bug
    return kind(code, facts)


def from_report(report: ErrorReport) -> LayaDeskError:
    """The exception that `report` describes, to be raised again on this side of a border."""
    return fail(report.code, **report.facts)
