"""The data types of a report's reasoning: worst change, derivation, record, assumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from dpcompose.core.notions.guarantee import Bound, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Span


class Touch(NamedTuple):
    """A mechanism that the worst change reaches, and what it adds to the bound.

    `copies`: the number of copies and equal blocks of it that are reached; `each` is the loss of
    one of them and `total` of all, both in the notion's own parameter (ε, ρ or μ).
    """

    mechanism: str
    dataset: str
    copies: int
    each: Bound
    total: Bound
    span: Span | None


class WorstChange(NamedTuple):
    """The worst neighbouring change: a sentence for each step, and the mechanisms it reaches.

    `datasets`: the datasets that change. `omitted`: the number of further mechanisms not listed.
    """

    says: tuple[str, ...]
    datasets: tuple[str, ...]
    touches: tuple[Touch, ...]
    omitted: int = 0


class Line(NamedTuple):
    """One numbered sentence of the reasoning; `inputs` are the numbers of its premises."""

    number: int
    theorem: str | None
    says: str
    inputs: tuple[int, ...]
    bound: Bound | None
    spans: tuple[Span, ...]


NodeKind = Literal["dataset", "partition", "mechanism", "more", "free", "sum", "theorem", "reading"]


class Node(NamedTuple):
    """One numbered line of the proof tree, which shows the worst change and the reasoning together.

    `depth`: its level below a root. `kind`: what the line is about: the change of a `dataset` or at
    a `partition`, the cost of a `mechanism`, `more` mechanisms of the same kind, post-processing
    that is `free`, the `sum` of the costs, the `theorem` that gives the same bound, or the
    `reading` of a number that was asked for. `name`: of the dataset or mechanism. `theorem`: its id
    in the book.
    """

    number: int
    depth: int
    kind: NodeKind
    name: str
    says: str
    bound: Bound | None = None
    theorem: str | None = None
    spans: tuple[Span, ...] = ()


PipelineKind = Literal["dataset", "partition", "block", "mechanism", "result", "more"]


class PipelineNode(NamedTuple):
    """One node of the pipeline of a spec, which is drawn as a forest; parents come first.

    `kind`: a `dataset` (a root, or made by a map), a `partition`, one `block` of it or equal ones
    together, a `mechanism`, a `result` that is computed from released outputs, or `more` nodes that
    are left out. `above`: the number of the parent in the pipeline, from 0; None at a root. `via`:
    the map, in words. `says`: facts about the node in a few words; of a mechanism its stated
    guarantee. `reached`: whether the worst change reaches a mechanism here or below. `change`: what
    the worst change becomes here, empty where it is not followed. `cost`: what a mechanism loses
    for the worst change; None where that is not known by itself. `inputs`: the numbers of the nodes
    that a result uses.
    """

    kind: PipelineKind
    name: str
    above: int | None
    via: str = ""
    says: str = ""
    reached: bool = False
    change: str = ""
    cost: Bound | None = None
    inputs: tuple[int, ...] = ()
    span: Span | None = None


class FilterRecord(NamedTuple):
    """The sum that a filter has counted for a record of releases; a fact, not a guarantee.

    `notion`: in which it counts; `named`: whether the spec names it. `limit`, `spent`, `left`:
    parameters by their names in specs, with the limit and what is left rounded down, what is spent
    rounded up (None: not finite); `exact`: what is spent is not rounded. `at_delta`: pairs of a δ
    and the ε of everything that the limit admits. `cost`: a δ, the ε of what is spent, and the ε if
    all parameters had been fixed before the first output.
    """

    notion: Notion
    named: bool
    limit: tuple[tuple[str, Fraction], ...]
    spent: tuple[tuple[str, Fraction], ...] | None
    left: tuple[tuple[str, Fraction], ...]
    exact: bool = True
    at_delta: tuple[tuple[Fraction, Fraction], ...] = ()
    cost: tuple[Fraction, Fraction, Fraction] | None = None

    @property
    def share(self) -> Fraction:
        """Returns the spent part of the limit, the largest of all parameters; above 1: exceeded."""
        if self.spent is None:
            return Fraction(2)
        parts = [
            spent / limit if limit else Fraction(2 if spent else 0)
            for (_, spent), (_, limit) in zip(self.spent, self.limit, strict=True)
        ]
        return max(parts)


@dataclass(frozen=True, slots=True)
class Recheck:
    """What the checker went through: how many claims, in how many seconds, and of how many claims
    it knows no rule, by reason.

    `points`: the δ's at which it confirmed an ε, each with the part of ε to which it did.
    `uncompared`: what of the spec it did not compare with the certificate.
    """

    claims: int
    seconds: float
    unchecked: tuple[tuple[str, int], ...] = ()
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    uncompared: tuple[str, ...] = ()

    def plus(self, other: Recheck) -> Recheck:
        """Returns both together."""
        reasons = Counter(dict(self.unchecked)) + Counter(dict(other.unchecked))
        seconds = self.seconds + other.seconds
        unchecked = tuple(sorted(reasons.items()))
        claims = self.claims + other.claims
        return Recheck(claims, seconds, unchecked, self.points, self.uncompared)


# --- the proof -----------------------------------------------------------------------------------

#: What a step of a proof does (see `ProofStep`).
StepKind = Literal["stated", "combined", "drawn", "read", "point"]
#: A value of a formula: a number, or several.
Value = Fraction | Sequence[Fraction]
#: So many cases of one step are listed; others are given by their numbers.
MOST_CASES = 64


class Ref(NamedTuple):
    """The value of an earlier step: its id; of several pairs the number of one; ε, or δ."""

    step: int
    number: int | None = None
    delta: bool = False


class Given(NamedTuple):
    """What a formula is given for a name: a number, a reference, or several of those."""

    value: Fraction | Ref | tuple[Fraction | Ref, ...]


class ProofStep(NamedTuple):
    """One step of a proof.

    `theorem`: its id; None for a statement that is used as it stands, and for the worst of several
    changes. `dataset`, `change`: what changes; `spans`: where the spec states it. `values`: the
    value that adds up (ε, ρ, μ², or a pair); several undominated pairs have a `given` and formulas
    each. `method`: how a value is found that no formula gives; `check`: a formula of δ at
    the ε of the value; `law`: what a profile is made of. `cases`: of so many losses, at most
    `MOST_CASES` of which are steps (`omitted`: others are numbers). `exact`: values are not
    rounded.
    """

    id: int
    kind: StepKind
    theorem: str | None
    dataset: str | None
    change: str | None
    spans: tuple[Span, ...]
    notion: Notion
    values: tuple[tuple[Fraction, Fraction], ...]
    formulas: tuple[tuple[str | None, str | None], ...]
    given: tuple[dict[str, Given], ...]
    method: str | None = None
    says: str = ""
    law: str = ""
    check: str | None = None
    cases: int = 1
    omitted: bool = False
    exact: bool = False

    @property
    def premises(self) -> tuple[int, ...]:
        """Returns the ids of the steps that this one follows from."""
        found: dict[int, None] = {}
        for names in self.given:
            for each in names.values():
                value = each.value
                listed = (value,) if isinstance(value, Ref | Fraction) else value
                found.update((ref.step, None) for ref in listed if isinstance(ref, Ref))
        return tuple(found)

    def taken(self, steps: Sequence[ProofStep]) -> tuple[tuple[int, int], ...]:
        """Returns the premises that make up the value, each with how often; empty where that is
        not one choice among losses. `steps`: those of the proof."""
        formula = self.formulas[0][0] if len(self.values) == 1 and self.formulas else None
        if formula is None or "x" not in self.given[0] or self.omitted:
            return ()
        listed, given = self.given[0]["x"].value, self.given[0]
        if isinstance(listed, Ref | Fraction):
            return ()
        numbers = self.numbers(0, steps)
        most = {"max(x)": 1, "k * max(x)": 1, "k ** 2 * max(x)": 1}.get(formula)
        if formula == "max(largest(x, 2, n), max(y))":
            most = 2
        if formula == "largest(x, m, n)" and isinstance(given["m"].value, Fraction):
            most = int(given["m"].value)
        if most is None:
            return ()
        counts = numbers.get("n", [Fraction(1)] * len(listed))
        losses = numbers["x"]
        assert not isinstance(counts, Fraction) and not isinstance(losses, Fraction)
        found: list[tuple[int, int]] = []
        for loss, each, count in sorted(
            zip(losses, listed, counts, strict=True), key=lambda found: -found[0]
        ):
            used = min(most, int(count))
            most -= used
            if used and loss and isinstance(each, Ref):
                found.append((each.step, used))
        if formula.startswith("max(largest") and self.values[0][0] != sum(
            steps[number - 1].values[0][0] * times for number, times in found
        ):
            return ()
        return tuple(found)

    def quantity(self, which: int) -> Quantity:
        """Returns one of the values as a certified bound."""
        amount, delta = self.values[which]
        return Quantity(self.notion, amount, delta, self.exact)

    def numbers(self, which: int, steps: Sequence[ProofStep]) -> dict[str, Value]:
        """Returns what the formulas of one of the values are given, as numbers.

        `steps`: those of the proof.
        """

        def one(value: Fraction | Ref) -> Fraction:
            if isinstance(value, Ref):
                return steps[value.step - 1].values[value.number or 0][value.delta]
            return value

        return {
            name: one(each.value)
            if isinstance(each.value, Ref | Fraction)
            else tuple(map(one, each.value))
            for name, each in self.given[which].items()
        }


def down(steps: Sequence[ProofStep], last: int) -> Iterator[ProofStep]:
    """Yields the step with the id `last`, its largest premise, the largest premise of that, and so
    on."""
    step: ProofStep | None = steps[last - 1]
    while step is not None:
        yield step
        earlier = [steps[number - 1] for number in step.premises]
        step = max(earlier, key=lambda each: each.values[0], default=None)


class Conclusion(NamedTuple):
    """A printed number, and the step that gives it.

    `what`: the `headline`, the `bound`, what is `spent` of a filter, or the number `at_delta` or
    `at_epsilon`, which is the one at `given`.
    """

    what: Literal["headline", "bound", "spent", "at_delta", "at_epsilon"]
    step: int
    given: Fraction | None = None


class Proof(NamedTuple):
    """The proof of the printed numbers of a spec: its steps, each after those that it follows from.

    `theorems`: those that give the headline number, the last one first, as far as losses combine;
    `of_bound`: those that give the bound without a δ, where there is one; `reading`: the theorem by
    which what they give is read at a δ, if that is all that is done.
    """

    steps: tuple[ProofStep, ...]
    theorems: tuple[str, ...]
    of_bound: tuple[str, ...] = ()
    reading: str | None = None
    conclusions: tuple[Conclusion, ...] = ()

    def spine(self) -> list[ProofStep]:
        """Returns the steps by which losses combine into the bound, the last one last: from the
        bound down, each time to the largest premise, without what is stated and the worst of
        several changes."""
        bound = next((each.step for each in self.conclusions if each.what == "bound"), None)
        found: list[ProofStep] = []
        for step in () if bound is None else down(self.steps, bound):
            if step.kind == "stated":
                break
            if step.theorem is not None:
                found.append(step)
        return found[::-1]
