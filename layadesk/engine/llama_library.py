"""The door to llama.cpp: the one import of its binding, its log, and what the build can do.

`native` is the binding's low-level module, function for function llama.h. Importing this module loads the shared
library, after the environment has been set for it.
"""

import contextlib
import ctypes
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import MemoryUse
from layadesk.engine.environment import apply_engine_environment, backend_modules
from layadesk.engine.instruction_set import missing_instructions
from layadesk.paths import shipped_backends
from layadesk.protocol.events import BackendModule

apply_engine_environment(os.environ)

import llama_cpp.llama_cpp  # noqa: E402  # the environment must be set before
import llama_cpp.llama_grammar  # noqa: E402

native: Any = llama_cpp.llama_cpp
LIBRARY_VERSION: str = llama_cpp.__version__
json_schema_to_gbnf: Callable[[str], str] = llama_cpp.llama_grammar.json_schema_to_gbnf
log = logging.getLogger(__name__)

_DEBUG, _WARN, _ERROR, _CONTINUED = 1, 3, 4, 5  # enum ggml_log_level
_DEVICE_KINDS = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accel"}  # enum ggml_backend_dev_type
_MAX_LINES = 2000  # of one capture; a load is some hundred without the debug lines
_MAX_LINE_CHARS = 500

_BUFFER = re.compile(r"(\S+) +(model|KV|compute|output|RS) buffer size = +([0-9.]+) MiB")
_OFFLOADED = re.compile(r"offloaded (\d+)/\d+ layers")
_OUT_OF_MEMORY = re.compile(r"bad_alloc|out of memory|insufficient memory|failed to allocate|OutOfDeviceMemory", re.I)
_PREFIX = re.compile(r"^(\w+: )+(error loading model: )?")


class NativeLog:
    """llama.cpp's own words, kept for the thread that made it speak. DEBUG is dropped: thousands of lines a load.

    All instances are one, as the library has one log: the last one made must not take it from the others.
    """

    _captures: ClassVar[dict[int, list[tuple[int, str]]]] = {}
    _callback: ClassVar[Any] = None  # must live as long as the library

    def __init__(self) -> None:
        if NativeLog._callback is None:
            NativeLog._callback = native.llama_log_callback(self._take)
        native.llama_log_set(NativeLog._callback, ctypes.c_void_p(0))

    @contextlib.contextmanager
    def capture(self) -> Iterator[list[tuple[int, str]]]:
        """Level and text of what is said on this thread inside the block."""
        lines: list[tuple[int, str]] = []
        self._captures[threading.get_ident()] = lines
        try:
            yield lines
        finally:
            del self._captures[threading.get_ident()]

    def _take(self, level: int, text: bytes, _user_data: Any) -> None:
        if level == _DEBUG:
            return
        line = text.decode("utf-8", "replace").strip()[:_MAX_LINE_CHARS]
        if level == _CONTINUED or not line:  # progress dots
            return
        if level in (_WARN, _ERROR):
            log.info("llama.cpp: %s", line)
        lines = self._captures.get(threading.get_ident())
        if lines is not None and len(lines) < _MAX_LINES:
            lines.append((level, line))


class LlamaLibrary:
    """The loaded library, with the backends that the environment names. Made once, before any other call into it."""

    def __init__(self) -> None:
        self.log = NativeLog()
        missing = missing_instructions(_cpu_part())
        if missing:  # before the first call that computes
            raise fail(ErrorCode.ENGINE_CPU_TOO_OLD, detail=", ".join(name.upper() for name in missing))
        native.llama_backend_init()
        self.devices = Devices(backend_modules(os.environ, shipped_backends()))
        self.supports_gpu_offload = bool(native.llama_supports_gpu_offload())


def _cpu_part() -> Any:
    """Where ggml's CPU functions are: Windows does not find them through the library that needs them."""
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            return ctypes.CDLL("ggml-cpu.dll")
    return native._lib


def first_error(lines: list[tuple[int, str]]) -> str:
    """The line that says what went wrong: later ones only say that it did. Without the names of C++ functions."""
    errors = [line for level, line in lines if level == _ERROR]
    return _PREFIX.sub("", errors[0]) if errors else "llama.cpp gave no reason"


def is_out_of_memory(lines: list[tuple[int, str]]) -> bool:
    """Whether the library's errors speak of memory."""
    return any(level == _ERROR and _OUT_OF_MEMORY.search(line) for level, line in lines)


def memory_use(lines: list[tuple[int, str]]) -> MemoryUse:
    """The buffer sizes that were told while an expert was loaded; all devices together."""
    sizes: dict[str, int] = {}
    for _buffer_type, what, n_bytes in buffer_sizes(lines):
        sizes[what] = sizes.get(what, 0) + n_bytes
    kv = [sizes[name] for name in ("KV", "RS") if name in sizes]  # RS: the state of recurrent layers
    return MemoryUse(
        weights_bytes=sizes.get("model"),
        kv_bytes=sum(kv) if kv else None,
        compute_bytes=sizes.get("compute"),
        output_bytes=sizes.get("output"),
    )


