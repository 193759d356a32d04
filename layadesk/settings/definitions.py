"""Every setting, declared once: what is valid, what it is without a file, and when a change takes hold.

Names and descriptions for people live in `ui/texts.py` under the key.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail

SettingValue = bool | int | float | str
ValueT = TypeVar("ValueT", bound=SettingValue)

MAX_TEXT = 100_000


class Applies(StrEnum):
    """When a changed setting is felt."""

    NOW = "now"
    NEXT_ANSWER = "next_answer"
    NEXT_LOAD = "next_load"
    NEXT_START = "next_start"  # of the server


@dataclass(frozen=True, slots=True)
class Setting(Generic[ValueT]):
    """One setting. `minimum` and `maximum` are for numbers and include their ends; `choices` empty means any text.

    `needs` is the key of a text without which this one does nothing.
    """

    key: str
    type: type[ValueT]
    default: ValueT
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    applies: Applies = Applies.NOW
    needs: str = ""

    def check(self, value: object) -> ValueT:
        """`value` in this setting's own type. Raises BAD_SETTING with the key and what would be valid.

        A whole number is taken for a float, and a float without a fraction for a whole number, as JSON mixes the two;
        true and false are never taken for numbers.
        """
        taken = self._in_own_type(value)
        if taken is None or not self._is_valid(taken):
            raise self._bad(value)
        return taken

    def _in_own_type(self, value: object) -> ValueT | None:
        if isinstance(value, self.type) and not (isinstance(value, bool) and self.type is not bool):
            return value
        try:
            if self.type is float and type(value) is int:
                return self.type(value)
            if self.type is int and isinstance(value, float) and value.is_integer():
                return self.type(value)
        except OverflowError:  # an integer of 400 digits
            return None
        return None

    def _is_valid(self, value: ValueT) -> bool:
        if isinstance(value, str):
            return (not self.choices or value in self.choices) and len(value) <= MAX_TEXT and _is_text(value)
        if isinstance(value, float) and not math.isfinite(value):
            return False
        above = self.minimum is None or value >= self.minimum
        return above and (self.maximum is None or value <= self.maximum)

    def _bad(self, value: object) -> LayaDeskError:
        facts: dict[str, Fact] = {"key": self.key, "value": _shown(value), "type": self.type.__name__}
        if self.minimum is not None:
            facts["minimum"] = self.minimum
        if self.maximum is not None:
            facts["maximum"] = self.maximum
        if self.choices:
            facts["choices"] = ", ".join(self.choices)
        return fail(ErrorCode.BAD_SETTING, **facts)


def _shown(value: object) -> Fact:
    """A refused value as a fact; None where it is too large, or no plain value at all."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    return value[:80] if isinstance(value, str) and _is_text(value) else None


