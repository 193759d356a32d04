"""How the user wants an expert loaded, where that is not as the settings say: one line for each in one setting.

`smol = n_ctx 4096, type_k q8_0`: names as in LoadParams, and only what was chosen. What is not understood is left out.
"""

from collections.abc import Mapping
from dataclasses import replace

from layadesk.domain.inference import LoadParams

KV_CHOICES = ("f16", "q8_0", "q4_0")
ATTENTION_CHOICES = ("auto", "on", "off")
MAPPING_CHOICES = ("auto", "on", "off")
BOUNDS: Mapping[str, tuple[int, int]] = {
    "n_ctx": (512, 1_048_576),
    "n_parallel": (1, 16),
    "n_gpu_layers": (-1, 10_000),
    "n_cpu_moe": (0, 10_000),
    "n_threads": (0, 1024),
    "n_batch": (32, 16_384),
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "type_k": KV_CHOICES,
    "type_v": KV_CHOICES,
    "flash_attn": ATTENTION_CHOICES,
    "use_mmap": MAPPING_CHOICES,
}
_MAPPED: Mapping[str, bool | None] = {"auto": None, "on": True, "off": False}

Choice = Mapping[str, int | str]


def parse_loads(text: str) -> dict[str, Choice]:
    """The choices by expert id."""
    found: dict[str, Choice] = {}
    for line in text.splitlines():
        expert, _, values = line.partition("=")
        choice = dict(filter(None, map(_value, values.split(","))))
        if expert.strip() and choice:
            found[expert.strip()] = choice
    return found


def with_load(text: str, expert: str, choice: Choice) -> str:
    """The text of the setting with one expert's choice changed; an empty one takes it out."""
    changed = {**parse_loads(text), expert: choice}
    return "\n".join(
        f"{name} = {', '.join(f'{key} {value}' for key, value in values.items())}"
        for name, values in sorted(changed.items())
        if values
    )


def apply_choice(params: LoadParams, choice: Choice) -> LoadParams:
    """`params` with what was chosen."""
    changes: dict[str, object] = dict(choice)
    if "use_mmap" in changes:
        changes["use_mmap"] = _MAPPED[str(changes["use_mmap"])]
    return replace(params, **changes)  # type: ignore[arg-type]  # names and types were checked by `_value`


def choice_between(params: LoadParams, usual: LoadParams) -> Choice:
    """What has to be kept so that `params` comes of `usual`."""
    choice: dict[str, int | str] = {}
    for name in (*BOUNDS, *_CHOICES):
        value = getattr(params, name)
        if value != getattr(usual, name):
            choice[name] = mapping_word(params.use_mmap) if name == "use_mmap" else value
    return choice


def mapping_word(use_mmap: bool | None) -> str:
    """`auto`, `on` or `off`."""
    return next(word for word, value in _MAPPED.items() if value is use_mmap)


def _value(text: str) -> tuple[str, int | str] | None:
    name, _, word = text.strip().partition(" ")
    word = word.strip()
    if word in _CHOICES.get(name, ()):
        return name, word
    low, high = BOUNDS.get(name, (1, 0))
    is_number = word.removeprefix("-").isascii() and word.removeprefix("-").isdigit() and len(word) < 9
    return (name, int(word)) if is_number and low <= int(word) <= high else None
