"""The proof of a bound: the steps that gave it, as data that a reader can recompute.

The steps are those which the losses carry (`core.loss.proved`): nothing is bounded again here. Each
step follows from earlier ones and from given numbers, by a formula or by a named method.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.loss.algebras import Pairs
from dpcompose.core.loss.cost import needed
from dpcompose.core.loss.proved import (
    Inference,
    PairOf,
    ProvedNumber,
    ProvedPairs,
    delta_name,
)
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Partition, Path
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import role_of_sample
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.core.theorem import Refused, Role
from dpcompose.core.theorems.applicable import for_touch
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.core.theorems.composition import changes_one_block
from dpcompose.core.theorems.conversion import reading
from dpcompose.core.theorems.setting import ChargedStep
from dpcompose.errors import Span
from dpcompose.report import At, SpanOf, wording
from dpcompose.report.reasoning import (
    MOST_CASES,
    Conclusion,
    Given,
    Proof,
    ProofStep,
    Ref,
    StepKind,
    down,
)

#: A loss that a step refers to: one that is proved, or a pair of it.
Loss = ProvedNumber | ProvedPairs

#: Returns a δ as a fraction, whatever the algebra stores.
_plain = Pairs().plain
#: The functions whose values are rounded up.
_IRRATIONAL = re.compile("exp|ln|sqrt|tanh|sinh|normal")
_DRAWN = {
    Role.SAMPLE,
    Role.SAMPLE_ADDED,
    Role.SAMPLE_OF_SIZE,
    Role.SAMPLE_REPLACED,
    Role.CUT_OFF,
    Role.DRAWN_AGAIN,
    Role.ALLOCATED,
    Role.DISPLACED,
}


def proof_of(
    solver: Solver,
    solution: Solution | None,
    ats: Sequence[At] = (),
    headline: At | None = None,
    span: SpanOf | None = None,
) -> Proof:
    """Returns the proof of a finite solution, and of the numbers at chosen points.

    `solution`: None where the release is finite at a δ alone. `headline`: the number that leads,
    where it is one at a chosen point. `span`: the positions in the spec, None where they are not
    wanted.
    """
    made = _Builder(solver, span)
    conclusions: list[Conclusion] = []
    of_bound: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    reading: str | None = None
    bound: int | None = None
    if solution is not None and isinstance(solution.loss, ProvedNumber | ProvedPairs):
        bound = made.step_of(solution.loss, solution.notion)
        of_bound = theorems = tuple(made.theorems(bound))
        conclusions.append(Conclusion("bound", bound))
        if headline is None:
            conclusions.append(Conclusion("headline", bound))
    chosen = {(each.wanted, each.given): each for each in ats}
    asked, leading = frozenset(chosen), None
    if headline is not None:  # of a budget at a δ that is not asked for, perhaps
        leading = headline.wanted, headline.given
        chosen.setdefault(leading, headline)
    for key, at in chosen.items():
        if at.value is None:
            continue
        read = bound if _is_reading(at, solution) else None
        step = made.point(at, read)
        what: Literal["at_delta", "at_epsilon"] = f"at_{at.wanted}"  # type: ignore[assignment]
        if key in asked:
            conclusions.append(Conclusion(what, step, at.given))
        if key == leading:
            conclusions.append(Conclusion("headline", step, at.given))
            entry = behind(at.rule)
            if read is not None or at.rule == _EXACT:
                reading = None if entry is None else entry.id
            if read is None:
                theorems = tuple(made.theorems_at(at, step))
    return Proof(tuple(made.steps), theorems, of_bound, reading, tuple(conclusions))


def _is_reading(at: At, solution: Solution | None) -> bool:
    """Returns whether a number at a point is the bound itself, read there."""
    if solution is None or at.worst:
        return False
    return (at.rule, solution.notion) in _READINGS


def by_filter(proof: Proof, theorem: str) -> Proof:
    """Returns the proof of what a record of releases has spent, where the `theorem` of a filter
    gives the guarantee: the budget."""
    spent = [each._replace(what="spent") for each in proof.conclusions if each.what == "bound"]
    return proof._replace(theorems=(theorem,), of_bound=(), conclusions=tuple(spent))


class _Builder:
    """Numbers the steps below a loss, premises first."""

    def __init__(self, solver: Solver, span: SpanOf | None) -> None:
        self.solver, self.problem, self._span = solver, solver.problem, span
        self.steps: list[ProofStep] = []
        self._known: dict[int, tuple[Loss, int]] = {}
        self._alike: dict[Any, int] = {}

    def step_of(self, loss: Loss, notion: Notion) -> int:
        """Returns the id of the step that gives a loss, after adding it and all before it."""
        stack: list[tuple[Loss, Notion]] = [(loss, notion)]
        while stack:
            now, its = stack[-1]
            if id(now) in self._known:
                stack.pop()
                continue
            wanted = [
                (each, _notion_of(each, step, its))
                for step in _steps_of(now)
                for each in _premises(step)
                if id(each) not in self._known
            ]
            if wanted:
                stack += wanted
                continue
            stack.pop()
            self._known[id(now)] = now, self._add(now, its)
        return self._known[id(loss)][1]

    def _add(self, loss: Loss, notion: Notion) -> int:
        steps = _steps_of(loss)
        first = steps[0]
        notion = first.notion or notion
        if isinstance(loss, ProvedNumber):
            values: tuple[tuple[Fraction, Fraction], ...] = ((Fraction(loss), Fraction(0)),)
        else:
            values = tuple((epsilon, _plain(delta)) for epsilon, delta in loss)
        pairs = notion is Notion.APPROX
        place, state = first.at or (None, None)
        used = () if first.charged is None else first.charged.used
        told = ProofStep(
            0,
            _kind(first),
            self._theorem(first, notion),
            None if place is None else place.dataset.name,
            None if state is None else wording.change(state),
            self._spans(each.statement.path for each in used),
            notion,
            values,
            tuple((step.formula, step.formula_delta if pairs else None) for step in steps),
            tuple(self._given(step, pairs) for step in steps),
            first.method,
            self._says(first),
            cases=max((len(x) for x in first.given.values() if isinstance(x, list)), default=1),
            omitted=any(map(_dropped, steps)),
            exact=self._is_exact(steps),
        )
        return self._append(told)

    def _is_exact(self, steps: Sequence[Inference]) -> bool:
        """Returns whether the values of a step are not rounded: by rational formulas of such."""
        rational = all(
            step.formula is not None
            and not _IRRATIONAL.search(f"{step.formula} {step.formula_delta}")
            for step in steps
        )
        known = (self._known.get(id(each)) for step in steps for each in _premises(step))
        return rational and all(self.steps[each[1] - 1].exact for each in known if each is not None)

    def _spans(self, paths: Iterable[Path]) -> tuple[Span, ...]:
        """Returns the positions of paths of the spec, if they are wanted."""
        return () if self._span is None else tuple(map(self._span, paths))

    def _says(self, step: Inference) -> str:
        """Returns what a step does, in words."""
        if step.charged is not None:
            said = step.charged.used[0].statement
            return f"{wording.guarantee(said.guarantee)} for {said.relation.neighbours}"
        if step.role is None:
            return "the worst of the changes that may come"
        return step.role.value

    def _given(self, step: Inference, pairs: bool) -> dict[str, Given]:
        """Returns what the formulas of a step are given, by name."""
        found: dict[str, Given] = {}
        text = f"{step.formula} {step.formula_delta}"
        for name, value in step.given.items():
            if isinstance(value, list):  # what no change reaches may have no bound
                listed = [each for each in value if each != math.inf]
                found[name] = Given(tuple(map(self._one, listed)))
            else:
                listed = [value]
                found[name] = Given(self._one(value))
            delta = delta_name(name)
            if (
                pairs
                and delta in text
                and any(isinstance(x, PairOf | ProvedNumber) for x in listed)
            ):
                deltas = tuple(self._one(each, delta=True) for each in listed)
                found[delta] = Given(deltas if isinstance(value, list) else deltas[0])
        return found

    def _one(self, value: Any, delta: bool = False) -> Fraction | Ref:
        """Returns a given number, or a reference to the step that gives it."""
        if isinstance(value, PairOf):
            known = self._known.get(id(value.loss))
            if known is None:
                return _plain(value.pair[1]) if delta else Fraction(value.pair[0])
            number = value.number if len(value.loss) > 1 else None
            return Ref(known[1], number, delta)
        if isinstance(value, ProvedNumber) and id(value) in self._known:
            return Fraction(0) if delta else Ref(self._known[id(value)][1])
        return Fraction(0) if delta else Fraction(value)

    def _theorem(self, step: Inference, notion: Notion) -> str | None:
        """Returns the id of the theorem by which a step follows."""
        if step.charged is not None:
            used, state = step.charged
            taken = [
                [
                    (steps, times * count)
                    for item, count in state
                    for steps, times in needed(x, item)
                ]
                for x in used
            ]
            some = [steps for each in taken for steps, times in each for _ in range(min(2, times))]
            found = for_touch(ChargedStep(notion, used, some, state))
            if found not in (None, in_role(Role.GROUP, notion).id):
                return found
            by = self._over_steps(step, used[0], notion)
            several = "k" in step.given or by is Role.RELATION
            return in_role(by, notion).id if several else found
        role = step.role
        if role is None or role is Role.FAMILY:
            return None
        if role is Role.CONVERSION:
            source = next((_notion_of(each, step, notion) for each in _premises(step)), Notion.PURE)
            return reading(source, notion)
        if role in (Role.SAMPLE, Role.DRAWN_AGAIN):
            role = _of_sample(step, role)
        if step.at is not None and role in (Role.WORST_BLOCK, Role.TWO_BLOCKS, Role.GENERAL):
            role = self._of_blocks(step, role)
        try:
            return in_role(role, notion, self.problem.adaptive).id
        except LookupError:  # stated in ε, and used for (ε, δ)
            return in_role(role, Notion.PURE, self.problem.adaptive).id

    def _over_steps(self, step: Inference, used: Placed, notion: Notion) -> Role:
        """Returns the role of the theorem that bounds several changes of a table by the guarantee
        for one: that of the maps, or of the relation protected, if either makes one change into
        several; else that of a group."""
        goal = self.problem.goal
        if step.at is None or goal.distance > 1 or notion is not Notion.PURE:
            return Role.GROUP
        place = step.at[0]
        edges = place.ancestors(place.depth)
        if any(edge.made_by is None for edge in edges):
            return Role.GROUP
        if edges:
            return Role.CHAIN if len(edges) > 1 else Role.MAP
        return Role.RELATION if used.statement.relation != goal.relation else Role.GROUP

    def _of_blocks(self, step: Inference, role: Role) -> Role:
        """Returns the role of the theorem over blocks, by where their guarantees are stated."""
        assert step.at is not None
        split = step.at[0]
        blocks = [
            block
            for each in _premises(step)
            for inner in _steps_of(each)[:1]
            if inner.at is not None and (block := _block_below(split, inner.at[0])) is not None
        ]
        if not blocks:
            return role
        above: set[bool] = set()
        relations = set()
        for block in {id(each): each for each in blocks}.values():
            for place in _below(block):
                for mechanism, _ in place.mechanisms:
                    for statement in mechanism.statements:
                        above.add(place.depth - statement.up <= split.depth)
                        relations.add(statement.relation)
        if role is Role.WORST_BLOCK:
            if above == {False}:
                return role
            return Role.WORST_BLOCK_COMMON if above == {True} else Role.GENERAL
        if role is Role.TWO_BLOCKS:
            alike = all(each.kind is RelationKind.BOUNDED for each in relations)
            if above == {True} and alike:
                return role
        return Role.COMMON if above == {True} else Role.GENERAL

    def theorems(self, last: int) -> Iterator[str]:
        """Yields the theorems that give a step, the last one first, as far as losses combine."""
        for step in down(self.steps, last):
            if step.theorem is not None:
                yield step.theorem
                several = step.kind == "combined" and len(step.premises) > 1
                if several or step.kind == "stated":
                    return

    # -- at a chosen point -----------------------------------------------------------------------

    def point(self, at: At, read: int | None) -> int:
        """Returns the id of the step that gives a number at a chosen δ or ε.

        `read`: the step whose value is read there; None where privacy losses are composed.
        """
        assert at.value is not None
        of_delta = at.wanted == "delta"
        pair = (at.value, at.given) if of_delta else (at.given, at.value)
        entry = behind(at.rule)
        formulas: tuple[str | None, str | None] = (None, None)
        given: dict[str, Given] = {}
        method: str | None = None
        check: str | None = None
        if read is None:
            laws = self._laws(at)
            given = {"x": Given(Ref(laws))}
            method = _METHODS.get(at.rule, "privacy loss distribution")
        else:
            method = _METHODS.get(at.rule)
            given = {"x": Given(Ref(read))}
            if self.steps[read - 1].notion is Notion.GDP and of_delta:
                check = _GAUSSIAN
            rho = self.steps[read - 1].values[0][0]
            if self.steps[read - 1].notion is Notion.ZCDP and of_delta and rho < _FAR:
                order = best_order(rho, at.given)
                given |= {"a": Given(order), "d": Given(at.given)}
                formulas = (_AT_ORDER, None)
        return self._append(
            ProofStep(
                0,
                "point",
                None if entry is None else entry.id,
                None,
                None,
                (),
                Notion.APPROX,
                (pair,),
                (formulas,),
                (given,),
                method or "privacy loss distribution",
                says=at.says,
                check=check,
            )
        )

    def _laws(self, at: At) -> int:
        """Returns the id of the step that composes the privacy losses of the worst change at a
        point."""
        paths = {each.name: (each.path,) for each in self.problem.mechanisms()}
        premises: list[Fraction | Ref] = []
        for each in at.touched[:MOST_CASES]:
            times = "" if each.times == 1 else f"{wording.count_text(each.times)} times "
            stated = ProofStep(
                0,
                "stated",
                None,
                each.dataset,
                each.meets,
                self._spans(paths.get(each.mechanism, ())),
                Notion.PROFILE,
                (),
                (),
                (),
                law=f"{times}`{each.mechanism}`",
            )
            premises.append(Ref(self._append(stated)))
        law = next((each for each in at.chain if each.startswith(_COMPOSED)), "")
        role = Role.PROFILES_ON_BLOCKS if self._on_disjoint_blocks(at) else Role.PROFILES
        return self._append(
            ProofStep(
                0,
                "combined",
                in_role(role).id,
                None,
                None,
                (),
                Notion.PROFILE,
                (),
                (),
                ({"x": Given(tuple(premises))},),
                law=law.removeprefix(_COMPOSED),
            )
        )

    def _on_disjoint_blocks(self, at: At) -> bool:
        """Returns whether all mechanisms read what is made of the blocks of one partition, of which
        the protected change reaches one."""
        if len(self.solver.tops) != 1:
            return False
        place = self.solver.tops[0][1]
        while True:
            if place.mechanisms:
                return False
            read = [below for below in place.derived if below.read]
            split = [
                (partition, blocks)
                for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True)
                if any(block.read for block in blocks)
            ]
            if len(read) + len(split) != 1:
                return False
            if read:
                [place] = read
                continue
            [(partition, blocks)] = split
            if not self._one_block(place, partition):
                return False
            names = {inner.dataset.name for block in blocks for inner in _below(block)}
            touched = {each.dataset for each in at.touched}
            several = sum(
                each.multiplicity if block.read else 0
                for each, block in zip(partition.classes, blocks, strict=True)
            )
            inside = {
                number
                for number, block in enumerate(blocks)
                for inner in _below(block)
                if inner.dataset.name in touched
            }
            return touched <= names and len(inside) == 1 and several > 1

    def _one_block(self, place: Place, partition: Partition) -> bool:
        """Returns whether one protected step changes at most one block of a partition of a root."""
        relation = self.problem.goal.relation
        if relation.kind is RelationKind.USER:
            own = partition.kind.blocks_of_unit(place.traits.unit)
            return (own or partition.max_blocks_per_unit) == 1
        try:
            changes_one_block(relation, place, partition)
        except Refused:
            return False
        return True

    def theorems_at(self, at: At, last: int) -> Iterator[str]:
        """Yields the theorems of a number at a point, the last one first."""
        step = self.steps[last - 1]
        composed = self.steps[step.premises[0] - 1].theorem
        if at.rule == _EXACT:
            if composed is not None:
                yield composed
            return
        if step.theorem is not None:
            yield step.theorem
        general = in_role(Role.PROFILES).id
        if (
            composed is not None
            and composed != step.theorem
            and (step.theorem is None or composed != general)
        ):
            yield composed

    def _append(self, told: ProofStep) -> int:
        """Returns the id of a step, after adding it if there is none like it."""
        given = tuple(tuple(sorted(names.items())) for names in told.given)
        key = told._replace(given=()), given
        if key not in self._alike:
            self.steps.append(told._replace(id=len(self.steps) + 1))
            self._alike[key] = len(self.steps)
        return self._alike[key]


def best_order(rho: Fraction, delta: Fraction) -> Fraction:
    """Returns the Rényi order a at which a ρ gives the least ε at a δ, to thirty digits.

    The derivative of that ε is zero where ρ·(a-1)² + ln a = ln(1/δ); Newton's method from above.
    """
    context = Context(prec=50)
    x = context.divide(Decimal(rho.numerator), Decimal(rho.denominator))
    ends = context.ln(Decimal(delta.denominator)), context.ln(Decimal(delta.numerator))
    wanted = context.subtract(*ends)
    with localcontext(context):
        a = 1 + (wanted / x).sqrt()
        for _ in range(100):
            step = (x * (a - 1) ** 2 + a.ln() - wanted) / (2 * x * (a - 1) + 1 / a)
            a -= step
            if abs(step) < a * Decimal("1e-40"):
                break
    return Fraction(context.create_decimal(f"{a:.35g}"))


#: A ρ of no use, for which no order is told.
_FAR = 10**9
#: ε of ρ = x at a δ, by the order a.
_AT_ORDER = "a * x + (ln(1 / ((a - 1) * d)) + a * ln(1 - 1 / a)) / (a - 1)"
#: δ of a Gaussian at ε, for μ² = x.
_GAUSSIAN = (
    "normal_cdf(sqrt(x) / 2 - epsilon / sqrt(x))"
    " - exp(epsilon) * normal_cdf(-sqrt(x) / 2 - epsilon / sqrt(x))"
)
#: The routes that read a loss of one number at a point, with its notion; one is exact.
_EXACT = "exact Gaussian"
_READINGS = {(_EXACT, Notion.GDP), ("zCDP conversion", Notion.ZCDP)}
#: How the routes find a number.
_METHODS = {
    "optimal composition": "optimal composition",
    "Rényi conversion": "Rényi orders",
    "zCDP conversion": "Rényi orders",
}
#: What stands before the losses that compose, in the reasoning at a point.
_COMPOSED = "what composes: "


def _steps_of(loss: Loss) -> Sequence[Inference]:
    return (loss.step,) if isinstance(loss, ProvedNumber) else loss.steps


def _dropped(step: Inference) -> set[int]:
    """Returns the places in the lists of a step whose losses are given as numbers: all but those of
    the largest, if they are many."""
    first = next((x for x in step.given.values() if isinstance(x, list)), [])
    if len(first) <= MOST_CASES:
        return set()

    def size(place: int) -> Any:
        each = first[place]
        return each.pair[0] if isinstance(each, PairOf) else each

    order = sorted(range(len(first)), key=size, reverse=True)
    return set(order[MOST_CASES:])


def _premises(step: Inference) -> Iterator[Loss]:
    """Yields the losses that a step follows from, each once for each time that it is given."""
    dropped = _dropped(step)
    for value in step.given.values():
        listed = enumerate(value) if isinstance(value, list) else ((-1, value),)
        for place, each in listed:
            if place in dropped:
                continue
            if isinstance(each, ProvedNumber):
                yield each
            elif isinstance(each, PairOf) and isinstance(each.loss, ProvedPairs):
                yield each.loss


def _notion_of(premise: Loss, step: Inference, notion: Notion) -> Notion:
    """Returns the notion of a premise of a step in a notion."""
    own = _steps_of(premise)[0].notion
    if own is not None:
        return own
    return Notion.PURE if step.role is Role.CONVERSION else notion


def _of_sample(step: Inference, role: Role) -> Role:
    """Returns the role of the theorem of a sample, by how it is drawn."""
    edge = None if step.at is None else step.at[0].edge
    sample = None if edge is None else edge.made_by
    return role_of_sample(sample) if isinstance(sample, Sample) else role


def _kind(step: Inference) -> StepKind:
    if step.role is Role.CONVERSION and step.charged is None:
        return "read"
    if step.charged is not None or step.role is Role.FAMILY:
        return "stated"
    return "drawn" if step.role in _DRAWN else "combined"


def _block_below(split: Place, place: Place) -> Place | None:
    """Returns the block of a place's partitions in which another place is."""
    while place.depth > split.depth + 1 and place.edge is not None:
        place = place.edge.parent
    edge = place.edge
    return place if edge is not None and edge.parent is split and edge.made_by is None else None


def _below(place: Place) -> Iterator[Place]:
    """Yields a place and all places below it."""
    stack = [place]
    while stack:
        now = stack.pop()
        yield now
        stack += now.derived
        for blocks in now.blocks:
            stack += blocks
