"""What would make a bound less, if it is true: candidates, each certified by analysing the spec.

The number of trials is bounded by what they take, as far as the spec tells, never by a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.search.solver import Solver
from dpcompose.curves import COMPARED
from dpcompose.curves.families import PureSteps
from dpcompose.curves.rounding import chance
from dpcompose.errors import InvalidSpec
from dpcompose.planning.candidates import Candidate, candidates
from dpcompose.planning.what_if import Put, epsilon_at, what_if
from dpcompose.report import Advice, Report, Written
from dpcompose.report.certify import certify
from dpcompose.report.verdict import deltas_of, verdict
from dpcompose.report.wording import number
from dpcompose.resolve import Resolved, load_resolved
from dpcompose.source import Source

#: So many are told, unless all are asked for.
MOST_TOLD = 5
#: What all trials together may take, in hundredths of a second or so; if all are asked for.
EFFORT, MOST_EFFORT = 100, 3000
#: And a path of several steps, once composed.
_PATH = 8
#: Of a candidate with more entries, those that matter are not looked for.
MOST_APART = 4
#: By less than this share nothing is saved that would be worth a word.
NOTHING = Fraction(1, 1000)
#: The `before` of a problem whose number may be of any size: as good as infinite.
_ANY = Fraction(10) ** 12


def advised(
    report: Report,
    data: bytes | str,
    name: str,
    lines_above: int = 0,
    everything: bool = False,
    delta: Fraction | None = None,
) -> Report:
    """Returns the report with advice that would lower its number; unchanged if it has no number.

    `data`: the text of the spec, `name`: what to call it; `lines_above`: the lines of its file
    above it. `everything`: also tries what takes long. `delta`: lower the ε there; None: at the δ
    of the budget or of the spec.
    """
    if report.status not in ("ok", "no-guarantee"):
        return report
    source, resolved = load_resolved(data, name, lines_above)
    # To have spent less of a filter is no smaller bound.
    asked = None if resolved.ledger else _number_to_lower(report, resolved, delta)
    if asked is None:
        return report
    found = _advice(source, resolved.problem, asked, everything)
    return replace(report, advice=found, otherwise=_otherwise(source, report, asked))


def _otherwise(source: Source, report: Report, asked: _Asked) -> tuple[str, Fraction | None] | None:
    """Returns the number's name and its value if all statements without a relation hold for one row
    each.

    The value is None if not finite. None instead of both if every statement has a relation.
    """
    spans = {each.span for each in report.assumed_relations}
    mechanisms = source.at(("mechanisms",))
    puts = [
        Put(("mechanisms", at, "relation"), "unbounded")
        for at, mechanism in enumerate(mechanisms if isinstance(mechanisms, list) else ())
        if isinstance(mechanism, dict) and source.span(("mechanisms", at)) in spans
    ]
    if not spans or len(puts) < len(spans):  # a guarantee in a list: it is not looked into
        return None
    try:
        found = replace(asked, before=_ANY).number_of(what_if(source, puts))
    except InvalidSpec:
        return None
    return (asked.name, None) if found is None else found


def _advice(
    source: Source, problem: Problem, asked: _Asked, everything: bool
) -> tuple[Advice, ...]:
    """Returns the declarations that would lower the number of a spec, the largest saving first.

    `everything`: also those that take long to try.
    """
    left = MOST_EFFORT if everything else EFFORT
    trials = _Trials(source, asked, left // _effort(problem, asked.delta is not None))
    found = [each for candidate in candidates(source, problem) for each in trials.of(candidate)]
    found.sort(key=lambda each: each.after)
    least: dict[tuple[str, Fraction], Advice] = {}
    for each in found:  # of the same kind, what asks for less and brings as much
        known = least.get((each.key, each.after))
        if known is None or len(each.places) < len(known.places):
            least[each.key, each.after] = each
    found = [each for each in found if least[each.key, each.after] is each]
    return tuple(found if everything else found[:MOST_TOLD])


@dataclass(frozen=True, slots=True)
class _Asked:
    """The number to lower: its name and its value before (None: it is not finite)."""

    name: str
    before: Fraction | None
    delta: Fraction | None
    symbol: str = "epsilon"
    limits: tuple[tuple[str, Fraction], ...] = ()
    compared: bool = False

    def number_of(self, problem: Problem) -> tuple[str, Fraction] | None:
        """Returns the name and value of the number for another problem, None if not finite."""
        if self.delta:
            at = next(
                iter(certify(problem, (), [self.delta], compared=self.compared).at_delta), None
            )
            return None if at is None or at.value is None else (self.name, at.value)
        if self.before is None:
            found = certify(problem).bounds
            if not found or found[0].delta is not None:
                return None
            return found[0].notion.facts.sign, found[0].value
        limit = (self.symbol, self.before)
        bounds = certify(problem, [Budget((limit,))]).bounds
        decision = verdict(Budget((limit, *self.limits)), bounds)
        if not decision.ok or decision.slack is None:
            return None
        return self.name, self.before - decision.slack


def _number_to_lower(report: Report, resolved: Resolved, delta: Fraction | None) -> _Asked | None:
    """Returns the number to lower: the ε at the δ asked for, at the budget's, or at the spec's
    first; else the bound.

    None for a report without a number.
    """
    if not delta and report.verdict is not None:
        delta = dict(report.verdict.limit.parameters).get("delta")
    ats = [each for each in report.at_delta if 0 < each.given < 1]
    at = next((each for each in ats if each.given == delta), next(iter(ats), None))
    if at is not None:
        return _Asked(epsilon_at(at.given), at.value, at.given, compared=at.rule in COMPARED)
    bound = report.bound
    if bound is None:
        if report.status != "no-guarantee":
            return None
        wanted = (delta, *deltas_of(resolved.budget), *resolved.deltas)
        delta = next((each for each in wanted if each), None)
        return _Asked("ε" if delta is None else epsilon_at(delta), None, delta)
    facts = bound.notion.facts
    given = () if bound.delta is None else (("delta", bound.delta),)
    name = facts.sign
    if bound.delta is not None:
        name += f" with δ = {chance(number(bound.delta))}"
    return _Asked(name, bound.value, None, facts.symbol, given)


def _effort(problem: Problem, at_delta: bool) -> int:
    """Returns an estimate of the cost of one analysis (1: the least), by the losses to compose;
    `at_delta`: whether an ε at a δ is computed."""
    mechanisms = list(problem.mechanisms())
    datasets = list(problem.datasets())
    cost = 1 + len(mechanisms) // 20 + len(datasets) // 20
    if at_delta:
        kinds = {each.statements[0].guarantee for each in mechanisms if each.statements}
        cost += 2 + len(kinds) // 3
        if any(isinstance(each.made_by, Sample) for each in datasets):
            cost += 20
    if at_delta and cost < EFFORT:
        for pattern in Solver(problem).patterns:
            composed = next(iter(compositions(pattern)))
            cost += _PATH * sum(isinstance(part, PureSteps) for part, _ in composed.parts)
    return cost


class _Trials:
    """Analyses specs with candidates added; at most `left` more analyses are made."""

    def __init__(self, source: Source, asked: _Asked, left: int) -> None:
        self._source, self._asked, self._left = source, asked, left

    def of(self, candidate: Candidate) -> Iterator[Advice]:
        """Yields the advice of a candidate: all of its entries, and one entry alone if that saves
        half as much.

        An entry that saves as much as all of them replaces them. Yields nothing if no analysis is
        left, or if nothing is saved.
        """
        found = self._tried(candidate)
        if found is None:
            return
        several = len(candidate.entries)
        tried = (self._tried(replace(candidate, entries=(each,))) for each in candidate.entries)
        alone = [each for each in tried if each] if 1 < several <= MOST_APART else []
        best = min(alone, key=lambda each: each.after, default=None)
        if best is None or best.after > found.after:
            yield found
        if best is not None and 2 * (best.saves or 0) >= (found.saves or 0):
            yield best

    def _tried(self, candidate: Candidate) -> Advice | None:
        """Returns the advice of a candidate, None if it saves too little or none is left."""
        if self._left <= 0:
            return None
        self._left -= 1
        try:
            problem = what_if(self._source, candidate.puts)
        except InvalidSpec:  # it has no meaning there
            return None
        before, found = self._asked.before, self._asked.number_of(problem)
        if found is None or (before is not None and found[1] > before * (1 - NOTHING)):
            return None
        places = tuple(
            Written(each.write, self._source.span(each.path)) for each in candidate.entries
        )
        return Advice(candidate.key, candidate.sentence, places, found[0], before, found[1])
