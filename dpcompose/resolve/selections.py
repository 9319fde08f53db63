"""From selections as written to statements: the best of a random number of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.mechanisms.private_selection import Selected, stop_of
from dpcompose.core.model.problem import Path, Statement
from dpcompose.core.notions.guarantee import guaranteed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import POSITIVE, Need
from dpcompose.curves.rounding import ONE, ZERO
from dpcompose.faults import Faults
from dpcompose.resolve.parameters import Context, Numbers
from dpcompose.spec.fields import Model
from dpcompose.spec.mechanisms import Runs

_MEAN = Need(
    "from 1 to 1e12", "DPC111", "at least one run is made", lambda value: 1 <= value <= 10**12
)
_SHAPE = Need(
    "0, or from -0.9 to 1e6 and at least 1e-6 from 0",
    "DPC111",
    "0 is the logarithmic law, 1 the geometric one",
    lambda value: (
        not value or (value >= Fraction(-9, 10) and Fraction(1, 10**6) <= abs(value) <= 10**6)
    ),
    signed=True,
)
#: Of runs that are stated in several ways each, so many ways together are looked at.
_MOST_CHOICES = 16
_STOP = Need("from 0 to 1", "DPC111", "γ is a chance", lambda value: value <= 1)


def selection_statements(
    mechanism: Any,
    path: Path,
    statements: Callable[[Model, Path], list[Statement] | None],
    context: Context,
) -> list[Statement] | None:
    """Returns the guarantees of a private selection (the best of a random number of runs), one for
    each neighbouring relation for which all its runs have one; None after an error.

    `statements`: returns those of one run at a path.
    """
    faults = context.faults
    several = isinstance(mechanism.of, list)
    at = (*path, "of")
    runs = (
        [(each, (*at, i)) for i, each in enumerate(mechanism.of)]
        if several
        else [(mechanism.of, at)]
    )
    found = [statements(each, where) for each, where in runs]
    law = _law(mechanism.runs, (*path, "runs"), context.numbers, faults)
    listed = [each for each in found if each is not None]
    if law is None or len(listed) < len(found):
        return None
    if law.law == "fixed":
        if several and law.mean > 1:
            message = "a fixed number of runs of several mechanisms is no selection"
            hint = "give each mechanism an entry of its own, with `count`"
            faults.add("DPC105", (*path, "runs", "fixed"), message, hint, key=True)
            return None
        if not several:
            return listed[0]
        law = Selected("negative_binomial", ONE, ONE, ONE, ())  # one run for sure
    if (
        law.stop == 0
        and law.law == "until_threshold"
        and not all(_is_pure(each) for each, _ in runs)
    ):
        message = "with `stop: 0` a search may go on for ever, and the δ of its runs adds up"
        hint = "give up after each failure with a chance: `stop: 1/100`"
        faults.add("DPC105", (*path, "runs", "until_threshold", "stop"), message, hint)
        return None
    result = list(_joint_statements(listed, law, path))
    if any(each.relation.kind is RelationKind.EUCLIDEAN for each in result):
        message = "`relation: euclidean` does not go with `mechanism: select`"
        faults.add("DPC150", (*path, "mechanism"), message, "only a loss per unit can be followed")
        return None
    if not result:
        message = "the runs have no relation in common: each is stated for other neighbours"
        hint = "state all of them for the same relation"
        faults.add("DPC105", (*path, "of"), message, hint, key=True)
        return None
    return result


def _joint_statements(
    listed: list[list[Statement]], law: Selected, path: Path
) -> Iterator[Statement]:
    """Yields a statement of a selection for each relation for which a guarantee of every run is
    stated."""
    alike: list[dict[tuple[Relation, int], list[Statement]]] = []
    for statements in listed:
        groups: dict[tuple[Relation, int], list[Statement]] = {}
        for each in statements:
            if not each.implied:
                groups.setdefault((each.relation, each.up), []).append(each)
        alike.append(groups)
    for key in alike[0]:
        choices = product(*(groups.get(key, []) for groups in alike))
        for choice in islice(choices, _MOST_CHOICES):
            given = all(each.relation_given for each in choice)
            mechanism = replace(law, of=tuple(each.guarantee for each in choice))
            notion = Notion.APPROX if mechanism.epsilon(ONE) is None else Notion.PURE
            yield Statement(*key, guaranteed(notion, mechanism, ONE), path, given)


def _is_pure(run: Model) -> bool:
    """Returns whether one run as written is stated in pure DP."""
    notion = getattr(run, "notion", None)
    if notion is not None:
        return bool(notion == "pure")
    return bool(run.form.states[0] == "pure")


# --- laws -----------------------------------------------------------------------------------------


def _law(runs: Runs, path: Path, numbers: Numbers, faults: Faults) -> Selected | None:
    """Returns a selection with the law of its number of runs, and no runs yet; None after an
    error."""
    given = [key for key in type(runs).model_fields if getattr(runs, key) is not None]
    if len(given) != 1:
        message = "`runs` needs one law of the number of runs"
        hint = "such as `runs: {geometric: 10}`, a geometric number of mean 10"
        if given:
            message = f"`{given[0]}` and `{given[1]}` exclude each other"
            hint = "the number of runs has one law"
        faults.add("DPC105" if given else "DPC102", path, message, hint, key=True)
        return None
    [key] = given
    value, at = getattr(runs, key), (*path, key)
    match key:
        case "fixed":
            return Selected(key, Fraction(value), ZERO, ZERO, ())
        case "until_threshold":
            stop = numbers.parameter(value.stop, (*at, "stop"), _STOP, safe="down")
            if stop is None:
                return None
            return Selected(key, 1 / stop if stop else ZERO, ZERO, stop, ())
        case "poisson":
            mean = numbers.parameter(value, at, POSITIVE, safe="up")
            return None if mean is None else Selected(key, mean, ZERO, ZERO, ())
        case "binomial":
            mean = numbers.parameter(value.mean, (*at, "mean"), POSITIVE, safe="up")
            if mean is not None and mean >= value.trials:
                message = f"the mean of {value.trials} trials is below {value.trials}"
                hint = "as many runs as trials are a fixed number: `runs: {fixed: …}`"
                faults.add("DPC111", (*at, "mean"), message, hint)
                return None
            trials = Fraction(value.trials)
            return None if mean is None else Selected(key, mean, trials, ZERO, ())
    shape: Fraction | None = ONE if key == "geometric" else ZERO
    text, where = value, at
    if key == "negative_binomial":
        shape = numbers.parameter(value.shape, (*at, "shape"), _SHAPE)
        text, where = value.mean, (*at, "mean")
    mean = numbers.parameter(text, where, _MEAN, safe="up")
    if shape is None or mean is None:
        return None
    return Selected("negative_binomial", mean, shape, stop_of(shape, mean), ())
