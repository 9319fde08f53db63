"""Blocks that are each sampled by themselves, and a row that moves from one to another.

The truth by other means: the worst mechanism by a linear program over all samples of all small
tables, and convolutions of what is attained.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from reference.events import largest_ratio
from scipy.optimize import brentq
from scipy.stats import norm

import dpcompose

#: A row is a block and a value in it.
Row = tuple[int, int]
#: What is drawn from each block.
Sample = tuple[tuple[Row, ...], ...]
ROWS: tuple[Row, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))


def spec(
    blocks: Sequence[tuple[str, Sequence[str]]],
    protect: str = "bounded",
    partition: str = "",
    more: str = "",
) -> str:
    """A partition whose blocks have each a sample of some rate, which some mechanisms read.

    A mechanism that begins with `whole` reads the block itself.
    """
    names = [f"b{i}" for i in range(len(blocks))]
    listed = ", ".join(names)
    partition = partition or f"{{by: value, blocks: [{listed}]}}"
    lines = ["dpcompose: 1", f"protect: {protect}", "datasets:", "  people: {}"]
    lines += [f"  part: {{from: people, partition: {partition}}}"]
    released = ["mechanisms:"]
    for name, (rate, mechanisms) in zip(names, blocks, strict=True):
        made = f"{{kind: sample, poisson: {rate}}}"
        lines.append(f"  s{name}: {{from: part.{name}, map: {made}}}")
        for i, each in enumerate(mechanisms):
            whole, said = each.startswith("whole "), each.removeprefix("whole ")
            reads = f"part.{name}" if whole else f"s{name}"
            released.append(f"  - {{name: m{name}x{i}, reads: {reads}, {said}}}")
    return "\n".join([*lines, *released, more])


def pure(epsilon: str) -> str:
    return f"notion: pure, epsilon: {epsilon}, relation: unbounded"


def either(epsilon: str, delta: str = "0") -> str:
    """As much for a row replaced as for one added, so that rows that stay cost less."""
    said = f"notion: pure, epsilon: {epsilon}"
    if delta != "0":
        said = f"notion: approx, epsilon: {epsilon}, delta: {delta}"
    both = [f"{{{said}, relation: {relation}}}" for relation in ("unbounded", "bounded")]
    return f"guarantees: [{', '.join(both)}]"


def bound(text: str) -> Fraction:
    """The ε that is printed."""
    report = dpcompose.analyze(text, recheck=True)
    assert report.status == "ok" and report.bound is not None, report.findings
    return report.bound.value


def at(text: str, delta: str) -> Fraction:
    """The ε at a δ."""
    report = dpcompose.analyze(text, deltas=[Fraction(delta)])
    assert report.status == "ok", report.findings
    value = report.at_delta[0].value
    assert value is not None
    return value


# --- the worst mechanism -------------------------------------------------------------------------


def tables(most: int) -> list[tuple[Row, ...]]:
    return [each for n in range(most + 1) for each in combinations_with_replacement(ROWS, n)]


def drawn(table: Sequence[Row], rates: Sequence[float]) -> dict[Sample, float]:
    """The chance of every sample, row by row."""
    found: dict[Sample, float] = {((), ()): 1.0}
    for row in table:
        more: defaultdict[Sample, float] = defaultdict(float)
        for sample, chance in found.items():
            block = row[0]
            with_it = list(sample)
            with_it[block] = tuple(sorted((*sample[block], row)))
            more[tuple(with_it)] += chance * rates[block]
            more[sample] += chance * (1 - rates[block])
        found = dict(more)
    return found


def one_more(one: Sample, other: Sample) -> int | None:
    """In which block two samples differ, by one row more; None if it is otherwise."""
    apart = [i for i in range(2) if one[i] != other[i]]
    if len(apart) != 1:
        return None
    here, there = Counter(one[apart[0]]), Counter(other[apart[0]])
    return apart[0] if (there - here).total() == 1 and not here - there else None


def worst_ratio(rates: Sequence[float], epsilons: Sequence[float], most: int) -> float:
    """The greatest P(E)/Q(E) of tables in which one row is replaced, over all that may be released:
    the chance of E may change by e^ε of a block with each row more in its sample, and no faster."""
    laws = {table: drawn(table, rates) for table in tables(most)}
    samples = sorted({sample for law in laws.values() for sample in law})
    steps = [
        (one, other, epsilons[block], 0)
        for one, other in product(samples, repeat=2)
        if (block := one_more(one, other)) is not None
    ]
    return max(
        largest_ratio(laws[first], laws[second], steps)
        for first, second in product(laws, repeat=2)
        if len(first) == len(second) and (Counter(first) - Counter(second)).total() == 1
    )


@pytest.mark.parametrize(
    ("rates", "epsilons"),
    [
        (("1/10", "1/10"), ("1", "1")),
        (("1/2", "1/5"), ("0.7", "2")),
        (("9/10", "1/100"), ("0.3", "3.7")),
        (("1", "1/4"), ("0.5", "1.5")),
    ],
)
def test_the_bound_is_the_worst_mechanism(
    rates: tuple[str, str], epsilons: tuple[str, str]
) -> None:
    blocks = [(rate, [pure(epsilon)]) for rate, epsilon in zip(rates, epsilons, strict=True)]
    truth = worst_ratio([float(Fraction(r)) for r in rates], [float(e) for e in epsilons], 2)
    assert float(bound(spec(blocks))) == pytest.approx(math.log(truth), rel=1e-8)


# --- what is attained ----------------------------------------------------------------------------

Law = list[tuple[Any, Any]]


def response(epsilon: str) -> Law:
    """With a row and without: whether it is there, told with the odds e^ε."""
    odds = mp.exp(mpf(epsilon))
    return [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]


def joint(laws: Sequence[Law]) -> Law:
    found: Law = [(mpf(1), mpf(1))]
    for law in laws:
        found = [(a * c, b * d) for a, b in found for c, d in law]
    return found


def through(rate: str, law: Law) -> Law:
    """Of a table with the row, which may be drawn, and of one without."""
    q = mpf(Fraction(rate).numerator) / Fraction(rate).denominator
    return [((1 - q) * out + q * there, out) for there, out in law]


def swapped(law: Law) -> Law:
    return [(b, a) for a, b in law]


def least(law: Law, delta: str) -> float:
    """The least ε at δ, one way round."""

    def excess(epsilon: float) -> float:
        grown = mp.exp(mpf(epsilon))
        return float(mp.fsum(max(a - grown * b, mpf(0)) for a, b in law) - mpf(delta))

    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, 60.0, xtol=1e-14))


CASES: dict[str, list[tuple[str, list[str], list[str]]]] = {
    "alike": [("1/10", ["1"], []), ("1/10", ["1"], [])],
    "unlike": [("1/2", ["0.5"], []), ("1/5", ["2"], [])],
    "several in a block": [("1/4", ["0.5", "0.7"], []), ("1/3", ["1"], [])],
    "one beside the sample": [("1/4", ["1"], ["0.3"]), ("1/2", ["0.6"], ["0.2", "0.1"])],
    "three blocks": [("1/10", ["2"], []), ("1/2", ["0.5"], []), ("1", ["0.4"], [])],
}


def attained(case: str, delta: str) -> float:
    """A row moves from one block to another, in the worst way: randomised responses."""
    with mp.workdps(40):
        rows: list[Law] = []
        for rate, inside, whole in CASES[case]:
            drawn = through(rate, joint([response(each) for each in inside]))
            rows.append(joint([drawn, *(response(each) for each in whole)]))
        return max(
            least(joint([one, swapped(other)]), delta)
            for i, one in enumerate(rows)
            for j, other in enumerate(rows)
            if i != j
        )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("delta", ["1e-6", "0.01"])
def test_the_number_at_a_delta_is_attained(case: str, delta: str) -> None:
    blocks = [
        (rate, [either(each) for each in inside] + [f"whole {either(each)}" for each in whole])
        for rate, inside, whole in CASES[case]
    ]
    truth = attained(case, delta)
    found = float(at(spec(blocks), delta))
    assert truth * (1 - 1e-9) <= found <= truth * (1 + 3e-5)


def normal_delta(rates: Sequence[float], epsilon: float) -> float:
    """A row moves between two sampled blocks with Gaussian noise of σ = 1, by quadrature."""
    outcomes = np.linspace(-9.0, 10.0, 3001)
    width = outcomes[1] - outcomes[0]
    without = norm.pdf(outcomes) * width
    left, entered = ((1 - q) * without + q * norm.pdf(outcomes - 1) * width for q in rates)
    before, after = np.outer(left, without), np.outer(without, entered)
    ways = (before, after), (after, before)
    return float(max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ways))


@pytest.mark.slow
@pytest.mark.parametrize("rates", [("1/10", "1/10"), ("1/2", "1/20")])
def test_gaussian_noise_is_convolved_one_way_round(rates: tuple[str, str]) -> None:
    noise = "mechanism: gaussian, sigma: 1, sensitivity: {unbounded: 1, bounded: 1}"
    found = at(spec([(rate, [noise]) for rate in rates]), "1/100")
    told = [float(Fraction(rate)) for rate in rates]
    # The worse way round of the two blocks, either of which may be left.
    deltas = [normal_delta(each, float(found)) for each in (told, told[::-1])]
    assert max(deltas) == pytest.approx(0.01, rel=1e-5)


@pytest.mark.parametrize(("rate", "other"), [("1/10", "1/10"), ("1/2", "1/8")])
def test_a_stated_delta_is_no_less_than_what_is_attained(rate: str, other: str) -> None:
    """All is given away with chance δ, else a randomised response."""
    said = either("1", "0.01")
    report = dpcompose.analyze(spec([(rate, [said]), (other, [said])]), recheck=True)
    assert report.bound is not None and report.bound.delta is not None
    epsilon, delta = report.bound.value, report.bound.delta
    with mp.workdps(40):
        leak = mpf("0.01")
        told = [(a * (1 - leak), b * (1 - leak)) for a, b in response("1")]
        law: Law = [*told, (leak, mpf(0)), (mpf(0), leak)]
        rows = [through(each, law) for each in (rate, other)]
        grown = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        worst = max(
            float(mp.fsum(max(a - grown * b, mpf(0)) for a, b in joint([one, swapped(two)])))
            for one, two in (rows, rows[::-1])
        )
    old = (Fraction(rate) + Fraction(other)) * Fraction(1, 100)
    assert worst <= float(delta) < float(old)


# --- laws ----------------------------------------------------------------------------------------


def amplified(epsilon: str, rate: str) -> float:
    """What one row removed loses through a sample."""
    return math.log1p(float(Fraction(rate)) * math.expm1(float(epsilon)))


RATES = [("1/10", "1/10"), ("9/10", "1/100"), ("1", "1")]
PAIRED = [(e, f, q, r) for e, f in (("0.5", "0.5"), ("0.2", "3")) for q, r in RATES]


@pytest.mark.parametrize(("one", "other", "rate", "second"), PAIRED)
def test_it_is_less_than_two_rows_removed_and_than_no_sample(
    one: str, other: str, rate: str, second: str
) -> None:
    found = float(bound(spec([(rate, [either(one)]), (second, [either(other)])])))
    assert found < amplified(one, rate) + amplified(other, second) or rate == second == "1"
    assert found <= (float(one) + float(other)) * (1 + 1e-12)
    assert found >= max(amplified(one, rate), amplified(other, second))


@pytest.mark.parametrize("rate", ["1/100", "1/3", "1"])
@pytest.mark.parametrize("protect", ["bounded", "{relation: bounded, distance: 2}", "unbounded"])
def test_of_one_rate_it_is_the_sample_above_the_blocks(rate: str, protect: str) -> None:
    """Which rows are drawn does not depend on where they are."""
    above = f"""
