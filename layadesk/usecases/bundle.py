"""All use cases in one value, as the front rooms receive them."""

from dataclasses import dataclass

from layadesk.domain.errors import ErrorReport
from layadesk.protocol.feed import Feed
from layadesk.settings.settings import Settings
from layadesk.usecases.about import About
from layadesk.usecases.browse_library import Library
from layadesk.usecases.continue_answer import ContinueAnswer
from layadesk.usecases.count_context import CountContext
from layadesk.usecases.count_routes import CountRoutes
from layadesk.usecases.diagnose import Diagnose
from layadesk.usecases.download_models import Downloads
from layadesk.usecases.explain_time import ExplainTime
from layadesk.usecases.import_settings import ImportSettings
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.load_ledger import LoadLedger
from layadesk.usecases.load_settings import LoadSettings
from layadesk.usecases.look_at_library import LookAtLibrary
from layadesk.usecases.look_inside import LookInside
from layadesk.usecases.manage_conversations import Conversations
from layadesk.usecases.manage_experts import Experts
from layadesk.usecases.memory_guard import MemoryGuard
from layadesk.usecases.move_chats import MoveChats
from layadesk.usecases.regenerate import Regenerate
from layadesk.usecases.remote_experts import RemoteExperts
from layadesk.usecases.send_message import SendMessage
from layadesk.usecases.serve import Serve
from layadesk.usecases.stop_generation import StopGeneration
from layadesk.usecases.turns import TurnEvent
from layadesk.usecases.watch_machine import WatchResources, WatchStorage, WatchWorkers
from layadesk.usecases.watch_routes import WatchRoutes
from layadesk.usecases.watch_updates import WatchUpdates


@dataclass(frozen=True, slots=True)
class UseCases:
    """What a user can do, and what there is to watch."""

    conversations: Conversations
    send_message: SendMessage
    regenerate: Regenerate
    continue_answer: ContinueAnswer
    count_context: CountContext
    stop_generation: StopGeneration
    move_chats: MoveChats
    route_counts: CountRoutes
    import_settings: ImportSettings
    experts: Experts
    resources: WatchResources
    workers: WatchWorkers
    storage: WatchStorage
    turns: Feed[TurnEvent]
    settings: Settings
    diagnose: Diagnose
    guard: MemoryGuard
    routes: WatchRoutes
    loads: LoadGate
    load_settings: LoadSettings
    ledger: LoadLedger
    about: About
    start_problems: tuple[ErrorReport, ...]
    library: Library
    downloads: Downloads
    serve: Serve
    look_at_library: LookAtLibrary
    remotes: RemoteExperts
    inside: LookInside
    time: ExplainTime
    updates: WatchUpdates
