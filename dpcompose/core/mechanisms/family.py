"""The form of a mechanism family in a spec, and how its theorems enter the book.

Each family has one file here, and one name in `dpcompose.core.mechanisms`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NOISE, REQUIRED, FormKey, Need, Sort, Weaker
from dpcompose.core.theorem import Assumption, Hypothesis, Refused, Role, Test, Use, theorem

if TYPE_CHECKING:
    from dpcompose.core.notions.guarantee import Guarantee
    from dpcompose.core.notions.notion import StatedNumbers


#: Relations under which data are only added or only removed, so that counts move in one direction.
ONE_DIRECTION = frozenset({"unbounded", "user", "edge", "node"})


def noise_key(
    name: str, says: str, *, default: object = REQUIRED, exactly: bool = False
) -> FormKey:
    """Returns the key of a spec for a number above 0 that says how much noise there is.

    `exactly`: it must be rational.
    """
    return FormKey(name, Sort.NUMBER, says, default, need=NOISE, noise=True, exactly=exactly)


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

    def weaker(self, key: FormKey) -> tuple[Weaker, ...]:
        """Returns the changes of the value of a key that never lower a bound: where it may be
        rounded, those in that direction."""
        if key.sort is not Sort.NUMBER or key.safe is None:
            return ()
        return ("larger",) if key.safe == "up" else ("smaller",)

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


class ChargedGuarantee(Protocol):
    """A guarantee that is charged for a change, as the hypotheses on families see it."""

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee that gives the loss."""

    @property
    def taken(self) -> int:
        """Returns the number of steps of its relation that the change takes; 0 if none is known."""


def drawn_by(name: str, *families: type[Family], but: Test | None = None) -> Hypothesis:
    """Returns the hypothesis that the mechanism charged is of one of the families, as the author
    declares.

    Or that it passes the test `but`. `name`: of the hypothesis; its words are in the handbook.
    """

    def holds(touch: ChargedGuarantee) -> None:
        """Raises `Refused` unless the mechanism charged draws its noise from one of `families`."""
        noise = touch.guarantee.noise
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
