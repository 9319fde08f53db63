"""Certificates: the claims that prove a bound, from the stated guarantees up to the protected
change.

A claim bounds the loss of a change of one dataset. It names the rules by which it follows from
earlier claims; `dpcompose.checker`, which shares no code with this, repeats every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

from dpcompose.core.change.maps import form_of
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.chosen_rows import ChosenRows
from dpcompose.core.change.maps.kind import AtOneKey, Map
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import Relation
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.change.units import ChangeUnit, State
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.kernel.compose_roots import joint
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.loss.algebras import Scalars, Survival
from dpcompose.core.loss.pattern import LossMultiset, MechanismLossOptions
from dpcompose.core.loss.walk import Answer, How, LossRules, PureNeed
from dpcompose.core.model.problem import Domain, Mechanism, Problem, Root, Statement
from dpcompose.core.model.tree import Place, lay_out
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Curve, Grouped, Part, Response, Sampled
from dpcompose.curves.families import DiscreteGaussianLoss, GeometricLoss, LaplaceLoss

#: Answers of the search, by the identity of the place and the change there.
Answers = Mapping[tuple[int, State], Answer]


class Claim(NamedTuple):
    """An answer of the search as a claim: a change of a dataset loses at most so much.

    `place`: the number of the dataset, in the order of the problem's tree; `pure`: the loss is one
    in pure DP, for a bound in another notion. `premises`: the numbers of the earlier claims that
    the rules behind the answer ask for.
    """

    place: int
    state: State
    pure: bool
    answer: Answer
    premises: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that a problem loses at most `loss`.

    `notion`: that of the loss; `profile` where the loss is the patterns for a bound at a δ.
    `survival`: the 1 - δ_i are multiplied, instead of adding the δ_i. `claims`: premises first;
    `roots`: the numbers of those about the protected change in each root.
    """

    notion: Notion
    survival: bool
    loss: Loss
    claims: tuple[Claim, ...]
    roots: tuple[int, ...]


#: The number of a dataset, its change, and whether the loss is one in pure DP.
_Key = tuple[int, State, bool]


def certificate(
    problem: Problem,
    tops: Sequence[tuple[Root, Place]],
    answers: Answers,
    pure: Answers,
    algebra: LossAlgebra,
    loss: Loss,
) -> Certificate:
    """Returns the certificate of a search: every bound on which the certified loss depends, as a
    claim.

    `tops`: the roots with their trees; `answers`: the bounds of the search in the algebra of the
    loss, by place and change; `pure`: those in pure DP that they need; `loss`: the certified one.
    Never recurses, since specs may be deep.
    """
    places = [each for _, top in tops for each in top.subtree()]
    numbers = {id(place): number for number, place in enumerate(places)}
    algebras: dict[bool, LossAlgebra] = {False: algebra, True: Scalars(Notion.PURE)}

    def answer_of(key: _Key) -> Answer:
        """Returns the bound that the search found for a key."""
        place, state, of_pure = key
        return (pure if of_pure else answers)[id(places[place]), state]

    def needs(walk: Walk, of_pure: bool) -> list[_Key]:
        """Returns the key of each bound that a walk requests, once; sends the walk its loss.

        `of_pure`: the walk bounds a loss in pure DP.
        """
        found: dict[_Key, None] = {}
        sent: Loss = None
        while True:
            try:
                need = walk.send(sent)
            except StopIteration:
                return [*found]
            key = numbers[id(need[0])], need[1], of_pure or isinstance(need, PureNeed)
            found[key] = None
            sent = answer_of(key).loss

    claims: list[Claim] = []
    known: dict[_Key, int] = {}
    premises: dict[_Key, list[_Key]] = {}
    roots = needs(joint(problem, tops, algebra), False)
    stack = roots[::-1]
    while stack:
        key = stack[-1]
        if key not in premises:
            place, state, of_pure = key
            walk = _rules_again(algebras[of_pure], places[place], state, answer_of(key))
            premises[key] = needs(walk, of_pure)
            stack += [each for each in premises[key][::-1] if each not in known]
            continue
        stack.pop()
        if key not in known:
            known[key] = len(claims)
            numbered = tuple(sorted(known[each] for each in premises[key]))
            claims.append(Claim(*key, answer_of(key), numbered))
    numbers_of_roots = tuple(known[each] for each in roots)
    return Certificate(algebra.notion, algebra.survival, loss, tuple(claims), numbers_of_roots)


