"""Jinja for chat templates, which are code from whoever made the model file: no attribute tricks, no bombs.

`ImmutableSandboxedEnvironment` keeps a template from reaching Python's internals. What it lets through is one long call
into C, which no time limit can interrupt: `10 ** 10 ** 10`, a string times a billion, a list that holds itself twice
forty times over. So every operation that can grow a value is bounded here, and filters are an allow-list.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

MAX_CHARS = 4_000_000  # of one string; a prompt of a million tokens
MAX_ITEMS = 50_000  # of one value, counted through all its levels
MAX_WORK_CHARS = 256_000_000  # made by joining and repeating in one rendering
MAX_INT_BITS = 4096
MAX_WIDTH = 10_000  # of padding and indentation

_KEPT_FILTERS = (
    "abs capitalize count d default dictsort e escape first float int items last length list lower map max min reject"
    " rejectattr reverse round select selectattr sort string title trim unique upper"
)
_WIDE_FORMAT = re.compile(r"\d{4,}|\*|\{[^{}]*\{")  # a width of a thousand and more, or one taken from the arguments
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs"})
_REFUSED_METHODS = frozenset({"translate", "to_bytes"})


class TemplateRaised(Exception):
    """The template itself refused the messages, with `raise_exception`."""


class _BoundedCode(CodeGenerator):
    """Compiles `~` and literals of lists, tuples and dicts to checked forms."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        self.write("environment.join_bounded((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        self.write("environment.measured(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        self.write("environment.measured(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        if node.ctx != "load":  # the left side of an assignment
            super().visit_Tuple(node, frame)
            return
        self.write("environment.measured(")
        super().visit_Tuple(node, frame)
        self.write(")")


class _GenerationTag(Extension):
    """`{% generation %}` marks training data in some templates; its content is plain."""

    tags = {"generation"}  # noqa: RUF012  # as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """Called by Jinja at the tag."""
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """The environment chat templates run in. One per template; prompt thread only."""

    code_generator_class = _BoundedCode
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationTag], cache_size=0)
        kept = {name: self._checked(FILTERS[name]) for name in _KEPT_FILTERS.split()}
        own = {
            "indent": self._indent,
            "join": self._join,
            "replace": self._replace,
            "safe": str,
            "sum": self._sum,
            "tojson": self._to_json,
        }
        self.filters = {**kept, **own}
        self.globals = {"range": self.globals["range"], "dict": dict, "namespace": Namespace}
        self.concat = self.join_bounded  # type: ignore[method-assign]  # Jinja calls it for macros and set blocks
        self._work_chars = 0

    def begin(self) -> None:
        """Start counting anew, before each rendering."""
        self._work_chars = 0

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Jinja's hook for the operators in `intercepted_binops`."""
        if operator == "*":
            self._check_product(left, right)
        elif operator == "**" and not (abs(left) <= 2**32 and abs(right) <= 64):
            raise SecurityError("power too large")
        elif operator == "%" and isinstance(left, (str, bytes)):
            self._check_format(str(left))
        return self.measured(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  # as Jinja's
        """Jinja's hook for every call in a template."""
        __self._check_method(__obj, args)
        return __self.measured(super().call(__context, __obj, *args, **kwargs))

    def join_bounded(self, parts: Iterable[Any]) -> str:
        """The texts of `parts` in a row; SecurityError when that is too long."""
        texts: list[str] = []
        n_chars = 0
        for part in parts:
            text = part if isinstance(part, str) else str(part)
            n_chars += len(text)
            self._check_chars(n_chars)
            texts.append(text)
        self._spend(n_chars)
        return "".join(texts)

    def measured(self, value: Any) -> Any:
        """`value`, if it is of bounded size with all that it holds; SecurityError otherwise."""
        if isinstance(value, (str, bytes)):
            self._check_chars(len(value))
            self._spend(len(value))
        elif isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
            raise SecurityError("number too large")
        elif isinstance(value, (list, tuple, dict, Namespace)):
            _weigh(value)
        return value

    def _checked(self, jinja_filter: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(jinja_filter)  # also copies the mark that says whether the context is passed
        def filtered(*args: Any, **kwargs: Any) -> Any:
            if jinja_filter is FILTERS["round"] and any(isinstance(n, int) and abs(n) > 20 for n in args[1:2]):
                raise SecurityError("precision too large")
            return self.measured(jinja_filter(*args, **kwargs))

        return filtered

    def _check_method(self, method: Any, args: tuple[Any, ...]) -> None:
        name = getattr(method, "__name__", "")
        owner = getattr(getattr(method, "__wrapped__", method), "__self__", None)
        if name in _REFUSED_METHODS:
            raise SecurityError(f"{name} is not offered")
        if not isinstance(owner, (str, bytes)):
            return
        if name in _PADDING and any(isinstance(n, int) and n > MAX_WIDTH for n in args):
            raise SecurityError("width too large")
        if name in {"format", "format_map"}:
            self._check_format(str(owner))
        elif name == "replace" and len(args) >= 2:
            self._check_replaced(str(owner), str(args[0]), str(args[1]))
        elif name == "join" and args:
            self._check_chars(len(owner) * _count(args[0]) + _count_chars(args[0]))

    def _check_format(self, pattern: str) -> None:
        if _WIDE_FORMAT.search(pattern):
            raise SecurityError("width too large")

    def _check_product(self, left: Any, right: Any) -> None:
        for value, times in ((left, right), (right, left)):
            if isinstance(times, int) and isinstance(value, (str, bytes)):
                self._check_chars(len(value) * times)
            is_list = isinstance(times, int) and isinstance(value, (list, tuple))
            if is_list and _weigh(value) * times > MAX_ITEMS:
                raise SecurityError("value too large")
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > MAX_INT_BITS:
            raise SecurityError("number too large")

    def _check_replaced(self, text: str, old: str, new: str) -> None:
        self._check_chars(len(text) + text.count(old) * len(new))

    def _check_chars(self, n_chars: int) -> None:
        if n_chars > MAX_CHARS:
            raise SecurityError("text too long")

    def _spend(self, n_chars: int) -> None:
        self._work_chars += n_chars
        if self._work_chars > MAX_WORK_CHARS:
            raise SecurityError("too much text")

    def _indent(self, text: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
        shift = width if isinstance(width, str) else " " * min(width, MAX_WIDTH)
        lines = str(text).splitlines() or [""]
        self._check_chars(len(str(text)) + len(lines) * len(shift))
        shifted = [line if not line and not blank else shift + line for line in lines]
        return "\n".join(shifted if first else [lines[0], *shifted[1:]])

    def _join(self, values: Iterable[Any], separator: Any = "", attribute: Any = None) -> str:
        parts: list[Any] = []
        for i, value in enumerate(values):
            if i:
                parts.append(separator)
            parts.append(value if attribute is None else self.getitem(value, attribute))
            if i > MAX_ITEMS:
                raise SecurityError("value too large")
        return self.join_bounded(parts)

    def _replace(self, text: Any, old: Any, new: Any, count: int = -1) -> str:
        self._check_replaced(str(text), str(old), str(new))
        return str(self.measured(str(text).replace(str(old), str(new), count)))

    def _sum(self, values: Iterable[Any], attribute: Any = None) -> Any:
        total: int | float = 0
        for value in values:
            number = value if attribute is None else self.getitem(value, attribute)
            if not isinstance(number, (int, float)):
                raise SecurityError("sum of what are no numbers")
            total += number
        return self.measured(total)

    def _to_json(self, value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
        """As in the transformers library, without HTML escapes. Piece by piece, which C's encoder cannot."""
        known = {key: options[key] for key in ("separators", "sort_keys") if options.get(key) is not None}
        bounded = None if indent is None else min(indent, 16)
        return self.join_bounded(json.JSONEncoder(ensure_ascii=ensure_ascii, indent=bounded, **known).iterencode(value))


def _weigh(value: Any) -> int:
    """How many things a value holds, each as often as it is reached; SecurityError beyond MAX_ITEMS or MAX_CHARS.

    A list may hold another one many times at no cost; printing, comparing or encoding it then costs the full price.
    """
    n_items = 0
    n_chars = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        n_items += 1
        if isinstance(one, (str, bytes)):
            n_chars += len(one)
        elif isinstance(one, Mapping):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
        elif isinstance(one, Namespace):
            waiting.extend(_attributes(one).values())
        if n_items + len(waiting) > MAX_ITEMS or n_chars > MAX_CHARS:
            raise SecurityError("value too large")
    return n_items


def _attributes(namespace: Namespace) -> dict[str, Any]:
    return namespace._Namespace__attrs  # type: ignore[no-any-return]  # it has no other door


def _count(values: Any) -> int:
    return len(values) if hasattr(values, "__len__") else MAX_ITEMS


def _count_chars(values: Any) -> int:
    return sum(len(v) for v in values if isinstance(v, str)) if isinstance(values, (list, tuple)) else 0
