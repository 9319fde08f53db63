"""Names, and what refers to them: DPC120 to DPC130."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry

_DISTRICT = """\
datasets:
  trips: {}
  district: {from: trips, partition: {by: value, blocks: [north, south]}}
mechanisms:
"""


def _reads(rest: str, datasets: str = _DISTRICT) -> str:
    return f"{datasets}  - {{name: total, notion: pure, {rest}}}"


NAMES = {
    "DPC120": CodeEntry(
        why="A reference to the name could mean either, and reports could not tell them apart. For "
        "copies of one mechanism there is `count`.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 1}
  - {name: total, reads: trips, notion: pure, epsilon: 2}""",
        instead="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 1}
  - {name: mean, reads: trips, notion: pure, epsilon: 2}""",
    ),
    "DPC121": CodeEntry(
        why="What a mechanism reads decides what it costs, so that a name that is not declared "
        "cannot be passed over.",
        example="mechanisms: [{name: total, reads: trip, notion: pure, epsilon: 1}]",
        instead="mechanisms: [{name: total, reads: trips, notion: pure, epsilon: 1}]",
    ),
    "DPC122": CodeEntry(
        why="Blocks are those that the partition lists, or 0 to n-1 where it has a number of them. "
        "`name.*` means every block.",
        example=_reads("reads: district.noth, epsilon: 1"),
        instead=_reads("reads: district.north, epsilon: 1"),
    ),
    "DPC123": CodeEntry(
        why="A partition is many datasets. To read one block or a copy for every block are "
        "different releases with different bounds.",
        example=_reads("reads: district, epsilon: 1"),
        instead=_reads("reads: district.*, epsilon: 1"),
    ),
    "DPC124": CodeEntry(
        why="Datasets are made from roots, constants from numbers, and outputs from data, step by "
        "step; in a circle there is no first step.",
        example="datasets:\n  trips: {}\n  long: {from: long, map: filter}",
        instead="datasets:\n  trips: {}\n  long: {from: trips, map: filter}",
    ),
    "DPC125": CodeEntry(
        why="`name.block` and `name.*` are blocks of a partition. A root, or what is made by a "
        "map, has none.",
        example="mechanisms: [{name: total, reads: trips.north, notion: pure, epsilon: 1}]",
        instead=_reads("reads: district.north, epsilon: 1"),
    ),
    "DPC126": CodeEntry(
        why="There is a copy of the mechanism for every block, and each needs its number: a block "
        "without one could be the worst.",
        example=_reads("reads: district.*,\n     epsilon: {north: 1}"),
        instead=_reads("reads: district.*,\n     epsilon: {north: 1, south: 2}"),
    ),
    "DPC127": CodeEntry(
        why="Numbers by block are for a mechanism with a copy for every block (`reads: name.*`). "
        "One dataset needs one number.",
        example=_reads("reads: trips, epsilon: {north: 1, south: 2}", "mechanisms:\n"),
        instead=_reads("reads: trips, epsilon: 2", "mechanisms:\n"),
    ),
    "DPC128": CodeEntry(
        why="`stated_on` names the table whose neighbours a guarantee is about: the one that the "
        "mechanism reads, or one that this is made from. What else changes, it does not see.",
        example=_reads("reads: district.north, epsilon: 1,\n     stated_on: district.south"),
        instead=_reads("reads: district.north, epsilon: 1,\n     stated_on: trips"),
        theorems=("IV.10",),
    ),
    "DPC129": CodeEntry(
        why="The relation says whose data is protected against which change; every theorem depends "
        "on it. `euclidean` is one between values, which nobody can protect.",
        example="protect: bouned",
        instead="protect: bounded",
        theorems=("A.3",),
    ),
    "DPC130": CodeEntry(
        why="Post-processing costs nothing because it sees released outputs alone, so that it must "
        "be known whose.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 1}
  - {name: chart, post_processes: [totl]}""",
        instead="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 1}
  - {name: chart, post_processes: [total]}""",
        theorems=("VII.1",),
    ),
}
