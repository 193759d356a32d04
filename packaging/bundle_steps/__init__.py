"""From the repository to something a person installs with the mouse; `packaging/build.py` is the door.

Standard library only, as in `setup_steps`, whose running, progress and words of failure it shares. First file to read:
commands.py.
"""
