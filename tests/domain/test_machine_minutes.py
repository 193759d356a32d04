"""A minute of samples becomes one reading."""

from layadesk.domain.hardware import EngineWork, GpuSample, HardwareSample
from layadesk.domain.machine_minutes import roll_up


def at(second: float, **figures: object) -> HardwareSample:
    return HardwareSample(second, wall_at=6000.0 + second, **figures)  # type: ignore[arg-type] # by name


def test_amounts_are_kept_by_their_mean_and_bursts_by_their_peak() -> None:
    rolled = roll_up(
        [
            at(0.0, ram_available_bytes=100, refault_bytes_per_s=5.0, work=EngineWork(decode_tps=60.0)),
            at(0.5, ram_available_bytes=300, refault_bytes_per_s=0.0, work=EngineWork()),
        ]
    )
    assert (rolled.minute, rolled.n_samples) == (100, 2)
    assert rolled.figures.ram_available_bytes == 200
    assert isinstance(rolled.figures.ram_available_bytes, int)
    assert rolled.figures.refault_bytes_per_s == 5.0
    assert rolled.figures.work == EngineWork(decode_tps=60.0)
    assert (rolled.figures.taken_at, rolled.figures.wall_at) == (0.0, 6000.0)


def test_what_nobody_knew_stays_unknown_and_what_was_known_at_times_is_the_mean_of_those() -> None:
    figures = roll_up([at(0.0, engine_bytes=None), at(1.0, engine_bytes=8), at(2.0, engine_bytes=4)]).figures
    assert figures.engine_bytes == 6
    assert figures.swap_used_bytes is None
    assert figures.work.prefill_tps is None


def test_each_gpu_is_rolled_up_by_itself() -> None:
    one, two = GpuSample("a", "A", utilization_percent=10.0), GpuSample("b", "B", temperature_celsius=50.0)
    hot = GpuSample("b", "B", temperature_celsius=70.0)
    gpus = roll_up([at(0.0, gpus=(one, two)), at(1.0, gpus=(hot,))]).figures.gpus
    assert [(gpu.gpu_id, gpu.utilization_percent, gpu.temperature_celsius) for gpu in gpus] == [
        ("a", 10.0, None),
        ("b", None, 70.0),
    ]
