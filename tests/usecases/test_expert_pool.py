"""Which experts there are, in which order, and how they are loaded."""

from pathlib import Path
from typing import cast

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import SamplingParams, ThinkingParams
from layadesk.domain.models import ModelCard, ThinkingFacts
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import OutReason, Policy, Turn
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.domain.strengths import Strengths
from layadesk.model_library.catalogue import Catalogue, shipped_strengths
from layadesk.model_library.expert_table import ExpertTable
from layadesk.settings import definitions
from layadesk.ui.texts.errors import explain
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.workers.engine_client import EngineClient
from tests.fakes.answering import PlayedDesk


def test_the_context_is_no_longer_than_the_expert_was_trained_for(desk: PlayedDesk) -> None:
    desk.install("short", n_ctx_train=2048)
    desk.settings.set(definitions.N_CTX, 8192)
    desk.pool.configure_engine()
    assert {spec.model_id: spec.params.n_ctx for spec in desk.engine.experts} == {"alpha": 4096, "short": 2048}


def test_load_settings_reach_the_engine(desk: PlayedDesk) -> None:
    desk.settings.set(definitions.N_CTX, 1024)
    desk.settings.set(definitions.N_GPU_LAYERS, 7)
    desk.settings.set(definitions.N_THREADS, 3)
    desk.settings.set(definitions.N_PARALLEL, 2)
    desk.pool.configure_engine()
    params = desk.engine.experts[0].params
    assert (params.n_ctx, params.n_gpu_layers, params.n_threads, params.n_parallel) == (1024, 7, 3, 2)


def test_a_file_that_has_vanished_is_out_and_not_offered_to_the_engine(desk: PlayedDesk) -> None:
    desk.install("gone")
    Path(desk.pool.installed("gone").path).unlink()
    desk.pool.configure_engine()
    assert [spec.model_id for spec in desk.engine.experts] == ["alpha"]
    assert {e.model_id: e.out for e in desk.pool.candidates()}["gone"] is OutReason.FILE_MISSING


def test_the_message_about_a_vanished_file_says_its_name_and_where_it_was(desk: PlayedDesk) -> None:
    model = desk.pool.installed(desk.install("alpha"))
    Path(model.path).unlink()
    with pytest.raises(LayaDeskError) as caught:
        choose(None, desk.pool.candidates(), turn=Turn(), policy=Policy())
    assert explain(caught.value.report).what == f"The model file alpha ({model.path}) is not there."


def test_an_expert_that_killed_the_engine_is_out_until_that_is_cleared(desk: PlayedDesk) -> None:
    desk.engine.suspects.add("alpha")
    assert desk.pool.candidates()[0].out is OutReason.SUSPECT


def test_the_users_own_experts_come_before_the_starter_and_the_newest_first(desk: PlayedDesk) -> None:
    desk.install("beta")
    assert [e.model_id for e in desk.pool.candidates()] == ["beta", "alpha"]
    desk.settings.set(definitions.DEFAULT_EXPERT, "alpha")
    assert [e.model_id for e in desk.pool.candidates() if e.is_default] == ["alpha"]


def test_an_unknown_expert_is_named_with_those_that_there_are(desk: PlayedDesk) -> None:
    with pytest.raises(LayaDeskError) as refused:
        desk.pool.installed("zeta")
    assert refused.value.code is ErrorCode.UNKNOWN_EXPERT
    assert refused.value.facts == {"expert": "zeta", "known": "alpha"}


def test_a_ceiling_of_zero_in_the_settings_means_none(desk: PlayedDesk) -> None:
    assert desk.pool.sampling().max_tokens is None
    desk.settings.set(definitions.MAX_TOKENS, 12)
    assert desk.pool.sampling().max_tokens == 12


def test_an_expert_is_judged_by_how_it_would_be_loaded_now(desk: PlayedDesk) -> None:
    seen: list[int] = []
    judge = desk.engine.is_suspect

    def is_suspect(model_id: str) -> bool:
        seen.append(desk.engine.experts[0].params.n_ctx)
        return judge(model_id)

    desk.engine.is_suspect = is_suspect  # type: ignore[method-assign]  # to see when it is asked
    desk.settings.set(definitions.N_CTX, 1024)
    desk.ask("hello")
    desk.engine.request()
    assert seen == [1024]


