"""Every colour, distance and size of the window. Nothing else names one; contrast is tested from this file."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Colours:
    """One theme. `raised` holds what the user wrote; `others` is memory that is not ours, `weights` and `kv` are
    parts of what is."""

    is_dark: bool
    background: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    ok: str
    warn: str
    danger: str
    others: str
    weights: str
    kv: str


LIGHT = Colours(
    is_dark=False,
    background="#FAFAF8",
    surface="#FFFFFF",
    raised="#F1F1EE",
    border="#E2E1DC",
    text="#1F1F1D",
    muted="#65645F",
    accent="#2563D9",
    on_accent="#FFFFFF",
    ok="#17783F",
    warn="#8F5600",
    danger="#B93226",
    others="#8B8A85",
    weights="#7A4BC2",
    kv="#0F7B7B",
)

DARK = Colours(
    is_dark=True,
    background="#17181A",
    surface="#1E2023",
    raised="#282B2F",
    border="#383B40",
    text="#ECECEA",
    muted="#A5A7A4",
    accent="#7AA7FF",
    on_accent="#14161A",
    ok="#58C98A",
    warn="#E3A94F",
    danger="#F08379",
    others="#85888C",
    weights="#B79AF2",
    kv="#4CC4C0",
)


class Ink(StrEnum):
    """What a colour means, so that widgets ask for a meaning and a theme answers."""

    TEXT = "text"
    MUTED = "muted"
    ACCENT = "accent"
    ON_ACCENT = "on_accent"
    OK = "ok"
    WARN = "warn"
    DANGER = "danger"
    RAISED = "raised"
    BORDER = "border"


# Meaning has one colour everywhere: ours is the accent; the phases of an answer are route grey, load blue,
# prefill amber, decode green.
PHASE_INK = {
    "queued": Ink.MUTED,
    "routing": Ink.MUTED,
    "loading": Ink.ACCENT,
    "prefill": Ink.WARN,
    "decode": Ink.OK,
}

# Distances, in device-independent pixels.
GAP_XS = 4
GAP_S = 8
GAP_M = 12
GAP_L = 16
GAP_XL = 24
RADIUS = 8
CHIP_RADIUS = 10

CONTROL_PX = 13.0
TRANSCRIPT_PX = 14.5
TITLE_PX = 15.0
SMALL_PX = 11.5
CODE_PX = 13.0
LINE_HEIGHT = 1.55

ICON_PX = 16
BUTTON_PX = 28
TRANSCRIPT_WIDTH = 760
SIDE_BAR_WIDTH = 216
SIDE_BAR_MAX_WIDTH = 360
PANEL_WIDTH = 292
PANEL_MAX_WIDTH = 420
CENTRE_MIN_WIDTH = 440
SIDE_BAR_MIN_WIDTH = 160
PANEL_MIN_WIDTH = 220
CHART_HEIGHT = 48
LANE_HEIGHT = 56
METER_HEIGHT = 6
HEADER_HEIGHT = 48
ROW_HEIGHT = 34
BOX_FRAME = 40  # of a box with choices: what it needs beside the text
WINDOW_SIZE = (1200, 780)
WINDOW_MIN_HEIGHT = 420
