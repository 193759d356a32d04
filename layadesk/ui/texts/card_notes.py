"""What the catalogue says of a model, in the language of the window.

The notes of the `models.json` that ships are in the translation files like every text; one of a user's own catalogue
is shown as it was written.
"""

from PySide6.QtCore import QCoreApplication


def card_note(note: str) -> str:
    """`note` of a card, or of a model that was installed from one."""
    return QCoreApplication.translate("catalogue", note) if note else ""
