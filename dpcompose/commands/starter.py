"""The commands `init`, which writes a starter spec and its schema, and `examples`."""

from __future__ import annotations

import os
import re
from collections import ChainMap

from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.output import deliver, print_out, style_for, to_standard_output
from dpcompose.commands.run import Run
from dpcompose.errors import nearest, quoted
from dpcompose.places import FOLDERS
from dpcompose.places import examples as library

#: The schema that the modeline of the starter names, in the same folder.
SCHEMA_FILE = "dpcompose.schema.json"

STARTER = f"""\
# yaml-language-server: $schema={SCHEMA_FILE}
#
# What is computed from sensitive data, and what it must protect.
#
#   dpcompose analyze FILE   the tightest bound, the theorem that gives it, and why
#   dpcompose check FILE     the same against the budget below; exit code 1 if it is over
dpcompose: 1                # the version of the spec language
title: Weekly figures of two clinics

# What one person may change, and the release must hide: `unbounded` (one row added or removed),
# `bounded` (one row replaced), `user` (all rows of one person).
protect: unbounded

# Sensitive tables have no `from`. The others are made from them by a `map`, or split in blocks.
datasets:
  visits: {{}}
  adults: {{from: visits, map: filter}}
  clinic:
    from: visits
    partition: {{by: value, blocks: [north, south]}}   # by the value of a row: disjoint

# What is released. `stated_on` is the table whose neighbours a guarantee speaks of, if it is not
# the one that is read. Numbers are exact: 0.1 is one tenth, and 1/3 is a third.
mechanisms:
  - {{name: all visits, reads: visits, notion: pure, epsilon: 0.5}}
  # A visit is in one block only, so that all blocks together cost what one does.
  - {{name: visits by clinic, reads: clinic.*, notion: pure, epsilon: 0.3}}
  # A mechanism described by its noise: Laplace of this scale, where one row changes the result by
  # at most 1. It costs 1/5.
  - {{name: adults, reads: adults, mechanism: laplace, scale: 5, sensitivity: 1}}

# 0.5 + 0.3 + 0.2 = 1. A budget may be {{epsilon: 1, delta: 1e-6}}, {{rho: 0.5}} or {{mu: 1}} too.
budget: {{epsilon: 1}}
"""


def write_starter(file: str, force: bool) -> None:
    """Runs the command `init`: writes a starter spec to `file` (`-`: prints it), and its JSON
    Schema beside it.

    An existing schema is not replaced. Raises BadCall if the file exists and `force` is not set,
    and SystemExit if it cannot be written.
    """
    if to_standard_output(file):
        print_out(STARTER)
        return
    if os.path.lexists(file) and not force:
        raise BadCall(f"{file} is there already: --force replaces it, `init -` prints the starter")
    schema = os.path.join(os.path.dirname(file), SCHEMA_FILE)
    deliver([STARTER], file)
    complain(f"wrote {file}")
    if os.path.lexists(schema):
        return
    from dpcompose.render.json import dumped
    from dpcompose.spec import json_schema

    deliver([dumped(json_schema(), indent=2)], schema)
    complain(f"wrote {schema}, with which editors check it")


def examples() -> dict[str, str]:
    """Returns the names of the example specs, in order, each with the title that it states."""
    titles = {}
    for found in library().values():
        for name, file in found.items():
            title = re.search("^title: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            titles[name] = title[1].strip("\"'") if title else ""
    return titles


def show_examples(run: Run) -> ExitCode:
    """Runs the command `examples`. Raises BadCall for an unknown name."""
    from dpcompose.render.console import grid, literal, printed, ruled

    known = examples()
    if not run.words:
        style = style_for(None, run.look)
        listed = []
        for folder, found in library().items():
            rows = [(literal(name, style, "strong"), known[name]) for name in found]
            listed += [ruled(folder, style, FOLDERS[folder]), grid(rows, style, ["fixed"])]
        end = literal("`dpcompose examples NAME | dpcompose analyze -` analyses one", style, "weak")
        print_out(printed([*listed, "", end], style))
        return ExitCode.FINE
    name = str(run.words)
    if name not in known:
        near = nearest(name, list(known))
        meant = f"; did you mean {near}?" if near else ""
        raise BadCall(f"no example is called {quoted(name)}{meant} (`dpcompose examples` lists)")
    print_out(ChainMap(*library().values())[name].read_text(encoding="utf-8"))
    return ExitCode.FINE
