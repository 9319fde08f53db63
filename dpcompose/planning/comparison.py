"""What a change of a spec does to its bound: how much, and because of which entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import LEVELS, Diagnostic, Level
from dpcompose.pipeline import analyze
from dpcompose.planning.edits import Edit, edits
from dpcompose.planning.growth import beyond, growth
from dpcompose.planning.number_changes import (
    Direction,
    NumberChange,
    alone,
    compared,
    named_parameters,
)
from dpcompose.report import At, Bound, Report, Share
from dpcompose.report.declared_assumptions import difference, is_new
from dpcompose.report.verdict import implies
from dpcompose.report.wording import number
from dpcompose.source import Source, load


@dataclass(frozen=True, slots=True)
class SameTerms:
    """The conditions under which both versions of a spec are analysed, so that only the spec
    differs.

    `deltas`: where to compare ε, beside where the specs ask for it. `default`: the budgets of a
    version that has none. `ceilings`: the largest budgets allowed. `audit`: changes the report of a
    valid version as settings ask. `least`: new findings of a lower level are left out.
    """

    deltas: tuple[Fraction, ...] = ()
    default: tuple[Budget, ...] = ()
    ceilings: tuple[Budget, ...] = ()
    audit: Callable[[Source, Report], Report] | None = None
    least: Level = "warning"


@dataclass(frozen=True, slots=True)
class Version:
    """A spec at one time: its name, its bytes, and the number of lines of the file above it.

    `document`: its number where the file has several. `path`: the file without its revision, where
    the name contains that too.
    """

    name: str
    data: bytes | str
    lines_above: int = 0
    document: int | None = None
    path: str | None = None

    def report(
        self, terms: SameTerms, deltas: Sequence[Fraction], epsilons: Sequence[Fraction] = ()
    ) -> Report:
        """Returns the analysis of one of the two revisions of a spec that are compared, with ε at
        each of `deltas` and δ at each of `epsilons`."""
        report = analyze(
            self.data,
            self.name,
            deltas=deltas,
            epsilons=epsilons,
            default=terms.default,
            ceilings=terms.ceilings,
            audit=terms.audit,
            lines_above=self.lines_above,
            extent="costs",
            vouched=True,
        )
        return report if self.document is None else replace(report, document=self.document)

    def source(self) -> Source:
        """Returns its source (text and tree). Raises InvalidSpec."""
        return load(self.data, self.name, self.lines_above)


@dataclass(frozen=True, slots=True)
class Moved:
    """A mechanism with its share of the bound before and now; None: it had, or has, none."""

    mechanism: str
    old: Share | None
    new: Share | None


@dataclass(frozen=True, slots=True)
class Change:
    """A spec before (None: it is new) and now (None: it was removed), valid where both are there.

    `files`: the file that it was in, and the one that it is in, without a revision.
    `numbers`: the parameters of the bound, and ε at each δ. `why`: why they cannot be compared.
    `because`: what made the bound another one, a sentence each. `moved`: the mechanisms that add
    another amount at the worst change. `edits`: the entries of the spec that differ. `findings`:
    those that the spec did not have before. `free`: the mechanisms that post-process and did not.
    `settings`: what the settings around the spec say now and did not, a sentence each; `stricter`:
    whether they still ask for all that they did. `failing`: the events that somebody wants to fail.
    """

    old: Report | None
    new: Report | None
    files: tuple[str | None, str | None]
    direction: Direction
    numbers: tuple[NumberChange, ...] = ()
    why: str | None = None
    because: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    edits: tuple[Edit, ...] = ()
    assumed: tuple[str, ...] = ()
    no_longer_assumed: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    free: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    stricter: bool = False
    failing: tuple[Event, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """Returns the events that this change is, among those that a review may stop at."""
        old, new = self.old, self.new
        found: dict[Event, bool] = {
            "increase": self.raises,
            "new-assumption": bool(self.assumed or self.free),
            "budget-raised": _budget_raised(self.old, self.new),
            "population-changed": bool(old and new and old.population != new.population),
            "removed-spec": self.new is None,
            "settings-changed": bool(self.settings) and not self.stricter,
        }
        return tuple(event for event in EVENTS if found[event])

    @property
    def source_to_show(self) -> Report:
        """Returns the report of the new version, or of the old one if the spec was removed."""
        shown = self.new or self.old
        assert shown is not None
        return shown

    @property
    def label(self) -> str:
        """Returns the name of the spec: `old → new` where it had another one in a revision."""
        was, now = self.files
        name = now or was or self.source_to_show.file
        if was and now and was != now and self.old is not None and self.old.file != was:
            name = f"{was} → {now}"
        return replace(self.source_to_show, file=name).label

    @property
    def raises(self) -> bool:
        """Returns whether more may be spent than before, also where that cannot be decided."""
        return self.direction in ("increased", "incomparable")


@dataclass(frozen=True, slots=True)
class Invalid:
    """The versions of a spec that are invalid, as reports with their faults.

    `files`: as those of a change.
    """

    reports: tuple[Report, ...]
    files: tuple[str | None, str | None]


def change(
    old: Version | None, new: Version | None, terms: SameTerms | None = None
) -> Change | Invalid:
    """Returns the change of a spec between two versions, analysed under `terms`; Invalid if one is
    invalid.

    One of them may be None: the spec is new, or was removed.
    """
    terms = terms or SameTerms()
    files = _file(old), _file(new)
    after = None if new is None else new.report(terms, terms.deltas)
    same = old is not None and new is not None and old.data == new.data
    if same and old is not None and after is not None:
        before: Report | None = replace(after, file=old.name, document=old.document)
    else:
        before = None if old is None else old.report(terms, terms.deltas)
    if after is None or new is None:  # what was wrong with it is no fault any more
        assert before is not None
        gone = ("the spec is gone",)
        return Change(before, None, files, "decreased", alone(before, gone=True), None, gone)
    bad = tuple(each for each in (before, after) if each is not None and each.status == "invalid")
    if bad:
        return Invalid(bad, files)
    if same and before is not None:
        return Change(before, after, files, *compared(before, after))
    if before is None or old is None:
        endless = ", and has no finite bound" if after.status == "no-guarantee" else ""
        return Change(
            None,
            after,
            files,
            "increased",
            alone(after),
            because=(f"the spec is new{endless}",),
            assumed=newly_assumed(None, after),
            findings=tuple(_new_findings(None, after, terms.least)),
            free=newly_free(None, after),
        )
    # Not at the points of the new version: it could choose one at which less seems to be spent.
    wanted, known = (
        [_points_of(each.at_delta), _points_of(each.at_epsilon)] for each in (before, after)
    )
    if not all({*asked} <= {*there} for asked, there in zip(wanted, known, strict=True)):
        after = new.report(terms, *wanted)
    direction, numbers, why = compared(before, after)
    was, now = old.source(), new.source()
    changed = edits(was, now)
    if direction != "incomparable" and any(map(_may_move_numbers, changed)):
        found_more = growth(before, after, was, now, direction == "increased")
        grown = tuple(beyond(numbers, found_more))
        direction, numbers = "increased" if grown else direction, (*numbers, *grown)
    found = Change(
        before,
        after,
        files,
        direction,
        numbers,
        why,
        moved=tuple(_changed_shares(before, after)),
        edits=changed,
        assumed=newly_assumed(before, after),
        no_longer_assumed=newly_assumed(after, before, gone=True),
        findings=tuple(_new_findings(before, after, terms.least)),
        free=newly_free(before, after),
    )
    return found if found.direction == "same" else replace(found, because=tuple(_because(found)))


#: The keys at the top of a spec that change no number: what a report asks is asked of both.
_OF_NO_NUMBER = frozenset({"title", "population", "budget", "report"})


def _may_move_numbers(edit: Edit) -> bool:
    """Returns whether an edit may change what is certified."""
    keys = {each.name.split(".")[0] for each in edit.keys}
    return edit.kind != "spec" or not keys <= _OF_NO_NUMBER


def _points_of(points: Sequence[At]) -> tuple[Fraction, ...]:
    """Returns the δ's, or the ε's, at which numbers are stated."""
    return tuple(dict.fromkeys(at.given for at in points))


def refused(old: Version | None, new: Version | None, why: Diagnostic) -> Invalid:
    """Returns the result for two versions that were not compared, with the finding `why`."""
    shown = new or old
    assert shown is not None
    report = Report(shown.name, "", "invalid", findings=(why,), document=shown.document)
    return Invalid((report,), (_file(old), _file(new)))


def _file(version: Version | None) -> str | None:
    """Returns the file of a version without its revision; None for no version."""
    return None if version is None else version.path or version.name


def _new_findings(old: Report | None, new: Report, least: Level) -> Iterator[Diagnostic]:
    """Yields the findings of `new`, of level `least` or higher, that `old` has nowhere."""
    before = Counter((each.code, each.message) for each in (old.findings if old else ()))
    for each in new.findings:
        before[each.code, each.message] -= 1
        fresh = before[each.code, each.message] < 0
        if fresh and LEVELS.index(each.level) >= LEVELS.index(least):
            yield each


# ---------------------------------------------------------------------------------------------
# Reasons


def _changed_shares(old: Report, new: Report) -> Iterator[Moved]:
    """Yields the mechanisms whose share of the bound changed, the largest increase first.

    Nothing where a report has no finite bound, and so no shares.
    """
    if "no-guarantee" in (old.status, new.status):
        return
    before = {each.mechanism: each for each in old.shares}
    after = {each.mechanism: each for each in new.shares}
    found = [Moved(name, before.get(name), after.get(name)) for name in {**before, **after}]
    found.sort(key=lambda each: (-_grown(each), each.mechanism))
    for each in found:
        if each.old is None or each.new is None or each.old.bound != each.new.bound:
            yield each


def _grown(moved: Moved) -> Fraction:
    """Returns the increase of a mechanism's share (negative: a decrease)."""
    old, new = (
        Fraction(0) if each is None else each.bound.value for each in (moved.old, moved.new)
    )
    return new - old


