"""Files and their YAML: DPC0xx."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry
from dpcompose.source.limits import (
    MAX_ALIASED_NODES,
    MAX_BYTES,
    MAX_BYTES_WITHOUT_LIBYAML,
    MAX_DEPTH,
    MAX_FAULTS,
    MAX_NAME,
    MAX_NODES,
    MAX_TAG_DIRECTIVES,
)

_MIB = 2**20

FILES = {
    "DPC001": CodeEntry(
        why="A spec may come from a stranger, so that what is read has a limit: "
        f"{MAX_BYTES // _MIB} MiB, or {MAX_BYTES_WITHOUT_LIBYAML // _MIB} where PyYAML has no "
        "libyaml. Blocks by number (`blocks: 5000`) and copies (`count: 100`) keep a large spec "
        "short.",
        example="# one more line of notes",
        instead="title: Trips of 2026",
        times=3_000_000,
    ),
    "DPC002": CodeEntry(
        why="Bytes that are no UTF-8 could be read as different characters on different machines, "
        "and a name or a number with them.",
        example="title: Trips in Zürich",
        instead="title: Trips in Zürich",
        saved="Latin-1",
    ),
    "DPC003": CodeEntry(
        why="Invisible and reordering characters let a file look like another one than is "
        "analysed, and YAML forbids control characters.",
        example='title: "Trips \u202eof 2026"',
        instead='title: "Trips of 2026"',
    ),
    "DPC004": CodeEntry(
        why="A file without a spec has no bound. It is refused, since a file that was cut off "
        "would otherwise pass.",
        example="# to be written",
        instead="""\
dpcompose: 1
protect: unbounded
datasets: {trips: {}}
mechanisms: [{name: total, reads: trips, notion: pure, epsilon: 1}]""",
    ),
    "DPC005": CodeEntry(
        why="`dpcompose.analyze` in Python gives one report for one spec. The commands `analyze` "
        "and `check` take a file with several, each with a result of its own.",
        example="title: Trips of 2025\n---\ntitle: Trips of 2026",
        instead="title: Trips of 2025",
        command="python",
    ),
    "DPC006": CodeEntry(
        why="What is not valid YAML has no certain meaning, so that nothing of the file is "
        "analysed. The place is where reading had to stop: the mistake may stand above it.",
        example="budget: {epsilon: 1",
        instead="budget: {epsilon: 1}",
    ),
    "DPC007": CodeEntry(
        why="YAML indents with spaces: how far a tab reaches depends on the editor.",
        example="datasets:\n\ttrips: {}",
        instead="datasets:\n  trips: {}",
    ),
    "DPC008": CodeEntry(
        why="A spec needs few levels. A file from a stranger could exhaust the memory with many: "
        f"more than {MAX_DEPTH} are refused.",
        example="title:\n  [",
        instead="title: Trips of 2026",
        times=MAX_DEPTH,
    ),
    "DPC009": CodeEntry(
        why=f"Keys, lists and scalars each are a value, and at most {MAX_NODES} are read. Blocks "
        "by number (`blocks: 5000`) and copies (`count: 100`) say the same in one.",
        example="title:\n  - a",
        instead="title: Trips of 2026",
        times=MAX_NODES,
    ),
    "DPC010": CodeEntry(
        why="Most readers of YAML keep the last of two equal keys and drop the first without a "
        "word: a dataset or a parameter would be missing from the bound.",
        example="datasets:\n  trips: {}\n  trips: {unit: rider}",
        instead="datasets:\n  trips: {unit: rider}",
    ),
    "DPC011": CodeEntry(
        why="Keys are names, written as plain text. A list, a mapping or nothing names no part of "
        "the spec language.",
        example="budget: {[epsilon]: 1}",
        instead="budget: {epsilon: 1}",
    ),
    "DPC012": CodeEntry(
        why="Merge keys are no part of YAML 1.2, and who reads the entry does not see what it "
        "says. Written out, each declaration stands where it holds.",
        example="datasets:\n  trips: &table {unit: rider}\n  rides: {<<: *table}",
        instead="datasets:\n  trips: {unit: rider}\n  rides: {unit: rider}",
    ),
    "DPC013": CodeEntry(
        why="A tag asks for a type that the spec language does not have, or says of a value what "
        "it is not. Types follow from how a value is written.",
        example="title: !year 2026",
        instead='title: "2026"',
    ),
    "DPC014": CodeEntry(
        why="An alias stands for what an anchor (`&name`) marked above it. Aliases of aliases "
        f"multiply, so that all of a file may stand for {MAX_ALIASED_NODES} values at most.",
        example="budget: {epsilon: *total}",
        instead="constants: {total: 1}\nbudget: {epsilon: total}",
    ),
    "DPC015": CodeEntry(
        why=f"A key or a text without quotation marks of more than {MAX_NAME} characters is most "
        "often a quotation mark or a line break that is missing.",
        example="title:\n  and so on",
        instead="title: Trips of 2026",
        times=MAX_NAME // 10 + 1,
    ),
    "DPC016": CodeEntry(
        why="Specs need no tags, and the parser takes long over many of these directives: more "
        f"than {MAX_TAG_DIRECTIVES} are refused.",
        example="%TAG ! tag:example.org,2026:",
        instead="title: Trips of 2026",
        times=MAX_TAG_DIRECTIVES + 1,
    ),
    "DPC017": CodeEntry(
        why=f"Only the first {MAX_FAULTS} faults are listed; the others are counted. They are "
        "listed once these are mended.",
        example="mechanisms:\n  - total",
        instead="mechanisms:\n  - {name: total, reads: trips, notion: pure, epsilon: 1}",
        but="a note below faults of YAML",
        times=MAX_FAULTS + 1,
    ),
    "DPC018": CodeEntry(
        why="`--max-seconds` and `--max-memory` hold each spec to so much, so that no spec of a "
        "stranger can keep a check from ending. What could not be analysed has no bound, and does "
        "not pass. Fewer δ's and fewer different mechanisms take less.",
        example="",
        instead="",
        command="check",
    ),
}
