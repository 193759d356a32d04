"""Download a model with one call, and steer what is under way."""

from layadesk.domain.downloads import Download
from layadesk.protocol.feed import Feed


class Downloads:
    """All return at once, on any thread. `changed` has the whole list, at most four times a second."""

    def __init__(self) -> None:
        self.changed: Feed[tuple[Download, ...]] = Feed()

    def list(self) -> tuple[Download, ...]:
        """All rows, the oldest first."""
        return ()

    def start(self, model_id: str, quantization: str, *, licence_accepted: bool = False) -> str:
        """Queue a file of the catalogue (a router's is `checkpoint`); its download id. A row that is there is resumed.

        Raises UNKNOWN_EXPERT, BAD_PARAMETER, LICENCE_NOT_ACCEPTED.
        """
        raise NotImplementedError

    def pause(self, download_id: str) -> None:
        """Stop within a second and keep what is here."""

    def resume(self, download_id: str) -> None:
        """Go on from the bytes that are here; also tries a failed one again."""

    def cancel(self, download_id: str) -> None:
        """Stop within a second and delete what is here; also takes an ended row off the list."""

    def resume_interrupted(self) -> None:
        """Go on with all that ran when the program ended."""
