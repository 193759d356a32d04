"""What the user has chosen about thinking, for each expert: one line each in one setting, `expert = off`."""

from collections.abc import Mapping

from layadesk.domain.inference import ThinkingParams

AUTO, ON, OFF = "auto", "on", "off"  # anything else is an effort: a word that the expert's template knows
EFFORTS = ("low", "medium", "high")


def parse_choices(text: str) -> dict[str, str]:
    """Choice by expert id; lines that are none are left out."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {expert.strip(): choice.strip() for expert, _, choice in pairs if expert.strip() and choice.strip()}


def with_choice(choices: Mapping[str, str], expert: str, choice: str) -> str:
    """The text of the setting with one choice changed; AUTO takes it out."""
    changed = {**choices, expert: choice}
    return "\n".join(f"{name} = {value}" for name, value in sorted(changed.items()) if value != AUTO)


def thinking_params(choice: str, max_tokens: int | None = None) -> ThinkingParams:
    """A choice as the engine wants it."""
    if choice in (AUTO, ""):
        return ThinkingParams(max_tokens=max_tokens)
    if choice in (ON, OFF):
        return ThinkingParams(enabled=choice == ON, max_tokens=max_tokens)
    return ThinkingParams(enabled=True, effort=choice, max_tokens=max_tokens)