def _because(found: Change) -> Iterator[str]:
    """Yields sentences on why the bound changed: by shares that moved so, or other edits."""
    by_name = {(each.kind, each.name): each for each in found.edits}
    yield from found.source_to_show.reasons
    down = found.direction == "decreased"
    told: set[tuple[str, str]] = set()
    for each in found.moved:
        grown = _grown(each)
        if (grown < 0) == down and _comparable(each):
            told.add(("mechanism", each.mechanism))
            yield _reason(each, by_name.get(("mechanism", each.mechanism)))
    numbers = any(" at " in each.name and each.direction != "same" for each in found.numbers)
    for edit in found.edits:
        if (edit.kind, edit.name) in told:
            continue
        if edit.kind != "mechanism" or numbers or not told:
            words = _edit_sentence(edit)
            if words:
                yield words


def _comparable(moved: Moved) -> bool:
    """Returns whether a mechanism's shares are in one notion, or one of them is missing."""
    both = moved.old is None or moved.new is None
    return both or moved.old.bound.notion is moved.new.bound.notion  # type: ignore[union-attr]


def _reason(moved: Moved, edit: Edit | None) -> str:
    """Returns the sentence on a mechanism whose share changed, with the edit of its entry."""
    name = f"`{moved.mechanism}`"
    was = None if moved.old is None else _text(moved.old.bound)
    now = None if moved.new is None else _text(moved.new.bound)
    if now is None:
        gone = edit is not None and edit.how == "removed"
        return f"{name} is gone, which added {was}" if gone else f"{name} no longer adds {was}"
    if was is None:
        fresh = edit is not None and edit.how == "added"
        return (
            f"{name} is new and adds {now}"
            if fresh
            else f"{name} adds {now}, where it added nothing"
        )
    keys = "" if edit is None else _keys_of(edit)
    return f"{name} adds {now} where it added {was}" + (f" ({keys})" if keys else "")