def test_what_the_user_says_of_an_expert_comes_before_what_its_name_says(desk: PlayedDesk) -> None:
    desk.install("star-coder")
    assert desk.pool.candidates()[0].strengths.at("code") > 0.8
    desk.paths.expert_table.write_text('{"experts": {"star-coder": {"tasks": {"code": 0.1}}}}', "utf-8")
    assert desk.pool.candidates()[0].strengths.at("code") == 0.1


def test_rules_and_thresholds_of_the_settings_reach_the_policy(desk: PlayedDesk) -> None:
    desk.settings.set(definitions.ROUTER_RULES, "code → alpha")
    desk.settings.set(definitions.TOPK, 2)
    policy = desk.pool.policy()
    assert [(rule.when, rule.expert) for rule in policy.rules] == [("code", "alpha")]
    assert (policy.topk, policy.confidence) == (2, 0.6)


def test_what_nobody_has_changed_is_left_to_the_experts_recommendation(desk: PlayedDesk) -> None:
    assert desk.pool.sampling() == SamplingParams()
    desk.settings.set(definitions.TEMPERATURE, 0.2)
    assert desk.pool.sampling() == SamplingParams(temperature=0.2)


CALM, THINKING = SamplingDefaults(temperature=0.7), SamplingDefaults(temperature=1.0)


def card(model_id: str, **facts: object) -> ModelCard:
    return ModelCard(model_id, "Beta", "huggingface:o/r", "mit", (), "", sampling=CALM, **facts)  # type: ignore[arg-type]


def pool_with(desk: PlayedDesk, *cards: ModelCard) -> ExpertPool:
    catalogue = Catalogue(cards)
    table = ExpertTable(desk.paths.expert_table, shipped_strengths(catalogue))
    engine = cast("EngineClient", desk.engine)
    return ExpertPool(desk.inventory, desk.settings, engine, table, catalogue=lambda: catalogue)


def test_the_engine_hears_what_the_catalogue_recommends(desk: PlayedDesk) -> None:
    model_id = desk.install("beta")
    pool_with(desk, card(model_id)).configure_engine()
    specs = {spec.model_id: spec.sampling for spec in desk.engine.experts}
    assert specs[model_id] == CALM
    assert specs["alpha"] == SamplingDefaults()


@pytest.mark.parametrize(
    ("by_default", "choice", "advised"),
    [(True, "auto", THINKING), (True, "off", CALM), (False, "auto", CALM), (False, "on", THINKING)],
)
def test_an_expert_that_will_think_is_sampled_as_its_maker_says_for_thinking(
    desk: PlayedDesk, by_default: bool, choice: str, advised: SamplingDefaults
) -> None:
    model_id = desk.install("beta")
    facts = ThinkingFacts("enable_thinking", by_default)
    pool = pool_with(desk, card(model_id, thinking=facts, sampling_thinking=THINKING))
    pool.choose_thinking(model_id, choice)
    pool.configure_engine()
    assert {spec.model_id: spec.sampling for spec in desk.engine.experts}[model_id] == advised


def test_strengths_are_the_users_before_the_catalogues_before_a_guess(desk: PlayedDesk) -> None:
    model_id = desk.install("beta-coder")  # by its name it would be guessed a coder
    pool = pool_with(desk, card(model_id, strengths=Strengths({"code": 0.3})))

    def code() -> float:
        return next(one.strengths.at("code") for one in pool.candidates() if one.model_id == model_id)

    assert code() == 0.3
    desk.paths.expert_table.write_text(f'{{"experts": {{"{model_id}": {{"tasks": {{"code": 0.1}}}}}}}}', "utf-8")
    assert code() == 0.1


def test_the_choice_about_thinking_goes_with_the_expert_that_answers(desk: PlayedDesk) -> None:
    assert desk.pool.thinking("alpha") == ThinkingParams()
    desk.pool.choose_thinking("alpha", "low")
    desk.settings.set(definitions.THINKING_BUDGET, 100)
    desk.ask("hello")
    assert desk.engine.request().thinking == ThinkingParams(enabled=True, effort="low", max_tokens=100)
