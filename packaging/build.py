"""Builds what people install: `python packaging/build.py`. The kinds: bundle, archive, deb, installer, app.

Standard library only. The same command on Linux, Windows and macOS makes what belongs there.
"""

import sys

if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(f"This needs Python 3.11, 3.12 or 3.13, and this is {sys.version_info[0]}.{sys.version_info[1]}.")

from bundle_steps.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
