"""The two commands of the README: `start` sets everything up and opens the window, `test` sets up and runs the tests.

Standard library only; an old Python can read this file far enough to be told, in a sentence, that it is too old.
"""

import sys

if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(
        f"LayaDesk needs Python 3.11, 3.12 or 3.13, and this is {sys.version_info[0]}.{sys.version_info[1]}. "
        "Start it with one of those, for instance: python3.12 packaging/run.py start"
    )

from setup_steps.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
