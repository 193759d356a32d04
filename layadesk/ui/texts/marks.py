"""The mark of a text that is translated where it is used, with a type: PySide's own returns `object`."""


def QT_TRANSLATE_NOOP(context: str, source: str) -> str:
    """`source`, unchanged; it is translated where it is used."""
    return source
