"""How the bundled router is made: labelled prompts, and a deterministic run that turns them into `assets/router/`.

Not imported by the program. Run: `python -m layadesk.router.training`. First file to read: `make.py`.
"""