def _text(bound: Bound) -> str:
    """Returns the parameters of a bound: `0.5`, or `(0.5, 1e-6)`."""
    values = [number(value) for _, value in named_parameters(bound)]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _keys_of(edit: Edit) -> str:
    """Returns the first changed keys of an edit: `epsilon: 1 → 2, 3 more`."""
    most = 3
    words = [
        (f"{each.name}: " if each.name else "") + f"{each.old or 'none'} → {each.new or 'none'}"
        for each in edit.keys[:most]
    ]
    more = len(edit.keys) - len(words)
    return ", ".join([*words, *([f"{more} more"] if more > 0 else [])])


def _edit_sentence(edit: Edit) -> str | None:
    """Returns the sentence on an edit; None for one that cannot change a bound."""
    if edit.kind == "spec":
        keys = tuple(each for each in edit.keys if each.name.split(".")[0] in ("protect", "roots"))
        return f"the spec changed: {_keys_of(replace(edit, keys=keys))}" if keys else None
    name = f"the {edit.kind} `{edit.name}`"
    if edit.how != "changed":
        return f"{name} was {edit.how}"
    return f"{name} changed: {_keys_of(edit)}"


# ---------------------------------------------------------------------------------------------
# What a review may want to stop at: what a change of a spec newly assumes, frees or allows


Event = Literal[
    "increase",
    "new-assumption",
    "budget-raised",
    "population-changed",
    "removed-spec",
    "settings-changed",
]
EVENTS: tuple[Event, ...] = get_args(Event)

_CLAIMED = ("relations", "datasets", "mechanisms", "adaptivity", "filter", "adversary")


def newly_assumed(old: Report | None, new: Report, gone: bool = False) -> tuple[str, ...]:
    """Returns the assumptions of `new` that `old` does not have, as sentences.

    A claim that follows from an old one is left out: a weaker guarantee assumes nothing new. Of
    mechanisms only claims are listed. `gone`: `new` is the former version, so that its assumptions
    are those no longer made.
    """
    known = {each.says for each in (old.assumptions if old else ())}
    facts = [
        each.says
        for each in new.assumptions
        if each.path is not None
        and each.says not in known
        # The claims below tell of mechanisms and of whole entries.
        and each.path[:1] != ("mechanisms",)
        and each.kind != "entry"
    ]
    claimed = {each.of: each for each in (old.vouched if old else ())}
    for each in new.vouched:
        known_claim = claimed.get(each.of)
        if each.path[0] in _CLAIMED and is_new(each, known_claim):
            facts.append(difference(each, known_claim, gone)[0])
    return tuple(dict.fromkeys(facts))


def _budget_raised(old: Report | None, new: Report | None) -> bool:
    """Returns whether the budget of a spec may allow more than before, or was removed."""
    if old is None or new is None:
        return False
    if old.against is not None and (new.against is None or not implies(new.against, old.against)):
        return True
    return any(not any(implies(now, was) for now in new.limits) for was in old.limits)


def newly_free(old: Report | None, new: Report) -> tuple[str, ...]:
    """Returns the mechanisms that only post-process released outputs now, and did not before."""
    before = old.vouched if old else ()
    was = {each.of for each in before if "post_processes" in each.content}
    free = (each.of for each in new.vouched if "post_processes" in each.content)
    return tuple(each.removeprefix("mechanism ") for each in free if each not in was)
