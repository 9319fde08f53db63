"""Specs from strangers that make much work: each ends with what less work would give."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from asked import written
from walks import problem_of

from dpcompose.core.change import propagation
from dpcompose.core.loss.compositions import at_order
from dpcompose.core.model import draws
from dpcompose.core.model.problem import Dataset
from dpcompose.core.model.tree import lay_out
from dpcompose.core.partitions import allocation
from dpcompose.curves.answers import epsilon_at
from dpcompose.curves.backends.lattice import fewer_losses, from_points
from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.curve import Curve, Part, Sampled
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.exponential_loss import BoundedRange
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse
from dpcompose.curves.families.skellam_loss import SkellamLoss
from dpcompose.curves.rounding.exact import bits_up
from dpcompose.pipeline import analyze
from dpcompose.policy.settings import Settings
from dpcompose.report import Report

pytestmark = pytest.mark.slow

BOTH = "sensitivity: {unbounded: 1, bounded: 1}"
DELTA = Fraction(1, 10**6)


def spec(rows: list[str], report: str = "{delta: 1e-6}", protect: str = "unbounded") -> str:
    read = (f"reads: r, {row}" for row in rows)
    return written("r: {}", *read, protect=protect, more=f"report: {report}")


def laplaces(number: int) -> list[str]:
    return [f"mechanism: laplace, {BOTH}, scale: {10 + i}/7" for i in range(number)]


def epsilons(report: Report) -> list[Fraction]:
    return [Fraction(at.value) for at in report.at_delta if at.value is not None]


# --- huge counts ---------------------------------------------------------------------------------


UNLIKE = (
    [
        "notion: pure, epsilon: 0.1",
        "notion: zcdp, rho: 0.1",
        f"mechanism: laplace, {BOTH}, scale: 3",
        f"mechanism: gaussian, {BOTH}, sigma: 2",
    ],
    [
        "notion: zcdp, rho: 0.3",
        "notion: approx, epsilon: 0.1, delta: 1e-30",
        "notion: gdp, mu: 0.1",
        f"mechanism: geometric, {BOTH}, scale: 3",
    ],
)


@pytest.mark.parametrize(
    "rows",
    [each[:3] for each in UNLIKE] + [pytest.param(each, marks=pytest.mark.long) for each in UNLIKE],
)
def test_unlike_notions_a_thousand_million_times_each(rows: list[str]) -> None:
    """Below basic composition, and above one of them alone."""
    many = [f"count: 1000000000, {row}" for row in rows]
    (together,) = epsilons(analyze(spec(many)))
    (alone,) = epsilons(analyze(spec(many[:1])))
    assert alone < together < 10**9


# --- many comments -------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [10_000])
def test_many_comments_to_ignore_findings(number: int) -> None:
    """All stand above the last line: the first is about its finding, the others about nothing."""
    from dpcompose.commands.reading.policies import audited

    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {r: {}}\nmechanisms:\n"
        "  - {name: a, reads: r, notion: pure, epsilon: 1}\n"
        + "# dpcompose: ignore[DPC204] known\n" * number
        + "  - {name: b, reads: r, notion: pure, epsilon: 0}\n"
        + "# dpcompose: ignore[DPC204] known\n" * number
    )
    report = analyze(text, audit=lambda source, found: audited(Settings(), source, found))
    unused = [each for each in report.findings if each.code == "DPC321"]
    taken = [each for each in report.ignored if each.finding.code == "DPC204"]
    assert len(unused) + len({each.finding.span for each in taken}) == 2 * number
    lines = [each.span.line for each in unused if each.span is not None]
    assert lines == sorted(lines)


# --- many different losses -----------------------------------------------------------------------


KINDS: dict[str, Callable[[int], Part]] = {
    "laplace": lambda k: LaplaceLoss(Fraction(k + 30, 700)),
    "geometric": lambda k: GeometricLoss(2, Fraction(7000, k + 30)),
    "bounded range": lambda k: BoundedRange(Fraction(k + 30, 700)),
    "k-ary response": lambda k: KaryResponse(3, Fraction(k + 30, 700)),
    "skellam": lambda k: SkellamLoss(1, Fraction(7000, k + 30)),
    "discrete gaussian": lambda k: DiscreteGaussianLoss(1, Fraction(7000, k + 30)),
    "sample": lambda k: Sampled(Fraction(k + 30, 700), Curve((), Fraction(1, 9))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_rounded_up_to_fewer_dominates(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Samples take long to compose, and Skellam noise takes long to write out.
    number, most = (6, 4) if kind in ("sample", "skellam") else (24, 8)
    parts = tuple((KINDS[kind](k), 1) for k in range(number))
    exact = epsilon_at(Curve(parts), DELTA)
    for name in ("FEW", "_MOST_OF_A_KIND"):
        monkeypatch.setattr(fewer_losses, name, most)
    assert fewer_losses.is_merged(parts) and len(fewer_losses.merged(parts)) <= most
    rounded = epsilon_at(Curve(parts), DELTA)
    assert exact is not None and rounded is not None
    assert exact.upper <= rounded.upper < exact.upper * Fraction(13, 10)
    assert rounded.lower is None and not rounded.exact


def test_few_are_left_alone() -> None:
    parts = tuple((LaplaceLoss(Fraction(k + 30, 700)), k + 1) for k in range(FEW))
    assert tuple(fewer_losses.merged(parts)) == parts and not fewer_losses.is_merged(parts)


def test_numbers_are_rounded_to_the_least_of_few_bits_above() -> None:
    assert bits_up(Fraction(1, 3), 2) == Fraction(3, 8)
    assert bits_up(Fraction(5, 8), 3) == Fraction(5, 8)
    assert bits_up(Fraction(0), 3) == 0
    assert bits_up(Fraction(10**40), 2) == Fraction(2**133)
    for k in range(1, 200):
        x = Fraction(k, 37)
        assert x <= bits_up(x, 6) <= x * Fraction(33, 32)


@pytest.mark.parametrize("most", [12, pytest.param(2048, marks=pytest.mark.long)])
def test_the_report_says_that_losses_were_rounded(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "that is very many different losses: their parameters are rounded up to fewer"
    assert FEW == 2048
    for name in ("FEW", "_MOST_OF_A_KIND"):
        monkeypatch.setattr(fewer_losses, name, most)
    for number, rounded in ((min(most, 30), False), (most + 1, True)):
        report = analyze(spec(laplaces(number)))
        assert any(each.startswith(says) for each in report.at_delta[0].chain) == rounded


def test_many_deltas_share_their_work_and_stay_above_the_truth() -> None:
    rows = laplaces(6)
    texts = [f"1e-{n}" for n in range(1, 41)]
    shared = epsilons(analyze(spec(rows, f"{{delta: [{', '.join(texts)}]}}")))
    assert len(shared) == 40 and sorted(shared) == shared
    for n in (2, 6, 13):
        (alone,) = epsilons(analyze(spec(rows, f"{{delta: {texts[n - 1]}}}")))
        # The one alone is itself above the truth by less than a few millionths.
        assert alone * (1 - Fraction(1, 10**5)) <= shared[n - 1] <= alone * (1 + Fraction(1, 10**4))


def test_many_epsilons_share_their_work_too() -> None:
    rows = laplaces(6)
    texts = [f"{n}/8" for n in range(1, 25)]
    together = analyze(spec(rows, f"{{epsilon: [{', '.join(texts)}]}}")).at_epsilon
    for n in (1, 9, 24):
        (alone,) = analyze(spec(rows, f"{{epsilon: {texts[n - 1]}}}")).at_epsilon
        value, same = together[n - 1].value, alone.value
        assert value is not None and same is not None
        assert abs(value - same) <= same * Fraction(1, 10**4)


def test_the_order_of_many_deltas_makes_no_difference() -> None:
    texts = [f"1e-{n}" for n in range(1, 20)]
    found = []
    for some in (texts, texts[::-1], texts[7:] + texts[:7]):
        report = analyze(spec(laplaces(3), f"{{delta: [{', '.join(some)}]}}"))
        assert [at.given for at in report.at_delta] == [Fraction(each) for each in some]
        found.append({at.given: at.value for at in report.at_delta})
    assert found[0] == found[1] == found[2]


# --- many blocks, orders, points -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_replaced_row_is_placed_as_if_every_way_were_tried(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        n, most = rng.randint(1, 5), rng.randint(1, 7)
        once = [Fraction(rng.randint(0, 6)) for _ in range(n)]
        both = [Fraction(rng.randint(0, 14)) for _ in range(n)]
        sizes = [rng.randint(1, 3) for _ in range(n)]
        steep = [i for i in range(n) if both[i] > 2 * once[i]]
        flat = [i for i in range(n) if both[i] <= 2 * once[i]]
        gains = [(once[i], sizes[i], allocation.Hit(i, 1, False)) for i in flat]
        gains += [(both[i] - once[i], sizes[i], allocation.Hit(i, 1, True)) for i in flat]
        gains.sort(key=lambda gain: (-gain[0], gain[2].both))
        doubles = [(both[i], sizes[i], allocation.Hit(i, 1, True)) for i in steep]
        doubles.sort(key=lambda run: -run[0])
        available = min(most, sum(run[1] for run in doubles))
        every = [
            allocation._mixed(gains, doubles, once, sizes, most, twice)[0]
            for twice in range(available + 1)
        ]
        assert allocation.membership_pair(once, both, sizes, most)[0] == max(every)


def test_orders_between_those_given_follow_the_chord() -> None:
    curve = tuple((Fraction(k), Fraction(k, 10)) for k in range(2, 1000))
    assert at_order(curve, Fraction(2)) == Fraction(1, 5)
    assert at_order(curve, Fraction(3, 2)) == Fraction(1, 5)
    # Between 2 and 3 the chord of (α-1)ε from 1/5 to 3/5, over α-1.
    assert at_order(curve, Fraction(5, 2)) == Fraction(2, 5) / Fraction(3, 2)
    with pytest.raises(ValueError, match="no order so high"):
        at_order(curve, Fraction(1000))


def test_joined_curves_of_many_orders_keep_some_of_them() -> None:
    def listed(shift: int, apart: int) -> str:
        return ", ".join(
            f"[{k}.{shift}, {k}.{shift}/100]" for k in range(2, 2 + 200 * apart, apart)
        )

    rows = [f"notion: rdp, points: [{listed(shift, 1)}]" for shift in range(9)]
    (found,) = epsilons(analyze(spec(rows)))
    (alone,) = epsilons(analyze(spec(["notion: zcdp, rho: 9/100"])))
    assert alone * Fraction(999, 1000) <= found <= alone * Fraction(11, 10)


@pytest.mark.parametrize(
    ("largest", "infinite"), [(3, 1e-9), (10**15, 1e-9), (10**15 + 1, 0.1), (10**17, 0.1)]
)
def test_profiles_of_any_size_are_read(largest: int, infinite: float) -> None:
    """A point at an ε above 10^15 is left out, so that the δ before it is never spent."""
    given = ((Fraction(1), Fraction(1, 10)), (Fraction(largest), Fraction(1, 10**9)))
    found, lost = from_points.atoms(given)
    assert lost == pytest.approx(infinite, rel=1e-12) and lost >= infinite
    assert sum(p for _, p in found) + lost == pytest.approx(1, abs=1e-12)


# --- long chains ---------------------------------------------------------------------------------


def chain(number: int, made_by: str) -> str:
    listed = "".join(f"  d{i}: {{from: d{i - 1}, map: {made_by}}}\n" for i in range(1, number + 1))
    return (
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  d0: {}\n" + listed + "mechanisms:\n"
        f"  - {{name: m, reads: d{number}, notion: pure, epsilon: 1, relation: unbounded}}\n"
    )


def test_what_equal_maps_make_of_a_change_is_found_once() -> None:
    """However many there are in a row."""
    found = []
    for number in (10, 100):
        propagation.propagate.cache_clear()
        report = analyze(chain(number, "filter"))
        assert report.status == "ok"
        found.append(propagation.propagate.cache_info().misses)
    assert found[0] == found[1]


def test_who_reads_samples_in_a_row_is_looked_up_once_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def looked_at(number: int) -> int:
        seen: list[Dataset] = []
        below = draws._below

        def counted(dataset: Dataset) -> Iterator[tuple[Dataset, int]]:
            seen.append(dataset)
            return below(dataset)

        monkeypatch.setattr(draws, "_below", counted)
        samples = "d0: {}\n" + "".join(
            f"d{i}: {{from: d{i - 1}, map: {{kind: sample, poisson: 9/10}}}}\n"
            for i in range(1, number + 1)
        )
        lay_out(problem_of(samples, f"name: m, reads: d{number}, notion: pure, epsilon: 1"))
        monkeypatch.undo()
        return len(seen)

    assert looked_at(200) <= 3 * 200 and looked_at(10) <= 3 * 10
