"""`fit`: what a model would take and whether it fits, here or on a machine that a file describes. Nothing is loaded."""

from dataclasses import dataclass, replace
from pathlib import Path

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.context_shape import MAX_PARALLEL
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import Outlook, default_wish, with_others
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.catalogue_facts import facts_of_card
from layadesk.model_library.inventory import Inventory
from layadesk.model_library.mmproj import mmproj_bytes
from layadesk.model_library.model_facts import model_facts
from layadesk.model_library.remote_model import is_address, read_remote_model
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.other_ways import OtherWays
from layadesk.usecases.price_file import DEFAULT_PARALLEL
from layadesk.usecases.price_load import LoadQuestion, PriceLoad

DEFAULT_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class FitWish:
    """What the caller wants; None where the program is to choose. `n_ctx` is what each of `n_parallel` may fill.

    `mmproj` is the file of the model's eyes or ears, if it is used with them.
    """

    n_ctx: int | None = None
    n_parallel: int | None = None
    kv_type: str | None = None
    n_gpu_layers: int | None = None
    mmproj: Path | None = None


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """What was found about whom, on which machine."""

    subject: str
    quantization: str | None
    wish: LoadParams
    machine: MachineMemory
    outlook: Outlook


@dataclass(frozen=True, slots=True)
class _Subject:
    name: str
    quantization: str | None
    facts: ModelFacts
    path: str | None
    card: ModelCard | None


class Fit:
    """Blocks for up to a second; any thread that may."""

    def __init__(
        self, inventory: Inventory, price: PriceLoad, machine: MachineNow, catalogues: Catalogues | None = None
    ) -> None:
        self._inventory = inventory
        self._catalogues = catalogues or Catalogues()
        self._others = OtherWays(inventory, price, self._catalogues)
        self._price = price
        self._machine = machine

    def __call__(
        self,
        subject: str,
        *,
        quantization: str | None = None,
        wish: FitWish | None = None,
        machine: MachineMemory | None = None,
    ) -> FitAnswer:
        """Price `subject`: a GGUF file, here or at an http(s) address, an installed expert or a model of the catalogue.

        Of a file at an address only the header is read. Raises UNKNOWN_MODEL, BAD_PARAMETER, REMOTE_FILE_UNREADABLE,
        GGUF_* and MODEL_FILE_* errors.
        """
        found = self._find(subject, quantization)
        is_here = machine is None
        where = self._machine.read() if machine is None else machine
        params = _params(wish or FitWish(), found.facts, where)
        path = found.path if is_here or not found.facts.is_known else None
        eyes = 0 if wish is None or wish.mmproj is None else mmproj_bytes(wish.mmproj)
        answer = self._price.outlook(LoadQuestion(found.facts, path, params, where, mmproj_bytes=eyes))
        answer = with_others(
            answer,
            self._others.of_catalogue(None if found.card is None else found.card.model_id, found.facts, params, where),
        )
        return FitAnswer(found.name, found.quantization, params, where, answer)

    def _find(self, subject: str, quantization: str | None) -> _Subject:
        if is_address(subject):
            headers = read_remote_model(subject)
            return _Subject(headers[0].path, headers[0].quantization, model_facts(*headers), None, None)
        installed = self._inventory.find(subject)
        path = Path(subject)
        if installed is not None and quantization in (None, installed.quantization):
            facts = self._price.facts_of(installed.path)
            return _Subject(installed.name, installed.quantization, facts, installed.path, None)
        if installed is None and subject and (path.suffix.casefold() == ".gguf" or path.exists()):
            return _Subject(path.name, None, self._price.facts_of(subject), subject, None)
        card = self._catalogues.current().card(subject)
        if card is None:
            raise fail(ErrorCode.UNKNOWN_MODEL, model_id=subject)
        file = _file_of(card, quantization)
        card_facts = facts_of_card(card, file)
        if card_facts is None:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="model", value=subject, needs="gguf")
        return _Subject(card.name, file.quantization, card_facts, None, card)


def _file_of(card: ModelCard, quantization: str | None) -> ModelFile:
    for file in card.files:
        if quantization is None or _plain(file.quantization) == _plain(quantization):
            return file
    known = ", ".join(file.quantization for file in card.files)
    raise fail(ErrorCode.BAD_PARAMETER, parameter="quantization", value=quantization, known=known)


def _plain(quantization: str) -> str:
    """`q4_k_m` for `UD-Q4_K_M` too."""
    return quantization.casefold().removeprefix("ud-")


def _params(wish: FitWish, facts: ModelFacts, machine: MachineMemory) -> LoadParams:
    """What was asked for; where nothing was, what the program would load with on that machine."""
    base = LoadParams() if wish.n_gpu_layers is None else LoadParams(n_gpu_layers=wish.n_gpu_layers)
    longest = facts.n_ctx_train or DEFAULT_CONTEXT
    if wish.n_ctx is None and wish.n_parallel is None:
        n_ctx = min(DEFAULT_CONTEXT, longest)
        params = default_wish(
            weights_bytes=facts.weights_bytes, machine=machine, n_ctx=n_ctx, n_parallel=DEFAULT_PARALLEL, base=base
        )
    else:
        n_parallel = wish.n_parallel or 1
        if n_parallel > MAX_PARALLEL:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="n_parallel", value=n_parallel, known=f"1-{MAX_PARALLEL}")
        n_ctx = min(wish.n_ctx or DEFAULT_CONTEXT, longest)
        params = replace(base, n_ctx=n_ctx * n_parallel, n_parallel=n_parallel)
    return params if wish.kv_type is None else replace(params, type_k=wish.kv_type, type_v=wish.kv_type)
