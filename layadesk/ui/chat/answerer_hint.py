"""The line under the composer: who will answer, before anything is sent."""

from PySide6.QtCore import QCoreApplication

from layadesk.domain.models import InstalledModel
from layadesk.domain.remote import RemoteExpert
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.price_watch import PriceWatch, price_words
from layadesk.ui.texts.remote import where_to

translate = QCoreApplication.translate


def answerer_hint(experts: ExpertList, pinned: str | None, prices: PriceWatch) -> str:
    """One line. Where words may leave, it says where to, first; where the choice is the router's, among how many."""
    usable, remotes = experts.usable, experts.auto_remotes
    if pinned is not None:
        return _pinned(experts, pinned, prices)
    if not usable and not remotes:
        if experts.remotes:
            return translate("hint", "Auto may not use remote experts; choose one, or allow it in the settings.")
        return translate("hint", "There is no expert yet that could answer.")
    if len(usable) + len(remotes) == 1:
        return _one(experts, usable[0], prices) if usable else _elsewhere(experts, remotes[0])
    chooses = translate("hint", "The router chooses among %n expert(s)", "", len(usable) + len(remotes))
    if not remotes:
        return chooses
    hosts = ", ".join(dict.fromkeys(one.host for one in remotes))
    return f"{translate('hint', 'may leave this machine → {hosts}').format(hosts=hosts)} · {chooses}"


def _pinned(experts: ExpertList, pinned: str, prices: PriceWatch) -> str:
    elsewhere = experts.remote(pinned)
    if elsewhere is not None:
        return _elsewhere(experts, elsewhere)
    model = experts.find(pinned)
    if model is None or not model.is_present:
        return translate("hint", "The pinned expert {name} is not there; choose another one.").format(
            name=experts.name_of(pinned)
        )
    return _one(experts, model, prices)


def _elsewhere(experts: ExpertList, expert: RemoteExpert) -> str:
    said = f"{where_to(expert.host)} · {experts.name_of(expert.model_id)}"
    if not experts.is_away(expert.model_id):
        return said
    return f"{said} · {translate('hint', 'its server does not answer')}"


def _one(experts: ExpertList, model: InstalledModel, prices: PriceWatch) -> str:
    if experts.is_loaded(model.model_id):
        return translate("hint", "→ {name} is loaded, nothing to move").format(name=experts.name_of(model.model_id))
    prices.ask(model.model_id)
    return price_words(experts.name_of(model.model_id), prices.known(model.model_id))
