"""What the program is called, everywhere a system wants to know."""

import re
from pathlib import Path

NAME = "LayaDesk"
PROGRAM = "layadesk"
APP_ID = "org.layadesk.LayaDesk"
SUMMARY = "Chat with language models on your own machine"
ICON_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)


def version_of(repo: Path) -> str:
    """`layadesk.__version__`, read and not imported: building must not need what is being built."""
    text = (repo / "layadesk" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if found is None:
        raise ValueError("layadesk/__init__.py has no __version__")
    return found[1]
