"""Words about partitions: how tables are split into blocks."""

from __future__ import annotations

from dpcompose.handbook.entry import Topic

PARTITIONS = (
    Topic(
        words=("partition", "by", "blocks"),
        about="A partition splits a table into blocks. `blocks: 5000` makes blocks 0 to 4999, "
        "which cost no more to analyse than one; a list names them. `name.block` is one block, and "
        "`name.*` every block: a mechanism then runs on each, and a dataset made from it exists "
        "once for each block. What one step of the relation changes decides the bound: one block, "
        "two, or all of them. In a map of kind `group`, `by` is the column.",
        example="""\
datasets:
  trips: {}
  month: {from: trips, partition: {by: value, blocks: 12}}
mechanisms: [{name: by month, reads: month.*, notion: pure, epsilon: 0.5}]""",
        theorems=("II.8", "IV.6", "IV.13"),
        see=("value", "key", "position", "membership", "kinds", "stated_on"),
    ),
    Topic(
        words=("key",),
        about="Blocks are the values of an identifying column. Where a replacement keeps that "
        "column (`keeps`), a replaced row stays in its block, so that the largest loss of one "
        "block is enough for `bounded` neighbours too.",
        example="""\
protect: {relation: bounded, keeps: [store]}
datasets:
  sales: {}
  shop: {from: sales, partition: {by: key, column: store, blocks: 30}}
mechanisms:
  - name: turnover
    reads: shop.*
    notion: pure
    epsilon: 0.2
    relation: bounded""",
        theorems=("IV.6",),
        see=("keeps", "column", "partition", "bounded"),
    ),
    Topic(
        words=("position",),
        about="Blocks are ranges of the row numbers of an ordered table, such as the folds of "
        "cross-validation. A replaced row keeps its position, so that one block changes; a row "
        "that is added or removed moves all rows after it.",
        example="""\
protect: bounded
datasets:
  measurements: {domain: ordered-table}
  fold: {from: measurements, partition: {by: position, blocks: 5}}
mechanisms: [{name: summary, reads: fold.*, notion: pure, epsilon: 0.8}]""",
        theorems=("IV.6",),
        see=("ordered-table", "partition", "value"),
    ),
    Topic(
        words=("membership", "max_blocks"),
        about="Blocks overlap: each row is in at most `max_blocks` of them, and any of them. One "
        "row costs what the dearest so many blocks cost together, not what all of them do.",
        example="""\
datasets:
  ambulances: {}
  hospital:
    from: ambulances
    partition: {by: membership, blocks: 12, max_blocks: 3}
mechanisms: [{name: available, reads: hospital.*, notion: pure, epsilon: 1}]""",
        theorems=("IV.1", "V.2"),
        see=("kinds", "max_blocks_per_unit", "partition", "adversary"),
    ),
    Topic(
        words=("kinds",),
        about="Every row is of one kind, and the kind says in which blocks it is. One row costs "
        "what the blocks of the dearest kind cost together. Add `other: []` if some rows are in "
        "none.",
        example="""\
datasets:
  customers: {}
  feature:
    from: customers
    partition:
      {by: kinds, kinds: {free: [common, ads], paid: [common, premium]}}
mechanisms: [{name: used, reads: feature.*, notion: pure, epsilon: 0.3}]""",
        theorems=("IV.1", "V.2"),
        see=("membership", "partition"),
    ),
)
