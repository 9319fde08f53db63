"""One or two random specs: what is certified of them, and one spec that says what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import yaml

from dpcompose.errors import InvalidSpec
from dpcompose.pipeline import analyze
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import TotalAsked, add_up
from dpcompose.resolve import resolve
from dpcompose.source import load

from .features import kind_of
from .judge import Claim

Spec = dict[str, Any]
#: Maps that each release draws for itself, and partitions that names do not identify.
APART = ("sample", "by position")


class Invalid(Exception):
    """A spec is no valid one; the message says why."""


def text(spec: Mapping[str, Any]) -> str:
    """A spec as a file has it."""
    return yaml.safe_dump(dict(spec), sort_keys=False)


def claims(specs: Sequence[Spec]) -> list[Claim]:
    """What is certified of one spec, or of two on the same people; nothing where all is refused."""
    if len(specs) > 1:
        return _added(specs)
    report = analyze(text(specs[0]))
    if report.status == "invalid":
        raise Invalid(next(each.message for each in report.findings if each.level == "error"))
    bounds = [] if report.bound is None else [report.bound]
    return _told(bounds, report.at_delta)


def _added(specs: Sequence[Spec]) -> list[Claim]:
    try:
        releases = [
            Release(f"{n}.yaml", resolve(load(text(spec), f"{n}.yaml")))
            for n, spec in enumerate(specs)
        ]
    except InvalidSpec as invalid:
        raise Invalid(str(invalid.diagnostics[0].message)) from invalid
    [total] = add_up(releases, TotalAsked(fixed="planned together")).totals
    if total.refused:
        raise Invalid(total.refused)
    return _told(total.bounds, total.at_delta)


def _told(bounds: Sequence[Any], at_delta: Sequence[Any]) -> list[Claim]:
    made = [Claim(each.notion.value, each.value, each.delta or Fraction(0)) for each in bounds]
    for each in at_delta:
        if each.value is not None:
            made.append(Claim("approx", each.value, each.given))
    return made


def together(specs: Sequence[Spec]) -> Spec:
    """One spec for the enumeration: what has one name and one declaration is one dataset.

    That goes for roots and for what fixed maps and partitions make of them; samples and random
    limits are drawn by each release, and all other roots hold the same people.
    """
    if len(specs) == 1:
        return specs[0]
    first, second = specs
    names: dict[str, str] = {}
    for name, body in second["datasets"].items():
        parent = str(body.get("from", "")).partition(".")[0]
        kind, how = kind_of(body)
        same = first["datasets"].get(name) == body and names.get(parent, "") == parent
        random = kind in APART or how.get("keep") == "random"
        names[name] = name if same and not random else f"{name} again"

    def renamed(reference: str) -> str:
        base, dot, block = reference.partition(".")
        return f"{names[base]}{dot}{block}"

    datasets = dict(first["datasets"])
    for name, body in second["datasets"].items():
        datasets[names[name]] = (
            {**body, "from": renamed(str(body["from"]))} if "from" in body else body
        )
    mechanisms = list(first["mechanisms"])
    for mechanism in second["mechanisms"]:
        made = {**mechanism, "reads": renamed(str(mechanism["reads"]))}
        if "stated_on" in made:
            made["stated_on"] = renamed(str(made["stated_on"]))
        if "guarantees" in made:
            made["guarantees"] = [
                {**each, "stated_on": renamed(str(each["stated_on"]))}
                if "stated_on" in each
                else each
                for each in made["guarantees"]
            ]
        mechanisms.append(made)
    disjoint = [
        [
            name if spec is first else names[name]
            for name, body in spec["datasets"].items()
            if "from" not in body
        ]
        for spec in specs
        if spec.get("roots") == "disjoint"
    ]
    return {**first, "datasets": datasets, "mechanisms": mechanisms, "roots": disjoint}
