"""The report: what an analysis found, ready for any renderer. No wording of formats here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol

from dpcompose.core.notions.guarantee import Bound as Bound
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import SIGNS
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import Diagnostic, Span, printable
from dpcompose.report.reasoning import Alternative as Alternative
from dpcompose.report.reasoning import Assumption as Assumption
from dpcompose.report.reasoning import FilterRecord as FilterRecord
from dpcompose.report.reasoning import Line as Line
from dpcompose.report.reasoning import Node as Node
from dpcompose.report.reasoning import NodeKind as NodeKind
from dpcompose.report.reasoning import Touch as Touch
from dpcompose.report.reasoning import WorstChange as WorstChange

#: `unreadable`: there is no spec, since the file or its settings cannot be read. `left-out`: it is
#: of no file, but counts those that a run met and has no result for.
Status = Literal["ok", "no-guarantee", "invalid", "unreadable", "left-out"]
#: How much a report says: the bound, with its verdict and the findings; what it rests on, the worst
#: change and what each mechanism costs as well; and also why, with all that was compared.
Extent = Literal["bound", "costs", "all"]


class LeftOut(NamedTuple):
    """What a run met and has no result for.

    `unread`: files that could not be read, each told by itself. `skipped`: YAML files in folders
    that are no specs. `dangling`: links that lead to no file. `folders`: links to folders that are
    not looked into by another name. `hidden`: specs in folders that are not looked into.
    `absent`: empty folders where there are submodules. `names`: the first of these, but of
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
        """Returns how many are told of by this count alone."""
        return self.skipped + self.dangling + self.folders + self.hidden + self.absent

    @property
    def summary(self) -> str:
        """`1 file without a result; 2 other YAML files skipped; 1 dangling link`."""
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

    `slack`: limit minus bound in the budget's main parameter (negative: exceeded), None where
    they cannot be compared; `why` then says so. `by`: the bound that was held against the limit,
    where it is not the report's own. `of_adversary`: the budget is one against the adversary, and
    `by` is the adversary's bound. `at`: the ε at the budget's δ that was held against it, where
    it is not a bound at all; `by` is then None.
    """

    limit: Budget
    ok: bool
    slack: Fraction | None
    why: str | None = None
    by: Bound | None = None
    at: At | None = None
    of_adversary: bool = False


class Route(NamedTuple):
    """One way to a number at a chosen δ or ε: its `name`, what it gives, and how in a sentence.

    `value`: ε (at a δ) or δ (at an ε), rounded up; None where the route gives none, `why` says so.
    """

    name: str
    value: Fraction | None
    why: str


class At(NamedTuple):
    """The least number certified at a chosen δ (`wanted` "delta") or at a chosen ε ("epsilon").

    `given`: the chosen number. `value`: the ε or the δ that holds, None if there is no finite one.
    `lower`: no true value is below it, None where not known. `rule`: the name of the winning route;
    `says`: one sentence on it; `others`: the routes compared, from the best on.
    `worst`: the worst change at this point, in words, where it is not that of the whole report.
    `chain`: the steps of the δ bookkeeping, one sentence each. `datasets`: those that the worst
    change reaches and some mechanism reads. `touched`: what feels that change.
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


class Risk(NamedTuple):
    """The most that an attacker gains by the release, every rate rounded up (theory, section 11).

    `advantage`: hits less false alarms, at the best rate. `hits`: (rate of false alarms, rate of
    hits) of a test for which of two neighbouring tables was read. `success`: (chance at which an
    attack on an attribute or a record succeeds against the other table, chance against the one
    read); the other one is without the person's data, or with another record, or other values, in
    their place. `from_point`: the same by `point` alone,
    one (ε, δ) of the release; both None where it has none.
    """

    advantage: Fraction
    hits: tuple[tuple[Fraction, Fraction], ...] = ()
    success: tuple[tuple[Fraction, Fraction], ...] = ()
    point: tuple[Fraction, Fraction] | None = None
    from_point: Risk | None = None

    @property
    def membership(self) -> Fraction:
        """Returns the chance at most of telling which of two equally likely tables was read.

        Less than the success from 1/2, which is that of guessing one of two values.
        """
        return (1 + self.advantage) / 2


