"""Which modules a stated number passes on its way from YAML to the screen.

    python tests/bench/passes.py [--notion pure] [--fields] [--names]

Runs `dpcompose analyze` in this process on a small spec with a rare number in it, and lists the
modules with a function that is called with the number, returns it, yields it, or holds it in a
local variable: as text by itself (`0.7319`, `ε = 0.7319`), or as a number. In the unit that adds
up, μ is its square. `--fields` counts those too that hold it in a field or as an item of what they
hold, one level deep; `--names` tells in which functions. At most twenty are meant to be on the way
of an ε.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

from dpcompose.cli import run

RARE = "0.7319"
NUMBERS = {Fraction(RARE), Fraction(RARE) ** 2}
#: The number by itself, or as the right side of an equation.
TEXT = re.compile(rf"(?:\w+ = )?{re.escape(RARE)}")
STATED = {
    "pure": "epsilon: {}",
    "approx": "epsilon: {}, delta: 1e-7",
    "zcdp": "rho: {}",
    "gdp": "mu: {}",
}
SPEC = """\
dpcompose: 1
protect: unbounded
datasets: {{people: {{}}}}
mechanisms:
  - {{name: counts, reads: people, notion: {notion}, {rare}}}
  - {{name: means, reads: people, notion: {notion}, {other}}}
"""


def is_it(value: object) -> bool:
    """Whether `value` is the number itself."""
    if isinstance(value, str):
        return TEXT.fullmatch(value.strip()) is not None
    return isinstance(value, Fraction) and value in NUMBERS


def parts(value: object) -> Iterable[object]:
    """What a value holds directly."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name, None) for each in dataclasses.fields(value)]
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    return list(vars(value).values()) if hasattr(type(value), "model_fields") else []


def passed(notion: str, fields: bool) -> dict[str, set[str]]:
    """Each module on the way, with the functions that the number passes."""
    found: defaultdict[str, set[str]] = defaultdict(set)

    def meets(value: object) -> bool:
        return is_it(value) or (fields and any(map(is_it, parts(value))))

    def look(frame: FrameType, event: str, given: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event not in ("call", "return") or name.partition(".")[0] != "dpcompose":
            return
        if (event == "return" and meets(given)) or any(map(meets, frame.f_locals.values())):
            found[name].add(frame.f_code.co_qualname)

    rare, other = (STATED[notion].format(each) for each in (RARE, "0.5"))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        path = Path(folder) / "spec.yaml"
        path.write_text(SPEC.format(notion=notion, rare=rare, other=other), encoding="utf-8")
        sys.argv = ["dpcompose", "analyze", str(path)]
        sys.setprofile(look)
        try:
            run()
        except SystemExit as end:
            assert not end.code, end.code
        finally:
            sys.setprofile(None)
    assert RARE in out.getvalue()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="List the modules that a stated number passes.")
    parser.add_argument("--notion", choices=STATED, default="pure")
    parser.add_argument("--fields", action="store_true")
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    found = passed(options.notion, options.fields)
    for name in sorted(found):
        print(name, *sorted(found[name]) if options.names else ())
    print(f"{len(found)} modules")


if __name__ == "__main__":
    main()
