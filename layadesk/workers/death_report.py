"""What a request hears when the engine has died."""

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerState

_CODES = {
    ExitKind.HUNG: ErrorCode.ENGINE_HUNG,
    ExitKind.BAD_BUILD: ErrorCode.ENGINE_BAD_BUILD,
    ExitKind.CPU_TOO_OLD: ErrorCode.ENGINE_CPU_TOO_OLD,
    ExitKind.PROTOCOL_MISMATCH: ErrorCode.PROTOCOL_MISMATCH,
}


def death_report(ended: WorkerExit, state: WorkerState, otherwise: ErrorCode = ErrorCode.ENGINE_DIED) -> ErrorReport:
    """With how it ended; `otherwise` where the kind of end has no code of its own."""
    facts: dict[str, Fact] = {"kind": ended.kind.value, "detail": ended.detail}
    code = _CODES.get(ended.kind, otherwise)
    if code is ErrorCode.PROTOCOL_MISMATCH and state is not WorkerState.GIVEN_UP:
        code = ErrorCode.ENGINE_DIED  # one garbled message: the next engine will do, and nothing has to be installed
    return ErrorReport(code, facts)
