"""What the pricing child says to the app: an answer for each file, in their order, until the pipe ends."""

import msgspec

from layadesk.domain.memory_fit.plans import Outlook


class FilePriced(msgspec.Struct, frozen=True, tag=True):
    """`outlook` None: the numbers of the file are not known."""

    outlook: Outlook | None
