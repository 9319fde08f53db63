"""The loss along a path of neighbouring tables, whose steps charge mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice

from dpcompose.core.loss.algebras import walk_pairs
from dpcompose.core.loss.compositions import compositions, total_pair, worst_total
from dpcompose.core.loss.dominance import covering, family, of_family
from dpcompose.core.loss.pair_cost import pair_steps
from dpcompose.core.loss.pattern import LossMultiset, UndominatedLosses
from dpcompose.core.notions.notion import Notion, chain
from dpcompose.curves import (
    Allocated,
    Concentrated,
    Curve,
    Grouped,
    MechanismLoss,
    Part,
    PoissonGroup,
    PoissonReplaceOne,
    ReplacedRows,
    Response,
    Sampled,
    curve_of,
)
from dpcompose.curves.families import PureSteps, least_of
from dpcompose.curves.rounding import ZERO

#: The most steps of a path along which curves of samples are composed, which is slow.
MOST_STEPS = 64
#: Parts whose curves are slow to compose.
_SLOW = (Sampled, Allocated, PoissonReplaceOne, PoissonGroup, ReplacedRows, Grouped)


def chained(
    steps: Sequence[tuple[UndominatedLosses, int]],
    undominated: Callable[[Iterable[LossMultiset]], UndominatedLosses],
    curves: bool,
    free: bool,
) -> Iterator[Curve]:
    """Yields bounds on the loss along a whole path, as options of one atom.

    `steps`: the loss of a step and the number of such steps. `curves`: whether power functions of
    (ε, δ) are wanted; `free`: whether the steps may come in any order.
    """
    shift = _one_family(steps)
    any_known = shift is not None
    if shift is not None:
        yield curve_of(shift)
    for notion in (Notion.PURE, Notion.ZCDP, Notion.GDP):
        parts: list[tuple[Fraction, int]] = []
        for loss, count in steps:
            amount = worst_total(loss, notion)
            if amount is None:
                break
            parts.append((amount, count))
        else:
            amount = Fraction(chain(parts, notion))
            any_known = True
            if notion is Notion.PURE:
                if not isinstance(shift, PureSteps) or amount < shift.greatest():
                    path = max(each for each, _ in parts), sum(count for _, count in parts)
                    yield from map(curve_of, least_of(amount, [path]))
            elif notion is Notion.ZCDP:
                yield curve_of(Concentrated(amount))
            elif notion is Notion.GDP:
                yield curve_of(None, amount)
    pairs = [([total_pair(pattern) for pattern in loss], count) for loss, count in steps]
    if all(pair is not None for found, _ in pairs for pair in found):
        worst = [
            ((max(p[0] for p in found if p), max(p[1] for p in found if p)), count)
            for found, count in pairs
        ]
        joint = walk_pairs(worst, free)
        if joint is not None and joint[1]:
            any_known = True
            yield curve_of(Response(joint[0]), ZERO, 1 - joint[1])
        if curves:
            each = max(pair[0] for pair, _ in worst), max(pair[1] for pair, _ in worst)
            ways = [worst] if free else []
            yield from pair_steps([*ways, [(each, sum(count for _, count in worst))]])
    if not any_known or (len(steps) == 1 and len(steps[0][0]) == 1):
        # Each step loses no more than what covers all of them.
        worst_of_all = undominated(pattern for loss, _ in steps for pattern in loss)
        pattern = covering(worst_of_all)
        count = sum(count for _, count in steps)
        for composition in islice(compositions(pattern), 2):
            sampled = any(isinstance(part, _SLOW) for part, _ in composition.parts)
            if not sampled or count <= MOST_STEPS:
                yield curve_of(Grouped(composition, count))


def _one_family(steps: Sequence[tuple[UndominatedLosses, int]]) -> Part | None:
    """Returns the loss at the sum of the shifts, if every step charges one loss of one family.

    None if the steps charge different mechanisms, or losses whose shifts do not add.
    """
    key: object = None
    shift = ZERO
    for loss, count in steps:
        largest = ZERO
        for pattern in loss:
            if sum(pattern.atoms.values()) != 1:
                return None
            (atom,) = pattern.atoms
            known = atom.options[0]
            found = family(known.part) if isinstance(known.part, MechanismLoss) else None
            if (
                found is None
                or known.gaussian
                or known.no_failure != 1
                or key not in (None, found[0])
            ):
                return None
            key = found[0]
            largest = max(largest, found[1])
        shift += largest * count
    return of_family(key, shift)
