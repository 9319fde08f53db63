"""The examples that the paper prints (GMPS24): what each says, and how to write it as a spec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrintedExample:
    """One example: what it is about, with its numbers, and specs of it.

    `specs`: each with a heading and with the bound that it has; lines of a spec, as those of a
    topic. `theorems`: ids of the theorem book that the paper applies there.
    """

    title: str
    about: str
    specs: tuple[tuple[str, str, str], ...]
    theorems: tuple[str, ...]


_HOSPITALS = """\
datasets:
  ambulances: {}
  hospital:
    from: ambulances
    partition: {by: membership, blocks: 12, max_blocks: 3}
"""
_DISTRICTS = """\
protect: bounded
datasets:
  ambulances: {}
  district:
    from: ambulances
    partition: {by: value, blocks: [north, south, east]}
mechanisms:
"""

#: Each by its number in the paper; those that are entries of the theorem book are not here.
PRINTED: dict[str, PrintedExample] = {
    "IV.2": PrintedExample(
        "Counts and nearest ambulances of two districts",
        "For each of two districts, L wide, a noisy count of ambulances (ε = 1 for one ambulance "
        "more or less) and the place of the one nearest to the hospital (ε = 1 for each unit that "
        "it moves) are released. The paper adds up both districts and ends at d(D, D') + 2L, for "
        "neighbours 1 + 2L. Only one district feels one ambulance, so that 1 + L is enough: 4 for "
        "a width of L = 3.",
        (
            (
                "As a spec",
                "epsilon 4",
                """\
datasets:
  ambulances: {}
  district: {from: ambulances, partition: {by: value, blocks: 2}}
  nearest: {from: district.*, map: {kind: value, diameter: 3}}
mechanisms:
  - {name: how many, reads: district.*, notion: pure, epsilon: 1}
  - name: where
    reads: nearest
    notion: pure
    epsilon: 1
    relation: euclidean""",
            ),
        ),
        ("IV.1", "V.2"),
    ),
    "IV.4": PrintedExample(
        "Partitions by the values of rows",
        "Disjoint sets of row values split every table into blocks, and a row's block depends on "
        "that row alone. One row more or less changes one block, so that the blocks cost what the "
        "dearest does: the largest of ε = 1/2 and 7/10. A row that is replaced changes two, and "
        "guarantees for bounded neighbours of the blocks then say nothing.",
        (
            (
                "As a spec",
                "epsilon 7/10",
                """\
protect: unbounded
datasets:
  people: {}
  age: {from: people, partition: {by: value, blocks: [young, old]}}
mechanisms:
  - {name: young, reads: age.young, notion: pure, epsilon: 1/2}
  - {name: old, reads: age.old, notion: pure, epsilon: 7/10}""",
            ),
        ),
        ("II.8", "IV.6", "II.9"),
    ),
    "IV.5": PrintedExample(
        "Each ambulance works for at most three hospitals",
        "Each of k hospitals publishes a noisy count of its ambulances, with ε = 1; an ambulance "
        "is assigned to at most three (the print says at least). The inputs overlap, so that "
        "parallel composition does not apply, but one ambulance is felt three times at most: ε = 3 "
        "in place of the k of sequential composition.",
        (
            (
                "As a spec, with k = 12",
                "epsilon 3",
                _HOSPITALS
                + "mechanisms: [{name: available, reads: hospital.*, notion: pure, epsilon: 1}]",
            ),
        ),
        ("IV.1", "IV.3", "V.2"),
    ),
    "IV.7": PrintedExample(
        "A partition that bounded neighbours allow",
        "Where rows have positions and only these decide about blocks, a replaced row stays in its "
        "block, and is a replaced row there. So the blocks cost what the dearest does under "
        "bounded neighbours too: five folds of 0.8 cost 0.8.",
        (
            (
                "As a spec",
                "epsilon 4/5",
                """\
protect: bounded
datasets:
  measurements: {domain: ordered-table}
  fold: {from: measurements, partition: {by: position, blocks: 5}}
mechanisms: [{name: summary, reads: fold.*, notion: pure, epsilon: 0.8}]""",
            ),
        ),
        ("IV.6", "V.4"),
    ),
    "IV.9": PrintedExample(
        "A mechanism that sees one district only",
        "The noisy count of one district is a mechanism on the whole table, and sees only the "
        "ambulances of its district. A spec says so by `reads`, the block, and `stated_on`, the "
        "table: the guarantee is for neighbours of the table, and costs nothing where the block "
        "stays as it is.",
        (
            (
                "As a spec",
                "epsilon 1/2",
                """\
protect: bounded
datasets:
  ambulances: {}
  district: {from: ambulances, partition: {by: value, blocks: [north, south]}}
mechanisms:
  - name: north
    reads: district.north
    notion: pure
    epsilon: 1/2
    stated_on: ambulances""",
            ),
        ),
        ("IV.10", "IV.11"),
    ),
    "IV.14": PrintedExample(
        "Counts by district, one ambulance replaced",
        "Noisy counts of disjoint districts, each stated for bounded neighbours of the whole table "
        "with an ε_i of its own. A replaced ambulance leaves at most one district and enters at "
        "most one: the bound is the largest ε_i + ε_j of two districts, not the sum of all. For "
        "1/2, 7/10 and 1 that is 17/10 in place of 11/5. The paper draws Laplace noise of scale "
        "1/ε_i: written so, say that a replaced row inside of a district moves its count by "
        "nothing (`bounded: 0`); otherwise it is charged as two steps of one district, and "
        "1/8, 1/4 and 1/2 cost 1 where 3/4 holds.",
        (
            (
                "Stated, as in the paper",
                "epsilon 17/10",
                _DISTRICTS
                + """\
  - name: count
    reads: district.*
    notion: pure
    epsilon: {north: 1/2, south: 7/10, east: 1}
    stated_on: ambulances""",
            ),
            (
                "With Laplace noise",
                "epsilon 3/4",
                _DISTRICTS
                + """\
  - name: count
    reads: district.*
    mechanism: laplace
    scale: {north: 8, south: 4, east: 2}
    sensitivity: {unbounded: 1, bounded: 0}""",
            ),
        ),
        ("IV.13",),
    ),
    "VI.8": PrintedExample(
        "Counts by hospital, approximate and bounded",
        "The hospitals of Example IV.5, each count (1, 1e-5)-DP for one ambulance of the whole "
        "table replaced. The ambulance that goes and the one that comes are felt by three "
        "hospitals each, six in all: (6, 6e-5) in place of the (k, k·1e-5) of sequential "
        "composition.",
        (
            (
                "As a spec, with k = 12",
                "epsilon 6, delta 3/50000",
                "protect: bounded\n"
                + _HOSPITALS
                + """\
mechanisms:
  - name: available
    reads: hospital.*
    notion: approx
    epsilon: 1
    delta: 1e-5
    stated_on: ambulances""",
            ),
        ),
        ("VI.7", "VI.5"),
    ),
}
