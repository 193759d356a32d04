"""llama.cpp as a backend: what it is, and how an expert comes into memory. Loader thread, but for the constructor."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.memory_fit.load_record import LoadMeasure
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import LoadCancelled
from layadesk.engine.llama_buffers import made_buffers, mapped_bytes
from layadesk.engine.llama_context import ContextNumbers, context_numbers
from layadesk.engine.llama_expert import LlamaExpert
from layadesk.engine.llama_facts import computing_devices, has_large_state, moe_shape, read_facts
from layadesk.engine.llama_library import LlamaLibrary, first_error, is_out_of_memory, native, repacked_bytes
from layadesk.engine.llama_moe import MoeTap
from layadesk.engine.llama_params import context_params, model_params
from layadesk.engine.own_memory import available_bytes, private_bytes

Lines = list[tuple[int, str]]

N_SAMPLES, SAMPLE_BYTES = 16, 64 * 1024  # of a file, to know it again


class LlamaBackend:
    """llama.cpp in this process."""

    name = "llama"

    def __init__(self, library: LlamaLibrary | None = None) -> None:
        self._library = library or LlamaLibrary()
        self.devices = tuple(self._library.devices.by_name)
        self.modules = self._library.devices.modules
        self.supports_gpu_offload = self._library.supports_gpu_offload
        self._repacked: set[str] = set()  # files that are better not mapped

    def load(self, spec: ExpertSpec, on_progress: Callable[[float], bool]) -> LlamaExpert:
        """See Backend."""
        numbers = context_numbers(spec.params, has_gpu=self._library.devices.has_gpu and spec.params.n_gpu_layers != 0)
        if not os.path.isfile(spec.path):
            raise fail(ErrorCode.MODEL_FILE_MISSING, path=spec.path)
        before = private_bytes()
        with self._library.log.capture() as lines:
            model = self._load_model(spec, numbers, on_progress, lines)
            if model is None:
                raise _load_failure(spec, lines)
            refusal = _refusal_of_kind(model)
            large = has_large_state(model, swa_full=numbers.swa_full)
            params = context_params(numbers, has_large_state=large)
            shape = moe_shape(model)
            tap = None if shape is None else MoeTap(shape)
            if tap is not None:
                params.cb_eval, params.cb_eval_user_data = tap.callback, tap.user_data
            context = None if refusal else native.llama_init_from_model(model, params)
            if not context:
                native.llama_model_free(model)
                raise refusal or _load_failure(spec, lines)
            if tap is not None:
                tap.attach(context)
            facts = read_facts(model, context, lines, numbers=numbers, file_mark=_mark_of(spec.path))
            measure = LoadMeasure(
                made_buffers(context, lines).devices(output_bytes=4 * facts.n_vocab * int(params.n_outputs_max)),
                private_bytes() - before,
                mapped_bytes(lines),
            )
            devices = computing_devices(measure.devices, facts, numbers)
            facts = replace(facts, measure=measure, devices=devices, moe=shape)
            return LlamaExpert(model, context, facts, params=params, tap=tap)

    def _load_model(
        self, spec: ExpertSpec, numbers: ContextNumbers, on_progress: Callable[[float], bool], lines: Lines
    ) -> Any:
        """The model, or None where the library refused it. Raises LoadCancelled.

        Where nothing is said about mapping, the file is mapped, unless the library turns out to make a repacked copy of
        weights, which would then be in memory twice (llama.cpp issue 16761). It tells so before it reads the first
        weight; then the load is begun again, without the map.
        """
        may_map = numbers.uses_mmap is not False and (numbers.uses_mmap or spec.path not in self._repacked)
        is_called_off = False
        is_twice = False

        def tell(fraction: float, _user_data: Any) -> bool:
            nonlocal is_called_off, is_twice
            if may_map and numbers.uses_mmap is None and repacked_bytes(lines) > 0:
                is_twice = True
                return False
            is_called_off = not on_progress(fraction)
            return not is_called_off

        params = model_params(numbers, self._library.devices, uses_mmap=may_map, on_progress=tell)
        model = native.llama_model_load_from_file(os.fsencode(spec.path), params.struct)  # UTF-8 on Windows too
        if is_twice:
            if model:
                native.llama_model_free(model)
            self._repacked.add(spec.path)
            del lines[:]
            return self._load_model(spec, numbers, on_progress, lines)
        if model and not on_progress(1.0):
            native.llama_model_free(model)
            is_called_off = True
        if is_called_off:
            raise LoadCancelled
        return model or None


def _mark_of(path: str) -> str:
    """What tells this file from another one: its size, and samples of its content. Milliseconds, whatever its size."""
    size = os.path.getsize(path)
    mark = hashlib.blake2b(str(size).encode(), digest_size=16)
    with open(path, "rb", buffering=0) as file:
        for i in range(N_SAMPLES):
            file.seek(max(0, size - SAMPLE_BYTES) * i // (N_SAMPLES - 1))
            mark.update(file.read(SAMPLE_BYTES))
    return mark.hexdigest()


def _refusal_of_kind(model: Any) -> LayaDeskError | None:
    """What cannot chat: llama_decode would fail or abort."""
    if native.llama_model_has_encoder(model) or not native.llama_model_has_decoder(model):
        return fail(ErrorCode.GGUF_NOT_CHAT, detail="encoder")
    if native.llama_model_is_diffusion(model):
        return fail(ErrorCode.GGUF_NOT_CHAT, detail="diffusion")
    return None


def _load_failure(spec: ExpertSpec, lines: Lines) -> LayaDeskError:
    """With what the load was thought to need and what is free now: the bill was kept, and yet the system refused."""
    if not is_out_of_memory(lines):
        return fail(ErrorCode.MODEL_LOAD_FAILED, expert=spec.model_id, path=spec.path, detail=first_error(lines))
    return fail(
        ErrorCode.OUT_OF_MEMORY,
        expert=spec.model_id,
        path=spec.path,
        detail=first_error(lines),
        needs_bytes=spec.needs_bytes,
        free_bytes=available_bytes(),
    )
