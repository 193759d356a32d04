"""What stands on each page in each state. All of it is made up, and the same on every day and every machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from layadesk.ui.shell.navigation_rail import Destination
from tests.fakes.shown_window import ShownWindow
from tests.fakes.usecases import House
from tests.screens import chat_scenes, machine_scenes, model_scenes, page_scenes

LOW, HIGH, VERY_HIGH = (1100, 760), (1100, 1400), (1100, 2900)


@dataclass(frozen=True, slots=True)
class Scene:
    """`furnish` fills what is behind the window before it is built, `act` does what a user would in it.

    `act` is called for each picture where the window cannot follow a change of the language (`is_fresh`).
    """

    furnish: Callable[[House], None]
    act: Callable[[ShownWindow], None]
    size: tuple[int, int] = LOW
    is_fresh: bool = False


def go_to(destination: Destination) -> Callable[[ShownWindow], None]:
    """Only show a page."""
    return lambda shown: shown.window.show_page(destination)


def nothing(_: House | ShownWindow) -> None:
    """Neither more nor less."""


MODELS, ROUTES, SETTINGS, SERVER, HEALTH = (
    go_to(one)
    for one in (Destination.MODELS, Destination.ROUTES, Destination.SETTINGS, Destination.SERVER, Destination.HEALTH)
)

SCENES: Final[Mapping[tuple[str, str], Scene]] = {
    ("chat", "empty"): Scene(chat_scenes.furnish_empty, nothing),
    ("chat", "full"): Scene(chat_scenes.furnish_full, chat_scenes.act_full, HIGH),
    ("chat", "failing"): Scene(nothing, chat_scenes.act_failing, HIGH),
    ("welcome", "empty"): Scene(chat_scenes.furnish_welcome_empty, nothing),
    ("welcome", "full"): Scene(chat_scenes.furnish_welcome_full, nothing),
    ("welcome", "failing"): Scene(chat_scenes.furnish_welcome_failing, nothing),
    ("monitor", "empty"): Scene(nothing, machine_scenes.act_empty),
    ("monitor", "full"): Scene(machine_scenes.furnish_full, machine_scenes.act_full, HIGH),
    ("monitor", "failing"): Scene(machine_scenes.furnish_failing, machine_scenes.act_failing, HIGH),
    ("models", "empty"): Scene(model_scenes.furnish_empty, MODELS),
    ("models", "full"): Scene(model_scenes.furnish_full, model_scenes.act_full, HIGH),
    ("models", "disk"): Scene(model_scenes.furnish_disk, model_scenes.act_disk),
    ("models", "failing"): Scene(model_scenes.furnish_failing, model_scenes.act_failing, is_fresh=True),
    ("routes", "empty"): Scene(nothing, ROUTES),
    ("routes", "full"): Scene(page_scenes.furnish_routes, ROUTES),
    ("routes", "failing"): Scene(page_scenes.furnish_routes_failing, ROUTES),
    ("settings", "empty"): Scene(chat_scenes.furnish_empty, SETTINGS),
    ("settings", "full"): Scene(page_scenes.furnish_settings, SETTINGS, VERY_HIGH),
    ("settings", "failing"): Scene(page_scenes.furnish_settings_failing, page_scenes.act_settings_failing),
    ("server", "empty"): Scene(nothing, SERVER),
    ("server", "full"): Scene(page_scenes.furnish_server, page_scenes.act_server, HIGH),
    ("server", "failing"): Scene(page_scenes.furnish_server_failing, page_scenes.act_server),
    ("health", "empty"): Scene(page_scenes.furnish_health_empty, HEALTH),
    ("health", "full"): Scene(page_scenes.furnish_health, HEALTH, HIGH),
    ("health", "failing"): Scene(page_scenes.furnish_health_failing, HEALTH),
    ("inside", "empty"): Scene(nothing, go_to(Destination.INSIDE)),
    ("inside", "full"): Scene(page_scenes.furnish_inside, page_scenes.act_inside, HIGH),
    ("inside", "failing"): Scene(page_scenes.furnish_inside_failing, page_scenes.act_inside),
    ("about", "empty"): Scene(page_scenes.furnish_about_empty, page_scenes.act_about, is_fresh=True),
    ("about", "full"): Scene(page_scenes.furnish_about, page_scenes.act_about, is_fresh=True),
    ("about", "failing"): Scene(page_scenes.furnish_about_failing, page_scenes.act_about, is_fresh=True),
}
