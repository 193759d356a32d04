"""What an expert is good at: guessed from names, read from tables."""

import pytest

from layadesk.domain.routing_labels import GROUPS, TASKS, Effort, effort_of
from layadesk.domain.strengths import guess_strengths


def test_every_task_has_one_group() -> None:
    assert sorted(task for tasks in GROUPS.values() for task in tasks) == sorted(TASKS)


def test_effort_is_the_complexity_in_three_steps() -> None:
    assert [effort_of(level) for level in (None, 1, 2, 3, 4, 5)] == [
        None, Effort.LIGHT, Effort.LIGHT, Effort.MEDIUM, Effort.HEAVY, Effort.HEAVY,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("Qwen2.5-Coder-7B-Instruct", "code"),
        ("DeepSeek-R1-Distill-Qwen-14B", "reasoning"),
        ("Qwen2.5-Math-7B", "math"),
        ("Hunyuan-MT-7B", "translate"),
    ],
)
def test_names_tell_what_a_model_is_made_for(name: str, task: str) -> None:
    strengths = guess_strengths(name, n_parameters=7e9)
    assert strengths.tasks[task] > 0.8
    assert max(strengths.tasks, key=lambda one: strengths.tasks[one]) == task


@pytest.mark.parametrize(
    "name", ["SmolLM2 135M Instruct", "Gemma 3 270M", "Llama-3.1-8B-Instruct", "Mistral-7B", "Marble"]
)
def test_a_name_without_a_trade_gives_a_generalist(name: str) -> None:
    assert not guess_strengths(name, n_parameters=None).tasks


def test_size_sets_the_ceiling_and_the_cost() -> None:
    small, middle, large = (guess_strengths("x", n_parameters=n) for n in (0.1e9, 4e9, 32e9))
    assert (small.effort_ceiling, middle.effort_ceiling, large.effort_ceiling) == tuple(Effort)
    assert 0 <= small.cost < middle.cost < large.cost <= 1


def test_languages_of_the_catalogue_come_before_those_of_the_name() -> None:
    assert guess_strengths("SmolLM2", n_parameters=1e8).languages == ("en",)
    assert guess_strengths("Qwen3 8B", n_parameters=8e9).languages == ("en", "zh")
    assert guess_strengths("Qwen3 8B", n_parameters=8e9, languages=("fr",)).languages == ("fr",)
