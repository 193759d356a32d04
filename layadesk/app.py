"""The composition root: the only file that sees all rooms. Builds them, starts them, stops them in order."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from layadesk.domain.alert_watch import Alert
from layadesk.domain.diagnosis import Answered
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.memory_fit.load_record import learned_corrections
from layadesk.domain.server import Listening, ServedRequest
from layadesk.model_library.catalogue import shipped_strengths
from layadesk.model_library.expert_table import ExpertTable
from layadesk.model_library.remote_list import RemoteList
from layadesk.paths import DataPaths, assets_dir, shipped_starter
from layadesk.protocol.app_log import start_log
from layadesk.protocol.feed import Feed
from layadesk.protocol.options import EngineOptions, RouterOptions
from layadesk.settings import definitions
from layadesk.settings.key_store import KeyStore
from layadesk.settings.settings import Settings
from layadesk.store.store import Store
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed, gpu_sensors
from layadesk.usecases.about import About
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.ask import Ask
from layadesk.usecases.browse_library import Library, Pricing
from layadesk.usecases.bundle import UseCases
from layadesk.usecases.check_installation import CheckInstallation
from layadesk.usecases.continue_answer import ContinueAnswer
from layadesk.usecases.count_context import CountContext
from layadesk.usecases.count_routes import CountRoutes
from layadesk.usecases.decide import Decide
from layadesk.usecases.diagnose import Diagnose, GatherCase
from layadesk.usecases.download_models import Downloads
from layadesk.usecases.engine_work import EngineWorkWatch
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.expert_runners import ExpertRunners
from layadesk.usecases.explain_time import ExplainTime
from layadesk.usecases.fit import Fit
from layadesk.usecases.health_report import HealthReport
from layadesk.usecases.import_settings import ImportSettings
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.load_ledger import LoadLedger
from layadesk.usecases.load_settings import LoadSettings
from layadesk.usecases.look_at_library import LookAtLibrary
from layadesk.usecases.look_inside import LookInside
from layadesk.usecases.machine_history import MachineHistory
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.manage_conversations import Conversations
from layadesk.usecases.manage_experts import Experts
from layadesk.usecases.memory_guard import MemoryGuard
from layadesk.usecases.model_rooms import ModelRooms
from layadesk.usecases.move_chats import MoveChats
from layadesk.usecases.one_start import only_start
from layadesk.usecases.other_ways import OtherWays
from layadesk.usecases.price_files import PriceFiles
from layadesk.usecases.price_load import PriceLoad
from layadesk.usecases.probe_machine import probe_machine
from layadesk.usecases.regenerate import Regenerate
from layadesk.usecases.remote_experts import RemoteExperts
from layadesk.usecases.route_texts import RouteTexts
from layadesk.usecases.router_learning import LearnedFiles, RouterLearning
from layadesk.usecases.running_turns import RunningTurns
from layadesk.usecases.send_message import SendMessage, StartTurn
from layadesk.usecases.serve import RunningServer, Serve
from layadesk.usecases.server_key import ServerKey
from layadesk.usecases.session_log import SessionLog
from layadesk.usecases.start_watch import StartWatch, leave_gpus_alone, safe_mode_report
from layadesk.usecases.stop_generation import StopGeneration
from layadesk.usecases.timeline import Timeline
from layadesk.usecases.turns import TurnEvent
from layadesk.usecases.update_file import UpdateFile
from layadesk.usecases.watch_machine import WatchResources, WatchStorage, WatchWorkers
from layadesk.usecases.watch_routes import WatchRoutes
from layadesk.usecases.watch_updates import WatchUpdates
from layadesk.workers import spawn
from layadesk.workers.dry_runner import DryRunner
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient

log = logging.getLogger(__name__)

STOP_ANSWERS_S = 2.0
STORE_S = 30.0


class Core:
    """What every front room needs: the experts, the two children, and answers. Nothing runs before `start`.

    Headless commands use this alone; the window adds `Desk`.
    """

    def __init__(
        self, data_dir: Path, *, engine: str = "llama", router: str | None = None, is_safe: bool = False
    ) -> None:
        if is_safe:
            leave_gpus_alone(os.environ)
        self._router = router
        self.paths = DataPaths(data_dir)
        start_log(self.paths.logs)
        self.settings = Settings(self.paths)
        self.updates = WatchUpdates(self.settings, UpdateFile(self.paths.updates))
        self.models = ModelRooms(self.paths, self.settings)
        self.catalogues, self.inventory = self.models.catalogues, self.models.inventory
        logs = str(self.paths.logs)
        engine_options = EngineOptions.of(engine, logs, str(self.paths.cache))
        self.engine = EngineClient(
            partial(spawn.start_engine, engine_options), log_dir=self.paths.logs, run_dir=self.paths.run
        )
        self.router = RouterClient(
            lambda: spawn.start_router(self._router_options()), log_dir=self.paths.logs, run_dir=self.paths.run
        )
        self.learned = LearnedFiles(self.paths.router_learned)
        strengths = ExpertTable(self.paths.expert_table, shipped_strengths(self.catalogues.current()))
        self.remotes = RemoteExperts(RemoteList(self.paths.remote_experts), KeyStore(self.paths.keys), strengths)
        self.pool = ExpertPool(
            self.inventory,
            self.settings,
            self.engine,
            strengths,
            catalogue=self.catalogues.current,
            learned_confidence=self.learned.confidence,
            remotes=self.remotes.candidates,
        )
        self.route_texts = RouteTexts(self.pool, self.router)
        self.experts = Experts(self.inventory, self.pool)
        work = EngineWorkWatch(self.engine)
        self.observed = Observed(
            lambda: self.engine.status.pid,
            lambda: self.router.status.pid,
            work=work.now,
            weight_files=work.weight_files,
        )
        self.sampler = Sampler(self.observed, make_gpu_sensors=tuple if is_safe else gpu_sensors)
        has_library = engine_options.backend == "llama"
        self.dry_runner = DryRunner(self.paths.logs) if has_library else None
        self.price = PriceLoad(self.dry_runner)
        self.machine = MachineNow(self.sampler, self.price.devices)
        self.fit = Fit(self.inventory, self.price, self.machine, self.catalogues)
        others = OtherWays(self.inventory, self.price, self.catalogues).of_installed
        self.gate = LoadGate(self.pool, self.price, self.machine, self.engine, others=others, is_open=not has_library)
        self.pool.follow(self.gate.obstacle)
        self.downloads = Downloads(self.models.downloads(), disk_changed=self.experts.has_changed)
        self.library = Library(
            self.models,
            self.experts,
            self.downloads,
            Pricing(PriceFiles(self.price), self.machine.read, self.gate.residents),
            self.settings,
        )
        self.answers = AnswerRequest(self.pool, self.router, ExpertRunners(self.engine, self.remotes.client), self.gate)
        self.ask = Ask(self.answers, self.settings)
        self.serve = Serve(self.settings, ServerKey(self.paths.server_key), self._listen)

    def learning(self, store: Store) -> RouterLearning:
        """What the router can learn from the answers of `store`."""
        return RouterLearning(lambda: store.judged_answers().result(STORE_S), self.learned, self.router, self.pool)

    def learn_from_loads(self) -> None:
        """Let bills have what the loads of earlier runs took beyond theirs; a window's ledger does that by itself."""
        store = open_store(self.paths)
        try:
            learned = learned_corrections(store.load_records().result(STORE_S))
        finally:
            store.close()
        self.price.learn(lambda: learned)

    def _listen(self, plan: Listening, served: Callable[[ServedRequest], None]) -> RunningServer:
        from layadesk.api_server.server import listen  # noqa: PLC0415 - 0.3 s that only a server needs

        return listen(plan, served, answers=self.answers, pool=self.pool, decide=Decide(self.router))

    def _router_options(self) -> RouterOptions:
        """As the settings are when the router starts."""
        get = self.settings.get
        return RouterOptions(
            self._router or get(definitions.ROUTER),
            str(self.paths.logs),
            str(assets_dir() / "router"),
            str(self.paths.router_learned),
            get(definitions.ROUTER_DEADLINE_MS),
            get(definitions.ROUTER_USE_GPU),
        )

    def diagnosis(
        self,
        *,
        answers: Callable[[], Sequence[Answered]] = tuple,
        alerts: Callable[[], Sequence[Alert]] = tuple,
    ) -> Diagnose:
        """Checks and diagnoses; a window adds the answers and the warnings of its session."""
        gather = GatherCase(self.engine, self.pool, samples=self._samples, answers=answers, alerts=alerts)
        check = CheckInstallation(
            self.paths, self.inventory, self.engine, self.router, asked_for_updates=self.updates.asked
        )
        return Diagnose(check, gather, HealthReport(self.paths, self.settings))

    def _samples(self) -> tuple[HardwareSample, ...]:
        """The history, or without a window one sample that is taken for it."""
        return self.sampler.history() or (probe_machine(self.observed),)

    def start(self) -> None:
        """Start the children in the background; returns at once."""
        self.engine.start()
        self.router.start()
        self.remotes.start()

    def stop(self) -> None:
        """End the children and whatever runs; blocks up to a few seconds."""
        self.serve.close()
        self.updates.close()
        self.experts.close()
        self.downloads.close()
        self.library.close()
        self.gate.close()
        self.remotes.stop()
        self.sampler.stop()
        router_end = threading.Thread(target=self.router.stop, name="router-stop")
        router_end.start()
        self.engine.stop()
        router_end.join()
        self.settings.flush()


