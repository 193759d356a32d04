"""What llama.cpp says while it loads, read into numbers and reasons. The lines are as it prints them."""

import ctypes.util
import threading
from pathlib import Path
from types import ModuleType

import pytest

from layadesk.domain.inference import MemoryUse
from layadesk.engine.backend import Backend

pytestmark = pytest.mark.usefixtures("llama_backend")

MIB = 2**20
INFO, WARN, ERROR = 2, 3, 4
ON_CPU = [
    (INFO, "load_tensors:   CPU_Mapped model buffer size =    92.10 MiB"),
    (INFO, "load_tensors:   CPU_REPACK model buffer size =    12.66 MiB"),
    (INFO, "llama_context:        CPU  output buffer size =     0.75 MiB"),
    (INFO, "llama_kv_cache:        CPU KV buffer size =     6.00 MiB"),
    (INFO, "llama_kv_cache:        CPU KV buffer size =    30.00 MiB"),
    (INFO, "sched_reserve:        CPU compute buffer size =    15.51 MiB"),
]
ON_GPU = [
    (INFO, "load_tensors: offloaded 10/31 layers to GPU"),
    (INFO, "load_tensors:      Vulkan0 model buffer size =    47.71 MiB"),
    (INFO, "llama_kv_cache:    Vulkan0 KV buffer size =    13.50 MiB"),
    (INFO, "llama_memory_recurrent:        CPU RS buffer size =     2.00 MiB"),
]


@pytest.fixture(scope="module")
def library() -> ModuleType:
    """Imported late: it loads llama.cpp."""
    from layadesk.engine import llama_library

    return llama_library


def test_buffers_of_all_devices_are_added_up(library: ModuleType) -> None:
    assert library.memory_use(ON_CPU) == MemoryUse(
        weights_bytes=round(92.10 * MIB) + round(12.66 * MIB),
        kv_bytes=36 * MIB,
        compute_bytes=round(15.51 * MIB),
        output_bytes=round(0.75 * MIB),
    )


def test_the_state_of_recurrent_layers_counts_as_cache(library: ModuleType) -> None:
    assert library.memory_use(ON_GPU).kv_bytes == round(15.5 * MIB)


def test_what_was_not_told_is_unknown_and_not_nothing(library: ModuleType) -> None:
    assert library.memory_use([]) == MemoryUse()


def test_only_layers_the_library_reports_count_as_on_a_gpu(library: ModuleType) -> None:
    assert library.n_offloaded_layers(ON_CPU) == 0
    assert library.n_offloaded_layers(ON_GPU) == 10


def test_the_reason_of_a_failure_is_its_first_error_without_names_of_functions(library: ModuleType) -> None:
    lines = [
        (WARN, "load: control-looking token was not control-type"),
        (
            ERROR,
            "llama_model_load: error loading model: tensor 'blk.15.attn_output.weight' data is not within the file",
        ),
        (ERROR, "llama_model_load_from_file_impl: failed to load model"),
    ]
    assert library.first_error(lines) == "tensor 'blk.15.attn_output.weight' data is not within the file"
    magic = [(ERROR, "gguf_init_from_reader: invalid magic characters: 'NOPE', expected 'GGUF'")]
    assert library.first_error(magic) == "invalid magic characters: 'NOPE', expected 'GGUF'"
    assert library.first_error(ON_CPU) == "llama.cpp gave no reason"


@pytest.mark.parametrize(
    "line",
    [
        "llama_init_from_model: failed to initialize the context: std::bad_alloc",
        "alloc_buffer: allocating 2508.00 MiB on device 0: cudaMalloc failed: out of memory",
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 99",
        "llama_kv_cache: insufficient memory (attempted to allocate 720.00 MB)",
        "ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
    ],
)
def test_an_error_about_memory_is_told_apart(library: ModuleType, line: str) -> None:
    assert library.is_out_of_memory([(ERROR, line)])
    assert not library.is_out_of_memory([(INFO, line)])
    assert not library.is_out_of_memory([(ERROR, "unknown model architecture: 'zorkmoe'")])


def test_lines_are_kept_for_the_thread_that_caused_them(library: ModuleType, llama_backend: Backend) -> None:
    log = library.NativeLog()
    others: list[list[tuple[int, str]]] = []

    def other() -> None:
        with log.capture() as lines:
            log._take(INFO, b"theirs\n", None)
        others.append(lines)

    with log.capture() as lines:
        log._take(INFO, b"ours\n", None)
        log._take(1, b"debug\n", None)
        log._take(5, b".", None)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    log._take(INFO, b"nobody's\n", None)
    library.native.llama_log_set(llama_backend._library.log._callback, None)  # type: ignore[attr-defined]  # give it back
    assert lines == [(INFO, "ours")]
    assert others == [[(INFO, "theirs")]]


@pytest.mark.llama
def test_the_devices_are_those_of_the_loaded_library(library: ModuleType, llama_backend: Backend) -> None:
    assert "CPU" in llama_backend.devices
    assert llama_backend.supports_gpu_offload == bool(library.native.llama_supports_gpu_offload())


@pytest.mark.logs_warnings
def test_a_backend_that_cannot_be_used_is_told_with_the_reason(library: ModuleType, tmp_path: Path) -> None:
    absent = tmp_path / "libggml-absent.so"
    other = ctypes.util.find_library("m")
    if other is None:
        pytest.skip("this system has no library of mathematics to stand for one that is no backend")
    devices = library.Devices((str(absent), other))
    assert [module.name for module in devices.modules] == [absent.name, other]
    missing, foreign = (module.problem for module in devices.modules)
    assert "libggml-absent.so" in missing
    assert str(tmp_path) not in missing  # the report of Health is for showing around
    assert foreign == "built for another llama.cpp"
    assert "CPU" in devices.by_name
