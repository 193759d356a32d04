"""How each setting is called on the Settings page, and what it does. Marked here, translated when it is shown."""

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication

from layadesk.settings.definitions import Applies
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

_TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ui.language": (QT_TRANSLATE_NOOP("settings", "Language"), QT_TRANSLATE_NOOP("settings", "Of the window.")),
        "ui.theme": (
            QT_TRANSLATE_NOOP("settings", "Appearance"),
            QT_TRANSLATE_NOOP("settings", "Light, dark, or as the system is."),
        ),
        "ui.panel_visible": (
            QT_TRANSLATE_NOOP("settings", "Machine and route at the right"),
            QT_TRANSLATE_NOOP("settings", "The panel can be folded away with F9 too."),
        ),
        "ui.notice": (
            QT_TRANSLATE_NOOP("settings", "Notice when a long answer is done"),
            QT_TRANSLATE_NOOP("settings", "With an icon in the tray, while you look at something else."),
        ),
        "server.enabled": (
            QT_TRANSLATE_NOOP("settings", "Server"),
            QT_TRANSLATE_NOOP("settings", "Other programs may ask over HTTP, as they would ask OpenAI."),
        ),
        "server.host": (
            QT_TRANSLATE_NOOP("settings", "Address of the server"),
            QT_TRANSLATE_NOOP("settings", "127.0.0.1 is this machine alone; any other needs an API key."),
        ),
        "server.port": (
            QT_TRANSLATE_NOOP("settings", "Port of the server"),
            QT_TRANSLATE_NOOP("settings", "The number in its address."),
        ),
        "server.origins": (
            QT_TRANSLATE_NOOP("settings", "Web pages that may ask"),
            QT_TRANSLATE_NOOP("settings", "Their origins, as http://localhost:3000; without any, none may."),
        ),
        "ui.welcome": (
            QT_TRANSLATE_NOOP("settings", "Suggest models in an empty chat"),
            QT_TRANSLATE_NOOP("settings", "As long as nothing but the starter is there."),
        ),
        "guard.enabled": (
            QT_TRANSLATE_NOOP("settings", "Guard the memory"),
            QT_TRANSLATE_NOOP("settings", "Lets answers wait, and unloads an expert, before the system runs out."),
        ),
        "sampling.thinking_budget": (
            QT_TRANSLATE_NOOP("settings", "Longest thinking"),
            QT_TRANSLATE_NOOP("settings", "Tokens of thinking at most; 0 is no limit."),
        ),
        "models.thinking": (
            QT_TRANSLATE_NOOP("settings", "Thinking of each expert"),
            QT_TRANSLATE_NOOP("settings", "One a line, as: expert-id = off; also on, low, medium, high."),
        ),
        "models.load": (
            QT_TRANSLATE_NOOP("settings", "Loading of each expert"),
            QT_TRANSLATE_NOOP("settings", "One a line, as: expert-id = n_ctx 4096, type_k q8_0; easier above."),
        ),
        "inference.n_ctx": (
            QT_TRANSLATE_NOOP("settings", "Context length"),
            QT_TRANSLATE_NOOP("settings", "Tokens an expert can see at once. A longer context takes more memory."),
        ),
        "inference.n_gpu_layers": (
            QT_TRANSLATE_NOOP("settings", "Layers on the GPU"),
            QT_TRANSLATE_NOOP("settings", "-1 is as many as there are."),
        ),
        "inference.n_threads": (
            QT_TRANSLATE_NOOP("settings", "CPU threads"),
            QT_TRANSLATE_NOOP("settings", "0 is one per physical core."),
        ),
        "inference.n_parallel": (
            QT_TRANSLATE_NOOP("settings", "Answers at the same time"),
            QT_TRANSLATE_NOOP("settings", "They share the context."),
        ),
        "sampling.temperature": (
            QT_TRANSLATE_NOOP("settings", "Temperature"),
            QT_TRANSLATE_NOOP("settings", "0 always takes the likeliest token; more is more varied."),
        ),
        "sampling.top_k": (
            QT_TRANSLATE_NOOP("settings", "Top-k"),
            QT_TRANSLATE_NOOP("settings", "Only the k likeliest tokens are considered; 0 is all."),
        ),
        "sampling.top_p": (
            QT_TRANSLATE_NOOP("settings", "Top-p"),
            QT_TRANSLATE_NOOP("settings", "Only the likeliest tokens that together have this share."),
        ),
        "sampling.min_p": (
            QT_TRANSLATE_NOOP("settings", "Min-p"),
            QT_TRANSLATE_NOOP("settings", "Only tokens at least this share as likely as the likeliest one."),
        ),
        "sampling.repeat_penalty": (
            QT_TRANSLATE_NOOP("settings", "Repetition penalty"),
            QT_TRANSLATE_NOOP("settings", "Above 1, what was said lately is said less."),
        ),
        "sampling.max_tokens": (
            QT_TRANSLATE_NOOP("settings", "Longest answer"),
            QT_TRANSLATE_NOOP("settings", "Tokens at most; 0 is no limit but the context."),
        ),
        "chat.system_prompt": (
            QT_TRANSLATE_NOOP("settings", "System prompt"),
            QT_TRANSLATE_NOOP("settings", "Told to every expert first. A conversation can have its own."),
        ),
        "models.default_expert": (
            QT_TRANSLATE_NOOP("settings", "Default expert"),
            QT_TRANSLATE_NOOP("settings", "Answers where the router has no opinion. Its id; empty is the newest."),
        ),
        "router.model": (
            QT_TRANSLATE_NOOP("settings", "Router"),
            QT_TRANSLATE_NOOP("settings", "The decision model that reads each message."),
        ),
        "router.deadline_ms": (
            QT_TRANSLATE_NOOP("settings", "Router deadline (ms)"),
            QT_TRANSLATE_NOOP("settings", "A later answer of the router is not waited for."),
        ),
        "models.directory": (
            QT_TRANSLATE_NOOP("settings", "Folder of the models"),
            QT_TRANSLATE_NOOP("settings", "Empty: in the data folder. To move the files too, use the Models page."),
        ),
        "downloads.endpoint": (
            QT_TRANSLATE_NOOP("settings", "Where models come from"),
            QT_TRANSLATE_NOOP("settings", "Empty: huggingface.co. Or the address of a mirror, or: modelscope."),
        ),
        "downloads.proxy": (
            QT_TRANSLATE_NOOP("settings", "Proxy for downloads"),
            QT_TRANSLATE_NOOP("settings", "As http://host:port or socks5://host:port. Empty: as the system has it."),
        ),
        "downloads.n_parallel": (
            QT_TRANSLATE_NOOP("settings", "Downloads at the same time"),
            QT_TRANSLATE_NOOP("settings", "The others wait for their turn."),
        ),
        "downloads.reserve_gib": (
            QT_TRANSLATE_NOOP("settings", "Disk space to leave free"),
            QT_TRANSLATE_NOOP("settings", "In GiB. A download that would take more does not begin."),
        ),
        "updates.notice": (
            QT_TRANSLATE_NOOP("settings", "Tell when there is a new version"),
            QT_TRANSLATE_NOOP(
                "settings", "Asks the address below once a day, and sends it nothing but that. Nothing is downloaded."
            ),
        ),
        "updates.feed": (
            QT_TRANSLATE_NOOP("settings", "Where new versions are announced"),
            QT_TRANSLATE_NOOP(
                "settings", "The https address of a list of releases, as GitHub has them. Empty: nobody is asked."
            ),
        ),
        "router.use_gpu": (
            QT_TRANSLATE_NOOP("settings", "Router on the GPU"),
            QT_TRANSLATE_NOOP("settings", "Leaves the CPU free, and takes some of the GPU's memory."),
        ),
        "router.confidence": (
            QT_TRANSLATE_NOOP("settings", "Confidence to act on"),
            QT_TRANSLATE_NOOP("settings", "Below it the generalist answers."),
        ),
        "router.margin": (
            QT_TRANSLATE_NOOP("settings", "Gain to change for"),
            QT_TRANSLATE_NOOP("settings", "An expert stays unless another one is better by this much."),
        ),
        "router.rules": (
            QT_TRANSLATE_NOOP("settings", "Rules"),
            QT_TRANSLATE_NOOP("settings", "One a line, as: code → expert-id. They come before the router."),
        ),
        "router.topk": (
            QT_TRANSLATE_NOOP("settings", "Experts asked"),
            QT_TRANSLATE_NOOP("settings", "2 asks the runner-up for a draft as well."),
        ),
        "router.heavy_topk": (
            QT_TRANSLATE_NOOP("settings", "Two experts for heavy tasks"),
            QT_TRANSLATE_NOOP("settings", "Asks two for heavy mathematics and code only."),
        ),
        "router.enhance": (
            QT_TRANSLATE_NOOP("settings", "Join two drafts"),
            QT_TRANSLATE_NOOP("settings", "Where two experts are asked, one makes the final answer of both."),
        ),
        "router.allow_remote": (
            QT_TRANSLATE_NOOP("settings", "Auto may use remote experts"),
            QT_TRANSLATE_NOOP("settings", "Off: nothing leaves this machine unless you name a remote expert."),
        ),
    }
)
_GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "ui": QT_TRANSLATE_NOOP("settings", "Window"),
        "chat": QT_TRANSLATE_NOOP("settings", "Conversations"),
        "sampling": QT_TRANSLATE_NOOP("settings", "Answers"),
        "inference": QT_TRANSLATE_NOOP("settings", "Loading experts"),
        "models": QT_TRANSLATE_NOOP("settings", "Experts"),
        "downloads": QT_TRANSLATE_NOOP("settings", "Downloads"),
        "router": QT_TRANSLATE_NOOP("settings", "Router"),
        "guard": QT_TRANSLATE_NOOP("settings", "Memory"),
        "server": QT_TRANSLATE_NOOP("settings", "Server"),
        "updates": QT_TRANSLATE_NOOP("settings", "New versions"),
    }
)
_CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "system": QT_TRANSLATE_NOOP("settings", "Follow the system"),
        "light": QT_TRANSLATE_NOOP("settings", "Light"),
        "dark": QT_TRANSLATE_NOOP("settings", "Dark"),
        "en": "English",
        "zh_CN": "简体中文",
    }
)
_APPLIES: Mapping[Applies, str] = MappingProxyType(
    {
        Applies.NOW: "",
        Applies.NEXT_ANSWER: QT_TRANSLATE_NOOP("settings", "from the next answer on"),
        Applies.NEXT_LOAD: QT_TRANSLATE_NOOP("settings", "when an expert is loaded the next time"),
        Applies.NEXT_START: QT_TRANSLATE_NOOP("settings", "when the server is started the next time"),
    }
)


def _translated(text: str) -> str:
    return QCoreApplication.translate("settings", text) if text else ""


def setting_name(key: str) -> str:
    """What a setting is called; its key where nobody gave it a name."""
    return _translated(_TEXTS[key][0]) if key in _TEXTS else key


def setting_description(key: str) -> str:
    """What it does; empty where nobody said."""
    return _translated(_TEXTS[key][1]) if key in _TEXTS else ""


def group_name(group: str) -> str:
    """The heading above the settings whose keys begin with `group`."""
    return _translated(_GROUPS[group]) if group in _GROUPS else group


def choice_name(value: str) -> str:
    """A value of a setting with choices."""
    return _translated(_CHOICES[value]) if value in _CHOICES else value


def applies_words(applies: Applies) -> str:
    """When a change is felt; empty for at once."""
    return _translated(_APPLIES[applies])
