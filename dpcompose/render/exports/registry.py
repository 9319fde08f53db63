"""The format `registry`: an entry of the registry of DP deployments, as far as a spec tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpcompose.bridge.registry_entries import (
    OURS,
    SCHEMA,
    TODO,
    fields,
    kept_text,
    number_in_yaml,
    written,
)
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Path, printable
from dpcompose.places import version
from dpcompose.render.layout import Style, sentence, transliterated
from dpcompose.render.parts.inline import readable
from dpcompose.render.words.headlines import finite_number, is_bounded
from dpcompose.render.words.numbers import at_text, bound_text
from dpcompose.render.words.pipeline_words import heading, protected
from dpcompose.render.words.theorem_text import entry_of
from dpcompose.report import Line, Report
from dpcompose.source import Number, Value

_DIGITS = 4  # of the parameters
_VARIANTS = {
    Notion.PURE: "Pure DP",
    Notion.ZCDP: "Zero-concentrated DP",
    Notion.GDP: "Custom",
    Notion.RDP: "Renyi DP",
}
#: The registry's words for units, and for the distances in which neighbours are one step apart.
_ROW = "Row-level"
_UNITS = {"user": "User-level", "edge": "Edge-level", "node": "Node-level"}
_DISTANCES = {"unbounded": "symmetric distance", "bounded": "change-one distance"}
#: What stands in a field that an entry needs, until its author has written it.
_PLACEHOLDERS: dict[str, Any] = {
    "status": "Draft",
    "tier": Number("3"),
    "data_product_type": "Summary statistics",
    "publication_date": "1900-01-01",
    "data_curators": [TODO],
    "registry_authors": [TODO],
}
_REMARKS = {
    "url_slug": "scripts/update_slug.py of the registry writes it",
    "publication_date": f"{TODO}: the day of the first publication",
    "privacy_parameters": f"{TODO}: `dpcompose analyze --delta 1e-6` states an ε",
}
#: What an older entry has here is always replaced.
_REPLACED = ("variant_name", "privacy_parameters")


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields for each report its entry for the registry, as YAML documents separated by `---`;
    `checking` makes no difference."""
    return entries(reports, style, {})


def entries(reports: Iterable[Report], style: Style, old: Mapping[str, Value]) -> Iterator[str]:
    """Yields for each report its entry for the registry; texts that the author wrote into the entry
    `old` are kept."""
    for number, report in enumerate(reports):
        yield transliterated(("---\n" if number else "") + _entry(report, old), style.encoding)


def _entry(report: Report, old: Mapping[str, Value]) -> str:
    """Returns an entry as YAML, with comments at its start that say what is left to do."""
    name = printable(report.label)
    if not is_bounded(report):
        no_bound = report.status in ("ok", "no-guarantee")
        why = "there is no finite guarantee" if no_bound else "the spec is invalid"
        return f"# {name}: no entry, since {why}\n"
    remarks: dict[Path, str] = {}
    tree = _filled(fields(), _fields_of(report), old, remarks, ())
    return (
        f"# By dpcompose {version()} from {name}, for the registry of DP deployments\n"
        f"# (its schema at commit {SCHEMA.commit}). Numbers are rounded up.\n"
        f"# What is marked {TODO} is yours to write: `dpcompose registry check` lists it.\n"
        f"{written(tree, remarks)}"
    )


def _filled(
    known: Mapping[str, Any],
    told: Mapping[str, Any],
    old: Mapping[str, Value],
    remarks: dict[Path, str],
    path: Path,
) -> dict[str, Any]:
    """Returns the fields of an entry: the text of the author in `old`, else what the report says
    (`told`), else a placeholder.

    `known`: the fields of the schema. Adds to `remarks`, by path, comments on what is left to do.
    """
    tree: dict[str, Any] = {}
    for field, kind in known.items():
        name, at = field.rstrip("!"), (*path, field.rstrip("!"))
        ours, theirs = told.get(name), old.get(name)
        own = kept_text(theirs)
        if isinstance(kind, dict) and name not in _REPLACED:
            below = theirs if isinstance(theirs, dict) else {}
            tree[name] = _filled(kind, told, below, remarks, at)
        elif ours and name in _REPLACED:
            tree[name] = ours
        elif ours and isinstance(ours, list):  # lines of a text, which may have the author's above
            tree[name] = "\n".join([*([own, ""] if own else []), OURS, "", *ours])
        elif (own and name not in _REPLACED) or (kind == "texts" and theirs and theirs != [TODO]):
            tree[name] = theirs
        elif ours:
            tree[name] = ours
            if ours == _ROW:
                remarks[at] = f"{TODO}: what a row is: User-level, User-day-level, Person-level, …"
        else:
            remarks[at] = _REMARKS.get(name, "")
            if isinstance(kind, list) and name not in ("status", "tier"):
                remarks[at] = f"{TODO}: {', '.join(kind)}"
            if field.endswith("!") or not isinstance(kind, list | dict):
                tree[name] = _PLACEHOLDERS.get(name, TODO)
    return tree


