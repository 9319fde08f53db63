"""Certificates: claims from the statements up to the bound that is printed, and their recheck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dpcompose.core.change.units import State
from dpcompose.core.kernel.claims import Charge, Claim, Kernel, Subject, needs
from dpcompose.core.kernel.compose_roots import Shown, joint
from dpcompose.core.loss.algebras import Loss, Pairs, Scalars, algebra_of, bounds_of
from dpcompose.core.loss.cost import Coster
from dpcompose.core.loss.walk import Answer, How, Walk
from dpcompose.core.model.problem import Path, Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused
from dpcompose.core.theorems.apply import apply
from dpcompose.core.theorems.setting import Reach, Setting
from dpcompose.curves.rounding import watch_rounding


class Reached(NamedTuple):
    """A dataset that the worst change reaches, by number: `copies` of it, `distance` units alike.

    `charges`: what its mechanisms lose there.
    """

    place: int
    state: State
    copies: int
    distance: int
    charges: tuple[Charge, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """A proof that a problem loses at most `bounds`.

    `survival`: chances that nothing is given away are multiplied, in place of adding up δ.
    `theorem` is the one cited. `roots`: the claims about the protected change in the roots.
    `worst`: the change that is shown, from the roots down.
    """

    notion: Notion
    survival: bool
    theorem: str
    bounds: tuple[Quantity, ...]
    roots: tuple[Claim, ...]
    worst: tuple[Reached, ...]

    def claims(self) -> list[Claim]:
        """Returns every claim of the certificate once, premises first."""
        found: dict[int, Claim] = {}
        for root in self.roots:
            for each in needs(root):
                found.setdefault(id(each), each)
        return list(found.values())


#: What a step of the kernel raises where a claim is not made of what claims are made of.
_MALFORMED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def recheck(certificate: Certificate, problem: Problem) -> int:
    """Do every step of a certificate again, on the problem alone; how many claims there are.

    Nothing is searched for. Raises `Refused` with the reason if a claim is malformed or does not
    follow from its premises, if the bound does not follow from those about the roots or is called
    exact where it is rounded, if the change that is shown is not the worst one, or if the theorem
    that is cited does not give the bound.
    """
    try:
        return _recheck(certificate, problem)
    except _MALFORMED as error:
        raise Refused(f"a claim is malformed: {type(error).__name__}") from error


def _recheck(certificate: Certificate, problem: Problem) -> int:
    algebra = algebra_of(certificate.notion, certificate.survival)
    kernel = Kernel(problem, algebra)
    claims = certificate.claims()
    kernels = _Kernels(kernel)
    for each in claims:
        used = [charge.statements for charge in each.charges]
        again = kernels[each.pure].apply(each.place, each.state, used, each.hows, each.premises)
        if again.charges != each.charges or again.loss != each.loss:
            name = kernel.places[each.place].dataset.name
            raise Refused(f"what is claimed of a change in `{name}` does not follow")
    loss, shown = kernel.met(joint(problem, kernel.tops, kernel.algebra), certificate.roots)
    bounds = [(each.notion, each.amount, each.delta) for each in bounds_of(algebra, loss)]
    claimed = [(each.notion, each.amount, each.delta) for each in certificate.bounds]
    if sorted(bounds) != sorted(claimed):
        raise Refused("the bound does not follow from what is claimed of the roots")
    charged = {(each.place, each.state): each.charges for each in claims if not each.pure}
    if certificate.worst != tuple(reached(kernel, shown, charged)):
        raise Refused("the change that is shown is not the worst one")
    exact = not _is_rounded(kernel, certificate.worst)
    if any(each.exact is not exact for each in certificate.bounds):
        raise Refused(f"the bound is {'exact' if exact else 'rounded'}, and called the other")
    _hold(certificate.theorem, _setting(kernel, certificate, loss, shown))
    return len(claims)


def _is_rounded(kernel: Kernel, worst: Iterable[Reached]) -> bool:
    """Whether what the worst change loses is rounded anywhere on the way to the bound."""
    algebra, coster = kernel.algebra, Coster(kernel.algebra)
    with watch_rounding() as watch:
        for each in worst:
            place = kernel.places[each.place]
            # Survival over blocks goes through logarithms.
            survival = isinstance(algebra, Pairs) and algebra.survival
            if place.amplifies or (survival and place.blocks):
                return True
            choices = kernel.answers[each.place, each.state].choices
            if any(choice.how.uses("displaced") for choice in choices):
                return True
            for (mechanism, placed), charge in zip(place.mechanisms, each.charges, strict=True):
                if each.state and charge.loss != algebra.zero:
                    coster.cost(mechanism, placed, each.state)
                    if each.distance > 1:
                        algebra.chain([(charge.loss, each.distance)])
    return watch.rounded


def _hold(theorem: str, setting: Setting) -> None:
    """Hold the theorem that is cited against the release.

    Raises `Refused` if there is none such, if a hypothesis fails, or if it gives another bound.
    """
    found = apply(theorem, setting)
    if isinstance(found, Refused):
        raise found
    if found != setting.loss:
        raise Refused(f"the theorem {theorem} applies, but its bound is not the one claimed")


def _setting(kernel: Kernel, certificate: Certificate, loss: Loss, shown: list[Shown]) -> Setting:
    """Returns the setting that the theorem is asked about: the problem, with the losses that the
    claims have proved."""
    algebra, places, numbers = kernel.algebra, kernel.places, kernel.numbers
    assert isinstance(algebra, Scalars | Pairs)
    return Setting(
        kernel.problem,
        kernel.tops,
        algebra,
        loss,
        tuple(kernel.answers[numbers[id(top)], state] for top, state, _ in shown),
        {(id(places[at]), state): answer for (at, state), answer in kernel.answers.items()},
        [Reach(places[each.place], each.state, each.distance) for each in certificate.worst],
    )


def reached(
    kernel: Kernel,
    shown: list[Shown],
    charged: dict[tuple[int, State], tuple[Charge, ...]],
) -> Iterator[Reached]:
    """Yields what the worst change reaches, by the branches that the rules of the kernel name."""
    stack = [(kernel.numbers[id(top)], state, 1, 1) for top, state, _ in reversed(shown)]
    while stack:
        number, state, copies, distance = stack.pop()
        yield Reached(number, state, copies, distance, charged[number, state])
        below: list[tuple[int, State, int, int]] = []
        for choice in kernel.answers[number, state].choices:
            further = distance * max(1, choice.units)
            for branch in choice.branches:
                if branch.state:
                    where = kernel.numbers[id(branch.place)]
                    below.append((where, branch.state, copies * branch.copies, further))
        stack.extend(reversed(below))


# ---------------------------------------------------------------------------------------------
# From a search to a certificate


class SearchFinding(NamedTuple):
    """The result of a search that is to be certified: its answers, the losses of the roots, and
    what is printed.

    `pure`: the answers in pure DP that those of another notion need.
    """

    answers: dict[tuple[int, State], Answer]
    pure: dict[tuple[int, State], Answer]
    places: list[Place]
    notion: Notion
    survival: bool
    theorem: str
    bounds: tuple[Quantity, ...]


class _Frame(NamedTuple):
    """A walk that waits for a claim; `premises`: those that it was given so far."""

    key: Subject | None
    walk: Walk
    premises: dict[Subject, Claim]


class _Kernels(dict[bool, Kernel]):
    """The kernel of a bound, and that of the pure DP that it may need, by `Claim.pure`."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__({False: kernel})

    def __missing__(self, pure: bool) -> Kernel:
        self[pure] = Kernel(self[False].problem, Scalars(Notion.PURE), pure)
        return self[pure]


