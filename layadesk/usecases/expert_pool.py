"""The experts the router may choose, and how each is loaded; keeps the engine's list equal to the inventory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorCode, Fact, fail
from layadesk.domain.inference import LoadParams, SamplingParams, ThinkingParams
from layadesk.domain.load_choices import Choice, apply_choice, parse_loads, with_load
from layadesk.domain.models import ExpertSpec, InstalledModel, Origin
from layadesk.domain.quantization import bits_per_weight
from layadesk.domain.route_rules import parse_rules
from layadesk.domain.routing import OutReason, Policy, PoolExpert
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.domain.strengths import Strengths, guess_strengths
from layadesk.domain.thinking_choice import AUTO, OFF, parse_choices, thinking_params, with_choice
from layadesk.model_library.catalogue import Catalogue
from layadesk.model_library.expert_table import ExpertTable
from layadesk.model_library.inventory import Inventory
from layadesk.settings import definitions
from layadesk.settings.definitions import Setting, ValueT
from layadesk.settings.settings import Settings
from layadesk.workers.engine_client import EngineClient

ROUTE_DEADLINE_S = 0.4
SLOW_ROUTERS = "laya:"
LOAD_BYTES_PER_S = 1e9  # a common SSD; only weighed against the gain of another expert


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A way to load an expert, `instead_of` the one that the settings asked for then."""

    params: LoadParams
    instead_of: LoadParams


