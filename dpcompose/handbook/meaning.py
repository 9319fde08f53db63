"""Declarations that have no meaning together: DPC140 to DPC191."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry

_PRACTICES = """\
datasets:
  people: {}
  practice:
    from: people
    partition: {by: membership, blocks: [a, b], max_blocks: 2}
"""
_VISITS = "mechanisms: [{name: visits, reads: practice.*, notion: pure, epsilon: 0.3}]\n"
_UNIFORM = "adversary: {hypotheses: none-vs-uniform}"

_MEAN = """\
datasets:
  trips: {}
  mean: {from: trips, map: {kind: value, sensitivity: 1}}
"""
_GRAPH = "protect: edge\ndatasets: {friends: {domain: graph}}\n"


def _weighted(weights: tuple[str, str]) -> str:
    first, second = weights
    return (
        f"{_PRACTICES}{_VISITS}adversary:\n  hypotheses:\n    - none\n"
        f"    - [{{blocks: [a], weight: {first}}}, {{blocks: [b], weight: {second}}}]"
    )


def _levels(levels: int) -> str:
    """Ten blocks of each of ten blocks and so on, all with different numbers."""
    numbers = "{0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7, 7: 8, 8: 9, 9: 10}"
    names = "abcdefgh"[:levels]
    above = ["trips", *(f"{name}.*" for name in names)]
    datasets = "".join(
        f"  {name}: {{from: {upper}, partition: {{by: value, blocks: 10}}}}\n"
        for name, upper in zip(names, above, strict=False)
    )
    mechanisms = "\n".join(
        f"  - {{name: in {name}, reads: {name}.*, notion: pure, epsilon: *e}}" for name in names[1:]
    )
    return (
        f"datasets:\n  trips: {{}}\n{datasets}mechanisms:\n"
        f"  - name: in a\n    reads: a.*\n    notion: pure\n    epsilon: &e {numbers}\n{mechanisms}"
    )


MEANING = {
    "DPC131": CodeEntry(
        why="A root that lists its `columns` lists all of them, so that a name of none is a slip. "
        "Below a map only those columns are as they were that it keeps or selects.",
        example="""\
datasets:
  people: {columns: [state, race]}
  by_state: {from: people, map: {kind: columns, only: [sate]}}
mechanisms: [{name: total, reads: by_state, notion: pure, epsilon: 1}]""",
        instead="""\
datasets:
  people: {columns: [state, race]}
  by_state: {from: people, map: {kind: columns, only: [state]}}
mechanisms: [{name: total, reads: by_state, notion: pure, epsilon: 1}]""",
    ),
    "DPC140": CodeEntry(
        why="Where the number of rows is public, no table has a neighbour with one row more or "
        "less. A guarantee about neighbours that do not exist holds for every mechanism, even for "
        "one that prints the table.",
        example="protect: unbounded\ndatasets: {trips: {domain: fixed-size-table}}",
        instead="protect: bounded\ndatasets: {trips: {domain: fixed-size-table}}",
        theorems=("III.4",),
    ),
    "DPC141": CodeEntry(
        why="Rows of a table are a set. Only an ordered table has a first row, a second and so on; "
        "below a map that selects by other rows they are lost.",
        example="""\
protect: bounded
datasets:
  trips: {}
  fold: {from: trips, partition: {by: position, blocks: 3}}
mechanisms: [{name: total, reads: fold.*, notion: pure, epsilon: 1}]""",
        instead="""\
protect: bounded
datasets:
  trips: {domain: ordered-table}
  fold: {from: trips, partition: {by: position, blocks: 3}}
mechanisms: [{name: total, reads: fold.*, notion: pure, epsilon: 1}]""",
    ),
    "DPC142": CodeEntry(
        why="A cap keeps so many rows of each privacy unit. Without a column that says whose a row "
        "is, it bounds nothing.",
        example="""\
datasets:
  trips: {}
  capped: {from: trips, map: {kind: cap, rows: 3, keep: first}}""",
        instead="""\
