"""Words of the model library: how close a quantization is, whether it fits, and where a download stands."""

from PySide6.QtCore import QCoreApplication, QLocale

from layadesk.domain.downloads import Download, DownloadState
from layadesk.domain.memory_fit.plans import Outlook, PlanKind
from layadesk.domain.memory_fit.speed import SpeedClass
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import ModelFile, Origin
from layadesk.domain.quantization import Closeness
from layadesk.ui.texts import memory, numbers, words

translate = QCoreApplication.translate


def closeness_words(value: Closeness) -> str:
    """What is left of the model, for somebody who has never heard of quantization."""
    match value:
        case Closeness.ORIGINAL:
            return translate("library", "the original, nothing taken away")
        case Closeness.TRAINED:
            return translate("library", "made for this size by its maker, close to the original")
        case Closeness.NEAR:
            return translate("library", "no difference to the original that anyone would notice")
        case Closeness.GOOD:
            return translate("library", "good: the usual choice")
        case Closeness.FAIR:
            return translate("library", "fair: mistakes show in hard tasks")
        case Closeness.WEAK:
            return translate("library", "weak: only where nothing larger fits; a smaller model is often better")


def short_verdict(value: Verdict) -> str:
    """For a badge."""
    match value:
        case Verdict.FITS:
            return translate("library", "fits")
        case Verdict.TIGHT:
            return translate("library", "fits tightly")
        case Verdict.NEEDS_OFFLOAD:
            return translate("library", "fits in part")
        case Verdict.REFUSE:
            return translate("library", "too large")
        case Verdict.UNKNOWN:
            return translate("library", "unknown")


def short_speed(value: SpeedClass) -> str:
    """For a badge."""
    match value:
        case SpeedClass.FAST:
            return translate("library", "fast")
        case SpeedClass.READING:
            return translate("library", "reading speed")
        case SpeedClass.SLOW:
            return translate("library", "slow")
        case SpeedClass.CRAWLING:
            return translate("library", "very slow")


def fit_words(outlook: Outlook) -> str:
    """`fits · fast`, `too large`; the speed is that of the way that would be taken."""
    plan = outlook.automatic
    if plan is None:
        return short_verdict(outlook.verdict)
    if plan.kind is PlanKind.EVICT:
        return translate("library", "fits when others leave")
    return f"{short_verdict(outlook.verdict)} · {short_speed(plan.speed)}"


def fit_details(outlook: Outlook) -> str:
    """The three numbers of each device, and the best way where it does not fit as it is."""
    if outlook.verdict is Verdict.UNKNOWN:
        return no_numbers()
    lines = [memory.three_numbers(judged) for judged in outlook.asked.judgement.devices]
    plan = outlook.plans[0] if outlook.plans else None
    if plan is not None and plan.kind is not PlanKind.AS_ASKED:
        lines.append(f"{memory.plan(plan)}: {memory.plan_price(plan)}")
    return "\n".join(lines)


def language_name(code: str) -> str:
    """In the language of the window: `Chinese` for `zh`."""
    language = QLocale.codeToLanguage(code)
    if language in (QLocale.Language.AnyLanguage, QLocale.Language.C):
        return code
    known = {"en": translate("library", "English"), "zh": translate("library", "Chinese")}
    return known.get(code) or QLocale(language).nativeLanguageName() or code


def license_name(name: str) -> str:
    """As people write it."""
    known = {"apache-2.0": "Apache-2.0", "mit": "MIT", "gemma": "Gemma Terms of Use"}
    return known.get(name.casefold(), name)


def origin_words(value: Origin) -> str:
    """How a file came here."""
    match value:
        case Origin.STARTER:
            return translate("library", "came with the program")
        case Origin.IMPORTED:
            return translate("library", "your own file")
        case Origin.DOWNLOADED:
            return translate("library", "downloaded")


def size(n_bytes: int | None) -> str:
    """`15.3 GiB`, in MiB below one, and unknown where nobody knows."""
    return translate("library", "size unknown") if n_bytes is None else numbers.size(n_bytes)


def file_size(file: ModelFile | None) -> str:
    """Of one quantization; `≈` where the catalogue has it only as a page shows it."""
    if file is not None and file.size_bytes is None and file.rounded_bytes is not None:
        return f"≈ {numbers.size(file.rounded_bytes)}"
    return size(None if file is None else file.size_bytes)


def state_words(download: Download) -> str:
    """Where it stands, in a word or two."""
    return {
        DownloadState.QUEUED: translate("library", "waiting for its turn"),
        DownloadState.LOOKING_UP: translate("library", "asking the hub"),
        DownloadState.RUNNING: translate("library", "downloading"),
        DownloadState.PAUSED: translate("library", "paused"),
        DownloadState.CHECKING: translate("library", "checking the sum"),
        DownloadState.INSTALLED: translate("library", "installed"),
        DownloadState.FAILED: translate("library", "stopped"),
    }[download.state]


def progress_words(download: Download) -> str:
    """`34 % · 5.2 of 15.3 GiB · 24 MiB/s · 7 min left · from hf.example`; what is unknown is left out."""
    parts = [state_words(download)]
    if download.share is not None:
        parts.append(numbers.percent(download.share))
    if download.n_bytes_total is None:
        if download.n_bytes_done:
            parts.append(numbers.size(download.n_bytes_done))
    else:
        of = translate("library", "{done} of {total}")
        parts.append(of.format(done=numbers.size(download.n_bytes_done), total=numbers.size(download.n_bytes_total)))
    if download.state is DownloadState.RUNNING:
        rate = download.bytes_per_s
        parts.append(translate("library", "{size}/s").format(size=words.unknown() if rate is None else rate_size(rate)))
        parts.append(time_left(download.remaining_s))
    if download.host:
        parts.append(translate("library", "from {host}").format(host=download.host))
    return " · ".join(parts)


def rate_size(bytes_per_s: float) -> str:
    """`24.1 MiB`, so that slow lines do not read 0."""
    mib = bytes_per_s / 2**20
    return (
        numbers.size(round(bytes_per_s)) if mib >= 1024 else f"{mib:.1f} MiB" if mib >= 0.1 else f"{mib * 1024:.0f} KiB"
    )


def time_left(seconds: float | None) -> str:
    """`7 min left`; unknown before anybody can tell."""
    if seconds is None:
        return translate("library", "time left unknown")
    if seconds < 60:
        return translate("library", "less than a minute left")
    minutes = round(seconds / 60)
    if minutes < 60:
        return translate("library", "%n minute(s) left", "", minutes)
    return translate("library", "{hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def no_numbers() -> str:
    """For a model whose numbers nobody has read."""
    return translate("library", "Nobody has read what this needs; it is told when the file is here.")


def gpu_words(name: str, n_bytes: int | None, *, is_shared: bool) -> str:
    """`NVIDIA GeForce RTX 4090, 24.0 GiB`; an integrated one takes its memory from the RAM."""
    if n_bytes is None:
        return name
    text = translate("library", "{name}, up to {size} shared with the RAM") if is_shared else "{name}, {size}"
    return text.format(name=name, size=numbers.size(n_bytes))


def no_gpu_words() -> str:
    """Where llama.cpp computes on the CPU alone."""
    return translate("library", "no usable GPU: the CPU computes")
