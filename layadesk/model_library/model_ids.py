"""Model ids made from file names: short, stable, fit for a command line and a URL."""

import unicodedata
from collections.abc import Container
from pathlib import PurePath

from layadesk.model_library.shards import shard_prefix

MAX_LENGTH = 64


def slug(file_name: str) -> str:
    """`Qwen3-4B Instruct.Q4_K_M.gguf` → `qwen3-4b-instruct.q4-k-m`. Letters of all scripts stay; never empty."""
    stem = shard_prefix(file_name)
    if stem == file_name:
        stem = PurePath(file_name).stem if file_name.lower().endswith(".gguf") else file_name
    text = unicodedata.normalize("NFKC", stem).casefold()
    kept = "".join(c if c.isalnum() or c == "." else "-" for c in text)
    parts = [part for part in kept.split("-") if part.strip(".")]
    return "-".join(parts).strip("-.")[:MAX_LENGTH].strip("-.") or "model"


def free_id(wanted: str, taken: Container[str]) -> str:
    """`wanted`, or the first of `wanted-2`, `wanted-3`, … that is free."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"