dpcompose: 1
protect: {protect}
datasets:
  people: {{}}
  drawn: {{from: people, map: {{kind: sample, poisson: {rate}}}}}
  part: {{from: drawn, partition: {{by: value, blocks: [b0, b1]}}}}
mechanisms:
  - {{name: m, reads: part.*, {pure("0.8")}}}
"""
    below = spec([(rate, [pure("0.8")])] * 2, protect)
    assert float(bound(below)) == pytest.approx(float(bound(above)), rel=1e-12)


@pytest.mark.parametrize(
    ("made", "less"),
    [
        ("filter", True),
        ("row", True),
        # Another row may change in place of this one, and a change in place has no direction.
        ("{kind: limit, per: day, rows: 1, keep: first}", False),
        ("{kind: group, by: day}", False),
        # Any row may come for one that goes.
        ("{kind: stable, stability: 1}", False),
    ],
)
def test_maps_between_a_block_and_its_sample(made: str, less: bool) -> None:
    text = f"""
dpcompose: 1
protect: bounded
datasets:
  people: {{}}
  part: {{from: people, partition: {{by: value, blocks: 2}}}}
  made: {{from: part.*, map: {made}}}
  drawn: {{from: made, map: {{kind: sample, poisson: 1/10}}}}
mechanisms:
  - {{name: m, reads: drawn, {either("1")}}}
