"""Bounds, budgets and what settings require: DPC30x and DPC31x."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry

_WARNING = "a warning of `analyze`, which only reports the budget"
_PURE = "mechanisms: [{name: total, reads: trips, notion: pure, "
_BOTH = (
    "mechanisms:\n  - {name: mean, reads: trips, notion: pure, epsilon: 1}\n"
    "  - {name: total, reads: trips, notion: pure, "
)
_GAUSSIAN = "mechanisms: [{name: total, reads: trips, notion: gdp, mu: 0.1}]\n"
_APPROX = "mechanisms:\n  - {name: total, reads: trips, notion: approx, epsilon: 1, "

VERDICTS = {
    "DPC300": CodeEntry(
        why="SARIF gives the bound as a result of the theorem that gives it, and of this rule "
        "where no theorem is named. Nothing is wrong.",
        example="",
        instead="",
        level="none",
    ),
    "DPC301": CodeEntry(
        why="The release can cost more privacy than is allowed. `dpcompose sensitivity` says which "
        "mechanisms to change, `dpcompose fit` by how much.",
        example=_PURE + "epsilon: 1}]\nbudget: {epsilon: 0.5}",
        instead=_PURE + "epsilon: 0.5}]\nbudget: {epsilon: 0.5}",
        but=_WARNING,
        command="check",
    ),
    "DPC302": CodeEntry(
        why="Something that the worst change reaches has no guarantee for it, or the mechanisms "
        "have no notion in common. The report says which, and the way out. Write what was proved, "
        "not what gives a bound.",
        example="mechanisms:\n"
        "  - {name: total, reads: trips, notion: pure, epsilon: 1, relation: bounded}",
        instead="mechanisms:\n"
        "  - {name: total, reads: trips, notion: pure, epsilon: 1, relation: unbounded}",
        theorems=("A.3",),
    ),
    "DPC303": CodeEntry(
        why="A budget in one notion says nothing about a bound in another one unless there is a "
        "conversion; most need a δ.",
        example=_GAUSSIAN + "budget: {epsilon: 1}",
        instead=_GAUSSIAN + "budget: {epsilon: 1, delta: 1e-6}",
        but=_WARNING,
        command="check",
        theorems=("gaussian-curve",),
    ),
    "DPC304": CodeEntry(
        why="`check` compares a bound with a budget. Without one it would pass, whatever the "
        "bound.",
        example=_PURE + "epsilon: 1}]",
        instead=_PURE + "epsilon: 1}]\nbudget: {epsilon: 1}",
        command="check",
    ),
    "DPC310": CodeEntry(
        why="A bound for another relation protects against another change, and is no substitute "
        "for the one that the project promises.",
        settings='require-relation = ["user"]',
        example="protect: unbounded\ndatasets: {trips: {unit: rider}}",
        instead="protect: user\ndatasets: {trips: {unit: rider}}",
        theorems=("A.3",),
    ),
    "DPC311": CodeEntry(
        why="A guarantee with a δ allows to print the whole table with that chance, whatever ε. A "
        "larger δ is a weaker promise.",
        settings='require-delta = "1e-6"',
        example=_APPROX + "delta: 1e-5}",
        instead=_APPROX + "delta: 1e-6}",
    ),
    "DPC312": CodeEntry(
        why="The bound rests on what the spec declares and nothing can check. Whoever declares it "
        "says why it is so, for those who review it.",
        settings='require-because = ["map.filter"]',
        example="""\
datasets:
  trips: {}
  long: {from: trips, map: filter, because: TODO}""",
        instead="""\
datasets:
  trips: {}
  long: {from: trips, map: filter, because: the query looks at one row}""",
    ),
    "DPC313": CodeEntry(
        why="Nothing can check what is declared here, and if it is not so the bound is wrong. The "
        "project does without it.",
        settings='forbid = ["roots.disjoint"]',
        example="roots: disjoint\ndatasets: {trips: {}, hires: {}}",
        instead="datasets: {trips: {}, hires: {}}",
    ),
    "DPC314": CodeEntry(
        why="A spec brings its own budget, and whoever changes it can change that. The ceiling of "
        "the settings holds beside it, for differential privacy: no figure against an adversary "
        "meets it.",
        settings="max-budget = {epsilon = 2}",
        example=_PURE + "epsilon: 3}]\nbudget: {epsilon: 9}",
        instead=_PURE + "epsilon: 2}]\nbudget: {epsilon: 9}",
    ),
    "DPC315": CodeEntry(
        why="Releases on the same people add up by the name of their population. A spec that names "
        "another one, or none, is not in the sum.",
        settings='populations = ["riders-2026"]',
        example="population: riders-26",
        instead="population: riders-2026",
    ),
    "DPC316": CodeEntry(
        why="A bound is as true as what the spec assumes. Somebody vouched for that, by `dpcompose "
        "accept`; this is other than what they have seen.",
        accepted=_PURE + "epsilon: 2}]\nbudget: {epsilon: 9}",
        example=_PURE + "epsilon: 1}]\nbudget: {epsilon: 9}",
        instead=_PURE + "epsilon: 2}]\nbudget: {epsilon: 8}",
        command="check",
    ),
    "DPC317": CodeEntry(
        why="Nothing is wrong with the spec. What stays in the file would be accepted again if it "
        "came back, unseen.",
        accepted=_BOTH + "epsilon: 1}\nbudget: {epsilon: 9}",
        example=_PURE + "epsilon: 1}]\nbudget: {epsilon: 9}",
        instead=_BOTH + "epsilon: 1}\nbudget: {epsilon: 9}",
        level="note",
        command="check",
    ),
    "DPC305": CodeEntry(
        why="What cannot be read was not analysed, and a run must not pass without it. A fault in "
        "the settings says so too: its specs are not analysed, since other settings might refuse "
        "them.",
        settings="bugdet = {epsilon = 1}",
        mended="budget = {epsilon = 1}",
        example="title: Trips of 2026",
        instead="title: Trips of 2026",
    ),
    "DPC307": CodeEntry(
        why="`diff` compares a spec with what it was. A bound that is larger, or that cannot be "
        "compared with the one before, costs people more than they were told; one that is smaller "
        "is a note.",
        example="",
        instead="",
        level="warning",
        but="an error where `--fail-on increase` asks for it, and a note where the bound fell",
    ),
    "DPC308": CodeEntry(
        why="A change can leave the bound as it is and still say less: it may assume more, raise "
        "the budget, name another population, remove a spec, or come with other settings. "
        "`diff --fail-on` names those that fail.",
        example="",
        instead="",
        level="note",
        but="an error where `--fail-on` names it",
    ),
    "DPC306": CodeEntry(
        why="A folder stands for its YAML files that have the key `dpcompose`, so that others, "
        "links to nothing and links to folders are met and left alone. Whoever can hide a spec "
        "need not keep its budget: `--strict` fails where anything is left out.",
        example="",
        instead="",
        level="note",
        but="an error with `--strict`, which exits with 2",
    ),
}
