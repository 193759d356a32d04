"""A configuration that users have from other programs, as YAML, in our settings: each key mapped or named as ignored.

Known: `router: {device, precision, max_batch, topk}`, `expert_pool: [{name, model, device, precision}]`,
`inference: {max_seq_len, max_batch, enable_prefix_cache, kv_cache_quant}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.settings import definitions
from layadesk.settings.definitions import Setting, SettingValue

MAX_BYTES = 1_000_000
_GPU_WORDS = {"cuda", "gpu", "vulkan", "rocm", "mps", "metal"}


@dataclass(frozen=True, slots=True)
class YamlImport:
    """What a file says. `values` are ready to be set; `ignored` names every other key, as `router.precision`."""

    values: Mapping[str, SettingValue]
    ignored: tuple[str, ...]
    experts: tuple[str, ...]


def read_yaml(path: Path) -> YamlImport:
    """Raises SETTINGS_FILE_FOREIGN for what is no YAML of this shape; nothing is set here."""
    import yaml  # noqa: PLC0415 - 20 ms that the first window need not wait for

    try:
        content = path.read_bytes()
    except OSError as error:
        raise fail(ErrorCode.SETTINGS_FILE_FOREIGN, path=str(path), detail=error.strerror or "") from error
    if len(content) > MAX_BYTES:
        raise fail(ErrorCode.SETTINGS_FILE_FOREIGN, path=str(path), detail="larger than 1 MB")
    try:
        tree = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise fail(ErrorCode.SETTINGS_FILE_FOREIGN, path=str(path), detail=str(error)[:200]) from error
    if not isinstance(tree, dict) or not {"router", "expert_pool", "inference"} & {str(key) for key in tree}:
        raise fail(ErrorCode.SETTINGS_FILE_FOREIGN, path=str(path), detail="none of router, expert_pool, inference")
    return mapped(tree)


def mapped(tree: Mapping[Any, Any]) -> YamlImport:
    """The same for what has been read already; never raises."""
    values: dict[str, SettingValue] = {}
    ignored: list[str] = []
    for section, content in tree.items():
        if section == "expert_pool":
            continue
        if not isinstance(content, dict) or section not in {"router", "inference"}:
            ignored.append(str(section))
            continue
        for key, value in content.items():
            name = f"{section}.{key}"
            target = _target(name, value)
            if target is None or not _take(values, *target):
                ignored.append(name)
    experts = _experts(tree.get("expert_pool"), ignored)
    return YamlImport(values, tuple(ignored), experts)


def _target(name: str, value: object) -> tuple[Setting[Any], object] | None:
    match name:
        case "router.device":
            return definitions.ROUTER_USE_GPU, str(value).split(":")[0].lower() in _GPU_WORDS
        case "router.topk":
            return definitions.TOPK, value
        case "inference.max_seq_len":
            return definitions.N_CTX, value
        case "inference.max_batch":
            return definitions.N_PARALLEL, value
        case _:
            return None


def _take(values: dict[str, SettingValue], setting: Setting[Any], value: object) -> bool:
    try:
        values[setting.key] = setting.check(value)
    except LayaDeskError:
        return False
    return True


def _experts(pool: object, ignored: list[str]) -> tuple[str, ...]:
    """The names of models to add by hand; where they lie and how they are loaded is asked there."""
    if pool is None:
        return ()
    if not isinstance(pool, list):
        ignored.append("expert_pool")
        return ()
    names = []
    for index, one in enumerate(pool):
        name = one.get("model") or one.get("name") if isinstance(one, dict) else None
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
            ignored += [f"expert_pool[{index}].{key}" for key in one if key not in {"name", "model"}]
        else:
            ignored.append(f"expert_pool[{index}]")
    return tuple(names)
