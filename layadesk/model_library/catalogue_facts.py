"""Facts of a model that is only in the catalogue: its numbers are known, its tensors are made up to match.

The sum of the weights is the file's size, so the whole bill is right; how the weights are spread over the layers is an
estimate: embeddings and output by the type such files give them, all layers alike.
"""

from collections.abc import Callable, Sequence

from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.model_library.gguf_header import GgufHeader
from layadesk.model_library.gguf_reader import TensorEntry
from layadesk.model_library.model_facts import FactReader

# Bits per weight that quantised files spend on their embeddings and on their output (llama-quant.cpp).
_EMBEDDING_BITS = {"Q8_0": 8.5, "Q6_K": 6.5625, "F16": 16.0, "BF16": 16.0, "F32": 32.0}
_DEFAULT_EMBEDDING_BITS, _DEFAULT_OUTPUT_BITS = 4.5, 6.5625
_NEEDED = ("block_count", "embedding_length", "vocab_size", "attention.head_count", "attention.head_count_kv")
_F32 = 0


def facts_of_card(card: ModelCard, file: ModelFile) -> ModelFacts | None:
    """None where the catalogue lacks a number that the price hangs on, or the size."""
    metadata = dict(card.gguf)
    architecture = metadata.get("general.architecture")
    n_bytes = file.size_bytes or file.rounded_bytes
    if n_bytes is None or any(f"{architecture}.{key}" not in metadata for key in _NEEDED):
        return None
    assert isinstance(architecture, str)
    is_tied = metadata.pop(f"{architecture}.tie_embeddings", False) is True
    tensors = _tensors(metadata, architecture, file.quantization, n_bytes, is_tied=is_tied)
    return FactReader(metadata, tensors).facts()


def has_numbers(card: ModelCard) -> bool:
    """Whether the catalogue has what a price hangs on, but for the size of a file."""
    return all(f"{card.gguf.get('general.architecture')}.{key}" in card.gguf for key in _NEEDED)


def numbers_of(headers: Sequence[GgufHeader]) -> dict[str, int | bool | str | tuple[int, ...]]:
    """What `gguf` of a card would be, from the headers of one of its files."""
    first = headers[0]
    architecture = first.architecture or ""
    found: dict[str, int | bool | str | tuple[int, ...]] = {"general.architecture": architecture}
    for key, value in first.metadata.items():
        if key.startswith(f"{architecture}.") and (isinstance(value, int) or _are_counts(value)):
            found[key] = value  # type: ignore[assignment]  # a whole number, or several
    if first.n_vocab:
        found[f"{architecture}.vocab_size"] = first.n_vocab
    names = {tensor.name for header in headers for tensor in header.tensors}
    found[f"{architecture}.tie_embeddings"] = "output.weight" not in names
    return found


def _are_counts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, int) for one in value)


def _tensors(
    metadata: dict[str, int | bool | str | tuple[int, ...]],
    architecture: str,
    quantization: str,
    file_bytes: int,
    *,
    is_tied: bool,
) -> list[TensorEntry]:
    def number(key: str) -> int:
        value = metadata.get(f"{architecture}.{key}", 0)
        return value if isinstance(value, int) else 0

    n_embd, n_vocab, n_block = number("embedding_length"), number("vocab_size"), max(1, number("block_count"))
    lookup_bits = _EMBEDDING_BITS.get(quantization.removeprefix("UD-"), _DEFAULT_EMBEDDING_BITS)
    embedding_bits = max(lookup_bits, _DEFAULT_OUTPUT_BITS) if is_tied else lookup_bits
    output_bits = 0.0 if is_tied else max(embedding_bits, _DEFAULT_OUTPUT_BITS)
    embedding, output = (round(n_embd * n_vocab * bits / 8) for bits in (embedding_bits, output_bits))
    tensors = [_tensor("token_embd.weight", (n_embd, n_vocab), embedding)]
    if not is_tied:
        tensors.append(_tensor("output.weight", (n_embd, n_vocab), output))
    per_layer = round(number("embedding_length_per_layer_input") * n_block * n_vocab * lookup_bits / 8)
    if per_layer:  # Gemma's small models look up a vector for each layer too; like the embeddings it stays in RAM
        tensors.append(_tensor("per_layer_token_embd.weight", (n_embd, n_vocab), per_layer))
    n_expert, n_ff = number("expert_count"), number("expert_feed_forward_length")
    in_experts = 3 * n_embd * n_ff * n_expert
    n_dense = 0 if n_expert else n_embd * number("feed_forward_length")
    rest = max(0, file_bytes - embedding - output - per_layer)
    for block in range(n_block):
        n_bytes = rest // n_block + (rest % n_block if block == 0 else 0)
        share = in_experts / (in_experts + _attention_elements(number, n_embd)) if in_experts else 0.0
        experts = round(n_bytes * share)
        down = max(embedding_bits, _DEFAULT_OUTPUT_BITS)  # such files spend more on it, at least in some layers
        sizes = dict.fromkeys(("ffn_gate", "ffn_up"), n_dense * embedding_bits / 8) | {"ffn_down": n_dense * down / 8}
        if n_dense and sum(sizes.values()) < n_bytes:
            parts = {name: round(size) for name, size in sizes.items()}
            tensors += [_tensor(f"blk.{block}.{name}.weight", (n_embd, 1), size) for name, size in parts.items()]
            n_bytes -= sum(parts.values())
        if experts:
            shape, third = (n_embd, n_ff, n_expert), embedding_bits / (2 * embedding_bits + down)
            gate = round(experts * third)
            for name, size in (("gate", gate), ("up", gate), ("down", experts - 2 * gate)):
                tensors.append(_tensor(f"blk.{block}.ffn_{name}_exps.weight", shape, size))
        tensors.append(_tensor(f"blk.{block}.weights", (n_embd,), n_bytes - experts))
    return tensors


def _attention_elements(number: Callable[[str], int], n_embd: int) -> int:
    head = number("attention.key_length")
    return 2 * n_embd * head * (number("attention.head_count") + number("attention.head_count_kv"))


def _tensor(name: str, shape: tuple[int, ...], n_bytes: int) -> TensorEntry:
    return TensorEntry(name, _F32, shape, 0, n_bytes)
