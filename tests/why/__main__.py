"""Switches each engine off and prints what that costs.

python -m tests.why [-k WORD]
"""

from __future__ import annotations

import argparse

from .engines import ENGINES
from .measure import cost, growth


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.why", description=__doc__)
    parser.add_argument("-k", default="", metavar="WORD", help="only engines whose name holds WORD")
    asked = parser.parse_args()
    for engine in ENGINES:
        if asked.k in engine.name:
            best, worse = cost(engine), cost(engine, off=True)
            share = f"grows by {growth(best, worse):.2g}"
            print(f"{engine.name}\n  {share}, {best.seconds:.2f} -> {worse.seconds:.2f} s")


if __name__ == "__main__":
    main()
