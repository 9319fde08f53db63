"""The interface of a mechanism family: its keys in a spec, its privacy loss, and its description.

A concrete mechanism is known by more than an ε: by the distribution of its privacy loss. Along a
path of neighbouring tables sensitivities add, which is sharper than group privacy. Each family has
one file here, and one name in `dpcompose.core.mechanisms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from dpcompose.core.notions.notion import Notion, convert
from dpcompose.core.numbers.form_keys import NOISE, REQUIRED, FormKey, Need, Sort
from dpcompose.core.theorem import Assumption, Hypothesis, Refused, Role, Test, Use, theorem
from dpcompose.curves import Curve, MechanismLoss
from dpcompose.curves.families import GeometricLoss, equal_steps
from dpcompose.curves.rounding import ZERO, gaussian_mean_up, sqrt_up

if TYPE_CHECKING:
    from dpcompose.core.notions.notion import StatedNumbers
    from dpcompose.core.theorems.setting import ChargedStep


#: Relations under which data are only added or only removed, so that counts move in one direction.
ONE_DIRECTION = frozenset({"unbounded", "user", "edge", "node"})


def noise_key(
    name: str, says: str, *, default: object = REQUIRED, exactly: bool = False
) -> FormKey:
    """Returns the key of a spec for a number above 0 that says how much noise there is.

    `exactly`: it must be rational.
    """
    return FormKey(name, Sort.NUMBER, says, default, need=NOISE, noise=True, exactly=exactly)


class Family(ABC):
    """A concrete mechanism with its parameters.

    Its methods return bounds for a `shift` of at least 0: the sum of the sensitivities along a path
    of tables, in the unit of the sensitivities. A family says its loss, and which bounds are known
    of it beside those that follow from its ε.
    """

    __slots__ = ()

    @abstractmethod
    def loss(self, shift: Fraction) -> Curve:
        """Returns the curve of a dominating pair: the law of the privacy loss at a shift above
        0."""

    def bounds(self, shift: Fraction) -> Iterator[Curve]:
        """Yields curves each of which bounds the privacy loss at a shift above 0, `loss` first."""
        yield self.loss(shift)

    def for_replaced_row(self) -> Family | None:
        """Returns the mechanism, stated for rows added or removed, as it is stated for rows
        replaced; None where that is two such steps."""
        return None

    @abstractmethod
    def describe(self, shift: Fraction) -> str:
        """Returns the mechanism as text: `Laplace noise of scale 2, sensitivity 1`."""

    def epsilon(self, shift: Fraction) -> Fraction | None:
        """Returns the least ε at δ = 0, None if there is none."""
        return None

    def rho(self, shift: Fraction) -> Fraction | None:
        """Returns the least ρ of zCDP that is known, rounded up; None if none is."""
        epsilon = self.epsilon(shift)
        return None if epsilon is None else Fraction(convert(epsilon, Notion.PURE, Notion.ZCDP))

    def mu(self, shift: Fraction) -> Fraction | None:
        """Returns the least μ of Gaussian DP that is known, rounded up; None if none is."""
        epsilon = self.epsilon(shift)
        return None if epsilon is None else gaussian_mean_up(epsilon)

    def mu_squared(self, shift: Fraction) -> Fraction | None:
        """Returns the square of the least μ, which adds up; None if no μ is known.

        Exact where the square is rational and μ is not.
        """
        mu = self.mu(shift)
        return None if mu is None else mu * mu

    def pair(self) -> tuple[Fraction, Fraction] | None:
        """Returns an (ε, δ) of the mechanism for one step of its relation, or None if it is not
        stated in (ε, δ)."""
        return None


class EqualLosses(Family):
    """A mechanism whose loss is one of a concrete mechanism, or several that are equal: all bounds
    of it are theirs."""

    __slots__ = ()

    @abstractmethod
    def part(self, shift: Fraction) -> MechanismLoss:
        """Returns one of the equal losses, that of a concrete mechanism, at a shift."""

    def times(self, shift: Fraction) -> int:
        """Returns how many such losses compose at a shift."""
        return 1

    def epsilon(self, shift: Fraction) -> Fraction | None:
        greatest = self.part(shift).greatest()
        return None if greatest is None else greatest * self.times(shift)

    def rho(self, shift: Fraction) -> Fraction:
        if not shift or self.epsilon(shift) == 0:
            return ZERO
        return self.part(shift).rho() * self.times(shift)

    def mu(self, shift: Fraction) -> Fraction | None:
        mu = self.part(shift).mu()
        return None if mu is None else mu * sqrt_up(Fraction(self.times(shift)))

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((self.part(shift), self.times(shift)),))


class OverSteps(EqualLosses):
    """A mechanism that is stated for one step of the relation: a shift is a number of steps.

    Where only pure DP is known of it, its loss over several steps is that of geometric noise (Dong,
    Roth and Su 2022, Theorem 2.14).
    """

    __slots__ = ()

    def loss(self, shift: Fraction) -> Curve:
        part, times = self.part(shift), self.times(shift)
        if isinstance(part, GeometricLoss):
            return Curve(((equal_steps(1 / part.scale, part.shift), times),))
        return Curve(((part, times),))


#: Why a mechanism is refused for values of its keys: the key, a message and a hint.
Why = tuple[str, str, str]


class FamilyForm(NamedTuple):
    """The form of a family in a spec, and the guarantees that follow from it.

    `keys`: its parameters, of which the first number says how much noise there is; `make` creates a
    mechanism from their values, in this order, where `family` itself does not. `about`: one
    sentence about the family. `sensitivity`: the requirement on sensitivities; None for a mechanism
    without one, in which every row answers by itself, or which is stated for one step of a relation
    (`by_steps`); `moved` is the sensitivity where a spec leaves it out. `over_steps`: one run
    releases values over many steps, so that it must not read a sample, which would be one and the
    same for all. `norm`: the default norm of the sensitivities of vectors; None where they are no
    distances. `whole`: the noise is on whole numbers. `relative`: shifts are in units of the least
    sensitivity. `states`: the notions that it guarantees, the strongest first. `giving`: returns
    the least parameter with which it has a stated guarantee in pure DP or zCDP, at a sensitivity of
    1. `refusal`: returns why the values of its keys do not fit the changes of a relation, or None.
    """

    name: str
    family: type[Family]
    about: str
    keys: tuple[FormKey, ...]
    states: tuple[Literal["pure", "zcdp", "gdp", "approx"], ...]
    trusted: Assumption
    sensitivity: Need | None = None
    norm: Literal["L1", "L2"] | None = None
    relative: bool = False
    whole: bool = False
    by_steps: bool = False
    moved: str | None = None
    over_steps: bool = False
    make: Callable[..., Family] | None = None
    giving: Callable[[StatedNumbers], Fraction] | None = None
    refusal: Callable[[Mapping[str, object], str], Why | None] | None = None

    @property
    def numbers(self) -> tuple[FormKey, ...]:
        """Returns the keys whose values are exact numbers."""
        return tuple(each for each in self.keys if each.sort is Sort.NUMBER)

    @property
    def key(self) -> FormKey:
        """Returns the key that says how much noise there is."""
        return self.numbers[0]

    def made(self, values: Mapping[str, object]) -> Family:
        """Returns the mechanism with these values of the form's keys, by their names."""
        make: Callable[..., Family] = self.make or self.family
        return make(*(values[each.name] for each in self.keys))


