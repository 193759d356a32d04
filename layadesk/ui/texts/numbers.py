"""Figures with their units. Sizes are GiB with one decimal everywhere; what is unknown is worded by `words.unknown`."""

GIB = 2**30


def gib(n_bytes: int | float) -> str:
    """`18.2`, without the unit."""
    return f"{n_bytes / GIB:.1f}"


def gib_with_unit(n_bytes: int | float) -> str:
    """`18.2 GiB`."""
    return f"{gib(n_bytes)} GiB"


def size(n_bytes: int) -> str:
    """`5.1 GiB`; below that `98 MiB`, `12 KiB` or `5 B`, since a small file would read 0.0."""
    if n_bytes >= GIB:
        return gib_with_unit(n_bytes)
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.0f} {name}"
    return f"{n_bytes} B"


def used_of_total(used_bytes: int, total_bytes: int | None) -> str:
    """`18.2 / 24.0 GiB`, or `18.2 GiB` where the total is not known."""
    return gib_with_unit(used_bytes) if total_bytes is None else f"{gib(used_bytes)} / {gib_with_unit(total_bytes)}"


def tokens(n: int) -> str:
    """`850`, `2.1k`, `128k`."""
    if n < 1000:
        return str(n)
    return f"{n / 1000:.1f}k" if n < 99_950 else f"{n / 1000:.0f}k"


def seconds(ms: float) -> str:
    """`0.4 s`, `12 s`; below a tenth of a second in ms."""
    if ms < 100:
        return milliseconds(ms)
    return f"{ms / 1000:.1f} s" if ms < 9_950 else f"{ms / 1000:.0f} s"


def milliseconds(ms: float) -> str:
    """`0.2 ms`, `31 ms`; what took less than can be shown is no zero: `< 0.1 ms`."""
    if ms < 0.05:
        return "< 0.1 ms"
    return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"


def per_second(tps: float) -> str:
    """`7.4`, `61`, without the unit."""
    return f"{tps:.1f}" if tps < 9.95 else f"{tps:.0f}"


def percent(fraction: float) -> str:
    """`60 %`. A fraction below 1 never reads 100 %."""
    return f"{min(int(fraction * 100), 100)} %"
