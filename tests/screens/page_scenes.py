"""Routes, settings, server, health and about."""

from dataclasses import replace
from pathlib import Path

from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorCode, ErrorReport, Fact, fail
from layadesk.domain.inference import LoadParams, Role, Timings
from layadesk.domain.route_counts import counts_of
from layadesk.domain.server import ServedRequest
from layadesk.ui.server.server_page import ServerPage
from layadesk.ui.shell.about_dialog import AboutDialog
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.usecases.about import About, ProgramPart
from layadesk.usecases.check_installation import Check, Finding, Level
from tests.fakes.examples import DIAGNOSES, NOW, records
from tests.fakes.remotes import BIG, DOWN
from tests.fakes.shown_window import ShownWindow
from tests.fakes.usecases import House, expert

ANSWER = Message(
    "m",
    "c",
    None,
    Role.ASSISTANT,
    "Hello there",
    0.0,
    expert_id="moe",
    timings=Timings(
        queue_ms=1.0, prefill_ms=50.0, decode_ms=200.0, sample_ms=10.0, detokenize_ms=2.0, n_prompt=20, n_decoded=9
    ),
)
NOON = 1_799_928_000.0  # UTC


class SetAbout(About):
    """The facts of no machine."""

    def __init__(self, folder: str, parts: tuple[ProgramPart, ...]) -> None:
        self.data_dir = Path(folder)
        self.version = "1.2.3"
        self.python = "3.12.1"
        self.system = "Linux-6.1.0-amd64-x86_64-with-glibc2.36"
        self._parts = parts

    def parts(self) -> tuple[ProgramPart, ...]:
        """Those it was given."""
        return self._parts


def furnish_routes(house: House) -> None:
    """Most of them went to one expert."""
    house.experts.installed = (*house.experts.installed, expert("coder", name="Coder 7B", path="/models/coder.gguf"))
    house.route_counts.found = counts_of(records(82, 18), now=NOW)


def furnish_routes_failing(house: House) -> None:
    """The database cannot be read."""
    house.route_counts.error = fail(ErrorCode.DATABASE_DAMAGED, path="/data/layadesk.db", moved_to=None, backup=None)


def furnish_settings(house: House) -> None:
    """Experts with settings of their own, here and elsewhere."""
    house.experts.installed = (*house.experts.installed, expert("coder", name="Coder 7B", path="/models/coder.gguf"))
    house.load_settings.own["coder"] = LoadParams(n_ctx=2048)
    house.remotes.have(BIG)


def furnish_settings_failing(house: House) -> None:
    """A damaged file of settings and a server that is away."""
    furnish_settings(house)
    house.remotes.states[BIG.model_id] = DOWN
    house.start_problems = (ErrorReport(ErrorCode.SETTINGS_DAMAGED, {"path": "/data/settings.json"}),)


def act_settings_failing(shown: ShownWindow) -> None:
    """A file of another program is not there."""
    shown.window.show_page(Destination.SETTINGS)
    shown.settle()
    shown.window.settings_page.import_file("/data/other.yaml")


def furnish_server(house: House) -> None:
    """On, with a key, and asked."""
    for number in range(6):
        at = NOON + number
        house.serve.serve(ServedRequest(at, "OpenAI/Python", "/v1/chat/completions", 200, 1234.0, "smol", 12, 40))
    house.serve.serve(ServedRequest(NOON + 9, "curl", "/v1/models", 401, 2.0, code="invalid_api_key"))


def furnish_server_failing(house: House) -> None:
    """Its port is taken."""
    facts: dict[str, Fact] = {"host": "127.0.0.1", "port": 8000, "owner": "python", "pid": 7, "free_port": 8001}
    house.serve.error = ErrorReport(ErrorCode.PORT_IN_USE, facts)


def act_server(shown: ShownWindow) -> None:
    """Switch it on, make a key."""
    shown.window.show_page(Destination.SERVER)
    shown.settle()
    page = shown.window.findChild(ServerPage)
    assert isinstance(page, ServerPage)
    page.switch.click()
    page.new_key.click()
    shown.settle()


def furnish_health_empty(house: House) -> None:
    """Nothing was looked at."""
    house.diagnose.findings = ()


def furnish_health(house: House) -> None:
    """Good, could be better, in the way."""
    house.diagnose.findings = (
        Finding(Check.PYTHON, Level.OK, {"version": "3.12.1", "system": "Linux"}),
        Finding(Check.STARTER, Level.OK, {"path": "/data/models/smollm2.gguf"}),
        Finding(Check.DISK, Level.WARN, {"free_bytes": 2**30}),
        Finding(Check.ENGINE, Level.FAIL, {"exit": "killed", "detail": "SIGKILL", "state": "given_up"}),
        Finding(Check.EXPERTS, Level.OK, {"n": 2, "missing": ""}),
    )
    house.diagnose.diagnoses = DIAGNOSES


def furnish_health_failing(house: House) -> None:
    """The checks themselves do not run."""
    house.diagnose.error = fail(ErrorCode.ENGINE_DIED, kind="killed", detail="SIGKILL")


def furnish_inside(house: House) -> None:
    """An answer of a model with MoE experts has been watched."""
    house.inside.watched()


def furnish_inside_failing(house: House) -> None:
    """How fast the memory is cannot be told, nor what a profile would say."""
    assert house.time.ceiling is not None
    house.time.ceiling = replace(house.time.ceiling, bandwidths={})
    house.time.refusal = fail(ErrorCode.ENGINE_DIED, kind="killed", detail="SIGKILL")


def act_inside(shown: ShownWindow) -> None:
    """Show the last answer."""
    shown.window.show_page(Destination.INSIDE)
    shown.window.inside_page.show_answer(ANSWER)


def furnish_about_empty(house: House) -> None:
    """Run from a folder: no metadata of anything."""
    house.about = SetAbout("/home/me/.local/share/layadesk", ())


def furnish_about(house: House) -> None:
    """As installed."""
    parts = tuple(
        ProgramPart(name, version, licence)
        for name, version, licence in (
            ("PySide6_Essentials", "6.11.4", "LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only"),
            ("llama_cpp_python", "0.3.36", "MIT"),
            ("numpy", "2.4.0", "BSD-3-Clause"),
            ("torch", "2.13.0", "BSD-3-Clause"),
        )
    )
    house.about = SetAbout("/home/me/.local/share/layadesk", parts)


def furnish_about_failing(house: House) -> None:
    """A long path, and parts that do not say their licence."""
    parts = tuple(ProgramPart(f"part{number}", "0.1", None) for number in range(3))
    folder = "/media/somebody/一个很长的文件夹名字/" + "/".join(["a folder with a long name"] * 4)
    house.about = SetAbout(folder, parts)


def act_about(shown: ShownWindow) -> None:
    """Open it from the menu, as a user does; the one of before is closed."""
    for dialog in shown.window.findChildren(AboutDialog):
        dialog.reject()
    shown.settle()
    menu = shown.window.side_bar.options.menu()
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