def monotone_key(moved: str) -> FormKey:
    """Returns the key of a spec that declares that values move in one direction where rows only
    come or only go.

    `moved`: the values in words.
    """
    one_way = "move in one direction, as counts do where rows come or go"
    says = f"For two neighbours all {moved} {one_way}."
    return FormKey("monotone", Sort.FLAG, says, default=False)


def refused_monotone(
    values: Mapping[str, object], relation: str, moved: str, scale: str
) -> Why | None:
    """Returns why a mechanism declared `monotone` does not fit a neighbouring relation, as (key,
    message, hint).

    `values`: of the mechanism's keys; `moved`: what moves with a row, in words; `scale`: the scale
    of the noise without `monotone`, in words. None if it fits, or is not `monotone`.
    """
    if not values.get("monotone") or relation in ONE_DIRECTION:
        return None
    return (
        "monotone",
        f"`monotone: true` does not go with `relation: {relation}`",
        f"where a row takes the place of another, some {moved} rise and others fall: leave it out, "
        f"with noise of scale {scale}, or state it for `relation: unbounded`",
    )


def drawn_by(name: str, *families: type[Family], but: Test | None = None) -> Hypothesis:
    """Returns the hypothesis that the mechanism charged is of one of the families, as the author
    declares.

    Or that it passes the test `but`. `name`: of the hypothesis; its words are in the handbook.
    """

    def holds(touch: ChargedStep) -> None:
        """Raises `Refused` unless the mechanism charged draws its noise from one of `families`."""
        noise = touch.first.statement.guarantee.noise
        # `OneHot` has the noise of every coordinate.
        if isinstance(getattr(noise, "noise", noise), families) or (but and but(touch)):
            return
        raise Refused(f"the mechanism is not known to be {families[0].__name__}")

    return Hypothesis(name, "", "declared", holds)


_Bound = TypeVar("_Bound", bound=Callable[..., Any])


def family_theorem(
    identifier: str,
    *,
    title: str,
    formula: str,
    given: Hypothesis,
    notion: Notion | None = None,
    place: str = "Documentation",
) -> Callable[[_Bound], _Bound]:
    """Returns the function that enters the theorem on a family's guarantee, with its bound, in the
    book.

    That function returns the bound unchanged. `given`: the hypothesis beside those of every family.
    """
    return theorem(
        identifier,
        title=title,
        formula=formula,
        place=place,
        source="dpcompose",
        hypotheses=(given,),
        notion=notion,
        uses=(Use(Role.FAMILY, "touch"),),
    )


#: The assumption declared by every mechanism that adds noise.
EXACTLY_DRAWN = Assumption(
    "the noise of {} is drawn from exactly the law stated: no floating-point leaks",
    shortly="noise as stated, no floating-point leaks",
)
