"""Words about what is protected, and about what is asked."""

from __future__ import annotations

from dpcompose.handbook.entry import Topic

_STATED = """\
mechanisms:
  - name: total
    reads: trips
    notion: pure
    epsilon: 0.5
    relation: unbounded"""

RELATIONS = (
    Topic(
        words=("protect", "relation"),
        about="`protect` is the neighbouring relation of the final guarantee: what one person may "
        "change without being noticed. `relation` is what the neighbours of one stated guarantee "
        "are; without it, those protected. A guarantee for one relation is used for another by "
        "counting the steps: one row replaced is one removed and one added.",
        example=f"protect: bounded\n{_STATED}",
        theorems=("A.3", "III.3"),
        see=("unbounded", "bounded", "user", "edge", "distance", "relations", "stated_on"),
    ),
    Topic(
        words=("unbounded",),
        about="Neighbours differ in one row that is added or removed, so the number of rows is not "
        "public. Disjoint blocks then cost what the dearest one costs. In a `sensitivity`, "
        "`unbounded` is how far such a row moves the result.",
        example="""\
protect: unbounded
datasets:
  trips: {}
  month: {from: trips, partition: {by: value, blocks: 12}}
mechanisms: [{name: by month, reads: month.*, notion: pure, epsilon: 0.5}]""",
        theorems=("II.8", "IV.6"),
        see=("bounded", "user", "sensitivity"),
    ),
    Topic(
        words=("bounded",),
        about="Neighbours differ in one row that is replaced. It may leave one block and enter "
        "another: parallel composition fails, and two blocks change. Guarantees that are "
        "`stated_on` the whole table give the two largest losses added. In a `sensitivity`, "
        "`bounded` is how far a replaced row moves the result.",
        example="""\
protect: bounded
datasets:
  trips: {}
  month: {from: trips, partition: {by: value, blocks: 12}}
mechanisms:
  - name: by month
    reads: month.*
    notion: pure
    epsilon: 0.5
    stated_on: trips""",
        theorems=("II.9", "IV.13", "IV.15"),
        see=("unbounded", "keeps", "stated_on", "position"),
    ),
    Topic(
        words=("changes",),
        about="With `bounded`: the only columns in which a row and its replacement may differ, of "
        "a root that lists its `columns`. It says what is learnt of these by one who knows the "
        "others: which mechanisms depend on them, and no more. A guarantee without a relation "
        "speaks of the same neighbours; `relation: bounded` is one for any replacement.",
        example="""\
protect: {relation: bounded, changes: [block]}
datasets:
  people: {columns: [state, block, age]}
  states: {from: people, map: {kind: columns, only: [state, age]}}
mechanisms:
  - {name: states, reads: states, notion: pure, epsilon: 2, stated_on: people}
  - {name: blocks, reads: people, notion: pure, epsilon: 0.1}""",
        theorems=("kept-columns", "IV.10"),
        see=("columns", "uses", "questions", "keeps", "bounded"),
    ),
    Topic(
        words=("user",),
        about="All rows of one privacy unit are added or removed. The root names the column of the "
        "unit; a cap, or a partition with bounds for one unit, keeps the loss finite.",
        example="""\
protect: user
datasets:
  visits: {unit: patient}
  few: {from: visits, map: {kind: cap, rows: 3, keep: random}}
mechanisms:
  - {name: total, reads: few, notion: pure, epsilon: 0.1, relation: unbounded}""",
        theorems=("III.3",),
        see=("unit", "cap", "max_blocks_per_unit"),
    ),
    Topic(
        words=("edge", "node", "node-rewired"),
        about="Relations of graphs. `edge` is the weakest; `node` protects all edges of one "
        "vertex, `node-rewired` also lets them become others. With `max_degree` a guarantee for an "
        "edge is one for a vertex, so many times as large, or twice that for `node-rewired`.",
        example="""\
protect: node-rewired
datasets:
  friends: {domain: graph, max_degree: 20}
mechanisms:
  - {name: pairs, reads: friends, notion: pure, epsilon: 0.01, relation: edge}""",
        theorems=("A.3",),
        see=("graph", "max_degree", "edges"),
    ),
    Topic(
        words=("free-lunch",),
        about="Any two tables are neighbours. Whatever is stated for fewer neighbours says nothing "
        "here, and a guarantee that holds here lets nothing be learnt.",
        example="""\
protect: free-lunch
mechanisms:
  - name: nothing
    reads: trips
    notion: pure
    epsilon: 0.1
    relation: free-lunch""",
        theorems=("A.3",),
        see=("unbounded", "protect"),
    ),
    Topic(
        words=("distance",),
        about="Protects groups: so many steps of the relation at once. A stated ε grows as many "
        "times, ρ with the square; of noise the sensitivities add up, which is sharper.",
        example=f"protect: {{relation: unbounded, distance: 3}}\n{_STATED}",
        theorems=("III.3", "VI.3", "VI.12", "VI.20"),
        see=("protect", "relations"),
    ),
    Topic(
        words=("relations", "within"),
        about="Relations of your own: neighbours are at most `distance` steps of a built-in "
        "relation apart. It can be protected, and guarantees can be stated for it.",
        example="""\
protect: household
relations: {household: {within: unbounded, distance: 6}}
mechanisms:
  - name: total
    reads: trips
    notion: pure
    epsilon: 0.1
    relation: unbounded""",
        theorems=("A.3", "III.3"),
        see=("protect", "distance"),
    ),
)