datasets:
  trips: {unit: rider}
  capped: {from: trips, map: {kind: cap, rows: 3, keep: first}}""",
    ),
    "DPC143": CodeEntry(
        why="`edges` and `nodes` make a table of what a graph has; a table has neither.",
        example="""\
datasets:
  trips: {}
  pairs: {from: trips, map: edges}""",
        instead="""\
protect: edge
datasets:
  trips: {domain: graph}
  pairs: {from: trips, map: edges}""",
    ),
    "DPC144": CodeEntry(
        why="A graph has no rows to filter or to partition. How far one edge or node moves a table "
        "made of it is known for `edges` and `nodes`.",
        example="""\
protect: edge
datasets:
  friends: {domain: graph}
  old: {from: friends, map: filter}
mechanisms: [{name: total, reads: friends, notion: pure, epsilon: 1}]""",
        instead="""\
protect: edge
datasets:
  friends: {domain: graph}
  pairs: {from: friends, map: edges}
  old: {from: pairs, map: filter}
mechanisms: [{name: total, reads: friends, notion: pure, epsilon: 1}]""",
    ),
    "DPC145": CodeEntry(
        why="A map of kind `value` gives one point, which has no rows. Filter the table first, and "
        "make the value of what is left.",
        example=f"{_MEAN}  long: {{from: mean, map: filter}}",
        instead="""\
datasets:
  trips: {}
  long: {from: trips, map: filter}
  mean: {from: long, map: {kind: value, sensitivity: 1}}""",
    ),
    "DPC146": CodeEntry(
        why="`edge` and `node` are changes of a graph; a table has neither. What they do to a "
        "table made of the graph is worked out.",
        example="protect: edge\ndatasets: {trips: {}}",
        instead="protect: edge\ndatasets: {trips: {domain: graph}}",
    ),
    "DPC147": CodeEntry(
        why="`user` neighbours differ in all rows of one unit. Without a column that says whose a "
        "row is, nobody knows which these are.",
        example="protect: user\ndatasets: {trips: {}}",
        instead="protect: user\ndatasets: {trips: {unit: rider}}",
    ),
    "DPC148": CodeEntry(
        why="`unbounded`, `bounded` and `user` are about rows, which graphs and values do not "
        "have. A guarantee for them there would say nothing.",
        example=_GRAPH + "mechanisms:\n"
        "  - {name: total, reads: friends, notion: pure, epsilon: 1, relation: bounded}",
        instead=_GRAPH + "mechanisms:\n"
        "  - {name: total, reads: friends, notion: pure, epsilon: 1, relation: edge}",
        theorems=("III.4",),
    ),
    "DPC149": CodeEntry(
        why="`euclidean` states an ε per unit of distance between two points. Tables have no such "
        "distance; a map of kind `value` makes a point of one.",
        example="mechanisms:\n"
        "  - {name: total, reads: trips, notion: pure, epsilon: 1, relation: euclidean}",
        instead=_MEAN + "mechanisms:\n"
        "  - {name: total, reads: mean, notion: pure, epsilon: 1, relation: euclidean}",
        theorems=("III.6",),
    ),
    "DPC150": CodeEntry(
        why="What holds per unit of Euclidean distance is worked out for pure DP alone. Other "
        "notions state their loss for one neighbouring change.",
        example=_MEAN + "mechanisms:\n"
        "  - {name: total, reads: mean, notion: gdp, mu: 1, relation: euclidean}",
        instead=_MEAN + "mechanisms:\n"
        "  - {name: total, reads: mean, notion: pure, epsilon: 1, relation: euclidean}",
        theorems=("III.6",),
    ),
    "DPC151": CodeEntry(
        why="A declared relation is one between roots, since nothing says what it is of what is "
        "made from them.",
        example="""\
protect: household
relations: {household: {within: unbounded, distance: 4}}
datasets:
  people: {}
  adults: {from: people, map: filter}
mechanisms: [{name: total, reads: adults, notion: pure, epsilon: 1}]""",
        instead="""\
protect: household
relations: {household: {within: unbounded, distance: 4}}
datasets:
  people: {}
  adults: {from: people, map: filter}