def buffer_sizes(lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    """Each buffer that was told of: its type (`CPU`, `CUDA0`), what it is for, its bytes to a hundredth of a MiB."""
    for _level, line in lines:
        found = _BUFFER.search(line)
        if found:
            yield found[1], found[2], round(float(found[3]) * 2**20)


def repacked_bytes(lines: list[tuple[int, str]]) -> int:
    """Weights that the CPU keeps in an order of its own: beside a mapped file they would be in memory twice."""
    own = ("CPU_REPACK", "AMX", "CPU_AARCH64")
    return sum(n for buffer_type, what, n in buffer_sizes(lines) if what == "model" and buffer_type.startswith(own))


def n_offloaded_layers(lines: list[tuple[int, str]]) -> int:
    """Layers that really are on a device."""
    found = [_OFFLOADED.search(line) for _level, line in lines]
    return max((int(one[1]) for one in found if one), default=0)


class _Tensor(ctypes.Structure):
    """The head of `struct ggml_tensor`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4),
    )


class Nodes:
    """The tensors of a graph while it is computed, by the addresses that `cb_eval` gets."""

    def __init__(self) -> None:
        base = _ggml_base()
        self._get_name = base.ggml_get_name
        self._get_name.restype, self._get_name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        self._get = base.ggml_backend_tensor_get
        self._get.restype = None
        self._get.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]

    def name(self, node: int) -> bytes:
        """As llama.cpp calls it: what it is, a hyphen, the layer."""
        return bytes(self._get_name(node))

    def tensor(self, node: int) -> _Tensor:
        """Its type, sizes and strides."""
        return _Tensor.from_address(node)

    def read(self, node: int, n_bytes: int) -> "np.ndarray[Any, np.dtype[np.uint8]]":
        """Its first bytes, from whatever device; it must have as many, or the process ends."""
        raw = np.empty(n_bytes, np.uint8)
        self._get(node, raw.ctypes.data, 0, n_bytes)
        return raw


def _ggml_base() -> Any:
    return ctypes.CDLL("ggml-base.dll") if sys.platform == "win32" else native._lib


class Devices:
    """What the library computes on, by names such as `CUDA0` and `CPU`; empty where it cannot be asked.

    `modules` are shared libraries with more backends; of one that cannot be used, it is told why.
    Opening ggml by its path would give a second, empty list of devices.
    """

    def __init__(self, modules: tuple[str, ...] = ()) -> None:
        self.by_name: dict[str, int] = {}
        self.modules: tuple[BackendModule, ...] = ()
        try:
            self._base = _ggml_base()
            self._ggml = ctypes.CDLL("ggml.dll") if sys.platform == "win32" else native._lib
            self._declare()
            self.modules = tuple(self._load(module) for module in modules)
            for i in range(self._ggml.ggml_backend_dev_count()):
                device = self._ggml.ggml_backend_dev_get(i)
                self.by_name[self._base.ggml_backend_dev_name(device).decode("utf-8", "replace")] = device
        except (OSError, AttributeError) as error:
            log.info("the devices of llama.cpp are unknown: %s", error)

    @property
    def has_gpu(self) -> bool:
        """Whether there is anything but the CPU."""
        return any(name != "CPU" for name in self.by_name)

    def seen(self) -> Iterator[tuple[str, str, str, int, int]]:
        """Name, description, kind (`cpu`, `gpu`, `igpu`, `accel`), free and total bytes of each, asked now."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        for name, device in self.by_name.items():
            self._base.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
            description = self._base.ggml_backend_dev_description(device).decode("utf-8", "replace")
            kind = _DEVICE_KINDS.get(self._base.ggml_backend_dev_type(device), "accel")
            yield name, description, kind, free.value, total.value

    def buffer_type(self, device: int) -> int:
        """The kind of memory that tensors of a device lie in."""
        return int(self._base.ggml_backend_dev_buffer_type(device))

    def _load(self, module: str) -> BackendModule:
        name = Path(module).name
        problem: str | None
        try:
            ctypes.CDLL(module)  # says what is missing, where ggml only says that it failed
        except OSError as error:
            problem = str(error).replace(module, name)
        else:
            before = self._ggml.ggml_backend_dev_count()
            if not self._ggml.ggml_backend_load(os.fsencode(module)):
                problem = "built for another llama.cpp"
            else:
                problem = None if self._ggml.ggml_backend_dev_count() > before else "no device for it"
        if problem is not None:
            log.warning("%s is not used as a backend: %s", module, problem)
        return BackendModule(name, problem)

    def _declare(self) -> None:
        self._ggml.ggml_backend_load.restype = ctypes.c_void_p
        self._ggml.ggml_backend_load.argtypes = [ctypes.c_char_p]
        self._ggml.ggml_backend_dev_get.restype = ctypes.c_void_p
        self._ggml.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        self._ggml.ggml_backend_dev_count.restype = ctypes.c_size_t
        self._base.ggml_backend_dev_name.restype = ctypes.c_char_p
        self._base.ggml_backend_dev_name.argtypes = [ctypes.c_void_p]
        self._base.ggml_backend_dev_description.restype = ctypes.c_char_p
        self._base.ggml_backend_dev_description.argtypes = [ctypes.c_void_p]
        self._base.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        self._base.ggml_backend_dev_memory.restype = None
        self._base.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, *[ctypes.POINTER(ctypes.c_size_t)] * 2]
        self._base.ggml_backend_dev_buffer_type.restype = ctypes.c_void_p
        self._base.ggml_backend_dev_buffer_type.argtypes = [ctypes.c_void_p]
