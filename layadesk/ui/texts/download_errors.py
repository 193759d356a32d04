"""What and what to do for the errors of downloads; a part of the table in `errors.py`."""

from collections.abc import Mapping
from typing import Final

from layadesk.domain.errors import ErrorCode
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

DOWNLOAD_ERRORS: Final[Mapping[ErrorCode, tuple[str, str]]] = {
    ErrorCode.LICENCE_NOT_ACCEPTED: (
        QT_TRANSLATE_NOOP("errors", "{name} has a licence with conditions: {licence}."),
        QT_TRANSLATE_NOOP("errors", "Read it at {page}. If you agree, say so in the window, or add --accept-licence."),
    ),
    ErrorCode.NOT_DOWNLOADABLE: (
        QT_TRANSLATE_NOOP("errors", "This file of {subject} is not on a hub; it comes with the set-up of LayaDesk."),
        QT_TRANSLATE_NOOP("errors", "Run the set-up again, or download another quantization."),
    ),
    ErrorCode.HUB_UNREACHABLE: (
        QT_TRANSLATE_NOOP("errors", "{host} cannot be reached, or the connection broke off."),
        QT_TRANSLATE_NOOP(
            "errors", "Check the connection and the proxy, or choose a mirror in the settings. What is here is kept."
        ),
    ),
    ErrorCode.HUB_BUSY: (
        QT_TRANSLATE_NOOP("errors", "{host} says that there were too many requests."),
        QT_TRANSLATE_NOOP("errors", "Wait some minutes and resume. What is here is kept."),
    ),
    ErrorCode.HUB_UNAUTHORIZED: (
        QT_TRANSLATE_NOOP("errors", "{host} wants an access token for {repo}, and there is none that it takes."),
        QT_TRANSLATE_NOOP("errors", "Check at {page} that it is there, and set HF_TOKEN or run: hf auth login"),
    ),
    ErrorCode.HUB_GATED: (
        QT_TRANSLATE_NOOP("errors", "The makers of {repo} give it only to those who accept their conditions."),
        QT_TRANSLATE_NOOP("errors", "Accept them at {page} with your account, then resume with its access token."),
    ),
    ErrorCode.HUB_MIRROR_REFUSES: (
        QT_TRANSLATE_NOOP(
            "errors", "{host} does not give {repo} without an access token, and a token is only ever sent to {home}."
        ),
        QT_TRANSLATE_NOOP(
            "errors",
            "Leave the mirror empty in the settings (and HF_ENDPOINT unset), accept the conditions at {page}, and "
            "resume with your token.",
        ),
    ),
    ErrorCode.HUB_NOT_FOUND: (
        QT_TRANSLATE_NOOP("errors", "{host} does not have {file} of {repo} any more."),
        QT_TRANSLATE_NOOP("errors", "Choose another quantization, or update LayaDesk for a newer catalogue."),
    ),
    ErrorCode.HUB_CHANGED: (
        QT_TRANSLATE_NOOP("errors", "{host} has another {file} than the catalogue names, so it was not downloaded."),
        QT_TRANSLATE_NOOP("errors", "Choose another quantization or mirror, or update LayaDesk."),
    ),
    ErrorCode.HUB_NO_CHECKSUM: (
        QT_TRANSLATE_NOOP("errors", "Nobody but {host} says what {file} must be, so it cannot be checked."),
        QT_TRANSLATE_NOOP("errors", "Choose a quantization whose checksum the catalogue has, or huggingface.co."),
    ),
    ErrorCode.DOWNLOAD_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "{file} from {host} arrived damaged: its checksum is wrong. It was deleted."),
        QT_TRANSLATE_NOOP("errors", "Download it again; if that happens again, choose another mirror."),
    ),
    ErrorCode.DOWNLOAD_ELSEWHERE: (
        QT_TRANSLATE_NOOP("errors", "Another LayaDesk is downloading {subject} at this moment."),
        QT_TRANSLATE_NOOP("errors", "Wait for it, or pause it there."),
    ),
    ErrorCode.NO_ROOM_FOR_DOWNLOAD: (
        QT_TRANSLATE_NOOP(
            "errors", "The disk is too full for this download: it needs {needs_gib}, and {free_gib} are free."
        ),
        QT_TRANSLATE_NOOP(
            "errors", "Free some space, or move the models to another disk, and resume; nothing is lost."
        ),
    ),
}