mechanisms:
  - {name: total, reads: adults, notion: pure, epsilon: 1, stated_on: people}""",
    ),
    "DPC152": CodeEntry(
        why="`keeps` names the columns that are the same in a row and in its replacement, "
        "`changes` those that may not be. A row that is added or removed replaces none.",
        example="protect: {relation: unbounded, keeps: [city]}",
        instead="protect: {relation: bounded, keeps: [city]}",
    ),
    "DPC153": CodeEntry(
        why="A number alone is the sensitivity to one row added or removed. A graph and a value "
        "have no rows, so that it must say what change it is for.",
        example=_MEAN + "mechanisms:\n"
        "  - {name: total, reads: mean, mechanism: laplace, scale: 2, sensitivity: 1}",
        instead=_MEAN + "mechanisms:\n"
        "  - name: total\n    reads: mean\n    mechanism: laplace\n    scale: 2\n"
        "    sensitivity: 1\n    relation: euclidean",
    ),
    "DPC154": CodeEntry(
        why="One answer for every row tells how many rows there are. It hides which value a row "
        "has, not whether it is there, so that only a replaced row is protected.",
        example="protect: unbounded\nmechanisms:\n"
        "  - {name: answers, reads: trips, mechanism: randomized-response, epsilon: 1}",
        instead="protect: bounded\nmechanisms:\n"
        "  - {name: answers, reads: trips, mechanism: randomized-response, epsilon: 1}",
    ),
    "DPC158": CodeEntry(
        why="Laplace, geometric and Skellam noise are for sensitivities in L1, the sum over all "
        "coordinates; Gaussian and discrete Gaussian noise for L2. A bound in L1 is one in L2. The "
        "other way a bound in L2 says something only with the number of coordinates, or of whole "
        "numbers.",
        example="mechanisms:\n  - {name: sums, reads: trips, mechanism: laplace, scale: 2,\n"
        "     sensitivity: {l2: 1}}",
        instead="mechanisms:\n  - {name: sums, reads: trips, mechanism: laplace, scale: 2,\n"
        "     sensitivity: {l2: 1, dimension: 4}}",
    ),
    "DPC155": CodeEntry(
        why="The chance m/n of a row to be drawn is what lowers the loss. With fewer rows than "
        "`of` says it is larger, and where their number is not public nobody knows it.",
        example="""\
protect: bounded
datasets:
  trips: {}
  few: {from: trips, map: {kind: sample, size: 10, of: 100}}
mechanisms: [{name: total, reads: few, notion: pure, epsilon: 1}]""",
        instead="""\
protect: bounded
datasets:
  trips: {domain: fixed-size-table, size: 100}
  few: {from: trips, map: {kind: sample, size: 10, of: 100}}
mechanisms: [{name: total, reads: few, notion: pure, epsilon: 1}]""",
        theorems=("sample-without-replacement",),
    ),
    "DPC156": CodeEntry(
        why="Copies of a mechanism read different draws of a sample that is drawn afresh for each "
        "of them. What is drawn from different tables is not one and the same table.",
        example="""\
datasets:
  trips: {}
  day: {from: trips, map: {kind: sample, poisson: 0.1}}
  hour: {from: day, map: {kind: sample, poisson: 0.1, draws: one}}
mechanisms: [{name: total, reads: hour, notion: pure, epsilon: 1, count: 3}]""",
        instead="""\
datasets:
  trips: {}
  day: {from: trips, map: {kind: sample, poisson: 0.1, draws: one}}
  hour: {from: day, map: {kind: sample, poisson: 0.1, draws: one}}
mechanisms: [{name: total, reads: hour, notion: pure, epsilon: 1, count: 3}]""",
        theorems=("poisson-sample",),
    ),
    "DPC157": CodeEntry(
        why="No table is as the spec says, so that any bound would hold of all tables there are, "
        "and mean nothing.",
        example="""\
protect: bounded
datasets:
  trips: {domain: ordered-table, size: 100}
  half: {from: trips, partition: {by: position, blocks: 2}}
  few: {from: half.*, map: {kind: sample, size: 10, of: 60}}
