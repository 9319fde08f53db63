"""Patterns under exchange of the two tables, for one-sided samples: one table has the row."""

from __future__ import annotations

from dataclasses import replace

from dpcompose.core.loss.pattern import LossMultiset, MechanismLossOptions
from dpcompose.curves import (
    Allocated,
    Curve,
    Grouped,
    MixtureOfDraws,
    Part,
    PoissonGroup,
    Sampled,
    curve_of,
    leans,
    rank,
)

_OTHER_SIDE = {"removed": "added", "added": "removed"}


def mirrored(pattern: LossMultiset) -> LossMultiset:
    """Returns the pattern of losses with the two tables exchanged.

    The pattern itself if the exchange changes nothing: what holds for both orders of the tables
    holds for both patterns.
    """
    atoms: dict[MechanismLossOptions, int] = {}
    for atom, n in pattern.atoms.items():
        turned = [_turned(known.part) for known in atom.options]
        if any(part is not known.part for part, known in zip(turned, atom.options, strict=True)):
            ways = zip(turned, atom.options, strict=True)
            atom = MechanismLossOptions(
                tuple(curve_of(part, known.gaussian, known.no_failure) for part, known in ways)
            )
        atoms[atom] = atoms.get(atom, 0) + n
    return pattern if atoms == pattern.atoms else replace(pattern, atoms=atoms)


def _turned(part: Part | None) -> Part | None:
    """Returns a part with the sides of one-sided samples exchanged, nested ones too.

    Every other part holds for both orders of the tables, and is returned itself.
    """
    match part:
        case PoissonGroup() | Allocated() if part.side != "both":
            return replace(part, side=_OTHER_SIDE[part.side])
        case MixtureOfDraws(ways) if leans(part):
            return replace(part, ways=tuple((q, _turned_whole(base)) for q, base in ways))
        case Sampled():
            base, side = _turned_whole(part.base), _OTHER_SIDE.get(part.side, part.side)
            same = base is part.base and side == part.side
            return part if same else replace(part, base=base, side=side)
        case Grouped():
            base = _turned_whole(part.base)
            return part if base is part.base else replace(part, base=base)
    return part


def _turned_whole(base: Curve) -> Curve:
    """Returns a composition with the sides of all its one-sided samples exchanged."""
    turned = tuple((_turned(part) or part, n) for part, n in base.parts)
    if all(new is old for (new, _), (old, _) in zip(turned, base.parts, strict=True)):
        return base
    return replace(base, parts=tuple(sorted(turned, key=rank)))


def in_both_orders(atom: MechanismLossOptions) -> MechanismLossOptions:
    """Returns an atom that dominates the given one, whichever of the two tables has the row.

    The atom itself if none of its options is a one-sided sample.
    """
    if all(_of_both_sides(known.part) == known.part for known in atom.options):
        return atom
    return MechanismLossOptions(
        tuple(
            curve_of(_of_both_sides(known.part), known.gaussian, known.no_failure)
            for known in atom.options
        )
    )


def _of_both_sides(part: Part | None) -> Part | None:
    """Returns a sample as one whose loss holds for both sides."""
    match part:
        case Sampled() | PoissonGroup() | Allocated():
            return replace(part, side="both")
        case MixtureOfDraws(ways) if leans(part):
            return replace(part, ways=tuple((q, _whole_of_both_sides(base)) for q, base in ways))
    return part


def _whole_of_both_sides(base: Curve) -> Curve:
    """Returns a composition with all its samples as those whose loss holds for both sides."""
    parts = ((_of_both_sides(part) or part, n) for part, n in base.parts)
    return replace(base, parts=tuple(sorted(parts, key=rank)))
