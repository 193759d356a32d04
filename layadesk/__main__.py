"""The bare entry: spawned children import this module again, so nothing heavy may stand here."""

import sys
from multiprocessing import freeze_support


def main() -> int:
    """Run the command line; the exit status is for the shell."""
    freeze_support()
    try:
        from layadesk.cli.main import run  # noqa: PLC0415 - a spawned child must not import it

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # in the first moments, while modules are read
        return 130


if __name__ == "__main__":
    sys.exit(main())
