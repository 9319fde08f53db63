"""Several outputs of one run: the format and file of each, all rendered from one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import tee
from typing import Generic, TypeVar

from dpcompose.commands.exits import BadCall, complain
from dpcompose.commands.output import deliver_all, to_standard_output
from dpcompose.errors import nearest
from dpcompose.render import Format as Format

#: By what a bound is also asked for, beside what a spec protects.
By = StrEnum("By", "ATTRIBUTE")
#: The formats of `diff`.
DiffFormat = StrEnum("DiffFormat", "TEXT JSON MARKDOWN GITHUB SARIF")
#: The formats of `total`.
TotalFormat = StrEnum("TotalFormat", "TEXT JSON MARKDOWN HTML")
#: The formats of `fit` and `savings`.
PlanFormat = StrEnum("PlanFormat", "TEXT JSON")
#: The formats of `graph`.
GraphFormat = StrEnum("GraphFormat", "TREE SVG MERMAID DOT")
#: What `registry` does, and its formats.
RegistryTask = StrEnum("RegistryTask", "CHECK")
RegistryFormat = StrEnum("RegistryFormat", "TEXT JSON GITHUB SARIF")
#: The notions in which a filter counts a budget, where parameters are chosen along the way.
FilterKind = StrEnum("FilterKind", "PURE APPROX ZCDP GDP")
#: The formats of the theorem book.
BookFormat = StrEnum("BookFormat", "TEXT JSON JSONL")
#: The formats of other libraries from which a spec is made.
Origin = StrEnum(
    "Origin",
    {"EVENT": "event", "OPACUS": "opacus", "OPENDP": "opendp", "SUMMARY": "opendp-summary"},
)
#: The documents whose JSON Schema can be asked for.
SchemaOf = StrEnum(
    "SchemaOf", "SPEC RESULT DIFF TOTAL FIT SAVINGS REGISTRY ASSUMPTIONS CERTIFICATE"
)
#: The drafts of JSON Schema in which it can be.
Draft = StrEnum("Draft", {"NEWEST": "2020-12", "SEVEN": "7"})
#: The shells with a completion script.
Shell = StrEnum("Shell", "BASH ZSH FISH")


_Form = TypeVar("_Form", bound=StrEnum)
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Output(Generic[_Form]):
    """A format and the file it goes to; standard output for None and `-`."""

    form: _Form
    path: str | None = None


def outputs_of(values: Sequence[str], form: _Form) -> tuple[Output[_Form], ...]:
    """Returns the outputs that `--format` and every `--output` ask for, the main one first.

    `FORMAT=FILE` adds an output; a plain `FILE` is where the main one goes, which has the format
    `form`. `FORMAT=-` replaces it on standard output. Raises BadCall.
    """
    plain: list[str] = []
    named: list[Output[_Form]] = []
    for value in values:
        name, equals, path = value.partition("=")
        if equals and name.isalpha():
            named.append(Output(_form_named(name, path, type(form)), path))
        else:
            plain.append(value)
    if len(plain) > 1:
        raise BadCall(
            f"--output {plain[0]} and --output {plain[1]}: one file for --format {form}; "
            "further outputs are FORMAT=FILE"
        )
    printed = [each for each in named if to_standard_output(each.path)]
    if printed and not plain:
        found = (printed[0], *(each for each in named if each is not printed[0]))
    else:
        found = (Output(form, plain[0] if plain else None), *named)
        meant = plain[0].rpartition(".")[2].lower() if plain else ""
        if form == "text" != meant and meant in set(type(form)):
            complain(f"{plain[0]} is written as text: -o {meant}={plain[0]} writes {meant}")
    _refuse_twice(found)
    return found


def _form_named(name: str, path: str, forms: type[_Form]) -> _Form:
    """Returns the format that `FORMAT=FILE` names. Raises BadCall."""
    if name not in set(forms):
        near = nearest(name, list(forms))
        offer = f"; did you mean {near}={path}?" if near else ";"
        raise BadCall(
            f"--output {name}={path}: {name} is no format ({', '.join(forms)}){offer} "
            f"a file of that name is ./{name}={path}"
        )
    if not path:
        raise BadCall(f"--output {name}=: a file is due after the =, as in {name}=FILE")
    return forms(name)


def _refuse_twice(outputs: Sequence[Output[_Form]]) -> None:
    """Raises BadCall where two outputs go to one file."""
    seen: set[str] = set()
    for each in outputs:
        place = "-"
        if not to_standard_output(each.path):
            place = str(each.path)
            with suppress(ValueError):  # a null byte: opening the file reports it
                place = os.path.realpath(place)
        if place in seen and place != os.devnull:
            where = "standard output" if place == "-" else each.path
            raise BadCall(f"two outputs go to {where}")
        seen.add(place)


#: A function that yields the pieces of one output.
Rendering = Callable[[Iterable[_Item]], Iterator[str]]


def rendered(
    reports: Iterable[_Item], renderings: Sequence[Rendering[_Item]]
) -> Iterator[tuple[int, str]]:
    """Yields the pieces of every rendering, each with the rendering's number.

    The reports are made once, and not kept: the rendering that has read the fewest reports goes on,
    so that few of them wait for it.
    """
    if len(renderings) == 1:
        yield from ((0, piece) for piece in renderings[0](reports))
        return
    taken = [0] * len(renderings)

    def counted(number: int, copy: Iterable[_Item]) -> Iterator[_Item]:
        """Yields the reports of one rendering, and counts them."""
        for report in copy:
            taken[number] += 1
            yield report

    copies = tee(reports, len(renderings))
    going = {
        number: rendering(counted(number, copy))
        for number, (rendering, copy) in enumerate(zip(renderings, copies, strict=True))
    }
    del copies
    while going:
        behind = min(going, key=taken.__getitem__)
        piece = next(going[behind], None)
        if piece is None:
            del going[behind]
        else:
            yield behind, piece


def write_outputs(
    items: Iterable[_Item], outputs: Sequence[Output[_Form]], renderings: Sequence[Rendering[_Item]]
) -> None:
    """Writes the items to every output. Raises SystemExit where writing fails."""
    commanding = [at for at, each in enumerate(outputs) if each.form == Format.GITHUB]
    deliver_all(rendered(items, renderings), [each.path for each in outputs], commanding)
