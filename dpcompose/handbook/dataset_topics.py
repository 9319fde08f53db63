"""Words about datasets: roots and maps."""

from __future__ import annotations

from dpcompose.handbook.entry import Topic

_TOTAL = """\
mechanisms:
  - name: total
    reads: few
    mechanism: laplace
    scale: 10
    sensitivity: 1"""

ROOTS = (
    Topic(
        words=("datasets", "from", "roots", "disjoint"),
        about="A dataset without `from` is a root: a sensitive table or a graph. The others are "
        "made `from` one by exactly one `map` or `partition`. One person may be in several roots, "
        "and one step of the relation protected then changes all of them, unless `roots: disjoint` "
        "declares that nobody is in two.",
        example="""\
roots: disjoint
datasets:
  north: {}
  south: {}
  adults: {from: north, map: filter}
mechanisms:
  - {name: adults, reads: adults, notion: pure, epsilon: 0.2}
  - {name: all, reads: south, notion: pure, epsilon: 0.3}""",
        theorems=("III.6",),
        see=("map", "partition", "domain", "population"),
    ),
    Topic(
        words=("domain", "table", "fixed-size-table", "size", "ordered-table"),
        about="What is public of a root decides which neighbours there are. Where the number of "
        "rows is public, no table has a neighbour with one row more or less, so `bounded` is the "
        "relation to protect. `size` is that number, for samples without replacement. Positions "
        "make it possible to split a table by row number, which a replaced row keeps.",
        example="""\
protect: bounded
datasets:
  answers: {domain: fixed-size-table, size: 500}
mechanisms:
  - name: mean
    reads: answers
    mechanism: laplace
    scale: 2
    sensitivity: {bounded: 1}""",
        theorems=("III.4",),
        see=("bounded", "position", "sample", "graph"),
    ),
    Topic(
        words=("unit", "max_blocks_per_unit", "max_rows_per_block"),
        about="`unit` names the column that says whose a row is; `protect: user` protects all rows "
        "of one unit. A `cap` bounds how many these are. On a partition, `max_blocks_per_unit` "
        "and `max_rows_per_block` declare that the rows of one unit reach only so many blocks, "
        "and so many rows of each; you vouch for both.",
        example="""\
protect: user
datasets:
  orders: {unit: customer}
  capped: {from: orders, map: {kind: cap, rows: 10, keep: random}}
  country:
    from: capped
    partition:
      {by: value, blocks: 240, max_blocks_per_unit: 2, max_rows_per_block: 5}
mechanisms:
  - name: orders
    reads: country.*
    mechanism: gaussian
    sigma: 20
    sensitivity: 1""",
        theorems=("III.3",),
        see=("user", "cap", "membership"),
    ),
    Topic(
        words=("graph", "max_degree", "edges", "nodes"),
        about="A graph has public vertices and sensitive edges. `edges` is the table of its edges, "
        "`nodes` a table with one row for each vertex. With `max_degree`, the largest degree in "
        "every graph of the domain, a guarantee for one edge becomes one for a vertex.",
        example="""\
protect: node
datasets:
  friends: {domain: graph, max_degree: 50}
mechanisms:
  - name: pairs
    reads: friends
    notion: pure
    epsilon: 0.02
    relation: edge""",
        theorems=("A.3",),
        see=("edge", "node", "node-rewired"),
    ),
)