class ExpertPool:
    """The pool as the route policy and the engine see it. Any thread.

    `catalogue` says how to sample from an expert; what it is good at is in `strengths`. `remotes` run elsewhere.
    """

    def __init__(
        self,
        inventory: Inventory,
        settings: Settings,
        engine: EngineClient,
        strengths: ExpertTable,
        *,
        catalogue: Callable[[], Catalogue] = lambda: Catalogue(()),
        learned_confidence: Callable[[], float | None] = lambda: None,
        remotes: Callable[[], tuple[PoolExpert, ...]] = tuple,
    ) -> None:
        self._chosen: dict[str, _Chosen] = {}  # how to load an expert, where that is not as the settings say
        self._prices: dict[str, int] = {}
        self._obstacle_of: Callable[[str], Mapping[str, Fact] | None] = lambda _: None
        self._strengths = strengths
        self._catalogue = catalogue
        self._learned_confidence = learned_confidence
        self._remotes = remotes
        self._inventory = inventory
        self._settings = settings
        self._engine = engine

    def candidates(self) -> tuple[PoolExpert, ...]:
        """Every expert in the order of choice: the user's own, the starter, those that run elsewhere."""
        default = self._settings.get(definitions.DEFAULT_EXPERT)
        loaded = self._engine.loaded
        table = self._strengths.table()
        models = sorted(self._inventory.list(), key=_order_of_choice)
        refused = {model.model_id: self._obstacle_of(model.model_id) for model in models}
        local = tuple(
            PoolExpert(
                model.model_id,
                is_default=model.model_id == default,
                is_loaded=model.model_id in loaded,
                out=self._obstacle(model) or (OutReason.DOES_NOT_FIT if refused.get(model.model_id) else None),
                out_facts=_missing(model) or refused.get(model.model_id) or {},
                strengths=table.get(model.model_id) or table.get(model.card_id or "") or guessed(model),
                n_ctx=self.load_params(model).n_ctx,
                load_s=self.load_s(model),
            )
            for model in models
        )
        remote = (replace(one, is_default=one.model_id == default) for one in self._remotes())
        return (*local, *remote)

    def follow(self, obstacle_of: Callable[[str], Mapping[str, Fact] | None]) -> None:
        """Ask this of each expert from now on: why it does not fit into memory, or None."""
        self._obstacle_of = obstacle_of

    def choose_params(self, model_id: str, params: LoadParams) -> None:
        """Load an expert that way while the program runs, or until the settings ask for another way."""
        self._chosen = {**self._chosen, model_id: _Chosen(params, self._asked(self.installed(model_id)))}
        self.configure_engine()

    def chosen_params(self, model: InstalledModel) -> LoadParams | None:
        """How the planner, or a way out that the user took, has it loaded; None: as the settings say."""
        chosen = self._chosen.get(model.model_id)
        return None if chosen is None or chosen.instead_of != self._asked(model) else chosen.params

    def own_load(self, model_id: str) -> Choice:
        """What the user has chosen about loading this expert alone."""
        return parse_loads(self._settings.get(definitions.LOADS)).get(model_id, {})

    def keep_load(self, model_id: str, choice: Choice) -> None:
        """Keep such a choice for good; an empty one leaves it to the planner."""
        self._settings.set(definitions.LOADS, with_load(self._settings.get(definitions.LOADS), model_id, choice))
        self._chosen = {name: one for name, one in self._chosen.items() if name != model_id}
        self.configure_engine()

    def note_price(self, model_id: str, n_bytes: int) -> None:
        """What an expert takes in memory; the engine is told with the next configuration."""
        self._prices = {**self._prices, model_id: n_bytes}

    def load_s(self, model: InstalledModel) -> float:
        """About how long it takes to bring an expert into memory."""
        return model.size_bytes / LOAD_BYTES_PER_S

    def policy(self) -> Policy:
        """What the settings say about the choice."""
        get = self._settings.get
        return Policy(
            confidence=self._learned_confidence() or get(definitions.ROUTER_CONFIDENCE),
            margin=get(definitions.ROUTER_MARGIN),
            rules=parse_rules(get(definitions.ROUTER_RULES)),
            topk=get(definitions.TOPK),
            heavy_topk=get(definitions.HEAVY_TOPK),
            enhance=get(definitions.ENHANCE),
            allows_remote=get(definitions.ALLOW_REMOTE),
        )

    def _obstacle(self, model: InstalledModel) -> OutReason | None:
        if not model.is_present:
            return OutReason.FILE_MISSING
        if self._engine.is_suspect(model.model_id):
            return OutReason.SUSPECT
        return None

    def present(self) -> tuple[InstalledModel, ...]:
        """The installed experts whose file is there."""
        return tuple(model for model in self._inventory.list() if model.is_present)

    def installed(self, model_id: str) -> InstalledModel:
        """The installed model with this id; UNKNOWN_EXPERT otherwise."""
        models = self._inventory.list()
        for model in models:
            if model.model_id == model_id:
                return model
        raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id, known=", ".join(m.model_id for m in models))

    def route_deadline_s(self) -> float:
        """How long a request waits for the router: a slow one has its own deadline before another answer stands."""
        is_slow = self._settings.get(definitions.ROUTER).startswith(SLOW_ROUTERS)
        return ROUTE_DEADLINE_S + (self._settings.get(definitions.ROUTER_DEADLINE_MS) / 1000.0 if is_slow else 0.0)

    def configure_engine(self) -> None:
        """Tell the engine which experts there are; cheap, so it is done before every request."""
        models = [model for model in self._inventory.list() if model.is_present]
        self._engine.configure(
            tuple(
                ExpertSpec(
                    m.model_id,
                    m.path,
                    self.load_params(m),
                    self._recommended(m),
                    self._prices.get(m.model_id),
                )
                for m in models
            )
        )

    def load_params(self, model: InstalledModel) -> LoadParams:
        """How an expert is loaded: as was chosen for it, or by the settings, never longer than it was trained for."""
        return self.chosen_params(model) or self._asked(model)

    def usual_params(self, model: InstalledModel) -> LoadParams:
        """How an expert is loaded for which nothing was chosen."""
        n_ctx = self._settings.get(definitions.N_CTX)
        if model.n_ctx_train is not None:
            n_ctx = min(n_ctx, model.n_ctx_train)
        return LoadParams(
            n_ctx=n_ctx,
            n_gpu_layers=self._settings.get(definitions.N_GPU_LAYERS),
            n_threads=self._settings.get(definitions.N_THREADS),
            n_parallel=self._settings.get(definitions.N_PARALLEL),
        )

    def _asked(self, model: InstalledModel) -> LoadParams:
        return apply_choice(self.usual_params(model), self.own_load(model.model_id))

    def sampling(self) -> SamplingParams:
        """The sampling settings; a `max_tokens` of 0 there means no ceiling.

        A value nobody has changed is left open, so that an expert's own recommendation holds.
        """
        return SamplingParams(
            temperature=self._changed(definitions.TEMPERATURE),
            top_k=self._changed(definitions.TOP_K),
            top_p=self._changed(definitions.TOP_P),
            min_p=self._changed(definitions.MIN_P),
            repeat_penalty=self._changed(definitions.REPEAT_PENALTY),
            max_tokens=self._settings.get(definitions.MAX_TOKENS) or None,
        )

    def _recommended(self, model: InstalledModel) -> SamplingDefaults:
        """What the maker recommends for answers with or without thinking, whichever it will be."""
        card = self._catalogue().card(model.card_id or model.model_id)
        if card is None:
            return SamplingDefaults()
        choice = self.thinking_choice(model.model_id)
        by_default = card.thinking is not None and card.thinking.by_default
        thinks = by_default if choice == AUTO else choice != OFF
        has_other = thinks and card.sampling_thinking != SamplingDefaults()
        return card.sampling_thinking if has_other else card.sampling

    def thinking_choice(self, model_id: str) -> str:
        """What the user has chosen about thinking for an expert; `auto` leaves it to the expert."""
        return parse_choices(self._settings.get(definitions.THINKING)).get(model_id, AUTO)

    def choose_thinking(self, model_id: str, choice: str) -> None:
        """Remember a choice: `auto`, `on`, `off`, or an effort such as `low`. Raises UNKNOWN_EXPERT."""
        if all(one.model_id != model_id for one in self._remotes()):
            self.installed(model_id)
        choices = parse_choices(self._settings.get(definitions.THINKING))
        self._settings.set(definitions.THINKING, with_choice(choices, model_id, choice))

    def thinking(self, model_id: str) -> ThinkingParams:
        """How an expert is asked to think; a budget of 0 in the settings means none."""
        budget = self._settings.get(definitions.THINKING_BUDGET) or None
        return thinking_params(self.thinking_choice(model_id), budget)

    def _changed(self, setting: Setting[ValueT]) -> ValueT | None:
        value = self._settings.get(setting)
        return None if value == setting.default else value


def guessed(model: InstalledModel) -> Strengths:
    """What its name and size say; languages as its maker states them are in the catalogue's note only."""
    n_parameters = model.size_bytes * 8 / bits_per_weight(model.quantization)
    return guess_strengths(f"{model.model_id} {model.name}", n_parameters=n_parameters)


def _order_of_choice(model: InstalledModel) -> tuple[bool, float]:
    return (model.origin is Origin.STARTER, -model.installed_at)


def _missing(model: InstalledModel) -> dict[str, Fact]:
    """What is looked for where, for a message to the user."""
    return {} if model.is_present else {"name": model.name, "path": model.path}
