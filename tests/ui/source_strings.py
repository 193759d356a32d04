"""Every text of the window, found by reading its source: `self.tr(…)`, `translate(…)`, `QT_TRANSLATE_NOOP(…)`; and the
notes of the catalogue.

`pyside6-lupdate` 6.11 misses calls whose count is an attribute or a call, so the tests do not lean on it.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from layadesk.model_library.catalogue import read_catalogue
from layadesk.paths import catalogue_file

UI = Path(__file__).resolve().parents[2] / "layadesk" / "ui"
MARKS = {"translate", "QCoreApplication.translate", "QT_TRANSLATE_NOOP"}


@dataclass(frozen=True, slots=True)
class SourceString:
    """One text. `is_counted`: it has plural forms."""

    context: str
    source: str
    is_counted: bool


class _Finder(ast.NodeVisitor):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: set[SourceString] = set()
        self.odd: list[str] = []
        self._classes: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if called == "self.tr":
            self._add(node, self._classes[-1], node.args)
        elif called in MARKS and node.args:
            context = node.args[0]
            self._add(node, context.value if isinstance(context, ast.Constant) else None, node.args[1:])
        self.generic_visit(node)

    def _add(self, node: ast.Call, context: object, arguments: list[ast.expr]) -> None:
        text = arguments[0] if arguments else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and isinstance(context, str):
            self.found.add(SourceString(context, text.value, len(arguments) >= 3))
        else:
            self.odd.append(f"{self.path.name}:{node.lineno}: {ast.unparse(node)}")


def source_strings() -> tuple[set[SourceString], list[str]]:
    """All texts, and the calls whose text is not written out in place."""
    found: set[SourceString] = set()
    odd: list[str] = []
    for path in sorted(UI.rglob("*.py")):
        finder = _Finder(path)
        finder.visit(ast.parse(path.read_text(encoding="utf-8")))
        found |= finder.found
        odd += finder.odd
    found |= {SourceString("catalogue", card.note, is_counted=False) for card in read_catalogue(catalogue_file()).cards}
    return found, odd
