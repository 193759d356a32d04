"""What llama.cpp knows of a model and its context, as our own words. Loader thread."""

import ctypes
import hashlib
from collections.abc import Iterable
from typing import Any

from layadesk.domain.memory_fit.bill import CPU, DeviceBill
from layadesk.domain.moe_experts import MoeShape
from layadesk.domain.sampling_defaults import from_metadata
from layadesk.engine.backend import ExpertFacts
from layadesk.engine.llama_context import ContextNumbers
from layadesk.engine.llama_library import LIBRARY_VERSION, memory_use, n_offloaded_layers, native

_NO_VOCABULARY = 0  # LLAMA_VOCAB_TYPE_NONE
_WITH_BYTE_TOKENS = {1, 4}  # LLAMA_VOCAB_TYPE_SPM, _UGM
# keys of general.sampling.* -> our names, where they differ
_RENAMED = {"temp": "temperature", "penalty_repeat": "repeat_penalty", "penalty_last_n": "repeat_last_n"}
_AS_THEY_ARE = "top_k top_p min_p xtc_probability xtc_threshold mirostat mirostat_tau mirostat_eta"
_RECOMMENDED = _RENAMED | {name: name for name in _AS_THEY_ARE.split()}
_ATTR_UNKNOWN, _ATTR_CONTROL, _ATTR_ADDED = 1 << 0, 1 << 3, 1 << 4


def has_large_state(model: Any, *, swa_full: bool) -> bool:
    """Whether each sequence costs memory of its own: recurrent layers, or sliding windows kept apart."""
    return not _can_rewind(model) or (not swa_full and native.llama_model_n_swa(model) > 0)


def moe_shape(model: Any) -> MoeShape | None:
    """The MoE experts of a layer, as the file says; None where there are none."""
    architecture = _meta(model, b"general.architecture").encode()
    n_expert, n_used = (_meta(model, architecture + key) for key in (b".expert_count", b".expert_used_count"))
    if not (n_expert.isdecimal() and n_used.isdecimal()) or not 0 < int(n_used) <= int(n_expert):
        return None
    return MoeShape(int(n_expert), int(n_used))


def read_facts(
    model: Any, context: Any, lines: list[tuple[int, str]], *, numbers: ContextNumbers, file_mark: str
) -> ExpertFacts:
    """`lines` are what the library said while it loaded; buffer sizes are told nowhere else. `file_mark`: the file."""
    vocab = native.llama_model_get_vocab(model)
    n_ctx = int(native.llama_n_ctx(context))
    n_ctx_train = int(native.llama_model_n_ctx_train(model))
    n_vocab = int(native.llama_vocab_n_tokens(vocab))
    has_vocabulary = _can_tokenize(vocab, n_vocab)
    template = native.llama_model_chat_template(model, None)
    bos = int(native.llama_vocab_bos(vocab)) if has_vocabulary else -1
    control, added = _reserved_texts(vocab, n_vocab) if has_vocabulary else ({}, {})
    return ExpertFacts(
        architecture=_meta(model, b"general.architecture"),
        n_ctx=n_ctx,
        n_ctx_seq=min(n_ctx, n_ctx_train) if n_ctx_train > 0 else n_ctx,
        n_ctx_train=n_ctx_train,
        n_layer=int(native.llama_model_n_layer(model)),
        n_gpu_layers=n_offloaded_layers(lines),
        n_vocab=n_vocab,
        n_seq_max=int(native.llama_n_seq_max(context)),
        n_batch=int(native.llama_n_batch(context)),
        memory=memory_use(lines),
        chat_template=template.decode("utf-8", "replace") if template else None,
        bos_token=bos if bos >= 0 else None,
        bos_text=_text_of(vocab, bos) if bos >= 0 else "",
        eos_text=_text_of(vocab, int(native.llama_vocab_eos(vocab))) if has_vocabulary else "",
        adds_bos=has_vocabulary and bool(native.llama_vocab_get_add_bos(vocab)),
        control_texts=control,
        added_texts=added,
        can_rewind=_can_rewind(model),
        has_vocabulary=has_vocabulary,
        n_swa=max(0, int(native.llama_model_n_swa(model))),
        n_parallel=numbers.n_parallel,
        fingerprint=_fingerprint(numbers, file_mark),
        recommended=from_metadata(_sampling_texts(model)),
        needs_checkpoints=has_large_state(model, swa_full=numbers.swa_full),
    )


def computing_devices(bills: Iterable[DeviceBill], facts: ExpertFacts, numbers: ContextNumbers) -> frozenset[str]:
    """Where layers are. The host keeps the table of embeddings in any case, and only looks up rows in it."""
    devices = {one.device for one in bills if one.device != CPU and one.weights_bytes > 0}
    is_all_there = facts.n_gpu_layers > facts.n_layer and not numbers.n_cpu_moe and not numbers.tensor_overrides
    return frozenset(devices if devices and is_all_there else devices | {CPU})


def _can_tokenize(vocab: Any, n_vocab: int) -> bool:
    """Whether there is a vocabulary, and a token for each byte where `llama_tokenize` would abort() without one."""
    kind = native.llama_vocab_type(vocab)
    if kind not in _WITH_BYTE_TOKENS:
        return bool(kind != _NO_VOCABULARY)
    missing = {f"<0x{byte:02X}>".encode(): bytes([byte]) for byte in range(256)}
    plain = {letter: text for text, letter in missing.items()}
    for token in range(n_vocab):  # they stand near the beginning
        text = native.llama_vocab_get_text(vocab, token)
        missing.pop(plain.get(text, text), None)
        if not missing:
            return True
    return False


def _can_rewind(model: Any) -> bool:
    return not (native.llama_model_is_recurrent(model) or native.llama_model_is_hybrid(model))


def _fingerprint(numbers: ContextNumbers, file_mark: str) -> str:
    """A saved state fits only the same weights, the same cells, and the same version of the library."""
    cells = (numbers.type_k, numbers.type_v, numbers.flash_attn_type, numbers.swa_full)
    return hashlib.blake2b(repr((file_mark, cells, LIBRARY_VERSION)).encode(), digest_size=16).hexdigest()


def _sampling_texts(model: Any) -> dict[str, str]:
    texts = {field: _meta(model, f"general.sampling.{key}".encode()) for key, field in _RECOMMENDED.items()}
    return {field: text for field, text in texts.items() if text}


def _reserved_texts(vocab: Any, n_vocab: int) -> tuple[dict[str, int], dict[str, int]]:
    control: dict[str, int] = {}
    added: dict[str, int] = {}
    get_attr = native.llama_vocab_get_attr
    for token in range(n_vocab):
        attr = get_attr(vocab, token)
        if attr & (_ATTR_CONTROL | _ATTR_UNKNOWN):
            control[_text_of(vocab, token)] = token
        elif attr & _ATTR_ADDED:
            added[_text_of(vocab, token)] = token
    return control, added


def _text_of(vocab: Any, token: int) -> str:
    text = native.llama_vocab_get_text(vocab, token) if token >= 0 else None
    return "" if text is None else bytes(text).decode("utf-8", "replace")


def _meta(model: Any, key: bytes) -> str:
    value = ctypes.create_string_buffer(128)
    n = native.llama_model_meta_val_str(model, key, value, len(value))
    return value.value.decode("utf-8", "replace") if n >= 0 else ""