mechanisms: [{name: total, reads: few, notion: pure, epsilon: 1}]""",
        instead="""\
protect: bounded
datasets:
  trips: {domain: ordered-table, size: 100}
  half: {from: trips, partition: {by: position, blocks: 2}}
  few: {from: half.*, map: {kind: sample, size: 10, of: 50}}
mechanisms: [{name: total, reads: few, notion: pure, epsilon: 1}]""",
    ),
    "DPC159": CodeEntry(
        why="`changes` says that all other columns stay as they are. Where nobody has said which "
        "these are, something that depends on the changed ones may be among them.",
        example="""\
protect: {relation: bounded, changes: [race]}
datasets:
  people: {}
mechanisms: [{name: total, reads: people, notion: pure, epsilon: 1}]""",
        instead="""\
protect: {relation: bounded, changes: [race]}
datasets:
  people: {columns: [state, age, race]}
mechanisms: [{name: total, reads: people, notion: pure, epsilon: 1}]""",
    ),
    "DPC160": CodeEntry(
        why="The hypotheses are about one person who is one row, there or not; the theorems say "
        "nothing about another change.",
        example=f"protect: bounded\n{_PRACTICES}{_VISITS}{_UNIFORM}",
        instead=f"protect: unbounded\n{_PRACTICES}{_VISITS}{_UNIFORM}",
        theorems=("HBW.6",),
    ),
    "DPC161": CodeEntry(
        why="A hypothesis is a set of blocks that one row may be in. That takes one partition by "
        "`membership` or `kinds`, made directly of the people.",
        example="""\
datasets:
  people: {}
  practice:
    from: people
    partition: {by: value, blocks: [a, b]}
"""
        + _VISITS
        + _UNIFORM,
        instead=f"{_PRACTICES}{_VISITS}{_UNIFORM}",
        theorems=("HBW.mixture",),
    ),
    "DPC162": CodeEntry(
        why="The theorems about hypotheses take an ε, or an ε and a δ, of each block. None is "
        "known for a ρ, a μ or a curve.",
        example=_PRACTICES
        + _VISITS.replace("notion: pure, epsilon: 0.3", "notion: zcdp, rho: 0.1")
        + _UNIFORM,
        instead=f"{_PRACTICES}{_VISITS}{_UNIFORM}",
        theorems=("HBW.mixture",),
    ),
    "DPC163": CodeEntry(
        why="The adversary weighs two hypotheses, each of which some person can meet. One that "
        "nobody can meet would make any figure hold.",
        example=f"{_PRACTICES}{_VISITS}adversary: {{hypotheses: [none, {{exactly: 3}}]}}",
        instead=f"{_PRACTICES}{_VISITS}adversary: {{hypotheses: [none, {{exactly: 2}}]}}",
    ),
    "DPC164": CodeEntry(
        why="A hypothesis with several sets of blocks is a distribution over them: each has a "
        "weight, and they sum to 1. The figure is worked out with these weights.",
        example=_weighted(("1/2", "1/3")),
        instead=_weighted(("1/2", "1/2")),
        theorems=("HBW.mixture",),
    ),
    "DPC165": CodeEntry(
        why="There is no figure to hold against this budget, and it would look as if it were met.",
        example="budget: {adversary: {epsilon: 1}}",
        instead="budget: {epsilon: 1}",
    ),
    "DPC166": CodeEntry(
        why="Between a hypothesis and itself there is nothing to tell, so that the figure would be "
        "0 whatever is released.",
        example=f"{_PRACTICES}{_VISITS}adversary: {{hypotheses: [uniform, {{at_least: 1}}]}}",
        instead=f"{_PRACTICES}{_VISITS}adversary: {{hypotheses: [none, {{at_least: 1}}]}}",
    ),
    "DPC191": CodeEntry(
        why="Equal blocks are analysed as one, however many. Here each has numbers of its own on "
        "every level, so that they multiply beyond the limit.",
        example=_levels(6),
        instead=_levels(2),
    ),
}
