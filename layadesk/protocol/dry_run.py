"""What the app and its dry-run child say to each other: a question at the start, answers until the pipe ends."""

from dataclasses import dataclass

import msgspec

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import MemoryBill


@dataclass(frozen=True, slots=True)
class DryRunOptions:
    """Price `path` with each of `params`. `is_real`: load it in earnest, decode once, and measure this process."""

    path: str
    params: tuple[LoadParams, ...]
    log_dir: str
    is_real: bool = False


class DeviceSeen(msgspec.Struct, frozen=True):
    """A device as ggml knows it. `kind` is `cpu`, `gpu`, `igpu` or `accel`; the CPU's memory is not to be believed."""

    device: str
    description: str
    kind: str
    free_bytes: int
    total_bytes: int


class DevicesSeen(msgspec.Struct, frozen=True, tag=True):
    """The first answer."""

    devices: tuple[DeviceSeen, ...]


class Priced(msgspec.Struct, frozen=True, tag=True):
    """The bill for `params[index]`: buffers only, without overhead and margin. `private_bytes` is what this process
    took for it, None unless it was loaded in earnest; `ms` is how long the answer took."""

    index: int
    bill: MemoryBill
    ms: float
    private_bytes: int | None = None


class NotPriced(msgspec.Struct, frozen=True, tag=True):
    """llama.cpp would refuse `params[index]`, for this reason."""

    index: int
    error: ErrorReport


DryRunEvent = DevicesSeen | Priced | NotPriced