"""
    truth = 0.22386341473926280 if less else 2 * amplified("1", "1/10")
    assert float(bound(text)) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["2", "2.01", "2.05", "2.1", "2.2", "0.3"])
def test_in_one_block_at_most_is_in_one_block(epsilon: str) -> None:
    """Whichever way the last digits are rounded of a row that stays in its block."""
    blocks = [("0.1", [pure(epsilon)])] * 3
    found = bound(spec(blocks, partition="{by: membership, blocks: [b0, b1, b2], max_blocks: 1}"))
    e, q = mpf(epsilon), mpf("0.1")
    true = mp.log((1 - q + q * mp.exp(e)) / (1 - q + q * mp.exp(-e)))
    assert float(found) == pytest.approx(float(true), rel=1e-12)


@pytest.mark.parametrize("beside", [None, "gdp, mu: 0.01"])
def test_two_users_of_one_row_are_two_rows(beside: str | None) -> None:
    """Also where something beside them is stated for users: either row is drawn by itself."""
    lines = [
        "dpcompose: 1",
        "protect: {relation: user, distance: 2}",
        "datasets:",
        "  r: {unit: u}",
        "  c: {from: r, map: {kind: cap, rows: 1, keep: first, order: t}}",
        "  s: {from: c, map: {kind: sample, poisson: 0.9}}",
        "mechanisms:",
        "  - {name: m, reads: s, mechanism: gaussian, sigma: 1, sensitivity: 1}",
    ]
    if beside:
        lines.append(f"  - {{name: k, reads: c, stated_on: r, notion: {beside}, relation: user}}")
    weights = [(0.01, 0), (0.18, 1), (0.81, 2)]
    x = np.linspace(-12, 14, 400_001)
    before = sum(w * norm.pdf(x - rows) for w, rows in weights)

    def over(epsilon: float) -> float:
        gained = np.maximum(before - math.exp(epsilon) * norm.pdf(x), 0)
        return float(gained.sum() * (x[1] - x[0])) - 0.01

    true = brentq(over, 0, 60)
    found = float(at("\n".join(lines), "0.01"))
    assert true * (1 - 1e-9) <= found <= true * (1 + 2e-4)
