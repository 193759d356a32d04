"""What a child is told at its start; picklable, because `multiprocessing` carries it over.

In `protocol` so that the composition root can make them without a door to the children.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from layadesk.domain.errors import ErrorCode, fail
from layadesk.protocol.scripted import ScriptedOptions

BACKEND_MODULES = "LAYADESK_BACKEND_MODULES"  # places of more backends of ggml, separated as in PATH


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`backend` is `llama` or `scripted`; the directories hold logs and the tiny model of the self-test.

    `scripted` tells the scripted backend what to say and what to break; None is its default.
    """

    backend: str
    log_dir: str
    cache_dir: str
    scripted: ScriptedOptions | None = None

    @classmethod
    def of(cls, engine: str, log_dir: str, cache_dir: str) -> "EngineOptions":
        """`engine` is `llama`, `scripted`, or `scripted:FILE.json` with the fields of ScriptedOptions.

        Raises BAD_PARAMETER.
        """
        backend, _, script = engine.partition(":")
        scripted = None
        if script:
            try:
                scripted = msgspec.json.decode(Path(script).read_bytes(), type=ScriptedOptions)
            except (OSError, msgspec.DecodeError) as error:
                raise fail(ErrorCode.BAD_PARAMETER, parameter="engine", value=engine, detail=str(error)) from error
        return cls(backend, log_dir, cache_dir, scripted)


@dataclass(frozen=True, slots=True)
class RouterOptions:
    """`router` names the decision model: `bundled`, `none` (no opinion, no weights), `laya:DIRECTORY`.

    `assets_dir` holds the bundled weights, `learned_file` what this installation has learned; it need not exist. Laya
    has `deadline_ms` before the bundled answer stands; `use_gpu` lets it use CUDA.
    """

    router: str
    log_dir: str
    assets_dir: str = ""
    learned_file: str = ""
    deadline_ms: int = 400
    use_gpu: bool = False
