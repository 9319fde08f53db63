"""Keys and values of a spec, each by itself: DPC101 to DPC117."""

from __future__ import annotations

from dpcompose.handbook.entry import CodeEntry


def _mechanism(rest: str) -> str:
    return f"mechanisms:\n  - {{name: total, reads: trips, {rest}}}"


_CURVE = "report: {delta: 1e-6}\n"  # what makes a curve a number

FORMS = {
    "DPC101": CodeEntry(
        why="A key that is passed over could be the one that matters, such as a misspelt budget "
        "that nothing is held against.",
        example="budgets: {epsilon: 1}",
        instead="budget: {epsilon: 1}",
    ),
    "DPC102": CodeEntry(
        why="What is protected, read or guaranteed is never guessed: another guess would be "
        "another bound. Only few keys have a default.",
        example=_mechanism("epsilon: 1"),
        instead=_mechanism("notion: pure, epsilon: 1"),
    ),
    "DPC103": CodeEntry(
        why="A number where a mapping is due, or `true` where a number is due, has no meaning "
        "here.",
        example="budget: 1",
        instead="budget: {epsilon: 1}",
    ),
    "DPC104": CodeEntry(
        why="Only some words are known here, and the hint lists them. One that is not known is "
        "refused, since the bound depends on what is meant.",
        example=_mechanism("notion: aprox, epsilon: 1, delta: 1e-6"),
        instead=_mechanism("notion: approx, epsilon: 1, delta: 1e-6"),
    ),
    "DPC105": CodeEntry(
        why="Two keys that say different things about the same leave open which one holds, and one "
        "that has no effect here was meant to have some.",
        example=_mechanism("notion: zcdp, rho: 0.5, epsilon: 1"),
        instead=_mechanism("notion: zcdp, rho: 0.5"),
    ),
    "DPC106": CodeEntry(
        why="Numbers of blocks, copies, rows and steps are whole, at least 1 (or what is named) "
        "and written in digits alone.",
        example=_mechanism("notion: pure, epsilon: 0.01, count: 1e3"),
        instead=_mechanism("notion: pure, epsilon: 0.01, count: 1000"),
    ),
    "DPC107": CodeEntry(
        why="A spec says by which rules it is read. Another version could give the same words "
        "another meaning.",
        example="dpcompose: 2",
        instead="dpcompose: 1",
    ),
    "DPC108": CodeEntry(
        why="A list or a mapping without entries says nothing where something must be said, and is "
        "most often unfinished.",
        example=_mechanism("guarantees: []"),
        instead=_mechanism("guarantees: [{notion: pure, epsilon: 1}]"),
    ),
    "DPC109": CodeEntry(
        why="Names are used in references (`district.north`) and in expressions (`total / 4`); "
        "signs that mean something there, and words with a meaning, cannot be in them.",
        example="constants: {rho-total: 1}",
        instead="constants: {rho_total: 1}",
    ),
    "DPC110": CodeEntry(
        why="Parameters are exact: numbers, fractions, and + - * / over `constants`. What has two "
        "readings, or is no finite fraction, would make the bound uncertain.",
        example=_mechanism("notion: pure, epsilon: 10%"),
        instead=_mechanism("notion: pure, epsilon: 0.1"),
    ),
    "DPC111": CodeEntry(
        why="No loss of privacy is below 0. A negative one would be taken off the others.",
        example=_mechanism("notion: pure, epsilon: -0.5"),
        instead=_mechanism("notion: pure, epsilon: 0.5"),
    ),
    "DPC112": CodeEntry(
        why="A guarantee with δ = 1 allows everything, such as printing the table: it promises "
        "nothing.",
        example=_mechanism("notion: approx, epsilon: 1, delta: 1"),
        instead=_mechanism("notion: approx, epsilon: 1, delta: 1e-6"),
    ),
    "DPC113": CodeEntry(
        why="Constants are read from the top, so that no value depends on one that follows it.",
        example="constants: {each: total / 4, total: 2}",
        instead="constants: {total: 2, each: total / 4}",
    ),
    "DPC114": CodeEntry(
        why="Outside its range the number describes no mechanism: noise of scale 0 is none, and an "
        "order α of 1 or a sampling rate above 1 does not exist.",
        example=_mechanism("mechanism: laplace, scale: 0, sensitivity: 1"),
        instead=_mechanism("mechanism: laplace, scale: 2, sensitivity: 1"),
    ),
    "DPC115": CodeEntry(
        why="Geometric and discrete Gaussian noise is added to whole numbers, which differ by "
        "whole numbers. A fraction is for noise on the real line, or for another unit.",
        example=_mechanism("mechanism: geometric, scale: 2,\n     sensitivity: 1/2"),
        instead=_mechanism("mechanism: laplace, scale: 2,\n     sensitivity: 1/2"),
    ),
    "DPC116": CodeEntry(
        why="Two losses at one order, or two δ at one ε, contradict each other: one of them is a "
        "slip, and the smaller one might be it.",
        example=_CURVE + _mechanism("notion: rdp, points: [[2, 0.1], [2, 0.3]]"),
        instead=_CURVE + _mechanism("notion: rdp, points: [[2, 0.1], [4, 0.3]]"),
    ),
    "DPC117": CodeEntry(
        why="Each number asked for is an analysis of its own, so that there may be 100 of a kind "
        "at most.",
        example="report:\n  delta:\n    - 1e-6",
        instead="report:\n  delta:\n    - 1e-6",
        times=101,
    ),
    "DPC118": CodeEntry(
        why="Releases add up where they name the same population. A name that only looks the same "
        "would start another sum, with a budget of its own: here one letter is Cyrillic.",
        example="population: p\u0430tients-2026",
        instead="population: patients-2026",
    ),
}
