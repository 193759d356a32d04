"""Which of Qt's input methods is used, where the system names one that Qt's wheels do not bring (faults J01, J02, J03).

On Linux, `QT_IM_MODULE=fcitx` is what desktops set for Chinese input, and PyPI's Qt has no such plugin: without more,
nothing but Latin letters could be typed. fcitx5 also speaks IBus's language, for which there is a plugin; under Wayland
the compositor hands the input method on by itself.
"""

import logging
from collections.abc import Iterable, MutableMapping
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

_ONE: Final = "QT_IM_MODULE"
_MANY: Final = "QT_IM_MODULES"  # the same as a list, first come first; Qt 6.7 and later look here first
_BUILT_IN: Final = frozenset({"none", "wayland", "compose"})
_STAND_IN: Final = "ibus"


def choose_input_method(environ: MutableMapping[str, str], plugin_dirs: Iterable[Path], *, is_wayland: bool) -> None:
    """Change `environ` where it asks for plugins of which none is there; call it before the application is made."""
    wanted = [name for name in environ.get(_MANY, environ.get(_ONE, "")).split(";") if name]
    there = [file.name for folder in plugin_dirs for file in (folder / "platforminputcontexts").glob("*.so")]
    if not wanted or any(_is_there(name, there) for name in wanted):
        return
    environ.pop(_MANY, None)
    environ.pop(_ONE, None)
    if not is_wayland:
        environ[_ONE] = _STAND_IN
    log.info("no plugin for the input method %s; using %s", ";".join(wanted), environ.get(_ONE, "the compositor's"))


def _is_there(name: str, files: Iterable[str]) -> bool:
    """`fcitx` is served by a plugin of that name and by `fcitx5`'s."""
    return name in _BUILT_IN or any(file.startswith(f"lib{name}") for file in files)
