"""Several rows replaced above a sample of one public size: against any laws, and against noise."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from reference.finite_laws import normal, points, weights, worse
from scipy.stats import hypergeom

from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import Curve, ReplacedRows, Response

F = Fraction
EPSILONS = [0.0, 0.01, 0.3, 0.8, 1.5, 2.5, 4.0]


def chances(rows: int, size: int, of: int) -> tuple[F, ...]:
    whole = math.comb(of, size)
    return tuple(
        F(math.comb(rows, n) * math.comb(of - rows, size - n), whole)
        for n in range(min(rows, size) + 1)
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_laws(seed: int) -> None:
    """Any laws of what is released with so many of the old rows, or of the new ones."""
    rng = random.Random(seed)
    near, rows = rng.choice([1.0, 0.5, 0.1]), rng.choice([1, 2, 3])
    none = weights(rng)
    old = [none, *((1 - near) * none + near * weights(rng) for _ in range(rows))]
    new = [none, *((1 - near) * none + near * weights(rng) for _ in range(rows))]
    size = rng.randint(rows, 9)
    w = chances(rows, size, 10)
    first: np.ndarray = np.sum([float(x) * law for x, law in zip(w, old, strict=True)], axis=0)
    second: np.ndarray = np.sum([float(x) * law for x, law in zip(w, new, strict=True)], axis=0)
    once = tuple(
        points(*((a[j], b[i]) for a, b in ((old, new), (new, old)) for i in range(j + 1)))
        for j in range(1, rows + 1)
    )
    found = masses(ReplacedRows(w, once), F(1, 256))
    for epsilon in EPSILONS:
        truth = worse(first, second, epsilon)
        assert profile(found, epsilon) >= truth * (1 - 1e-9) - 1e-13


@pytest.mark.parametrize(("rows", "size", "of"), [(1, 5, 50), (2, 5, 50), (3, 20, 50), (2, 9, 10)])
def test_noise_that_the_new_rows_do_not_move(rows: int, size: int, of: int) -> None:
    w = chances(rows, size, of)
    law = hypergeom(of, rows, size).pmf(range(rows + 1))
    assert [float(x) for x in w] == pytest.approx(list(law), rel=1e-9)
    once = tuple(Curve((), F(n * n)) for n in range(1, rows + 1))
    found = masses(ReplacedRows(w, once), F(1, 2048))
    mixture: np.ndarray = np.sum([x * normal(n) for n, x in enumerate(law)], axis=0)
    for epsilon in EPSILONS:
        truth = worse(mixture, normal(0), epsilon)
        assert truth * (1 - 1e-6) - 1e-13 <= profile(found, epsilon)
        # Where several rows lose less than one, of a test at this level, more is not known.
        assert profile(found, epsilon) <= truth * 1.04 + 1e-11


def response(epsilon: F) -> Curve:
    return Curve(((Response(epsilon), 1),))


def test_one_row_is_the_theorem_for_one_row() -> None:
    part = ReplacedRows((F(9, 10), F(1, 10)), (response(F(1)),))
    for epsilon in (0.0, 0.05, 0.1):
        # q·δ(ln(1 + (e^ε - 1)/q)) with δ(x) = (e - e^x)/(1 + e).
        inner = 1 + math.expm1(epsilon) / 0.1
        truth = 0.1 * (math.e - inner) / (1 + math.e)
        found = delta_at(Curve(((part, 1),)), F(epsilon)).upper
        assert truth <= float(found) <= truth * (1 + 1e-4)
        law = masses(part, F(1, 4096))
        assert truth <= profile(law, epsilon) <= truth * (1 + 1e-2)


def test_extremes() -> None:
    known = greatest_loss(ReplacedRows((F(1, 2), F(1, 4), F(1, 4)), (response(F(1)),) * 2))
    assert known is not None
    assert float(known) == pytest.approx(math.log((1 + math.e) / 2), rel=1e-12)
    assert greatest_loss(ReplacedRows((F(1, 2), F(1, 2)), (Curve((), F(1)),))) is None
    nothing = ReplacedRows((F(1, 3), F(2, 3)), (Curve(),))
    assert profile(masses(nothing, F(1, 64)), 0.0) <= 1e-9
    lost = ReplacedRows((F(1, 3), F(1, 3), F(1, 3)), (Curve((), no_failure=F(0)),) * 2)
    assert profile(masses(lost, F(1, 64)), 0.0) == pytest.approx(2 / 3, rel=1e-6)
    # All rows of the sample are other ones: there is none without them.
    whole = masses(ReplacedRows((F(0), F(0), F(1)), (response(F(1)), response(F(2)))), F(1, 64))
    truth = (math.exp(2) - math.exp(0.5)) / (math.exp(2) + 1)
    assert truth <= profile(whole, 0.5) <= truth * (1 + 1e-3)
    far = ReplacedRows((F(1, 3), F(2, 3)), (response(F(10**7)),))
    assert profile(masses(far, F(1, 64)), 1.0) >= 2 / 3 * (1 - 1e-9)
    tiny = ReplacedRows((1 - F(1, 10**70), F(1, 10**70)), (response(F(1)),))
    assert profile(masses(tiny, F(1, 64)), 0.0) <= 1e-9
