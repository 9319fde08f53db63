"""Basic composition of losses and patterns in one notion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.pattern import LossMultiset
from dpcompose.core.notions.notion import Notion, convert
from dpcompose.curves import Concentrated, Curve, Maximum, MechanismLoss, Part, Response, curve_of
from dpcompose.curves.rounding import ONE, ZERO


def in_notion(known: Curve, notion: Notion) -> Fraction | None:
    """Returns the least amount (ε, ρ or μ²) that an option is known to have; None if none is known.

    None also for an option with a δ.
    """
    if known.no_failure != 1:
        return None
    part = known.part
    if isinstance(part, Maximum):
        found = _greatest(part.options, notion)
        rest = in_notion(curve_of(None, known.gaussian), notion)
        return None if found is None or rest is None else found + rest
    pure = _pure(part)
    if notion is Notion.PURE:
        return None if known.gaussian else pure
    if notion is Notion.GDP:
        if isinstance(part, MechanismLoss):
            mu = part.mu()
            return None if mu is None else known.gaussian + mu * mu
        if pure is None:
            return None
        return known.gaussian + Fraction(convert(pure, Notion.PURE, Notion.GDP))
    ways: list[Fraction] = []
    if pure is not None:
        ways.append(Fraction(convert(pure, Notion.PURE, Notion.ZCDP)))
    match part:
        case MechanismLoss():
            ways.append(part.rho())
        case Concentrated(rho):
            ways.append(rho)
    return min(ways) + known.gaussian / 2 if ways else None


def _pure(part: Part | None) -> Fraction | None:
    """Returns the ε of a part, None if it has none."""
    match part:
        case None:
            return ZERO
        case Response(epsilon):
            return epsilon
        case MechanismLoss():
            return part.greatest()
        case _:
            return None


def _greatest(options: Sequence[Curve], notion: Notion) -> Fraction | None:
    """Returns the largest basic composition of several compositions; None if one has none."""
    found = [_total(each, notion) for each in options]
    known = [amount for amount in found if amount is not None]
    return max(known) if len(known) == len(found) else None


def _total(composition: Curve, notion: Notion) -> Fraction | None:
    """Returns the basic composition of a composition, as `total` does of a pattern."""
    rest = in_notion(curve_of(None, composition.gaussian, composition.no_failure), notion)
    amounts = [(in_notion(curve_of(part), notion), n) for part, n in composition.parts]
    if rest is None or any(amount is None for amount, _ in amounts):
        return None
    return rest + sum((amount * n for amount, n in amounts if amount is not None), ZERO)


def total(pattern: LossMultiset, notion: Notion) -> Fraction | None:
    """Returns the basic composition of a pattern in one notion; None if some atom has no amount."""
    amount = ZERO
    for atom, n in pattern.atoms.items():
        found = [x for x in (in_notion(option, notion) for option in atom.options) if x is not None]
        if not found:
            return None
        amount += min(found) * n
    return amount


def worst_total(loss: Sequence[LossMultiset], notion: Notion) -> Fraction | None:
    """Returns the largest total of several patterns; None if one has none."""
    found = [total(pattern, notion) for pattern in loss]
    known = [amount for amount in found if amount is not None]
    return max(known) if known and len(known) == len(found) else None


def total_pair(pattern: LossMultiset) -> tuple[Fraction, Fraction] | None:
    """Returns the basic composition in (ε, δ), with δ = 1-Π(1-δ_i); None if some atom has no ε."""
    epsilon, no_failure = ZERO, Survival(ONE)
    for atom, n in pattern.atoms.items():
        for option in atom.options:
            pure = in_notion(replace(option, no_failure=ONE), Notion.PURE)
            if pure is not None:
                epsilon += pure * n
                if option.no_failure != 1:
                    no_failure = no_failure + Survival(option.no_failure) * n
                break
        else:
            return None
    return epsilon, 1 - no_failure.no_failure
