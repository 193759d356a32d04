"""Figures, printed and never judged: how long things take depends on the machine. `pytest tests/benchmarks -s`."""
