"""The steps of packaging/run.py, standard library only, run by the Python that the newcomer happens to have.

Look at `commands.py` first. What decides (which torch, which backend, which line to type) is pure and tested in
tests/packaging; what acts is thin. `check_llama.py` and `check_imports.py` are run by the new environment's Python,
`vulkan_probe.py` in a process of its own. The folder above must never get an `__init__.py`: it would hide the PyPI
package `packaging` from everybody.
"""
