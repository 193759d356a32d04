"""AMD GPUs on Linux, from sysfs and fdinfo; no library. Each file is its own optional reading.

A 780M has a small carve-out as "VRAM" and computes in GTT, which is RAM: there the carve-out says nothing (ollama
#12062) and GTT is never added to RAM, because it is the same memory. A sleeping GPU is not touched.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from layadesk.domain.hardware import GpuKind, GpuSample, Why, blank
from layadesk.telemetry.drm_clients import DrmClients, DrmShare
from layadesk.telemetry.gpu_draft import GpuDraft
from layadesk.telemetry.sensors import GpuReading, Watched
from layadesk.telemetry.small_files import number, word

FIND_EVERY_S = 30.0
SLOW_EVERY_S = 2.0
STUCK_AFTER_S = 30.0
_AMD = "0x1002"
_CARVE_OUT_BYTES = 4 << 30  # what a BIOS gives at most to a GPU that computes in RAM
_IDLE_WATTS = 15.0


@dataclass(slots=True)
class _Card:
    folder: Path
    gpu_id: str
    name: str
    hwmon: Path | None
    full_since: float | None = None
    clients_at: float | None = None
    clients: dict[str, DrmShare] | None = None
    engine_before: tuple[float, int] | None = None
    engine_percent: float | None = None


@dataclass(slots=True)
class _Found:
    cards: list[_Card] = field(default_factory=list)
    at: float | None = None


class AmdSensor:
    """All AMD GPUs. The roots are there for tests."""

    def __init__(self, *, sys_root: Path = Path("/sys"), proc_root: Path = Path("/proc")) -> None:
        self._drm = sys_root / "class" / "drm"
        self._clients = DrmClients(proc_root)
        self._found = _Found()

    def read(self, now: float, watched: Watched) -> GpuReading:
        """One reading; cards are looked for every 30 s."""
        if self._found.at is None or now - self._found.at >= FIND_EVERY_S:
            known = {card.gpu_id: card for card in self._found.cards}
            self._found.cards = [known.get(card.gpu_id, card) for card in self._find()]
            self._found.at = now
        samples = tuple(self._sample(card, now, watched) for card in self._found.cards)
        return GpuReading(samples, None if samples else Why.NO_GPU)

    def reset(self) -> None:
        """After a suspend: look for cards and clients again."""
        self._found = _Found()
        self._clients.forget()

    def close(self) -> None:
        """Nothing is held."""

    def _find(self) -> list[_Card]:
        try:
            folders = sorted(self._drm.iterdir())
        except OSError:
            return []
        cards = []
        for folder in folders:
            device = folder / "device"
            if not re.fullmatch(r"card\d+", folder.name) or word(device / "vendor") != _AMD:
                continue
            slot = re.search(r"PCI_SLOT_NAME=(\S+)", word(device / "uevent"))
            name = word(device / "product_name") or f"AMD GPU {word(device / 'device')}"
            cards.append(_Card(device, slot.group(1) if slot else folder.name, name, _hwmon(device)))
        return cards

    def _sample(self, card: _Card, now: float, watched: Watched) -> GpuSample:
        if word(card.folder / "power" / "runtime_status") in ("suspended", "suspending"):
            return blank(GpuSample(card.gpu_id, card.name, source="amdgpu"), Why.ASLEEP)
        total = number(card.folder / "mem_info_vram_total")
        shared_total = number(card.folder / "mem_info_gtt_total")
        kind = _kind(total, shared_total)
        draft = GpuDraft(card.gpu_id, card.name, kind, "amdgpu")
        draft.put("vram_total_bytes", total)
        draft.put_part("vram_used_bytes", number(card.folder / "mem_info_vram_used"), total)
        draft.put("shared_total_bytes", shared_total)
        draft.put_part("shared_used_bytes", number(card.folder / "mem_info_gtt_used"), shared_total)
        _put_busy(draft, "memory_busy_percent", number(card.folder / "mem_busy_percent"))
        self._put_sensors(draft, card)
        self._put_shares(draft, card, now, watched)
        self._put_utilization(draft, card, now, watched)
        return draft.sample()

    def _put_sensors(self, draft: GpuDraft, card: _Card) -> None:
        hwmon = card.hwmon
        if hwmon is None:
            return
        average = number(hwmon / "power1_average")
        power = average if average is not None else number(hwmon / "power1_input")
        remark = Why.PACKAGE_POWER if draft.kind is GpuKind.UNIFIED and power is not None else None
        draft.put("power_watts", None if power is None else power / 1e6, remark)
        cap = number(hwmon / "power1_cap")
        draft.put("power_limit_watts", cap / 1e6 if cap else None)
        temperature = number(hwmon / "temp1_input")
        is_possible = temperature is not None and -50_000 <= temperature <= 150_000
        draft.put(
            "temperature_celsius",
            temperature / 1000 if temperature is not None and is_possible else None,
            None if temperature is None or is_possible else Why.BAD_VALUE,
        )

    def _put_shares(self, draft: GpuDraft, card: _Card, now: float, watched: Watched) -> None:
        names = ("engine_bytes", "engine_shared_bytes", "evicted_bytes")
        if watched.engine_pid is None:
            for name in names:
                draft.put(name, None, Why.NOT_RUNNING)
            card.clients_at = card.engine_before = card.engine_percent = None
            return
        if card.clients_at is None or now - card.clients_at >= SLOW_EVERY_S:
            card.clients_at = now
            card.clients = self._clients.shares(watched.engine_pid, now)
            self._take_engine_time(card, now)
        if card.clients is None:
            for name in names:
                draft.put(name, None, Why.NO_PERMISSION)
            return
        share = card.clients.get(card.gpu_id, DrmShare())
        total, shared_total = draft.values.get("vram_total_bytes"), draft.values.get("shared_total_bytes")
        assert isinstance(total, int | None)
        assert isinstance(shared_total, int | None)
        draft.put_part("engine_bytes", share.bytes_by_region.get("vram", 0), total)
        draft.put_part("engine_shared_bytes", share.bytes_by_region.get("gtt", 0), shared_total)
        draft.put("evicted_bytes", share.evicted_bytes)

    def _take_engine_time(self, card: _Card, now: float) -> None:
        share = None if card.clients is None else card.clients.get(card.gpu_id)
        busy_ns = 0 if share is None else max(share.engine_ns.values(), default=0)
        before, card.engine_before = card.engine_before, (now, busy_ns)
        card.engine_percent = None
        if before is not None and now > before[0] and busy_ns >= before[1]:
            card.engine_percent = min(100.0, (busy_ns - before[1]) / ((now - before[0]) * 1e7))

    def _put_utilization(self, draft: GpuDraft, card: _Card, now: float, watched: Watched) -> None:
        """The driver's figure; where it sticks at 100 % without work (btop #914), what the engine keeps busy."""
        busy = number(card.folder / "gpu_busy_percent")
        name = "utilization_percent"
        power = draft.values.get("power_watts")
        is_idle = not watched.is_busy and isinstance(power, float) and power < _IDLE_WATTS
        if busy is None or not 0 <= busy <= 100:
            ours = card.engine_percent
            draft.put(name, ours, Why.OURS_ONLY if ours is not None else Why.BAD_VALUE if busy is not None else None)
            return
        if busy < 100 or not is_idle:
            card.full_since = None
            draft.put(name, float(busy))
            return
        card.full_since = now if card.full_since is None else card.full_since
        is_stuck = now - card.full_since >= STUCK_AFTER_S
        draft.put(name, None if is_stuck else float(busy), Why.STUCK if is_stuck else None)


def _kind(total: int | None, shared_total: int | None) -> GpuKind | None:
    if total is None or shared_total is None:
        return None
    return GpuKind.UNIFIED if total <= _CARVE_OUT_BYTES and shared_total > total else GpuKind.DISCRETE


def _put_busy(draft: GpuDraft, name: str, value: int | None) -> None:
    is_possible = value is None or 0 <= value <= 100
    draft.put(name, float(value) if value is not None and is_possible else None, None if is_possible else Why.BAD_VALUE)


def _hwmon(device: Path) -> Path | None:
    try:
        folders = sorted((device / "hwmon").iterdir())
    except OSError:
        return None
    return next((folder for folder in folders if word(folder / "name") == "amdgpu"), None)