class Learnt(NamedTuple):
    """What is learnt of some columns of a row by one who knows its others (theory, section 12).

    `changes`: these columns. `bound`: the loss where such rows are replaced, in these columns
    alone; None where there is none, or none without a δ: `known` tells the two apart, and `reasons`
    say why there is nothing. `at_delta`: the least ε at the chosen δ's. `risk`: what an attacker
    gains, where that is asked for. `mechanisms`: those that the worst such change reaches.
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
        """Whether anything is certified."""
        return self.bound is not None or any(at.value is not None for at in self.at_delta)


class TouchCount(NamedTuple):
    """A mechanism on a dataset that a change reaches, `times` in all: what it `meets` there."""

    mechanism: str
    dataset: str
    meets: str
    times: int


class Share(NamedTuple):
    """What one mechanism adds at the worst change.

    `bound`: in the unit of the whole; where there is none without a δ, what the mechanism costs
    there by itself. `of_whole`: its part of what adds up, None where the parts do not make up the
    whole. `without`: the ε at the first chosen δ of the same release without the mechanism, None
    where that was not looked at.
    """

    mechanism: str
    bound: Bound
    span: Span | None
    of_whole: Fraction | None = None
    without: Fraction | None = None


class Written(NamedTuple):
    """Something to write in a spec, and the entry that it belongs to."""

    write: str
    span: Span


class Advice(NamedTuple):
    """Something that the author could say, if it is true, and what it would bring.

    `key`: what it is about, a key of specs or a word. `condition`: when it is true. `places`: what
    to write, all of it together. `number`: what becomes less, such as `ε at δ = 1e-6`; `before`
    what it is (None: not finite), `after` what is certified of the spec that says so.
    """

    key: str
    condition: str
    places: tuple[Written, ...]
    number: str
    before: Fraction | None
    after: Fraction

    @property
    def saves(self) -> Fraction | None:
        """Returns how much less it is."""
        return None if self.before is None else self.before - self.after


class AgainstAdversary(NamedTuple):
    """What holds against an adversary with two hypotheses alone; weaker than the bound of DP.

    `label` says so, and against whom. `bound`: None if nothing is known, `why` then says why.
    `ratio`: its ε as a share of that of DP, None where there is none. `theorem`: what gives it.
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
    """A finding that a comment in the spec ignores, for the reason given there."""

    finding: Diagnostic
    reason: str


class Views(Protocol):
    """How reports are shown where Python shows values."""

    def as_rich(self, report: Report) -> Any:
        """Returns what a console of rich prints."""

    def as_html(self, report: Report) -> str:
        """Returns what a notebook shows."""


def relation_words(report: Report) -> str:
    """Returns the relation protected, with the columns that it leaves out: `bounded keeping
    city`."""
    words = str(report.relation)
    if report.keeps:
        words += f" keeping {', '.join(report.keeps)}"
    return f"{words} changing {', '.join(report.changes)} alone" if report.changes else words


