"""The right panel: machine, bills and route."""

from dataclasses import replace

from layadesk.domain.alert_watch import Alert
from layadesk.domain.hardware import EngineWork, HardwareSample, Throttle, Why
from layadesk.domain.machine_alerts import Danger, Severity
from layadesk.domain.memory_fit.load_record import OffloadMiss
from layadesk.usecases.memory_guard import GuardState, Relief
from layadesk.usecases.timeline import Band
from layadesk.usecases.turns import TurnPhase
from tests.fakes.examples import BUSY_GPU, RECORD
from tests.fakes.shown_window import ShownWindow
from tests.fakes.usecases import House
from tests.screens import chat_scenes

GIB = 2**30
BANDS = (
    Band(TurnPhase.LOADING, 70.0, 78.0, "c", "m"),
    Band(TurnPhase.PREFILL, 78.0, 85.0, "c", "m"),
    Band(TurnPhase.DECODE, 85.0, None, "c", "m"),
)
HEIGHT = 640  # the panel scrolls below that


def sample(at: float, **rest: object) -> HardwareSample:
    """One reading; the curves rise and fall with time."""
    share = (at % 20) / 20
    values: dict[str, object] = {
        "ram_total_bytes": 64 * GIB,
        "ram_available_bytes": round((40 - 8 * share) * GIB),
        "engine_bytes": 5 * GIB,
        "router_bytes": GIB,
        "swap_total_bytes": 8 * GIB,
        "swap_used_bytes": 2 * GIB,
        "swap_in_bytes_per_s": 0.0,
        "swap_out_bytes_per_s": 2.0**20,
        "cpu_count": 16,
        "cpu_percent": 20 + 60 * share,
        "engine_cpu_cores": 4.0,
        "weights_bytes": 14 * GIB,
        "weights_resident_bytes": 11 * GIB,
        "work": EngineWork(n_running=1, decode_tps=40 + 20 * share, prefill_tps=0.0),
        "gpus": (BUSY_GPU,),
    }
    return HardwareSample(at, **(values | rest))  # type: ignore[arg-type] # by name


def open_panel(shown: ShownWindow) -> None:
    """With the charts in it."""
    shown.window.panel_button.setChecked(True)
    shown.window.load_charts()
    shown.wait_until(lambda: shown.window.panel.resources.timeline is not None)


def act_empty(shown: ShownWindow) -> None:
    """Nothing has been measured, nobody has answered."""
    open_panel(shown)


def furnish_full(house: House) -> None:
    """A minute of an answer."""
    chat_scenes.furnish_full(house)
    house.resources.samples = tuple(sample(40.0 + number / 2) for number in range(121))
    house.resources.done = BANDS
    house.ledger.records["smol"] = RECORD


def act_full(shown: ShownWindow) -> None:
    """The last answer has a route."""
    chat_scenes.act_full(shown)
    open_panel(shown)
    shown.house.engine.wait(lambda: shown.house.resources.feed.publish(shown.house.resources.samples[-1]))


def furnish_failing(house: House) -> None:
    """Half of it cannot be read, the GPU is too hot, the layers are not where they were asked for."""
    gpu = replace(
        BUSY_GPU,
        engine_bytes=None,
        power_watts=None,
        throttle=(Throttle.THERMAL,),
        reasons={"engine_bytes": Why.WDDM, "power_watts": Why.UNSUPPORTED},
    )
    blind = {
        "swap_total_bytes": None,
        "swap_used_bytes": None,
        "ram_available_bytes": None,
        "reasons": {"swap_used_bytes": Why.NO_SWAP, "ram_available_bytes": Why.NO_PERMISSION},
        "gpus": (gpu,),
        "slowed_by_ms": 180.0,
    }
    house.resources.samples = tuple(sample(40.0 + number, **blind) for number in range(61))
    house.ledger.records["smol"] = replace(RECORD, layers_on_gpu=0, miss=OffloadMiss.NO_DEVICE, vram_bytes=None)
    house.guard.offered = Relief(4096, "smol", ("big",))


def act_failing(shown: ShownWindow) -> None:
    """Memory runs out."""
    open_panel(shown)
    house = shown.house
    house.engine.wait(lambda: house.resources.feed.publish(house.resources.samples[-1]))
    house.guard.feed.publish(GuardState((Alert(Danger.RAM, Severity.CRITICAL, 6.0, 2.1),), is_pausing=True))
    shown.settle()
