"""Remarks on a valid spec, and comments that ignore them: DPC2xx and DPC32x."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry

_SMALL_COPIES = (
    "mechanisms:\n  - {name: total, reads: trips, notion: pure, epsilon: 0.1, count: COUNT}\n"
    "budget: {advantage: 0.4}"
)
_ADULTS = """\
protect: bounded
datasets:
  people: {}
  adults: {from: people, map: filter}
mechanisms:
"""
_DISTRICT = """\
datasets:
  trips: {}
  district: {from: trips, partition: {by: value, blocks: [north, south]}}
mechanisms:
"""
_NORTH_SOUTH = """\
  - {name: north, reads: district.north, notion: pure, epsilon: 1}
  - {name: south, reads: district.south, notion: pure, epsilon: 2}"""
_IDLE = _DISTRICT + _NORTH_SOUTH
_ALIKE = _DISTRICT + "  - {name: each, reads: district.*, notion: pure, epsilon: 2}"
_CAPPED = """\
protect: user
datasets:
  trips: {unit: rider}
  capped: {from: trips, map: {kind: cap, rows: 9, keep: random}}
  place:
    from: capped
    partition: {by: value, blocks: 5, max_blocks_per_unit: BLOCKS}
mechanisms:
  - {name: m, reads: place.*, mechanism: laplace, scale: 20, sensitivity: 1}"""
_MEAN = "\n  - {name: mean, reads: batch, notion: pure, epsilon: 1, relation: unbounded}"
_BATCH = """\
datasets:
  trips: {}
  batch: {from: trips, map: {kind: sample, poisson: 0.1}}
mechanisms:
"""

_LEDGER = """\
adaptivity: parameters
mechanisms: [{name: total, reads: trips, notion: gdp, mu: 0.1}]
"""
_UNITS = """\
protect: user
datasets:
  visits: {unit: patient}
  stays: {unit: UNIT}
mechanisms:
  - {name: visits, reads: visits, notion: pure, epsilon: 1}
  - {name: stays, reads: stays, notion: pure, epsilon: 1}"""
_RACE = """\
protect: bounded
datasets:
  people: {columns: [age, race]}
mechanisms:
"""
_ASKED = "report: {questions: [{name: the race, changes: [race]}]}"

REMARKS = {
    "DPC201": CodeEntry(
        why="Of two tables that differ in one replaced row, the filter may keep the old row and "
        "drop the new one: below it a row is missing. A guarantee for replaced rows there says "
        "nothing about that. One for the table above it may, if it was proved.",
        example=_ADULTS
        + "  - {name: total, reads: adults, notion: pure, epsilon: 1, relation: bounded}",
        instead=_ADULTS + "  - name: total\n    reads: adults\n    notion: pure\n    epsilon: 1\n"
        "    relation: bounded\n    stated_on: people",
        level="warning",
        theorems=("IV.15",),
    ),
    "DPC202": CodeEntry(
        why="A guarantee without a `relation` is taken to be for the relation protected: for "
        "replaced rows, though here a replaced row can also appear or vanish; or for all rows of "
        "a user, though below a cap most guarantees are proved for one row. It matters which.",
        example="protect: bounded\n"
        + _DISTRICT
        + "  - {name: total, reads: district.*, notion: pure, epsilon: 1}",
        instead="protect: bounded\n"
        + _DISTRICT
        + "  - {name: total, reads: district.*, notion: pure, epsilon: 1,\n"
        "     relation: unbounded}",
        level="warning",
        theorems=("II.9", "A.3"),
    ),
    "DPC203": CodeEntry(
        why="The partition changes nothing. Often a mechanism was meant to read its blocks and "
        "reads the whole table: of disjoint blocks the largest loss may count, not the sum.",
        example=_DISTRICT + "  - {name: total, reads: trips, notion: pure, epsilon: 1}",
        instead=_DISTRICT + "  - {name: total, reads: district.*, notion: pure, epsilon: 1}",
        level="note",
        theorems=("V.4",),
    ),
    "DPC204": CodeEntry(
        why="The bound is that of the worst change, which does not reach this mechanism. To make "
        "it less accurate saves nothing; with a larger ε it costs nothing, as long as its change "
        "is not the worst one.",
        example=_IDLE,
        instead=_ALIKE,
        level="note",
        theorems=("V.2", "V.4"),
    ),
    "DPC205": CodeEntry(
        why="Of several statements the one that gives least counts. This one is about a table "
        "further up and gives more: it can go, or is not what was meant.",
        example="""\
