"""`python -m layadesk.router.training [--out DIR] [--unmeasured] [--quick]`: minutes on two cores."""

import argparse
import logging
import sys
from pathlib import Path

import torch

from layadesk.router.training.fit import Recipe
from layadesk.router.training.make import default_out, make, quick


def main() -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="layadesk.router.training")
    parser.add_argument("--out", type=Path, default=default_out(), help="default: assets/router of the source tree")
    parser.add_argument(
        "--unmeasured", action="store_true", help="leave out the figures on sources left out of training"
    )
    parser.add_argument("--quick", action="store_true", help="one pass over the rows, to see that everything runs")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)  # the sums are then always taken in the same order
    recipe = quick(Recipe()) if options.quick else Recipe()
    make(options.out, recipe, measured=not options.unmeasured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
