"""What is known of a release of this program."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Release:
    """`version` as it is written, for instance `0.2.0`; `page` is an https address that tells of it, or empty."""

    version: str
    page: str
