"""The line under the composer: who will answer, before anything is sent."""

from PySide6.QtCore import QCoreApplication

from layadesk.domain.models import InstalledModel
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.price_watch import PriceWatch, price_words

translate = QCoreApplication.translate


def answerer_hint(experts: ExpertList, pinned: str | None, prices: PriceWatch) -> str:
    """One line. Where the choice is the router's, it says among how many."""
    usable = experts.usable
    if pinned is not None:
        model = experts.find(pinned)
        if model is None or not model.is_present:
            return translate("hint", "The pinned expert {name} is not there; choose another one.").format(
                name=experts.name_of(pinned)
            )
        return _one(experts, model, prices)
    if not usable:
        return translate("hint", "There is no expert yet that could answer.")
    n_usable = len(usable)
    if n_usable == 1:
        return _one(experts, usable[0], prices)
    return translate("hint", "The router chooses among %n expert(s)", "", n_usable)


def _one(experts: ExpertList, model: InstalledModel, prices: PriceWatch) -> str:
    if experts.is_loaded(model.model_id):
        return translate("hint", "→ {name} is loaded, nothing to move").format(name=experts.name_of(model.model_id))
    prices.ask(model.model_id)
    return price_words(experts.name_of(model.model_id), prices.known(model.model_id))