ASKED = (
    Topic(
        words=("dpcompose", "title", "constants"),
        about="Every spec starts with the version of the language. Numbers are exact: `0.1` is one "
        "tenth, `104/4099` a fraction, and `total * 1440/4099` an expression over `constants`, "
        "with + - * / and brackets. `1e-6` is a number; a form that another parser would read "
        "differently, such as `010`, is refused.",
        example="""\
title: Three fifths and two fifths
constants: {total: 1/2}
mechanisms:
  - {name: fine, reads: trips, notion: pure, epsilon: total * 3/5}
  - {name: coarse, reads: trips, notion: pure, epsilon: total * 2/5}""",
        see=("datasets", "mechanisms", "protect"),
    ),
    Topic(
        words=("population",),
        about="Whose data it is. Releases on the same people add up, whichever file they are in: "
        "`dpcompose total` composes the specs of each population.",
        example="""\
population: patients-2026
mechanisms: [{name: total, reads: trips, notion: pure, epsilon: 0.5}]""",
        theorems=("V.2",),
        see=("roots", "budget"),
    ),
    Topic(
        words=("adaptivity", "adaptive", "independent"),
        about="`adaptive`, the default: each mechanism may use what the earlier ones released. "
        "`independent`: none does. The bounds are the same here; the theorems that are cited "
        "differ. In both, maps, blocks and parameters are fixed before the first output.",
        example="""\
adaptivity: independent
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.5, count: 2}""",
        theorems=("II.6", "II.7", "IV.1", "V.2"),
        see=("mechanisms", "parameters"),
    ),
    Topic(
        words=("parameters",),
        about="`adaptivity: parameters` is for a ledger: what a release spends is decided after "
        "seeing earlier ones. The guarantee is then the budget, as long as the record stays within "
        "it; what is spent and what is left are facts about the record, and without a budget there "
        "is no guarantee. The budget is counted in one notion, `filter`, chosen before the first "
        "output: that of the budget, `zcdp` for (ε, δ) and for a budget in risk, which becomes the "
        "largest ρ that meets it. It never depends on the releases: of two filters the better one "
        "afterwards is none. Only sums are filters. Optimal composition, distributions of losses "
        "and the best of several routes need fixed parameters; the report says what that costs. "
        "`total` counts so by default; `total --fixed REASON`, or `because` beside `adaptivity: "
        "adaptive` in every spec, says that all was planned together.",
        example="""\
adaptivity: parameters
filter: zcdp
mechanisms:
  - {name: in March, reads: trips, notion: pure, epsilon: 0.5}
  - {name: in June, reads: trips, notion: zcdp, rho: 0.01}
budget: {epsilon: 4, delta: 1e-6}""",
        theorems=("pure-filter", "approx-filter", "zcdp-filter", "gdp-filter", "zcdp-filter-aside"),
        see=("adaptivity", "budget", "filter", "because", "population"),
    ),
    Topic(
        words=("budget",),
        about="What `dpcompose check` compares the bound with: `{epsilon: 1}`, "
        "`{epsilon: 1, delta: 1e-6}`, `{rho: 0.5}`, `{mu: 1}`, or in risk `{advantage: 0.1}` or "
        "`{success: 0.05, baseline: 0.01}`. A pure bound meets an (ε, δ) "
        "budget with its ε; other notions are converted where that is possible, at the budget's δ.",
        example="""\
mechanisms:
  - name: total
    reads: trips
    mechanism: gaussian
    sigma: 10
    sensitivity: 1
budget: {epsilon: 1, delta: 1e-6}""",
        see=("report", "epsilon", "delta", "rho", "mu", "advantage", "success"),
    ),
    Topic(
        words=("questions",),
        about="Who learns what: a list of questions, each with a `name` and the columns that it "
        "`changes`. Each is answered by the bound where one row is replaced in these columns "
        "alone, beside the bound for what the spec protects; its guarantees stay what they are. "
        "`analyze --by attribute` asks for each column of the roots by itself.",
        example="""\
protect: bounded
datasets:
  people: {columns: [county, age, race]}
  ages: {from: people, map: {kind: columns, only: [county, age]}}
mechanisms:
  - {name: ages, reads: ages, notion: pure, epsilon: 0.5}
  - {name: all, reads: people, notion: pure, epsilon: 0.2}
report:
  questions: [{name: the race, changes: [race]}]""",
        theorems=("kept-columns",),
        see=("changes", "columns", "report"),
    ),
    Topic(
        words=("report",),
        about="Numbers to state beside the bound: `{delta: [1e-6, 1e-9]}` asks for the least ε at "
        "each δ, `{epsilon: 1}` for the least δ, `{risk: {}}` for what an attacker gains. The "
        "flags `--delta`, `--at-epsilon` and `--risk` add to it.",
        example="""\
mechanisms:
  - name: total
    reads: trips
    mechanism: gaussian
    sigma: 10
    sensitivity: 1
report: {delta: [1e-6, 1e-9], epsilon: 1}""",
        theorems=("gaussian-curve", "zcdp-at-delta", "dominating-pairs"),
        see=("budget", "delta", "risk"),
    ),
    Topic(
        words=("risk", "baselines", "false_alarms"),
        about="What an attacker gains at most, by all that is known of the release, and beside it "
        "by one ε at a δ alone. `baselines` are chances at which an attribute, or a record, is "
        "guessed right without the person's data, or, where rows are replaced, with another record "
        "in its place (1/2: of two equally likely values). `false_alarms` are rates at which a "
        "test takes the other table for the one read. Whether somebody is in the data, with prior "
        "1/2, is told right with chance (1 + advantage)/2 at most. It is about the change that is "
        "protected, all else known: not about what the release tells of people in general, nor "
        "about other releases. The flag `--risk` asks for the same.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: gdp, mu: 0.5}
report: {risk: {baselines: [1/10], false_alarms: [0.01]}}""",
        theorems=("trade-off", "success-from-baseline", "total-variation"),
        see=("advantage", "success", "baseline", "report"),
    ),
    Topic(
        words=("advantage",),
        about="A budget in what an attacker gains: by how much a test for which of two "
        "neighbouring tables was read may have more hits than false alarms. It is δ at ε = 0, the "
        "total variation. Membership with prior 1/2 is told right with chance (1 + advantage)/2 "
        "at most.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.1}
budget: {advantage: 0.05}""",
        theorems=("total-variation",),
        see=("risk", "success", "budget"),
    ),
    Topic(
        words=("success", "baseline"),
        about="A budget in what an attacker gains: an attack on an attribute or a record that "
        "succeeds with the chance `baseline` without a person's data, or with another record in "
        "its place, may succeed with the chance `success`. A guess among ten equally likely values "
        "has the baseline 1/10, a binary attribute 1/2; of a whole record it is small. Membership "
        "is what `advantage` speaks of.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.1}
budget: {success: 0.02, baseline: 0.01}""",
        theorems=("success-from-baseline", "trade-off"),
        see=("risk", "advantage", "budget"),
    ),
    Topic(
        words=(
            "adversary",
            "hypotheses",
            "none",
            "uniform",
            "none-vs-uniform",
            "exactly",
            "at_least",
            "at_most",
            "weight",
        ),
        about="A second figure, weaker than differential privacy and always labelled so: it holds "
        "only against an adversary who weighs two hypotheses about one person. It needs "
        "`protect: unbounded`, pure or approximate guarantees, and one partition by `membership` "
        "or `kinds`. A hypothesis is `none` (not in the data), `uniform` (any non-empty set of "
        "blocks that is possible), `{blocks: […]}` (just these), `{exactly: m}`, `{at_least: m}` "
        "or `{at_most: m}` (all such sets, equally likely), or a list of these with weights. "
        "`none-vs-uniform` is short for `[none, uniform]`. `check` holds it against a budget only "
        "where the spec says `budget: {adversary: {epsilon: …}}`.",
        example="""\
datasets:
  people: {}
  practice:
    from: people
    partition: {by: membership, blocks: 4, max_blocks: 4}
mechanisms: [{name: visits, reads: practice.*, notion: pure, epsilon: 0.3}]
adversary:
  hypotheses:
    - none
    - - {blocks: [0, 1], weight: 3/4}
      - {exactly: 1, weight: 1/4}""",
        theorems=("HBW.1", "HBW.mixture", "HBW.6", "HBW.likelihoods"),
        see=("membership", "kinds", "budget"),
    ),
)
