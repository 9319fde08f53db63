"""`theorems`, `explain` and `schema`: what the tool knows, without a spec."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from dpcompose.commands.exits import BadCall
from dpcompose.commands.output import Look, print_out, style_for
from dpcompose.commands.outputs import BookFormat, SchemaOf
from dpcompose.core.theorem import Theorem
from dpcompose.errors import nearest, quoted


def list_theorems(form: BookFormat, look: Look) -> None:
    """The command `theorems`."""
    from dpcompose.render.theorem_text import shape, table

    if form is BookFormat.TEXT:
        print_out(table(style_for(None, look)))
        return
    from dpcompose.render.json import dumped

    shapes = shape()
    print_out(dumped(shapes, indent=2) if form is BookFormat.JSON else "".join(map(dumped, shapes)))


def explain(identifier: str, look: Look) -> None:
    """The command `explain`. Raises BadCall for an id that is neither a theorem nor a code.

    `theorem:` or `code:` before the id says which of them is meant.
    """
    from dpcompose.render.rules import codes
    from dpcompose.render.theorem_text import book, explained

    style, wanted = style_for(None, look), identifier.strip().casefold()
    kind, _, name = wanted.rpartition(":")
    entry = _named(name, book().values()) if kind in ("", "theorem") else None
    if entry is not None:
        print_out(explained(entry, style))
        return
    code = name.upper() if kind in ("", "code") else ""
    meaning = codes().get(code)
    if meaning is None:
        raise BadCall(_unknown(identifier, _known(kind)))
    from dpcompose.render import code as codebook

    print_out(codebook.explained(code, meaning, style))


def _known(kind: str) -> list[str]:
    """The ids of a kind; of any other kind than a theorem or a code, all of them."""
    from dpcompose.render.rules import codes
    from dpcompose.render.theorem_text import book

    theorems = [] if kind == "code" else [*book()]
    return theorems if kind == "theorem" else [*theorems, *codes()]


def _named(wanted: str, entries: Collection[Theorem]) -> Theorem | None:
    """The entry of that id, or of that place in its source (`corollary iv.13`)."""
    ids = {entry.id.casefold(): entry for entry in entries}
    places = {entry.place.casefold(): entry for entry in entries}
    return ids.get(wanted) or places.get(wanted)


def identifiers(incomplete: str) -> Iterator[tuple[str, str]]:
    """What `explain` can explain, with a title, for shell completion."""
    from dpcompose.render.rules import codes
    from dpcompose.render.theorem_text import book

    start = incomplete.casefold()
    known = {**{key: entry.title for key, entry in book().items()}, **codes()}
    return ((key, words) for key, words in known.items() if key.casefold().startswith(start))


def print_schema(of: SchemaOf) -> None:
    """The command `schema`."""
    from dpcompose.render.json import dumped

    print_out(dumped(_schema(of), indent=2))


def _schema(of: SchemaOf) -> dict[str, Any]:
    if of is SchemaOf.SPEC:
        from dpcompose.spec import json_schema

        return json_schema()
    if of is SchemaOf.RESULT:
        from dpcompose.render.result_schema import result_schema

        return result_schema()
    from dpcompose.render import schemas

    match of:
        case SchemaOf.DIFF:
            return schemas.diff_schema()
        case SchemaOf.TOTAL:
            return schemas.total_schema()
        case SchemaOf.SENSITIVITY:
            return schemas.sensitivity_schema()
        case SchemaOf.ASSUMPTIONS:
            return schemas.assumptions_schema()


def _unknown(identifier: str, known: list[str]) -> str:
    near = nearest(identifier.strip().rpartition(":")[2], known)
    offer = f"; did you mean {near}?" if near else ""
    return (
        f"{quoted(identifier)} is neither a theorem nor a code{offer} "
        "(`dpcompose theorems` lists the theorems)"
    )