MAPS = (
    Topic(
        words=("map", "kind"),
        about="A map makes a dataset of another one. What one step of the relation becomes below "
        "it decides what mechanisms there cost: a filter leaves one row one row, a flatten makes "
        "several of it, and of an opaque map nothing is known. A kind without options may stand "
        "by its name, `map: filter`; otherwise options stand in braces with `kind`.",
        example="""\
datasets:
  trips: {}
  rides: {from: trips, map: {kind: flatten, max_rows: 3}}
mechanisms: [{name: rides, reads: rides, notion: pure, epsilon: 0.1}]""",
        theorems=("III.6", "III.8"),
        see=("filter", "row", "flatten", "cap", "sample", "value", "opaque", "partition"),
    ),
    Topic(
        words=("filter", "drops"),
        about="A filter looks at each row alone. It may drop a row, so that a row that is replaced "
        "above may come or go below: a guarantee for `bounded` neighbours of the filtered table "
        "does not hold for those of the table, while one for `unbounded` neighbours does. "
        "`drops: true` declares that some row really is dropped.",
        example="""\
datasets:
  people: {}
  adults: {from: people, map: {kind: filter, drops: true}}
mechanisms: [{name: adults, reads: adults, notion: pure, epsilon: 0.5}]""",
        theorems=("III.6", "IV.15"),
        see=("bounded", "stated_on", "row"),
    ),
    Topic(
        words=("row", "keeps"),
        about="A row map makes one row of each row. `keeps` lists the columns that are as they "
        "were, so that a partition by key or a cap below can still use them. With the relation "
        "`bounded`, `keeps` lists columns that a replacement leaves as they are: these are then "
        "public, and the report says so.",
        example="""\
protect: {relation: bounded, keeps: [store]}
datasets:
  sales: {}
  clean: {from: sales, map: {kind: row, keeps: [store]}}
  shop: {from: clean, partition: {by: key, column: store, blocks: 30}}
mechanisms:
  - name: turnover
    reads: shop.*
    notion: pure
    epsilon: 0.2
    relation: bounded""",
        see=("filter", "flatten", "key", "bounded"),
    ),
    Topic(
        words=("columns", "only"),
        about="At a root, `columns` lists all that a row has; a name that is none of them is then "
        "a fault, and one can ask what is learnt of some. The map of that kind selects columns: it "
        "uses and keeps those of `only`, so that a row replaced in others alone changes nothing "
        "there.",
        example="""\
protect: {relation: bounded, changes: [race]}
datasets:
  people: {columns: [county, age, race]}
  ages: {from: people, map: {kind: columns, only: [county, age]}}
mechanisms:
  - {name: ages, reads: ages, notion: pure, epsilon: 0.5, relation: bounded}
  - {name: all, reads: people, notion: pure, epsilon: 0.2, relation: bounded}""",
        theorems=("kept-columns",),
        see=("changes", "uses", "questions", "row"),
    ),
    Topic(
        words=("uses",),
        about="The columns on which something depends alone: whether a row passes a `filter`, how "
        "many rows a `flatten` makes of it and what they hold beside what they keep, what a `row` "
        "map makes of it, which rows a `join-public` finds, in which block of a partition by value "
        "it is. A row replaced in other columns alone then passes or does not, as before; stays in "
        "its block; or changes nothing below. You vouch for it.",
        example="""\
protect: {relation: bounded, changes: [grade]}
datasets:
  pupils: {columns: [school, age, grade]}
  young: {from: pupils, map: {kind: filter, uses: [age]}}
  school: {from: young, partition: {by: value, blocks: 9, uses: [school]}}
mechanisms: [{name: grades, reads: school.*, notion: pure, epsilon: 0.5}]""",
        theorems=("kept-columns", "IV.6"),
        see=("changes", "columns", "keeps", "key"),
    ),
    Topic(
        words=("flatten", "max_rows", "exact"),
        about="One row becomes at most `max_rows` rows, such as the words of a document. One row "
        "more or less above is as many below, and costs so many times as much. `exact: true` "
        "declares that every row gives exactly so many: a replaced row then stays replaced rows, "
        "and positions stay known.",
        example="""\
datasets:
  documents: {}
  words: {from: documents, map: {kind: flatten, max_rows: 100}}
mechanisms: [{name: lengths, reads: words, notion: pure, epsilon: 0.01}]""",
        theorems=("III.6", "III.3"),
        see=("join-public", "stable", "membership"),
    ),
    Topic(
        words=("join-public", "column"),
        about="Each row is joined with at most `max_rows` rows of a public table (`exact: true`: "
        "with exactly so many); its columns and the order of rows stay. With `column` that "
        "column alone decides which rows it is joined with, so that a replacement that keeps the "
        "column gives as many rows before and after. In a partition by key, `column` is the one "
        "that says which block a row is in.",
        example="""\
datasets:
  visits: {}
  priced: {from: visits, map: {kind: join-public, max_rows: 3, column: store}}
mechanisms: [{name: spent, reads: priced, notion: pure, epsilon: 0.1}]""",
        theorems=("III.6",),
        see=("flatten", "key", "keeps"),
    ),
    Topic(
        words=("group",),
        about="All rows with one value of the column `by` become one row. One row more or less "
        "changes one group: its row is replaced, or comes or goes. Grouped by the privacy unit, "
        "each unit has one row.",
        example="""\
protect: user
datasets:
  visits: {unit: patient}
  patients: {from: visits, map: {kind: group, by: patient}}
mechanisms: [{name: patients, reads: patients, notion: pure, epsilon: 0.5}]""",
        see=("cap", "limit", "unit"),
    ),
    Topic(
        words=("limit", "per"),
        about="At most `rows` rows for each value of the column `per`. Rows with the same value "
        "displace each other, so that one row more above may be one more and one less below. "
        "For the privacy unit, `cap` does the same.",
        example="""\
datasets:
  visits: {}
  few: {from: visits, map: {kind: limit, per: clinic, rows: 5, keep: random}}
"""
        + _TOTAL,
        see=("cap", "keep", "group"),
    ),
    Topic(
        words=("cap", "rows", "keep", "first", "random", "order"),
        about="At most `rows` rows of each privacy unit are kept. `keep: first` takes the first in "
        "one fixed `order` of the rows, which does not depend on other rows; `keep: random` draws "
        "a fresh choice. Under `protect: user` a mechanism below feels at most `rows` rows.",
        example="""\
protect: user
datasets:
  visits: {unit: patient}
  few: {from: visits, map: {kind: cap, rows: 3, keep: first, order: date}}
"""
        + _TOTAL,
        theorems=("III.3", "III.6"),
        see=("unit", "limit", "max_blocks_per_unit", "user"),
    ),
    Topic(
        words=("stable", "stability"),
        about="Of a map of your own you declare that one row added or removed changes at most "
        "`stability` rows. Stabilities of several maps multiply.",
        example="""\
datasets:
  trips: {}
  pairs: {from: trips, map: {kind: stable, stability: 2}}
mechanisms: [{name: pairs, reads: pairs, notion: pure, epsilon: 0.1}]""",
        theorems=("III.6", "III.8"),
        see=("opaque", "flatten"),
    ),
    Topic(
        words=("value", "metric", "diameter", "euclidean"),
        about="A map of kind `value` gives a point of a metric space, such as a mean or a "
        "location: `sensitivity` says how far one row moves it, `diameter` how far apart any two "
        "values are; one of the two is needed. A mechanism that reads it may state its guarantee "
        "for each unit of the distance, `relation: euclidean`. A partition by `value` splits the "
        "rows of a table by what they are: every possible row belongs to at most one block.",
        example="""\
datasets:
  ambulances: {}
  nearest: {from: ambulances, map: {kind: value, diameter: 3}}
mechanisms:
  - name: where
    reads: nearest
    notion: pure
    epsilon: 0.5
    relation: euclidean""",
        theorems=("IV.1",),
        see=("sensitivity", "partition", "row"),
    ),
    Topic(
        words=("sample", "poisson", "of", "draws", "each", "one"),
        about="A secret random sample costs less than the table: an adversary does not know who is "
        "in it. `poisson` is the chance of each row, by itself; `size` of `of` rows are drawn "
        "without replacement of a table whose number of rows is public. Copy i of every mechanism "
        "that reads it reads the i-th fresh sample; with `draws: one` all copies read the same. "
        "A guarantee stated above a sample holds over what is drawn, and is not amplified.",
        example="""\
datasets:
  people: {}
  batch: {from: people, map: {kind: sample, poisson: 1/100}}
mechanisms:
  - name: step
    reads: batch
    mechanism: gaussian
    sigma: 2
    sensitivity: 1
    count: 10
report: {delta: 1e-6}""",
        theorems=(
            "poisson-sample",
            "poisson-sample-added",
            "poisson-sample-replaced",
            "sample-without-replacement",
        ),
        see=("count", "size", "delta"),
    ),
    Topic(
        words=("opaque",),
        about="Of an opaque map nothing is known: any change above may change everything below. "
        "A mechanism that reads it is protected only by a guarantee that is stated above it.",
        example="""\
datasets:
  trips: {}
  clusters: {from: trips, map: opaque}
mechanisms:
  - name: centres
    reads: clusters
    notion: pure
    epsilon: 1
    stated_on: trips""",
        theorems=("IV.10",),
        see=("stable", "stated_on"),
    ),
)