#: Loads the views, where there are any: the package says which, as reports know nothing of layout.
VIEWS: list[Callable[[], Views]] = []


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one spec.

    `file` is what `file:line:column` names; `document` is its number where the file has several.

    `relation`, `keeps` and `changes`: the relation protected, and the columns that a replacement
    keeps, or those that alone it changes.
    `protects`: what the protected change is, in words. `tree`: the proof, line by line;
    `chain`: the same reasoning in sentences.
    `reasons`: why there is no finite bound (one sentence each, with the way out), empty if ok.
    `findings` are sorted by position; an invalid spec has only those. `bound` is None for an ok
    report where the mechanisms have no common notion without a δ: the result is then the profile,
    with its numbers in `at_delta`. `rechecked`: how many claims prove the bounds, all checked again
    by the kernel; None where that was not asked for, or where there is no result.
    `attributes`: what is learnt of some columns alone, question by question, as far as it is asked.
    `population`: whose data it is. `ceilings`: the bound held against what settings allow at most.
    `place`: where its verdict belongs, which is the budget or else what is protected.
    `risk`: what an attacker gains, where that is asked for and there is a bound.
    `advice`: what would make the number that is asked for less, if it is true; where asked for.
    `record`: what a filter has counted, where parameters are chosen along the way; the bound is
    then the budget.
    """

    file: str
    title: str
    status: Status
    relation: str | None = None
    keeps: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    distance: int = 1
    protects: str = ""
    bound: Bound | None = None
    theorem: str | None = None
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
    adversary: AgainstAdversary | None = None
    place: Span | None = None
    document: int | None = None
    population: str | None = None
    ceilings: tuple[Verdict, ...] = ()
    attributes: tuple[Learnt, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    left_out: LeftOut | None = None
    rechecked: int | None = None
    advice: tuple[Advice, ...] = ()
    record: FilterRecord | None = None
    lines: Sequence[str] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """Returns what to call the spec: its file, and which document of it where there are
        several."""
        return self.file if self.document is None else f"{self.file} (document {self.document})"

    @property
    def in_short(self) -> str:
        """`ε = 17/10 (pure DP, bounded)`; the ε that was asked for leads; `invalid, 2 errors`."""
        if self.status == "invalid":
            count = sum(each.level == "error" for each in self.findings)
            return f"invalid, {count} error{'' if count == 1 else 's'}"
        asked = [] if self.verdict is None or self.verdict.at is None else [self.verdict.at]
        at = next((each for each in (*asked, *self.at_delta) if each.value is not None), None)
        said, words = [], [str(self.relation)]
        if at is not None and at.value is not None:
            said.append(
                f"{_equation_text('epsilon', at.value)} at {_equation_text('delta', at.given)}"
            )
        if self.bound is not None:
            facts = self.bound.notion.facts
            said.append(_equation_text(facts.symbol, self.bound.value, self.bound.exact))
            if self.bound.delta is not None:
                said.append(_equation_text("delta", self.bound.delta, self.bound.delta_exact))
            words.insert(0, facts.words)
        return f"{', '.join(said)} ({', '.join(words)})" if said else self.status.replace("-", " ")

    def __repr__(self) -> str:
        return f"<Report {printable(self.label)}: {self.in_short}>"

    def __rich__(self) -> Any:
        """Returns the report as `dpcompose analyze` prints it, as wide as a console of rich."""
        return VIEWS[0]().as_rich(self) if VIEWS else repr(self)

    def _repr_html_(self) -> str | None:
        """The same for a notebook."""
        return VIEWS[0]().as_html(self) if VIEWS else None

    @property
    def not_rechecked(self) -> tuple[str, ...]:
        """Returns the parts of the report with numbers that a recheck leaves out, by their
        fields."""
        return tuple(
            name for name in ("at_delta", "at_epsilon", "risk", "adversary") if getattr(self, name)
        )


def _equation_text(name: str, value: Fraction, exact: bool = True) -> str:
    """`ε = 17/10`, `δ = 1e-6`, or `ε ≤ 0.707107` where rounded up."""
    decimal = decimal_up(value, 6)
    if exact and _SMALL <= value < _LONG and value.denominator < _LONG:
        return f"{SIGNS[name]} = {value}"
    return f"{SIGNS[name]} {'=' if exact and Fraction(decimal) == value else '≤'} {decimal}"


_SMALL = Fraction(1, 1000)  # below it a decimal reads better than its fraction
_LONG = 10**6  # and so it does for a numerator or a denominator of so many