def certify(found: SearchFinding, problem: Problem) -> Certificate:
    """Returns the certificate of what a search found, every claim made by the kernel; never
    recurses.

    Raises `Refused` where the kernel does not follow the search.
    """
    kernel = Kernel(problem, algebra_of(found.notion, found.survival))
    kernels = _Kernels(kernel)
    claims: dict[Subject, Claim] = {}
    roots = _Frame(None, joint(problem, kernel.tops, kernel.algebra), {})
    stack = [roots]
    sent: Loss = None
    while True:
        frame = stack[-1]
        try:
            need = frame.walk.send(sent)
        except StopIteration as stop:
            stack.pop()
            if frame.key is None:
                _, shown = stop.value
                break
            mine, subject = kernels[frame.key[2]], frame.key[:2]
            claim = mine.apply(
                *subject, *_charges_and_rules(mine, found, subject), _claims_in_order(frame)
            )
            claims[frame.key] = stack[-1].premises[frame.key] = claim
            sent = claim.loss
            continue
        above = kernel if frame.key is None else kernels[frame.key[2]]
        key = above.subject(need)
        known = claims.get(key)
        if known is not None:
            frame.premises[key] = known
            sent = known.loss
        else:
            mine = kernels[key[2]]
            walk = mine.walk(*key[:2], *_charges_and_rules(mine, found, key[:2]))
            stack.append(_Frame(key, walk, {}))
            sent = None
    charged = {key[:2]: claim.charges for key, claim in claims.items() if not key[2]}
    return Certificate(
        found.notion,
        found.survival,
        found.theorem,
        found.bounds,
        _claims_in_order(roots),
        tuple(reached(kernel, shown, charged)),
    )


def _claims_in_order(frame: _Frame) -> tuple[Claim, ...]:
    return tuple(frame.premises.values())


def _charges_and_rules(
    kernel: Kernel, found: SearchFinding, key: tuple[int, State]
) -> tuple[list[tuple[Path, ...]], tuple[How, ...]]:
    """Returns the statements and the rules by which the search bounded a change."""
    number, state = key
    statements = [
        tuple(dict.fromkeys(each.statement.path for each in placed))
        for _, placed in kernel.places[number].mechanisms
    ]
    answers = found.pure if kernel.pure else found.answers
    answer = answers.get((id(found.places[number]), state))
    return statements, () if answer is None else tuple(each.how for each in answer.choices)
