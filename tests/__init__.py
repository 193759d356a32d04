"""Folders mirror the rooms of layadesk/; `fakes` holds small working stand-ins; names of tests are sentences."""

import sys
from pathlib import Path

# pytest does so too (`pythonpath`); this is for what is run by itself, as `python -m tests.benchmarks.transcript_cost`.
sys.path.append(str(Path(__file__).resolve().parents[1] / "packaging"))
