"""The commands `init`, which writes a starter spec and its schema, and `examples`."""

from __future__ import annotations

import os
import re
from collections import ChainMap
from pathlib import Path
from textwrap import wrap

from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import (
    Look,
    deliver,
    print_out,
    style_for,
    to_standard_output,
)
from dpcompose.errors import nearest, quoted
from dpcompose.handbook import full_spec, printed_examples
from dpcompose.places import FOLDERS
from dpcompose.places import examples as library

#: The schema that the modeline of the starter names, in the same folder.
SCHEMA_FILE = "dpcompose.schema.json"


def starter() -> str:
    """Returns the text of the starter spec."""
    return Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")


def write_starter(file: str, force: bool, name: str | None = None) -> None:
    """Runs the command `init`: writes a starter spec, or a copy of the example of that `name`, to
    `file` (`-`: prints it), and its JSON Schema beside it.

    An existing schema is not replaced. Raises BadCall for an unknown name and if the file exists
    and `force` is not set, and SystemExit if it cannot be written.
    """
    text = starter() if name is None else _copied(example(name))
    if to_standard_output(file):
        print_out(text)
        return
    if os.path.lexists(file) and not force:
        raise BadCall(f"{file} is there already: --force replaces it, `init -` prints the starter")
    schema = os.path.join(os.path.dirname(file), SCHEMA_FILE)
    deliver([text], file)
    complain(f"wrote {file}")
    if os.path.lexists(schema):
        return
    from dpcompose.render.json import dumped
    from dpcompose.spec import json_schema

    deliver([dumped(json_schema(), indent=2)], schema)
    complain(f"wrote {schema}, with which editors check it")


def _copied(text: str) -> str:
    """Returns an example with the schema beside it, and without the bound at its end."""
    text = re.sub(r"\A# yaml-language-server: .*\n", "", text)
    text = re.sub(r"\n# expect: .*\n\Z", "", text)
    return f"# yaml-language-server: $schema={SCHEMA_FILE}\n{text}"


def examples() -> dict[str, dict[str, str]]:
    """Returns the names of the examples by folder, each with its title: specs, and examples of the
    paper by their numbers."""
    titles: dict[str, dict[str, str]] = {}
    for folder, found in library().items():
        titles[folder] = {}
        for name, file in found.items():
            title = re.search("^title: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            titles[folder][name] = title[1].strip("\"'") if title else ""
    titles["paper"] |= {number: each.title for number, each in printed_examples().items()}
    return titles


def example(name: str) -> str:
    """Returns the text of the example of that name, or of the paper with that number. Raises
    BadCall."""
    files, printed = ChainMap(*library().values()), printed_examples()
    if name in files:
        return files[name].read_text(encoding="utf-8")
    number = name.upper()
    if number not in printed:
        near = nearest(name, [*files, *printed])
        meant = f"; did you mean {near}?" if near else ""
        raise BadCall(f"no example is called {quoted(name)}{meant} (`dpcompose examples` lists)")
    found = printed[number]
    said = [f"Example {number} of the paper (GMPS24).", *found.about.split("\n")]
    if others := [f"`{each.heading}`" for each in found.specs[1:]]:
        said.append(f"`dpcompose explain {number}` has another spec of it: {', '.join(others)}.")
    comment = "".join(f"# {line}\n" for each in said for line in wrap(each, 98))
    spec = full_spec(found.specs[0].lines).partition("\n")
    return f"{comment}\n{spec[0]}\ntitle: {found.title}\n{spec[2]}"


def list_examples(look: Look) -> None:
    """Prints the names of the examples with their titles."""
    from dpcompose.render.parts.console import Section, TextTable, literal, printed

    style, listed = style_for(None, look), []
    for folder, titles in examples().items():
        rows = [(literal(name, style, "strong"), title) for name, title in titles.items()]
        table = TextTable(rows, style, ["fixed"])
        listed.append(Section(folder, [table], style, FOLDERS[folder]))
    ends = (
        "`dpcompose examples NAME | dpcompose analyze -` analyses one",
        "`dpcompose init --from NAME` writes a copy of it to start from",
    )
    print_out(printed([*listed, "", *(literal(end, style, "weak") for end in ends)], style))


def show_examples(run: Run) -> ExitCode:
    """Runs the command `examples`. Raises BadCall for an unknown name."""
    if run.words:
        print_out(example(str(run.words)))
    else:
        list_examples(run.look)
    return ExitCode.FINE