def _rules_again(algebra: LossAlgebra, place: Place, state: State, answer: Answer) -> Walk:
    """Applies the rules behind an answer again, for the losses that they request; returns nothing.

    `place`, `state`: the dataset and the change that `answer` bounds.
    """
    if state:
        for rules, choice in zip(rules_of(algebra, place), answer.choices, strict=True):
            yield from rules.replay(choice.how, state)


def rules_of(algebra: LossAlgebra, place: Place) -> Iterator[LossRules]:
    """Yields the rules for each map and each partition of the dataset of `place`."""
    for below in place.derived:
        yield AlongMap(algebra, place, below)
    for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
        yield OverBlocks(algebra, place, partition, blocks)


#: The version of the format; it grows when a reader of an older one could misread a line.
VERSION = 1

Line = dict[str, Any]


def plain(value: Any) -> Any:
    """Returns a value as JSON has it: a fraction as `p/q`, a set sorted, a record as a mapping."""
    match value:
        case None | bool() | int() | str():
            return value if not isinstance(value, str) else str(value)
        case Fraction():
            return str(value)
        case float():
            return None  # no finite bound
        case Survival():
            return str(1 - value.no_failure)
        case frozenset() | set():
            return sorted(value)
        case Mapping():
            return {key: plain(each) for key, each in value.items()}
        case tuple() | list():
            return [plain(each) for each in value]
    return {each.name: plain(getattr(value, each.name)) for each in fields(value)}


def header(problem: Problem, digest: str) -> Line:
    """Returns the first line of a certificate: what is protected, and the digest of the spec."""
    goal = problem.goal
    return {
        "line": "header",
        "version": VERSION,
        "spec": digest,
        "protect": relation_line(goal.relation),
        "distance": goal.distance,
        "apart": [sorted(each) for each in problem.apart],
    }


def relation_line(relation: Relation) -> Line:
    """Returns a neighbouring relation as plain data."""
    line: Line = {"kind": relation.kind.value}
    if relation.keeps:
        line["keeps"] = sorted(relation.keeps)
    if relation.changes is not None:
        line["changes"] = sorted(relation.changes)
    if relation.name is not None and relation.within is not None:
        line |= {"name": relation.name, "distance": relation.distance}
        line["within"] = relation_line(relation.within)
    return line


def problem_lines(problem: Problem) -> Iterator[Line]:
    """Yields a line for each dataset and each partition, parents first."""
    numbers: dict[int, int] = {}
    split: dict[tuple[int, int], int] = {}
    for root, top in lay_out(problem):
        for place in top.subtree():
            number = numbers[id(place)] = len(numbers)
            line: Line = {"line": "dataset", "id": number, "name": place.dataset.name}
            edge = place.edge
            if edge is None:
                line["root"] = _root_line(root)
            else:
                line["parent"] = numbers[id(edge.parent)]
                if edge.made_by is not None:
                    line["map"] = map_line(edge.made_by)
                    if edge.rounds != 1:
                        line["draws"] = edge.rounds
                    if place.above is not None and edge.parent.above is None:
                        line["one_release"] = True
                    if edge.through:
                        line["through"] = [each.name for each in edge.through]
                else:
                    line["partition"] = split[id(edge.partition), numbers[id(edge.parent)]]
                    line["class"] = edge.block
            if place.levels:
                line["history"] = list(place.levels)
            if place.mechanisms:
                line["mechanisms"] = [mechanism_line(each, place) for each, _ in place.mechanisms]
            yield line
            for partition in place.dataset.partitions:
                split[id(partition), number] = len(split)
                yield {
                    "line": "partition",
                    "id": split[id(partition), number],
                    "of": number,
                    "name": partition.name,
                    "by": _partition_line(partition.kind),
                    "sizes": [each.multiplicity for each in partition.classes],
                    "drops": partition.drops,
                    "max_blocks_per_unit": partition.max_blocks_per_unit,
                    "max_rows_per_block": partition.max_rows_per_block,
                }


def _root_line(root: Root) -> Line:
    """Returns what is public of a root as plain data.

    If its rows may be nulls, as of a table that has the other rows.
    """
    cap = root.max_rows_per_unit
    return {
        **({} if cap is None else {"max_rows_per_unit": cap}),
        "domain": Domain.TABLE.value if root.nulls else root.domain.value,
        "unit": root.unit,
        "size": None if root.nulls else root.size,
        "max_degree": root.max_degree,
        "columns": None if root.columns is None else list(root.columns),
    }