datasets:
  trips: {}
  long: {from: trips, map: filter}
mechanisms:
  - name: total
    reads: long
    guarantees:
      - {notion: pure, epsilon: 1}
      - {notion: pure, epsilon: 2, stated_on: trips}""",
        instead="""\
datasets:
  trips: {}
  long: {from: trips, map: filter}
mechanisms:
  - {name: total, reads: long, notion: pure, epsilon: 1}""",
        level="note",
        theorems=("IV.10",),
    ),
    "DPC206": CodeEntry(
        why="Each copy gains from a sample of its own, as in training by batches. If the program "
        "draws once for all copies, the bound is too small.",
        example=_BATCH + "  - {name: step, reads: batch, notion: pure, epsilon: 1, count: 10}",
        instead=_BATCH.replace("0.1}", "0.1, draws: one}")
        + "  - {name: step, reads: batch, notion: pure, epsilon: 1, count: 10}",
        level="note",
        theorems=("poisson-sample", "V.2"),
    ),
    "DPC207": CodeEntry(
        why="A Poisson sample hides whether one row is there. Where a guarantee is for replaced "
        "rows alone, or the change is of many rows, ε stays what it is in the full table. Write "
        "what was proved.",
        example="protect: bounded\n"
        + _BATCH
        + "  - {name: total, reads: batch, notion: pure, epsilon: 1, relation: bounded}"
        + _MEAN,
        instead="protect: bounded\n"
        + _BATCH
        + "  - {name: total, reads: batch, notion: pure, epsilon: 1, relation: unbounded}"
        + _MEAN,
        level="note",
        theorems=("poisson-sample", "poisson-sample-replaced"),
    ),
    "DPC208": CodeEntry(
        why="δ is the chance that the promise does not hold at all. At 1/n a release of one row, "
        "drawn at random and published, meets it; so it should be far below one over the number of "
        "rows.",
        example="budget: {epsilon: 1, delta: 0.01}",
        instead="budget: {epsilon: 1, delta: 1e-6}",
        level="warning",
        theorems=("V.2",),
    ),
    "DPC209": CodeEntry(
        why="Whoever was unsure whether a row is there may be all but sure afterwards: the odds "
        "change by up to e^ε, which is 485 million at 20.",
        example="mechanisms:\n  - {name: a, reads: trips, notion: pure, epsilon: 50}",
        instead="mechanisms:\n  - {name: a, reads: trips, notion: pure, epsilon: 1/2}",
        level="note",
        theorems=("IV.1",),
    ),
    "DPC210": CodeEntry(
        why="A sample lowers the loss of what reads it, and adds an error of its own. For one "
        "release more noise on all rows promises as much, mostly at less error. A sample pays "
        "where many fresh ones are read, as in DP-SGD.",
        example=_BATCH + "  - {name: step, reads: batch, notion: pure, epsilon: 1}",
        instead="mechanisms:\n  - {name: step, reads: trips, notion: pure, epsilon: 1/6}",
        level="note",
        theorems=("poisson-sample",),
    ),
    "DPC211": CodeEntry(
        why="What one row does to the number is over ten times what the noise does: the row shows. "
        "Mostly a unit is wrong, such as a scale in thousands beside a sensitivity in ones.",
        example="mechanisms:\n  - {name: a, reads: trips, mechanism: gaussian, sigma: 1,\n"
        "     sensitivity: 1000}",
        instead="mechanisms:\n  - {name: a, reads: trips, mechanism: gaussian, sigma: 1000,\n"
        "     sensitivity: 1000}",
        level="warning",
        theorems=("gaussian-curve",),
    ),
    "DPC212": CodeEntry(
        why="The number is as large as what is there already, by a cap above it, the number of "
        "blocks or the size of the table: nothing is declared by it. A smaller one would lower the "
        "bound.",
        example=_CAPPED.replace("BLOCKS", "5"),
        instead=_CAPPED.replace("BLOCKS", "2"),
        level="note",
        theorems=("III.6",),
    ),
    "DPC213": CodeEntry(
        why="Nothing is wrong. The budget holds by all that is known of the release, its whole "
        "privacy curve. Whoever knows only the ε and δ that are told must reckon with more: say "
        "both, or tell the risk as well.",
        example=_SMALL_COPIES.replace("COUNT", "100"),
        instead=_SMALL_COPIES.replace("COUNT", "8"),
        level="note",
        theorems=("trade-off", "total-variation"),
    ),
    "DPC220": CodeEntry(
        why="A filter is a budget in one notion, chosen before the first output. Where none is "
        "named, an (ε, δ) is counted in ρ, whatever is released: all notions but (ε, δ) can be "
        "read so. Gaussian releases alone have more room in μ, and of two filters the better one "
        "afterwards is none.",
        example=_LEDGER + "budget: {epsilon: 1, delta: 1e-6}",
        instead=_LEDGER + "filter: gdp\nbudget: {epsilon: 1, delta: 1e-6}",
        level="note",
        theorems=("gdp-filter", "zcdp-filter"),
    ),
    "DPC221": CodeEntry(
        why="One step takes all rows of one unit in every root. Where the units are not the same, "
        "a bound for one of each says little about all rows of either.",
        example=_UNITS.replace("UNIT", "clinic"),
        instead=_UNITS.replace("UNIT", "patient"),
        level="warning",
        theorems=("A.3",),
    ),
    "DPC222": CodeEntry(
        why="What release 1 gave away decided on how much release 2 may: the sum along the path "
        "that was taken is no bound for what could have been taken. A budget that is fixed before "
        "the first output is the guarantee, as long as the record stays within it.",
        example=_LEDGER + "title: Two quarters",
        instead=_LEDGER + "budget: {mu: 1}",
        level="warning",
        theorems=("gdp-filter",),
    ),
    "DPC223": CodeEntry(
        why="A release has cost what it has cost, whatever its file says later: to take it out of "
        "the ledger, or to lower it, makes room that is not there. `check --ledger FOLDER "
        "--changed-since REV` finds it and counts what the record had; in history `total "
        "--over-time` does.",
        example="",
        instead="",
        theorems=("zcdp-filter",),
    ),
    "DPC230": CodeEntry(
        why="A mechanism is taken to depend on every column of what it reads, unless a map above "
        "selects columns, or says which ones it uses. Without that all questions have one answer.",
        example=_RACE + "  - {name: total, reads: people, notion: pure, epsilon: 1}\n" + _ASKED,
        instead=_RACE.replace("]}", "]}\n  ages: {from: people, map: {kind: columns, only: [age]}}")
        + "  - {name: total, reads: ages, notion: pure, epsilon: 1}\n"
        + _ASKED,
        level="note",
        theorems=("IV.10",),
    ),
    "DPC320": CodeEntry(
        why="Who reads the spec later must be able to see why a remark does not matter. Without a "
        "reason nothing is ignored.",
        example=_DISTRICT + "  # dpcompose: ignore[DPC204]\n" + _NORTH_SOUTH,
        instead=_DISTRICT + "  # dpcompose: ignore[DPC204] the north is small\n" + _NORTH_SOUTH,
    ),
    "DPC321": CodeEntry(
        why="What the comment was written for is gone, or stands on another line. Left there, it "
        "would hide the next one.",
        example=_ALIKE + "\n  # dpcompose: ignore[DPC204] the north is small",
        instead=_ALIKE,
        level="warning",
    ),
    "DPC322": CodeEntry(
        why="A comment that is passed over would look as if it worked. Only remarks (DPC2xx) can "
        "be ignored: faults, missing bounds and budgets decide whether the spec passes.",
        example="budget: {epsilon: 1}  # dpcompose: ignore[DPC301] next year",
        instead="budget: {epsilon: 1}",
    ),
}
