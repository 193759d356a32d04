"""Messages that only go on with what was said before, and messages that begin with a command."""

import re
import unicodedata
from typing import Final

from layadesk.domain.routing_labels import GROUPS, TASKS

FOLLOW_UP_CHARS: Final = 12
_LONG: Final = 60  # what is longer says for itself what it wants

_GOES_ON: Final = re.compile(
    r"(?:please\s+)?(?:continue|go\s+on|carry\s+on|keep\s+going|more|again|next|another(?:\s+one)?|one\s+more|try\s+again|retry|"
    r"(?:fix|redo|shorten|expand|finish|improve|undo|simplify|explain|change|translate|repeat)\s+(?:it|that|this|them)|"
    r"(?:make|do|say)\s+(?:it|that|this)\s+\w+|"
    r"what\s+about|how\s+about|and\s+(?:then|now|what|the|in|for|with|if)|why(?:\s+(?:not|so|is\s+that))?\b|really|are\s+you\s+sure|ok(?:ay)?|yes|yep|no|nope|"
    r"thanks?(?:\s+you)?|shorter|longer|simpler|in\s+(?:english|chinese|french|german|spanish|japanese|python|rust|java|c\+\+|go)|"
    r"still\s+(?:wrong|not|fails|broken)|it\s+(?:does|did)n[o']?t\s+work|same\s+(?:for|with|but)|also|but|instead)\b"
    r"|(?:请)?(?:继续|接着|往下|再来|再|还有|然后|另外|换|改|重[写来做试新]|详细|展开|简短|短一?点|长一?点|具体|为什么|为啥|怎么会|真的吗|确定吗|"
    r"好的?|行|可以|嗯|对|不对|不是|不行|还是|上面|刚才|前面|那|第[一二三四五六七八九十\d]+)",
    re.IGNORECASE,
)
_SLASH: Final = re.compile(r"/([A-Za-z\u4e00-\u9fff]{1,20})(?=\s|$)")
_COMMANDS: Final = {
    **{task: task for task in TASKS},
    "tr": "translate", "fix": "code", "sum": "summarise", "summarize": "summarise", "tldr": "summarise",
    "write": "writing", "calc": "math", "think": "reasoning", "ask": "knowledge", "rp": "roleplay", "plan": "advise",
    "翻译": "translate", "总结": "summarise", "写作": "writing",
    "改写": "rewrite", "润色": "rewrite", "提取": "extract",
    "代码": "code", "数学": "math", "推理": "reasoning", "知识": "knowledge", "建议": "advise",
    "角色": "roleplay", "聊天": "chat",
}  # fmt: skip


def is_follow_up(text: str, *, has_history: bool) -> bool:
    """Whether a message cannot be understood without the one before: it is very short, or begins like "fix it"."""
    if not has_history:
        return False
    said = text.strip()
    if len(said) > _LONG or _SLASH.match(said):
        return False
    width = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in said)
    return width <= FOLLOW_UP_CHARS or _GOES_ON.match(said) is not None


def slash_word(text: str) -> str | None:
    """The word of a slash command at the start of a message, lower case; None where there is none."""
    found = _SLASH.match(text.lstrip())
    return found[1].lower() if found else None


def command_task(word: str) -> str | None:
    """The task that a slash word names, or a group's first task for the name of a group."""
    return _COMMANDS.get(word) or (GROUPS[word][0] if word in GROUPS else None)
