"""What to say when Qt cannot be loaded because the system lacks a library. Imports no Qt at all.

Called by the command line around the import of `ui.application`; the reports themselves are made here too.
"""

import os
import re

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail

# Debian's and Ubuntu's names; the set-up script installs the whole list when it may.
PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libGLX.so.0": "libglx0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-util.so.1": "libxcb-util1",
    "libwayland-client.so.0": "libwayland-client0",
}
USUAL = ("libegl1", "libgl1", "libfontconfig1", "libdbus-1-3", "libxkbcommon-x11-0", "libxcb-cursor0")

_LIBRARY = re.compile(r"(lib[\w.+-]*\.so(?:\.\d+)*)")
_WHAT = {
    "en": "The window cannot be opened: the system library {library} is missing.",
    "zh": "无法打开窗口：系统缺少库 {library}。",
}
_REMEDY = {
    "en": "Install it with: sudo apt-get install -y {packages}",
    "zh": "请运行以下命令安装：sudo apt-get install -y {packages}",
}


def missing_library(error: ImportError | OSError) -> LayaDeskError:
    """QT_MISSING_LIBRARY with the facts `library`, `packages` (one `apt-get` argument list) and `detail`."""
    found = _LIBRARY.search(str(error))
    library = found.group(1) if found else "?"
    named = PACKAGES.get(library)
    # One library is rarely the only one that is missing, so the usual ones come along: apt skips what is there.
    packages = dict.fromkeys(([named] if named else []) + list(USUAL))
    return fail(ErrorCode.QT_MISSING_LIBRARY, library=library, packages=" ".join(packages), detail=str(error))


def plain_sentences(error: LayaDeskError) -> tuple[str, str]:
    """What happened and what to do, where `texts.errors` cannot be imported because QtCore itself is not there."""
    language = "zh" if _system_language().lower().startswith("zh") else "en"
    facts = {name: str(value) for name, value in error.facts.items()}
    return _WHAT[language].format_map(facts), _REMEDY[language].format_map(facts)


def _system_language() -> str:
    return next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
