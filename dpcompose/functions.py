"""The functions for Python programs beside `analyze`: what changed, and what is spent.

A spec is given as its text, or as the `Path` of its file.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING

from dpcompose.pipeline import Limit, Number, budget_of, numbers_of, text_of

if TYPE_CHECKING:
    from dpcompose.planning.comparison import Change
    from dpcompose.planning.fitting import Fitted
    from dpcompose.planning.ledger.totals import Total

Spec = bytes | str | PathLike[str]


def diff(old: Spec, new: Spec, *, deltas: Iterable[Number] = ()) -> Change:
    """Returns what became of the bound of a spec, and why.

    >>> import dpcompose
    >>> old = dpcompose.example("adults-filter")
    >>> dpcompose.diff(old, old.replace("epsilon: 0.4", "epsilon: 0.5")).direction
    'increased'

    `deltas`: where the ε is compared too. Raises InvalidSpec where one of them is invalid.
    """
    from dpcompose.errors import InvalidSpec
    from dpcompose.planning.comparison import Invalid, SameTerms, Version, change

    was, now = (Version(name, data) for data, name in (text_of(old, "old"), text_of(new, "new")))
    found = change(was, now, SameTerms(numbers_of("deltas", deltas, below=1)))
    if isinstance(found, Invalid):
        first = found.reports[0]
        raise InvalidSpec(first.findings, first.file, first.lines)
    return found


def total(
    specs: Iterable[Spec],
    limit: Limit | None = None,
    *,
    deltas: Iterable[Number] = (),
    fixed: str | None = None,
) -> Total:
    """Returns what several releases on the same people cost together.

    >>> import dpcompose
    >>> spec = dpcompose.example("visits-cap-and-places")
    >>> dpcompose.total([spec, spec], fixed="planned in January").bounds[0].value
    Fraction(3, 1)

    `limit`: the budget of all of them. `fixed`: why all parameters were fixed before the first
    output; else a filter counts what is spent. Raises InvalidSpec.
    """
    from dpcompose.planning.ledger.releases import Release
    from dpcompose.planning.ledger.totals import TotalAsked, add_up
    from dpcompose.resolve import resolve
    from dpcompose.source import load

    given = [text_of(each, f"spec {n}") for n, each in enumerate(specs, 1)]
    releases = [Release(name, resolve(load(data, name)), (), ()) for data, name in given]
    points = numbers_of("deltas", deltas, below=1)
    asked = TotalAsked(budget_of(limit), points, everything=True, fixed=fixed)
    (found,) = add_up(releases, asked).totals
    return found


def fit(spec: Spec, limit: Limit | None = None, free: Iterable[str] = ()) -> Fitted:
    """Returns a spec with the noise or the parameters scaled so that it keeps a budget.

    >>> import dpcompose
    >>> fitted = dpcompose.fit(dpcompose.example("visits-cap-and-places"), {"epsilon": 1})
    >>> fitted.scale
    Fraction(2, 3)

    `limit`: None for the budget of the spec. `free`: the mechanisms to scale, all where none is
    named. `text` of what is returned is the new spec. Raises InvalidSpec, and Unfit where no scale
    keeps the budget.
    """
    from dpcompose.planning.fitting import fit as fitted
    from dpcompose.source import load

    weights: Mapping[str, Fraction] = dict.fromkeys(free, Fraction(1))
    data, name = text_of(spec, "<spec>")
    return fitted(load(data, name), budget_of(limit), weights)


def example(name: str) -> str:
    """Returns the text of an example spec by its name, as `dpcompose examples NAME` prints it.

    >>> import dpcompose
    >>> dpcompose.example("dp-sgd").splitlines()[2]
    '# DP-SGD in three lines: a sample, Gaussian noise, and how many steps.'

    Raises ValueError for a name that is none.
    """
    from dpcompose.places import examples

    found = ChainMap(*examples().values())
    if name not in found:
        raise ValueError(f"there is no example {name!r}: {', '.join(sorted(found))}")
    return found[name].read_text(encoding="utf-8")
