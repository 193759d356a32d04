"""A language that is 40 % longer than English and full of accents, so that what has no room or no translation shows."""

from typing import Final

from PySide6.QtCore import QTranslator

ACCENTS: Final = str.maketrans("aeiouyncsAEIOUYNCS", "áéíóúýñçšÁÉÍÓÚÝÑÇŠ")
MARK: Final = "["  # every translated text begins with it


class Pseudo(QTranslator):
    """`[Séttíñgš ~~~]` for `Settings`; placeholders stay as they are."""

    def translate(
        self,
        context: str,
        sourceText: str,  # noqa: N803 - Qt's name
        disambiguation: str | None = None,
        n: int = -1,
    ) -> str:
        kept = sourceText.split("{")
        parts = [kept[0].translate(ACCENTS)]
        for part in kept[1:]:
            name, _, rest = part.partition("}")
            parts.append("{" + name + "}" + rest.translate(ACCENTS))
        text = "".join(parts).replace("%ñ", "%n")
        return f"{MARK}{text} {'~' * max(round(len(sourceText) * 0.4) - 3, 1)}]"

    def isEmpty(self) -> bool:  # noqa: N802 - Qt's name
        return False