def map_line(made_by: Map) -> Line:
    """Returns a map as plain data: its kind as in a spec, and the values of its keys."""
    if isinstance(made_by, AtOneKey):
        maps = [map_line(each) for each in made_by.maps]
        return {"kind": "at-one-key", "maps": maps, "last": map_line(made_by.last)}
    name = type(made_by).__name__
    kind = "all-rows" if name == "AllRows" else form_of(made_by).name
    line = {"kind": kind, **plain(made_by)}
    if isinstance(made_by, ChosenRows):
        del line["order"]  # Any order that is fixed proves the same.
    if isinstance(made_by, Allocate):
        bins = {"bins": "same"} if made_by.shared and made_by.epochs > 1 else {}
        return {"kind": kind, "steps": made_by.steps, "epochs": made_by.epochs, **bins}
    if isinstance(made_by, Sample):
        # Counts are those of one group. What is no plain sample has a name of its own.
        unsaid = ("cycle", *(key for key in ("at_most", "replacement") if not line[key]))
        line = {key: value for key, value in line.items() if key not in unsaid}
        line["kind"] += "" if made_by.plain else "-cut" if made_by.at_most else "-again"
    return line


def _partition_line(kind: PartitionKind) -> Line:
    """Returns a kind of partition as plain data: its name in a spec, and the values of its keys."""
    name = type(kind).__name__.removeprefix("By").lower()
    return {"kind": name, **plain(kind)}


def mechanism_line(mechanism: Mechanism, place: Place) -> Line:
    """Returns a mechanism that reads the dataset of `place`, with its guarantees as plain data."""
    stated = [statement_line(each, place) for each in mechanism.statements]
    return {"name": mechanism.name, "count": mechanism.count, "statements": stated}


def statement_line(statement: Statement, place: Place) -> Line:
    """Returns a stated guarantee as plain data; `up`: on which ancestor of the dataset of `place`
    it is stated.

    A guarantee for changes of some columns is one for any replacement in a table that names no
    columns.
    """
    guarantee, relation, home = statement.guarantee, statement.relation, place
    for _ in range(statement.up):
        assert home.edge is not None
        home = home.edge.parent
    if relation.changes is not None and home.traits.columns is None:
        relation = relation._replace(changes=None)
    line: Line = {"relation": relation_line(relation), "up": statement.up}
    line |= {"notion": guarantee.notion.value, "value": str(guarantee.value)}
    if guarantee.delta:
        line["delta"] = str(guarantee.delta)
    if guarantee.points:
        line["points"] = plain(guarantee.points)
    if guarantee.noise is not None:
        line |= {"noise": noise_line(guarantee.noise), "shift": str(guarantee.shift)}
    if statement.implied:
        line["implied"] = True
    return line


def noise_line(noise: Family) -> Line:
    """Returns a concrete mechanism as plain data."""
    inner = {
        each.name: noise_line(value) if isinstance(value, Family) else plain(value)
        for each in fields(noise)  # type: ignore[arg-type]
        for value in [getattr(noise, each.name)]
    }
    return {"kind": type(noise).__name__, **inner}


def change_line(state: State) -> list[Any]:
    """Returns a change as plain data: `[unit, count]` for each unit, or `[unit, count, what it
    became]`."""
    return [
        [_unit_line(item.leaf), count, *([change_line(item.below)] if item.below else [])]
        for item, count in state
    ]


def _unit_line(unit: ChangeUnit) -> Line:
    """Returns a unit of change as plain data, without keys that have their default values."""
    line: Line = {"kind": unit.kind.value}
    if unit.ends != (0,):
        line["ends"] = list(unit.ends)
    if unit.kept:
        line["kept"] = list(unit.kept)
    if unit.size is not None:
        line["size"] = str(unit.size)
    for name in ("displaced", "sign", "directed"):
        if getattr(unit, name):
            line[name] = int(getattr(unit, name))
    return line


def proof_lines(certificate: Certificate, number: int) -> Iterator[Line]:
    """Yields the claims of a proof, premises first, and the bound that follows; `number`: of the
    proof."""
    yield {
        "line": "proof",
        "id": number,
        "notion": _notion(certificate),
        "multiplied": certificate.survival,
    }
    for n, claim in enumerate(certificate.claims):
        line: Line = {"line": "claim", "id": n, "dataset": claim.place}
        line["change"] = change_line(claim.state)
        if claim.pure:
            line["pure"] = True
        line["loss"] = loss_line(claim.answer.loss)
        line["charges"] = [loss_line(each) for each in claim.answer.own]
        line["rules"] = [rule_line(choice.how) for choice in claim.answer.choices]
        line["premises"] = list(claim.premises)
        yield line
    loss = loss_line(certificate.loss)
    yield {"line": "bound", "id": number, "roots": list(certificate.roots), "loss": loss}