def open_store(paths: DataPaths) -> Store:
    """The conversations, for a command that only reads them; close it."""
    return Store.open(paths, now=time.time())


@dataclass(frozen=True, slots=True)
class _Rooms:
    store: Store
    running: RunningTurns
    history: MachineHistory


class Desk:
    """Everything behind the window. `start` is for after the first paint, because it brings in what is heavy."""

    def __init__(self, data_dir: Path, *, engine: str = "llama", is_safe: bool = False) -> None:
        core = Core(data_dir, engine=engine, is_safe=is_safe)
        core.experts.adopt_starter(shipped_starter())  # here: the first question must find somebody to answer it
        store = open_store(core.paths)
        n_interrupted = store.mark_interrupted()
        if n_interrupted:
            log.info("%d answers had been interrupted", n_interrupted)
        running = RunningTurns(store.save_progress)
        guard = MemoryGuard(
            core.sampler.feed, answers=core.answers, engine=core.engine, pool=core.pool, settings=core.settings
        )
        turns: Feed[TurnEvent] = Feed()
        session = SessionLog(turns)
        start_turn = StartTurn(
            store=store, pool=core.pool, answers=core.answers, running=running, feed=turns, settings=core.settings
        )
        self._core = core
        self._look = LookAtLibrary(core.library, assets_dir() / "router" / "figures.json")
        history = MachineHistory(core.sampler.feed, store)
        self._rooms = _Rooms(store, running, history)
        conversations = Conversations(store, running, turns, forget=core.engine.forget_conversation)
        ledger = LoadLedger(store, core.engine, core.gate, core.sampler)
        core.price.learn(ledger.corrections)
        self.use_cases = UseCases(
            conversations=conversations,
            move_chats=MoveChats(store, conversations.changed),
            route_counts=CountRoutes(store),
            import_settings=ImportSettings(core.settings),
            send_message=SendMessage(start_turn),
            regenerate=Regenerate(start_turn),
            continue_answer=ContinueAnswer(start_turn),
            count_context=CountContext(start_turn, core.pool, core.engine),
            stop_generation=StopGeneration(core.answers, running),
            experts=core.experts,
            resources=WatchResources(core.sampler, Timeline(turns), guard, history),
            workers=WatchWorkers(core.engine, core.router),
            storage=WatchStorage(store),
            turns=turns,
            settings=core.settings,
            diagnose=core.diagnosis(answers=session.answers, alerts=guard.episodes),
            guard=guard,
            routes=WatchRoutes(core.learning(store)),
            loads=core.gate,
            load_settings=LoadSettings(core.pool, core.gate),
            ledger=ledger,
            about=About(core.paths.root),
            start_problems=(safe_mode_report(),) if is_safe else (),
            library=core.library,
            downloads=core.downloads,
            serve=core.serve,
            look_at_library=self._look,
            remotes=core.remotes,
            inside=LookInside(core.engine, store, running, turns),
            time=ExplainTime(core.engine, core.price, core.machine, core.gate),
            updates=core.updates,
        )

    def start(self) -> None:
        """Start the children and the sampling; returns at once."""
        self._core.start()
        self._core.sampler.start()
        self._core.pool.configure_engine()
        self._core.serve.start_if_wanted()
        self._core.updates.start()

    def stop(self) -> None:
        """Stop in order: answers first, so that their text is whole; the store last, so that it is kept. Blocks."""
        self.use_cases.stop_generation.all(STOP_ANSWERS_S)
        for watching in (self._look, self.use_cases.inside, self.use_cases.time):
            watching.close()
        self._core.stop()
        self._rooms.running.wait_until_none(STOP_ANSWERS_S)
        self.use_cases.move_chats.close()
        self._rooms.history.close()
        self._rooms.store.close()


def run_window(
    data_dir: Path,
    *,
    engine: str = "llama",
    files: Sequence[str] = (),
    was_open: Callable[[], None] = lambda: None,
) -> int:
    """Open the window and stay until it is closed, or bring forward the one that `was_open`; the exit status.

    `files` are model files to add, in the window that is open or in the new one.
    """
    from layadesk.ui import application  # noqa: PLC0415 - Qt for the window alone

    run_dir = DataPaths(data_dir).run
    with only_start(run_dir, lambda: application.has_come_forward(data_dir, files)) as is_first:
        if not is_first:
            was_open()
            return 0
        starts = StartWatch(run_dir)
        desk = Desk(data_dir, engine=engine, is_safe=starts.begin())
        try:
            return application.run(
                desk.use_cases, after_first_paint=desk.start, before_quit=desk.stop, data_dir=data_dir, files=files
            )
        finally:
            desk.stop()
            starts.settle()
