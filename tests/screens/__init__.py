"""Every page empty, full and failing, light and dark, in English, Chinese and a pseudo-language, in a real window.

`python -m tests.screens.take FOLDER` takes the pictures at full size, to look at; `--approve` makes them the ones that
`test_screens.py` compares with. Read `scenes.py` first.
"""
