"""The report: everything that an analysis found, as data that any renderer can show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpcompose.core.model.problem import Goal
from dpcompose.core.notions.guarantee import AskedRisk, Budget
from dpcompose.core.notions.guarantee import Bound as Bound
from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.theorem import Alternative as Alternative
from dpcompose.core.theorem import Assumption as Assumption
from dpcompose.curves.rounding import decimal_up, float_up
from dpcompose.errors import Diagnostic, Path, Span, printable
from dpcompose.report.reasoning import FilterRecord as FilterRecord
from dpcompose.report.reasoning import Line as Line
from dpcompose.report.reasoning import Node as Node
from dpcompose.report.reasoning import NodeKind as NodeKind
from dpcompose.report.reasoning import PipelineKind as PipelineKind
from dpcompose.report.reasoning import PipelineNode as PipelineNode
from dpcompose.report.reasoning import Proof as Proof
from dpcompose.report.reasoning import Recheck as Recheck
from dpcompose.report.reasoning import Touch as Touch
from dpcompose.report.reasoning import WorstChange as WorstChange

if TYPE_CHECKING:
    from dpcompose.report.declared_assumptions import Vouched

#: A function that returns the position of a path of the spec in its file.
SpanOf = Callable[[Path], Span]
#: The result of a spec. `unreadable`: the file or its settings cannot be read. `left-out`: the
#: report is of no file, and counts the files that a run met and has no result for.
Status = Literal["ok", "no-guarantee", "invalid", "unreadable", "left-out"]
#: How much of a report is filled in. "bound": the bound, its verdict and the findings. "costs":
#: also the assumptions, the worst change and the cost of each mechanism. "all": also the proof and
#: the theorems compared.
Extent = Literal["bound", "costs", "all"]


class LeftOut(NamedTuple):
    """Counts of the files that a run came across and has no result for.

    `unread`: files that could not be read, each with a report of its own. `skipped`: YAML files in
    folders that are no specs. `dangling`: links that lead to no file. `folders`: links to folders
    that are not searched under another name. `hidden`: specs in folders that are not searched.
    `absent`: empty folders where there are submodules. `names`: the first names of all of these but
    `unread`.
    """

    unread: int = 0
    skipped: int = 0
    dangling: int = 0
    folders: int = 0
    hidden: int = 0
    absent: int = 0
    names: tuple[str, ...] = ()

    @property
    def untold(self) -> int:
        """Returns how many of these files have no report of their own, so that only this count
        mentions them."""
        return self.skipped + self.dangling + self.folders + self.hidden + self.absent

    @property
    def summary(self) -> str:
        """Returns the counts in words: `1 file without a result; 1 dangling link`."""
        parts = (
            (self.unread, "file{} without a result"),
            (self.skipped, "other YAML file{} skipped"),
            (self.dangling, "dangling link{}"),
            (self.folders, "link{} to folders elsewhere"),
            (self.hidden, "hidden spec{} not analysed"),
            (self.absent, "submodule{} or other folder{} without files"),
        )
        return "; ".join(
            f"{count} {noun.replace('{}', '' if count == 1 else 's')}"
            for count, noun in parts
            if count
        )


class Verdict(NamedTuple):
    """A budget and whether it is met.

    `slack`: limit minus bound in the budget's main parameter (negative: exceeded), None where they
    cannot be compared; `why` then says so. `by`: the bound compared with the limit, where it is not
    the report's own. `of_adversary`: the budget is one against the adversary, and `by` is the
    adversary's bound. `at`: the ε at the budget's δ that was compared with it instead of a bound;
    `by` is then None.
    """

    limit: Budget
    ok: bool
    slack: Fraction | None
    why: str | None = None
    by: Bound | None = None
    at: At | None = None
    of_adversary: bool = False


class Route(NamedTuple):
    """A compared route to a number at a chosen δ or ε: its `name`, its bound, a citation (`why`).

    `value`: ε (at a δ) or δ (at an ε), rounded up; None where the route gives no finite number.
    """

    name: str
    value: Fraction | None
    why: str


class At(NamedTuple):
    """The least number certified at a chosen δ (`wanted` is "delta") or at a chosen ε ("epsilon").

    `given`: the chosen number. `value`: the ε or the δ that holds, None if there is no finite one.
    `lower`: no true value is below it, None where not known. `rule`: the name of the winning route;
    `says`: a sentence on it; `others`: the routes compared, best first. `worst`: the worst change
    at this point, in words, where it is not that of the whole report. `chain`: the reasoning, one
    sentence for each step. `datasets`: those that this change reaches and some mechanism reads.
    `touched`: the mechanisms that it reaches.
    """

    wanted: Literal["delta", "epsilon"]
    given: Fraction
    value: Fraction | None
    lower: Fraction | None
    rule: str
    says: str
    others: tuple[Route, ...] = ()
    worst: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    touched: tuple[TouchCount, ...] = ()

    @property
    def exact(self) -> bool:
        """Returns whether the value is the true one, as far as a bound from below says so, and not
        rounded up from it."""
        return not self.value or self.value == self.lower


class Risk(NamedTuple):
    """The most that an attacker gains by the release, each rate rounded up (theory, section 11).

    `advantage`: hits minus false alarms, at the best rate. `hits`: (rate of false alarms, rate of
    hits) of a test for which of two neighbouring tables was read. `success`: (baseline, success):
    the chance that an attack on an attribute or a record succeeds where the person's data is absent
    or replaced, and its chance on the real release. `from_point`: the same risk computed from
    `point` alone, one (ε, δ) of the release; both None where there is none. For pictures alone:
    `trade_off`, pairs like `hits` over all rates; `profile`, pairs of an ε and its δ.
    """

    advantage: Fraction
    hits: tuple[tuple[Fraction, Fraction], ...] = ()
    success: tuple[tuple[Fraction, Fraction], ...] = ()
    point: tuple[Fraction, Fraction] | None = None
    from_point: Risk | None = None
    trade_off: tuple[tuple[Fraction, Fraction], ...] = ()
    profile: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def membership(self) -> Fraction:
        """Returns the greatest chance of telling which of two equally likely tables was read.

        It is less than the success from a baseline of 1/2, which is that of guessing one of two
        values.
        """
        return (1 + self.advantage) / 2


class Learnt(NamedTuple):
    """What can be learnt of some columns of a row if its others are known (theory, section 12).

    `changes`: these columns. `bound`: the loss when a row is replaced in these columns only; None
    without a finite bound, or where one holds only at a δ: `is_finite` tells the two apart, and
    `reasons` say why there is nothing. `at_delta`: the least ε at the chosen δ's. `risk`: an
    attacker's gain, where asked for. `mechanisms`: those that the worst such change reaches.
    """

    name: str
    changes: tuple[str, ...]
    bound: Bound | None
    at_delta: tuple[At, ...] = ()
    risk: Risk | None = None
    mechanisms: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def is_finite(self) -> bool:
        """Returns whether anything finite is certified: a bound, or an ε at some δ."""
        return self.bound is not None or any(at.value is not None for at in self.at_delta)


class TouchCount(NamedTuple):
    """How often a change reaches a mechanism on a dataset: `times` in all, with a change `meets`
    (in words) of that dataset."""

    mechanism: str
    dataset: str
    meets: str
    times: int


class Share(NamedTuple):
    """What one mechanism adds at the worst change.

    `bound`: in the unit of the whole; without a bound in one notion, the ε of the mechanism alone
    at a δ. `of_whole`: its share of the sum, None where the parts do not add up to the whole.
    `group`: the group of the mechanism in the spec. `without`: the ε at the first chosen δ of the
    same release without the mechanism, None where not computed. `file`: the spec of the mechanism,
    in a sum of several.
    """

    mechanism: str
    bound: Bound
    span: Span | None
    of_whole: Fraction | None = None
    without: Fraction | None = None
    group: str | None = None
    file: str = ""


class AnswerNoise(NamedTuple):
    """What the noise of a mechanism does to each number that it releases, in its units, rounded up.

    `noise`: the family and its parameter in words; empty where a guarantee is stated, or nothing is
    added to a number: then `deviation`, the standard deviation, and `within`, the half-width of the
    interval in which the noise is with the chance `level`, are None.
    """

    mechanism: str
    noise: str
    deviation: Fraction | None
    within: Fraction | None
    level: Fraction
    span: Span | None


class Written(NamedTuple):
    """A text to write into a spec, and the position of the entry that it belongs to."""

    write: str
    span: Span


class Advice(NamedTuple):
    """A statement that the author could add to the spec, if it is true, and what it would save.

    `key`: what it is about, a key of specs or a word. `condition`: when it is true. `places`: the
    texts to write, all of them together. `number`: the number that becomes less, such as `ε at δ =
    1e-6`; `before`: its value now (None: not finite), `after`: its value with the statement.
    """

    key: str
    condition: str
    places: tuple[Written, ...]
    number: str
    before: Fraction | None
    after: Fraction

    @property
    def saves(self) -> Fraction | None:
        """Returns by how much the number becomes less; None if it was not finite."""
        return None if self.before is None else self.before - self.after


class AgainstAdversary(NamedTuple):
    """A bound against an adversary with two hypotheses only; weaker than the bound of DP.

    `label` says so, and against whom. `bound`: None if nothing is known, and `why` says why.
    `ratio`: its ε divided by that of DP, None without one. `theorem`: what gives the bound.
    `attained`: some mechanisms with just these guarantees lose as much. `at_delta`: the least ε at
    the chosen δ's.
    """

    label: str
    hypotheses: tuple[str, str]
    bound: Bound | None
    theorem: str | None
    ratio: Fraction | None
    attained: bool = False
    why: str | None = None
    chain: tuple[Line, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    assumptions: tuple[str, ...] = ()
    at_delta: tuple[At, ...] = ()


class Ignored(NamedTuple):
    """A finding that a comment in the spec ignores, with the reason given there."""

    finding: Diagnostic
    reason: str


class CertifiedFloat(float):
    """A certified number as the least float that is not below it; `exact`: the number itself."""

    exact: Fraction

    def __new__(cls, exact: Fraction) -> CertifiedFloat:
        found = super().__new__(cls, float_up(exact))
        found.exact = exact
        return found


def number_of_budget(verdict: Verdict | None, numbers: Iterable[At]) -> At | None:
    """Returns the number at the δ of the budget that a verdict is on, else the first finite one of
    `numbers`; None without any."""
    found = [each for each in numbers if each.value is not None]
    if verdict is not None and not verdict.of_adversary:
        if verdict.at is not None:
            return verdict.at
        own = dict(verdict.limit.parameters).get("delta")
        found.sort(key=lambda each: each.wanted != "delta" or each.given != own)
    return found[0] if found else None


#: Returns the module `dpcompose.render.views`, which shows a report as a value; the package
#: registers it, since reports know nothing of layout.
load_views: Callable[[], Any] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one spec.

    `file` is the name in `file:line:column`; `document`: the number of the document in a file
    of several. `goal`: what is protected, None for a spec that could not be analysed, and
    `protects`: that change in words. `units`: each root with the column of its privacy unit,
    where all rows of a unit are protected together. `limits`: the budgets for
    differential privacy; `against`: the one against the adversary.
    `theorem`: the one that gives the headline number; `proof`: its steps, with the theorems on
    which that one rests. `tree`: the worst change with its costs, line by line; `chain`: the same
    reasoning in sentences. `reasons`: why there is no finite bound (one sentence each, with the way
    out), empty if ok. `findings` are
    sorted by position; an invalid spec has only those. `bound` is None for an ok report where
    the mechanisms have no common notion without a δ: the result is then a profile, with its
    numbers in `at_delta`. `certificate`: the claims that prove the bounds, a line of JSON each,
    where asked for; `rechecked`: what the stand-alone checker says of them, None where not
    asked for or without a result. `attributes`: for each question, what can be learnt of some
    columns. `population`: whose data it is; `people`: where parameters are chosen along the
    way, its roots with a privacy unit, in words. `ceilings`: the bound compared with what
    settings allow at most. `place`: the position of the budget, or else of what is protected.
    `risk`: an attacker's gain, where asked for and there is a bound; `drawn`: the same with its
    curves, for pictures. `advice`: statements that would make the number smaller, where asked
    for. `otherwise`: the number, by name, if statements without a relation hold for one row
    each; its value is None where it is not finite. `record`: what a filter has counted, where
    parameters are chosen along the way; the bound is then the budget. `pipeline`: datasets,
    partitions and mechanisms as they are drawn. `digest`: the SHA-256 of the text of the spec.
    `accuracy`: what noise does to answers. `vouched`: what each entry of the spec declares, where
    asked for. `again`: analyses the same spec with further
    arguments of `analyze`. `extent` of an analysis decides which of these are filled.
    """

    file: str
    title: str
    status: Status
    goal: Goal | None = None
    units: tuple[tuple[str, str], ...] = ()
    protects: str = ""
    limits: tuple[Budget, ...] = ()
    against: Budget | None = None
    bound: Bound | None = None
    theorem: str | None = None
    proof: Proof | None = field(default=None, repr=False)
    worst: WorstChange | None = None
    chain: tuple[Line, ...] = ()
    tree: tuple[Node, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    reasons: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    shares: tuple[Share, ...] = ()
    verdict: Verdict | None = None
    at_delta: tuple[At, ...] = ()
    at_epsilon: tuple[At, ...] = ()
    risk: Risk | None = None
    drawn: Risk | None = None
    adversary: AgainstAdversary | None = None
    place: Span | None = None
    document: int | None = None
    population: str | None = None
    people: tuple[str, ...] = ()
    ceilings: tuple[Verdict, ...] = ()
    attributes: tuple[Learnt, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    left_out: LeftOut | None = None
    certificate: tuple[str, ...] = field(default=(), repr=False)
    rechecked: Recheck | None = None
    advice: tuple[Advice, ...] = ()
    otherwise: tuple[str, Fraction | None] | None = None
    record: FilterRecord | None = None
    pipeline: tuple[PipelineNode, ...] = field(default=(), repr=False)
    digest: str = ""
    accuracy: tuple[AnswerNoise, ...] = ()
    vouched: tuple[Vouched, ...] = field(default=(), repr=False)
    again: Callable[..., Report] | None = field(default=None, repr=False, compare=False)
    lines: Sequence[str] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """Returns the name of the spec: its file, with the document's number if it has several."""
        return self.file if self.document is None else f"{self.file} (document {self.document})"

    @property
    def meanwhile(self) -> tuple[str, ...]:
        """Returns what is assumed of the data between outputs, which stands beside every number."""
        return tuple(each.says for each in self.assumptions if each.kind == "meanwhile")

    @property
    def relation(self) -> str | None:
        """Returns the name of the protected relation; None for a spec that was not analysed."""
        if self.goal is None:
            return None
        return self.goal.relation.name or self.goal.relation.kind.value

    @property
    def distance(self) -> int:
        """Returns how many steps of the relation are protected together."""
        return 1 if self.goal is None else self.goal.distance

    @property
    def keeps(self) -> tuple[str, ...]:
        """Returns the columns that a replaced row of the protected relation keeps."""
        return () if self.goal is None else tuple(sorted(self.goal.relation.keeps))

    @property
    def changes(self) -> tuple[str, ...]:
        """Returns the only columns in which a replaced row may differ; empty where any may."""
        return () if self.goal is None else tuple(sorted(self.goal.relation.changes or ()))

    @property
    def group_shares(self) -> list[tuple[str, Fraction]]:
        """Returns the groups of mechanisms, each with its part of the sum, the largest first.

        Empty where no mechanism has a group, or where parts do not add up to the whole.
        """
        found: dict[str, Fraction] = {}
        for each in self.shares:
            if each.group is not None and each.of_whole is not None:
                found[each.group] = found.get(each.group, Fraction(0)) + each.of_whole
        return sorted(found.items(), key=lambda each: (-each[1], each[0]))

    @property
    def assumed_relations(self) -> tuple[Diagnostic, ...]:
        """Returns the findings on statements without a relation, where that changes the number."""
        return tuple(each for each in self.findings if each.code == "DPC202")

    @property
    def in_short(self) -> str:
        """Returns the result in one line: `ε = 17/10 (pure DP, bounded)`, or `invalid, 2 errors`.

        The ε at the budget's δ comes first.
        """
        if self.status == "invalid":
            count = sum(each.level == "error" for each in self.findings)
            return f"invalid, {count} error{'' if count == 1 else 's'}"
        at = number_of_budget(self.verdict, self.at_delta)
        said, words = [], [str(self.relation)]
        if at is not None and at.value is not None:
            said.append(
                f"{_equation_text('epsilon', at.value, at.exact)} "
                f"at {_equation_text('delta', at.given)}"
            )
        if self.bound is not None:
            facts = self.bound.notion.facts
            said.append(_equation_text(facts.symbol, self.bound.value, self.bound.exact))
            if self.bound.delta is not None:
                said.append(_equation_text("delta", self.bound.delta, self.bound.delta_exact))
            words.insert(0, facts.words)
        return f"{', '.join(said)} ({', '.join(words)})" if said else self.status.replace("-", " ")

    def __repr__(self) -> str:
        """Returns the name of the spec and its result in one line."""
        return f"<Report {printable(self.label)}: {self.in_short}>"

    def __rich__(self) -> Any:
        """Returns the report as `dpcompose analyze` prints it, as wide as the console of rich."""
        return load_views().as_rich(self) if load_views else repr(self)

    def _repr_html_(self) -> str | None:
        """Returns the report as HTML for a notebook; None where no renderer is loaded."""
        return load_views().as_html(self) if load_views else None

    def epsilon(self, delta: Fraction | float | str) -> CertifiedFloat:
        """Returns the least ε that is certified at a δ, rounded up.

        >>> import dpcompose
        >>> report = dpcompose.analyze(dpcompose.example("helpdesk-hundred-counts"))
        >>> round(report.epsilon(delta=1e-6), 4)
        4.7746

        `.exact` of it is a fraction. Raises ValueError where no ε is finite, or for a bad δ.
        """
        return self._number("epsilon", delta, self._ask(deltas=(delta,)).at_delta)

    def delta(self, epsilon: Fraction | float | str) -> CertifiedFloat:
        """Returns the least δ that is certified at an ε, rounded up.

        >>> import dpcompose
        >>> report = dpcompose.analyze(dpcompose.example("helpdesk-hundred-counts"))
        >>> f"{report.delta(epsilon=4):.3g}"
        '3.42e-05'

        `.exact` of it is a fraction. Raises ValueError where there is none, or for a bad ε.
        """
        return self._number("delta", epsilon, self._ask(epsilons=(epsilon,)).at_epsilon)

    def curve(self) -> list[tuple[float, CertifiedFloat]]:
        """Returns points (ε, δ) of the privacy profile: the release is (ε, δ)-DP for each of them.

        Raises ValueError where there is no bound.
        """
        found = self.drawn or self._ask(drawn=True).drawn
        if found is None:
            raise ValueError(f"{self.label}: there is no finite bound")
        return [(float(epsilon), CertifiedFloat(delta)) for epsilon, delta in found.profile]

    def trade_off(self, false_alarms: Fraction | float | str) -> CertifiedFloat:
        """Returns the most hits of a test for a person at a rate of false alarms, rounded up.

        >>> import dpcompose
        >>> report = dpcompose.analyze(dpcompose.example("helpdesk-hundred-counts"))
        >>> round(report.trade_off(0.01), 4)
        0.0915

        Raises ValueError where there is no bound, or for a bad rate.
        """
        rate = Fraction(str(false_alarms))
        if not 0 < rate < 1:
            raise ValueError(f"a rate of false alarms is between 0 and 1, not {false_alarms}")
        found = self._ask(risk=AskedRisk((), (rate,))).risk
        if found is None:
            raise ValueError(f"{self.label}: there is no finite bound")
        return CertifiedFloat(dict(found.hits)[rate])

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as `dpcompose analyze --format json` prints it."""
        assert load_views is not None
        found: dict[str, Any] = load_views().as_dict(self)
        return found

    def to_html(self) -> str:
        """Returns the page that `dpcompose report` writes."""
        shown = self if self.drawn or self.again is None else self._ask(drawn=True, extent="all")
        assert load_views is not None
        return str(load_views().as_page(shown))

    def _ask(self, extent: Extent = "bound", **asked: Any) -> Report:
        """Returns a report on the same spec in which more is asked for. Raises ValueError."""
        if self.again is None or self.status == "invalid":
            raise ValueError(f"{self.label}: {self.in_short}")
        return self.again(extent=extent, **asked)

    def _number(
        self, name: str, given: Fraction | float | str, found: Sequence[At]
    ) -> CertifiedFloat:
        """Returns the number at a point that was asked for. Raises ValueError for none."""
        point = Fraction(str(given))
        value = next((at.value for at in found if at.given == point), None)
        if value is None:
            raise ValueError(f"{self.label}: no finite {name} is certified at {given}")
        return CertifiedFloat(value)

    @property
    def not_rechecked(self) -> tuple[str, ...]:
        """Returns the fields of the report with numbers that the checker did not confirm."""
        confirmed = () if self.rechecked is None else dict(self.rechecked.points)
        points = all(at.value is None or at.given in confirmed for at in self.at_delta)
        parts = ("at_delta", "at_epsilon", "risk", "adversary")
        return tuple(
            name for name in parts if getattr(self, name) and not (points and name == "at_delta")
        )


def _equation_text(name: str, value: Fraction, exact: bool = True) -> str:
    """Returns `ε = 17/10`, `δ = 1e-6`, or `ε ≤ 0.707107` where the number is rounded up."""
    decimal = decimal_up(value, 6)
    if exact and _SMALL <= value < _LONG and value.denominator < _LONG:
        return f"{SIGNS[name]} = {value}"
    return f"{SIGNS[name]} {'=' if exact and Fraction(decimal) == value else '≤'} {decimal}"


_SMALL = Fraction(1, 1000)  # smaller numbers are shown as decimals
_LONG = 10**6  # and so are numbers with a larger numerator or denominator