def _fields_of(report: Report) -> dict[str, Any]:
    """Returns the fields of an entry that a report can fill, by name; a list is a text of several
    lines."""
    variant, numbers = _parameters(report)
    relation = str(report.relation)
    distance = _DISTANCES.get(relation, f"number of {relation} steps between them")
    digits = f"- The parameters of the entry are these, rounded up to {_DIGITS} significant digits."
    nodes = report.pipeline
    mechanisms, results = [], []
    for node in nodes:
        if node.kind == "mechanism" and node.above is not None:
            above = nodes[node.above]
            while above.kind == "block" and above.above is not None:
                above = nodes[above.above]
            mechanisms.append(f"`{node.name}` on `{above.name}`: {node.says}")
        elif node.kind == "result":
            results.append(f"`{node.name}` {node.says}")
    fixed = ["the number of rows"] if relation == "bounded" else []
    fixed += [f"the column `{each}`" for each in report.keeps]
    return {
        "name": printable(heading(report)),
        "variant_name": variant,
        "unprotected_quantities": _bullets(
            f"{each}, in which neighbours do not differ" for each in fixed
        ),
        "privacy_unit": _UNITS.get(relation, _ROW),
        "privacy_unit_details": _bullets(
            (
                f"adjacent datasets differ by {protected(report)}",
                f"the distance between two datasets is the {distance}, and the maximum distance "
                f"between adjacent ones is {report.distance}",
            )
        ),
        "privacy_parameters": {
            name: Number(number_in_yaml(value, _DIGITS)) for name, value in numbers.items()
        },
        "privacy_parameters_details": [*_bullets(_exact_numbers(report)), digits],
        "post_processing": _bullets(results),
        "composition": _bullets(map(_step, report.chain)),
        "mechanisms": _bullets(mechanisms),
        "justification": _bullets(
            f"assumed, and checked by no program: {each.says}" for each in report.assumptions
        ),
        "notes": _bullets(
            [f"certified by dpcompose {version()} from a spec with SHA-256 `{report.digest}`"]
        ),
    }


def _parameters(report: Report) -> tuple[str, dict[str, Fraction]]:
    """Returns the variant of an entry, and its parameters before they are rounded."""
    bound, at = report.bound, finite_number(report)
    numbers: dict[str, Fraction] = {}
    if at is not None and at.value is not None:
        pair = (at.value, at.given) if at.wanted == "delta" else (at.given, at.value)
        numbers = {"epsilon": pair[0], "delta": pair[1]}
    if bound is None or bound.notion not in _VARIANTS:
        if bound is not None and not numbers:
            numbers = {name: value for name, value, _ in bound.parameters}
        return "Approximate DP", numbers
    if bound.notion is Notion.PURE:
        return "Pure DP", {"epsilon": bound.value}
    if bound.notion is Notion.ZCDP:
        numbers["rho"] = bound.value
    return _VARIANTS[bound.notion], numbers


def _exact_numbers(report: Report) -> Iterator[str]:
    """Yields the bound, and the numbers at the chosen δ and ε, as the report prints them."""
    if report.bound is not None:
        yield f"{bound_text(report.bound)} ({report.bound.notion.facts.words})"
    for at in (*report.at_delta, *report.at_epsilon):
        yield f"{at_text(at)}{f', by {at.rule}' if at.rule else ''}"


def _step(line: Line) -> str:
    """Returns a step of the reasoning with its bound, and the theorem that gives it."""
    bound = f", so {bound_text(line.bound)}" if line.bound else ""
    entry = entry_of(line.theorem)
    return f"{line.says}{bound}{f' ({entry.place}, {entry.source})' if entry else ''}"


def _bullets(sentences: Iterable[str]) -> list[str]:
    """Returns sentences as the items of a list in Markdown, none twice."""
    return list(dict.fromkeys(f"- {sentence(readable(each)).rstrip('.')}." for each in sentences))