def _notion(certificate: Certificate) -> str:
    return "profile" if certificate.notion is Notion.PROFILE else certificate.notion.value


def loss_line(loss: Loss) -> Any:
    """Returns a loss as plain data: a number, pairs (ε, δ), or multisets of losses with counts.

    None, or an empty list, where no finite one is known, or one that certificates have no name for.
    """
    if not (isinstance(loss, tuple) and loss and isinstance(loss[0], LossMultiset)):
        return plain(loss)
    listed = [multiset_line(each) for each in loss]
    return [] if None in listed else listed


def multiset_line(losses: LossMultiset) -> list[Any] | None:
    """Returns a multiset of losses as plain data: `[ε, δ, count]`, `[kind, …, count]` for each
    loss.

    None where certificates have no name for one of them.
    """
    found: list[Any] = []
    for atom, count in losses.atoms.items():
        lines_ = _loss_of_mechanism(atom)
        if lines_ is None:
            return None
        found += [[*each, count * n] for *each, n in lines_]
    return found


def _loss_of_mechanism(atom: MechanismLossOptions) -> list[Any] | None:
    """Returns the loss of a mechanism as plain data; None where certificates have no name for it.

    By its only option, or by that of the sample it is read through.
    """
    sampled = [each for each in atom.options if isinstance(_only_part(each), Sampled)]
    if len(atom.options) > 1 and not sampled:
        return None
    return _curve_line((sampled or atom.options)[0])


def _only_part(curve: Curve) -> Part | None:
    return curve.parts[0][0] if len(curve.parts) == 1 else None


def _curve_line(curve: Curve) -> list[Any] | None:
    """Returns the losses of a composition as plain data, each with its count; None where one has no
    name."""
    found: list[Any] = []
    if curve.gaussian:
        found.append(["Gaussian", str(curve.gaussian), 1])
    if curve.no_failure != 1:
        found.append(["0", str(1 - curve.no_failure), 1])
    for part, count in curve.parts:
        match part:
            case Response(epsilon):
                line: list[Any] = [str(epsilon), "0"]
            case LaplaceLoss(shift):
                line = ["Laplace", str(shift)]
            case GeometricLoss(shift, scale):
                line = ["Geometric", str(scale), str(shift)]
            case DiscreteGaussianLoss(shift, variance):
                line = ["DiscreteGaussian", str(variance), str(shift)]
            case Sampled(rate, base, False, "removed" | "added" as side):
                inner = _curve_line(base)
                if inner is None:
                    return None
                line = ["Poisson", str(rate), str(int(side == "added")), inner]
            case Grouped(base, 1):
                inner = _curve_line(base)
                if inner is None:
                    return None
                found += [[*each, n * count] for *each, n in inner]
                continue
            case _:
                return None
        found.append([*line, count])
    if len(found) == 2 and curve.no_failure != 1 and len(curve.parts) == 1 and found[1][1] == "0":
        return [[found[1][0], found[0][1], 1]]  # one (ε, δ)
    return found or [["0", "0", 1]]


def rule_line(how: How) -> Any:
    """Returns a rule as plain data: its name, or its name with the rules that it combines."""
    return [how.rule, *map(rule_line, how.of)] if how.of else how.rule


def point_line(proof: int, delta: Fraction, epsilon: Fraction, order: Fraction | None) -> Line:
    """Returns the claim that `epsilon` at `delta` follows from the bound of the proof of that
    number.

    `order`: that of the Rényi divergence by which a bound in ρ is converted, else None.
    """
    line: Line = {"line": "point", "proof": proof, "delta": str(delta), "epsilon": str(epsilon)}
    return line if order is None else {**line, "order": str(order)}


def lines(problem: Problem, digest: str, proofs: Sequence[Certificate]) -> Iterator[Line]:
    """Yields the lines of a certificate but for points: the header, the problem, and its proofs.

    `digest`: of the spec.
    """
    yield header(problem, digest)
    yield from problem_lines(problem)
    for number, certificate in enumerate(proofs):
        yield from proof_lines(certificate, number)