def _is_text(value: str) -> bool:
    """Whether UTF-8 can hold it: half a surrogate pair would fail later, in a prompt."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


UI_LANGUAGE = Setting("ui.language", str, "system", choices=("system", "en", "zh_CN"))
UI_THEME = Setting("ui.theme", str, "system", choices=("system", "light", "dark"))
UI_PANEL_VISIBLE = Setting("ui.panel_visible", bool, True)
UI_NOTICE = Setting("ui.notice", bool, False)
UI_WELCOME = Setting("ui.welcome", bool, True)

N_CTX = Setting("inference.n_ctx", int, 8192, minimum=512, maximum=1_048_576, applies=Applies.NEXT_LOAD)
N_GPU_LAYERS = Setting("inference.n_gpu_layers", int, -1, minimum=-1, maximum=10_000, applies=Applies.NEXT_LOAD)
N_THREADS = Setting("inference.n_threads", int, 0, minimum=0, maximum=1024, applies=Applies.NEXT_LOAD)
N_PARALLEL = Setting("inference.n_parallel", int, 4, minimum=1, maximum=16, applies=Applies.NEXT_LOAD)

TEMPERATURE = Setting("sampling.temperature", float, 0.6, minimum=0, maximum=5, applies=Applies.NEXT_ANSWER)
TOP_K = Setting("sampling.top_k", int, 40, minimum=0, maximum=1_000_000, applies=Applies.NEXT_ANSWER)
TOP_P = Setting("sampling.top_p", float, 0.95, minimum=0, maximum=1, applies=Applies.NEXT_ANSWER)
MIN_P = Setting("sampling.min_p", float, 0.05, minimum=0, maximum=1, applies=Applies.NEXT_ANSWER)
REPEAT_PENALTY = Setting("sampling.repeat_penalty", float, 1.1, minimum=0.1, maximum=10, applies=Applies.NEXT_ANSWER)
MAX_TOKENS = Setting("sampling.max_tokens", int, 0, minimum=0, maximum=10_000_000, applies=Applies.NEXT_ANSWER)

THINKING_BUDGET = Setting(
    "sampling.thinking_budget", int, 0, minimum=0, maximum=10_000_000, applies=Applies.NEXT_ANSWER
)
GUARD_ENABLED = Setting("guard.enabled", bool, True)

SYSTEM_PROMPT = Setting("chat.system_prompt", str, "", applies=Applies.NEXT_ANSWER)
DEFAULT_EXPERT = Setting("models.default_expert", str, "", applies=Applies.NEXT_ANSWER)
THINKING = Setting("models.thinking", str, "", applies=Applies.NEXT_ANSWER)  # see domain/thinking_choice.py
LOADS = Setting("models.load", str, "", applies=Applies.NEXT_LOAD)  # see domain/load_choices.py

MODELS_DIR = Setting("models.directory", str, "")  # empty: in the data directory; changed by moving, not by hand

DOWNLOAD_ENDPOINT = Setting("downloads.endpoint", str, "")  # empty: HF_ENDPOINT or huggingface.co; `modelscope`; a URL
DOWNLOAD_PROXY = Setting("downloads.proxy", str, "")
DOWNLOAD_PARALLEL = Setting("downloads.n_parallel", int, 2, minimum=1, maximum=8)
DOWNLOAD_RESERVE = Setting("downloads.reserve_gib", float, 2.0, minimum=0, maximum=1000)

ROUTER = Setting("router.model", str, "bundled", applies=Applies.NEXT_ANSWER)
ROUTER_DEADLINE_MS = Setting("router.deadline_ms", int, 400, minimum=20, maximum=10_000, applies=Applies.NEXT_ANSWER)
ROUTER_USE_GPU = Setting("router.use_gpu", bool, False, applies=Applies.NEXT_ANSWER)
ROUTER_CONFIDENCE = Setting("router.confidence", float, 0.6, minimum=0, maximum=1, applies=Applies.NEXT_ANSWER)
ROUTER_MARGIN = Setting("router.margin", float, 0.15, minimum=0, maximum=2, applies=Applies.NEXT_ANSWER)
ROUTER_RULES = Setting("router.rules", str, "", applies=Applies.NEXT_ANSWER)  # one a line: code → expert-id
TOPK = Setting("router.topk", int, 1, minimum=1, maximum=2, applies=Applies.NEXT_ANSWER)
HEAVY_TOPK = Setting("router.heavy_topk", bool, False, applies=Applies.NEXT_ANSWER)
ENHANCE = Setting("router.enhance", bool, False, applies=Applies.NEXT_ANSWER)
ALLOW_REMOTE = Setting("router.allow_remote", bool, False, applies=Applies.NEXT_ANSWER)

SERVER_ENABLED = Setting("server.enabled", bool, False)
SERVER_HOST = Setting("server.host", str, "127.0.0.1", applies=Applies.NEXT_START)
SERVER_PORT = Setting("server.port", int, 8000, minimum=1, maximum=65535, applies=Applies.NEXT_START)
SERVER_ORIGINS = Setting("server.origins", str, "", applies=Applies.NEXT_START)  # of web pages that may ask

# Where this project publishes its releases, as GitHub's `https://api.github.com/repos/OWNER/NAME/releases/latest` lists
# them. There is no such place yet: so nobody can be asked until a user knows one.
RELEASE_FEED = ""
UPDATE_FEED = Setting("updates.feed", str, RELEASE_FEED)
UPDATE_NOTICE = Setting("updates.notice", bool, False, needs=UPDATE_FEED.key)

ALL_SETTINGS: tuple[Setting[bool] | Setting[int] | Setting[float] | Setting[str], ...] = (
    UI_LANGUAGE,
    UI_THEME,
    UI_PANEL_VISIBLE,
    UI_NOTICE,
    UI_WELCOME,
    N_CTX,
    N_GPU_LAYERS,
    N_THREADS,
    N_PARALLEL,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    MIN_P,
    REPEAT_PENALTY,
    MAX_TOKENS,
    GUARD_ENABLED,
    THINKING_BUDGET,
    SYSTEM_PROMPT,
    DEFAULT_EXPERT,
    THINKING,
    MODELS_DIR,
    DOWNLOAD_ENDPOINT,
    DOWNLOAD_PROXY,
    DOWNLOAD_PARALLEL,
    DOWNLOAD_RESERVE,
    LOADS,
    ROUTER,
    ROUTER_DEADLINE_MS,
    ROUTER_USE_GPU,
    ROUTER_CONFIDENCE,
    ROUTER_MARGIN,
    ROUTER_RULES,
    TOPK,
    HEAVY_TOPK,
    ENHANCE,
    ALLOW_REMOTE,
    SERVER_ENABLED,
    SERVER_HOST,
    SERVER_PORT,
    SERVER_ORIGINS,
    UPDATE_NOTICE,
    UPDATE_FEED,
)

# Keys of earlier versions: where their values go, and which are dropped without a word.
RENAMED: dict[str, str] = {}
REMOVED: frozenset[str] = frozenset()
