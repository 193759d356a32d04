"""What to paste where, so that another program asks LayaDesk: the same request in a shell, in Python, for an agent."""

from dataclasses import dataclass

NO_KEY = "none"  # programs want one; without a key in use any text will do


@dataclass(frozen=True, slots=True)
class Snippet:
    """`language` names the colours and the tab; `code` is what is copied."""

    language: str
    code: str


def snippets(base_url: str, *, needs_key: bool) -> tuple[Snippet, ...]:
    """For the address as it is now; the key itself is never in them, it is read from the environment."""
    return (
        Snippet("curl", _curl(base_url, needs_key=needs_key)),
        Snippet("Python", _python(base_url, needs_key=needs_key)),
        Snippet("aider", _agent(base_url, needs_key=needs_key)),
    )


def _curl(base_url: str, *, needs_key: bool) -> str:
    key = '  -H "Authorization: Bearer $LAYADESK_API_KEY" \\\n' if needs_key else ""
    asked = '{"model": "auto", "messages": [{"role": "user", "content": "Name three colours."}]}'
    return f"curl {base_url}/chat/completions \\\n  -H \"Content-Type: application/json\" \\\n{key}  -d '{asked}'"


def _python(base_url: str, *, needs_key: bool) -> str:
    head = "import os\n\n" if needs_key else ""
    key = 'os.environ["LAYADESK_API_KEY"]' if needs_key else f'"{NO_KEY}"'
    return (
        f"{head}from openai import OpenAI\n\n"
        f'client = OpenAI(base_url="{base_url}", api_key={key})\n'
        "answer = client.chat.completions.create(\n"
        '    model="auto", messages=[{"role": "user", "content": "Name three colours."}]\n'
        ")\n"
        "print(answer.choices[0].message.content)"
    )


def _agent(base_url: str, *, needs_key: bool) -> str:
    key = '"$LAYADESK_API_KEY"' if needs_key else NO_KEY
    return f"export OPENAI_API_BASE={base_url}\nexport OPENAI_API_KEY={key}\naider --model openai/auto"
