"""The library as somebody outside uses it: by its door alone, against numbers from elsewhere."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import norm

from dpcompose import curves

F = Fraction
#: What is not typed right.
NO_NUMBER: Any = None
NOT_WHOLE: Any = 1.5
README = Path(curves.__file__).with_name("README.md")


def test_the_example_of_the_readme_runs() -> None:
    text = README.read_text(encoding="utf-8")
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found, expected = done.stdout.split(), printed.split()
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        try:
            assert float(one) == pytest.approx(float(other), rel=1e-8)
        except ValueError:
            assert one == other
    # Abadi et al.'s setting, by other libraries' distributions of losses: 2.38159.
    assert float(found[0]) == pytest.approx(2.38159, abs=1e-4)


def test_numbers_may_be_written_in_any_way() -> None:
    every = {curves.pure(given) for given in (F(1, 10), "1/10", "0.1", 0.1, Decimal("0.1"))}
    assert len(every) == 1


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("mu", [0.2, 1, 3])
def test_the_trade_off_of_a_gaussian(mu: float, alpha: float) -> None:
    found = curves.gdp(mu).trade_off(alpha)
    truth = norm.cdf(norm.isf(alpha) - mu)
    assert float(found) <= truth * (1 + 1e-12)
    assert float(found) == pytest.approx(truth, abs=1e-6)
    assert found.floor and found.lower is not None and found.lower <= found.upper


def test_ends_of_the_trade_off() -> None:
    one = curves.pure(1)
    assert float(one.trade_off(1)) == 0 and 0.99 < float(one.trade_off(0)) <= 1
    # At the corner of randomized response.
    assert float(one.trade_off(1 / (1 + math.e))) == pytest.approx(1 / (1 + math.e), rel=1e-6)


def test_curves_are_composed_one_by_one_or_in_a_list() -> None:
    one, other = curves.gaussian(2), curves.laplace(3)
    assert curves.compose([one, other]) == curves.compose(one, other) == one.compose(other)
    assert curves.maximum([one, other]) == curves.maximum(one, other)
    for wrong in (3, "gaussian", [one, None]):
        with pytest.raises(TypeError, match="a curve is due"):
            curves.compose(wrong)  # type: ignore[arg-type]


def test_notions_of_a_composition() -> None:
    both = curves.laplace(2).compose(curves.gaussian(5), curves.pure("1/2"))
    assert both.pure() is None
    rho, mu = both.rho(), both.mu()
    assert rho is not None and mu is not None
    laplace = 0.5 + math.expm1(-0.5)
    assert float(rho) == pytest.approx(laplace + 1 / 50 + 0.5 * math.tanh(0.25), rel=1e-12)
    each = (-2 * norm.ppf(math.exp(-0.25) / 2), 1 / 5, 2 * norm.ppf(1 / (1 + math.exp(-0.5))))
    assert float(mu) == pytest.approx(math.hypot(*each), rel=1e-9)
    pure = curves.laplace(2).compose(curves.pure("1/2")).pure()
    assert pure is not None and pure.upper == 1
    assert curves.approx(1, "1e-6").rho() is None and curves.approx(1, "1e-6").mu() is None
    assert curves.zcdp(1).mu() is None


def test_copies_are_repeats() -> None:
    one = curves.laplace(3).compose(curves.approx("0.1", "1e-7"))
    assert one.repeat(3) == one.compose(one, one) == curves.compose(one, one, one)
    assert one.repeat(0) == curves.Curve()
    many = curves.approx(0, "1e-6").repeat(10**5).delta(epsilon=0)
    assert float(many.upper) == pytest.approx(-math.expm1(1e5 * math.log1p(-1e-6)), rel=1e-12)


@pytest.mark.parametrize(
    ("curve", "apart"),
    [
        (curves.gaussian(4), curves.gaussian(4, 3)),
        (curves.laplace(4), curves.laplace(4, 3)),
        (curves.geometric(4), curves.geometric(4, 3)),
        (curves.pure("0.1"), curves.pure("0.3")),
    ],
)
def test_groups_of_three(curve: curves.Curve, apart: curves.Curve) -> None:
    assert curve.at_distance(3) == apart and curve.at_distance(1) == curve


def test_groups_in_general_are_those_of_pairs() -> None:
    found = curves.approx(1, "1e-5").at_distance(2).delta(epsilon=2)
    # In the worst case δ(1 + e^ε).
    assert 1 - 1e-9 <= float(found.upper) / (1e-5 * (1 + math.e)) <= 1 + 1e-6


def test_samples() -> None:
    once = curves.pure(1).sample(poisson="1/4").pure()
    assert once is not None and float(once) == pytest.approx(math.log1p(math.expm1(1) / 4))
    fixed = curves.pure(1).sample(fixed="1/4").pure()
    assert fixed is not None and fixed.upper == once.upper
    whole = curves.laplace(1).sample(poisson=1).repeat(5).epsilon(delta="1e-5")
    plain = curves.laplace(1).repeat(5).epsilon(delta="1e-5")
    assert whole is not None and plain is not None
    assert float(whole) == pytest.approx(float(plain), rel=1e-3)


def test_a_maximum_is_no_less_than_each() -> None:
    options = curves.laplace(1), curves.gaussian(1)
    most = curves.maximum(*options)
    for epsilon in (0, 0.3, 0.9, 2):
        found = most.delta(epsilon=epsilon).upper
        assert all(found >= one.delta(epsilon=epsilon).upper * (1 - F(1, 10**9)) for one in options)
    assert curves.maximum(options[0]) == options[0]


def test_stated_curves() -> None:
    rdp = curves.rdp([(2, "0.1"), (8, "0.4"), (32, 2)]).epsilon(delta=1e-5)
    assert rdp is not None and rdp.how == "Rényi conversion"
    profile = curves.profile([(1, 1e-6), (2, 1e-9), (1, 1e-5)])
    assert 1e-6 <= float(profile.delta(epsilon=1)) <= 1e-6 * (1 + 1e-8)
    assert curves.zcdp(0) == curves.pure(0) == curves.laplace(1, 0) == curves.Curve()
    assert curves.Curve().delta(epsilon=0).upper == 0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: curves.gaussian(0), ValueError),
        (lambda: curves.gaussian(-1), ValueError),
        (lambda: curves.gaussian(math.nan), ValueError),
        (lambda: curves.gaussian(math.inf), ValueError),
        (lambda: curves.gaussian("one"), ValueError),
        (lambda: curves.laplace(True), TypeError),
        (lambda: curves.laplace(NO_NUMBER), TypeError),
        (lambda: curves.geometric(1, NOT_WHOLE), TypeError),
        (lambda: curves.geometric(1, -1), ValueError),
        (lambda: curves.skellam("1e-9"), ValueError),
        (lambda: curves.randomized_response(1, 1), ValueError),
        (lambda: curves.approx(1, 2), ValueError),
        (lambda: curves.rdp([]), ValueError),
        (lambda: curves.rdp([(1, 1)]), ValueError),
        (lambda: curves.rdp([(2, 1), (3, "0.5")]), ValueError),
        (lambda: curves.profile([(1, 1)]), ValueError),
        (lambda: curves.maximum(), ValueError),
        (lambda: curves.pure(1).sample(), ValueError),
        (lambda: curves.pure(1).sample(poisson="1/2", fixed="1/2"), ValueError),
        (lambda: curves.pure(1).sample(poisson=2), ValueError),
        (lambda: curves.pure(1).repeat(-1), ValueError),
        (lambda: curves.pure(1).repeat(NOT_WHOLE), TypeError),
        (lambda: curves.pure(1).at_distance(0), ValueError),
        (lambda: curves.pure(1).epsilon(delta=-1), ValueError),
        (lambda: curves.pure(1).trade_off(2), ValueError),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_nothing_finite_is_none() -> None:
    assert curves.gaussian(1).pure() is None
    assert curves.approx(1, "1e-3").epsilon(delta="1e-4") is None
    assert curves.approx(1, 1).delta(epsilon=5).upper == 1


def test_what_is_simple_needs_no_numpy() -> None:
    simple = (
        ("renyi.epsilon_at(Curve(((LaplaceLoss(F(1)), 9),)), F(1, 10**6))", {"numpy", "mpmath"}),
        ("sizes.scale(Sampled(F(1, 9), Curve((), F(1))))", {"numpy"}),
        ("sizes.natural_step(Points(((F(1), F(0)),)))", {"numpy"}),
        ("epsilon_at(Curve(((Response(F(1, 10)), 1000),)), F(1, 10**6))", {"numpy"}),
        ("epsilon_at(Curve(gaussian=F(1)), F(1, 10**6))", {"numpy"}),
    )
    calls = "".join(
        f"{code}\nassert not {unneeded} & {{*sys.modules}}, {code!r}\n" for code, unneeded in simple
    )
    whole = (
        "import sys\nfrom fractions import Fraction as F\n"
        "from dpcompose.core.mechanisms.laplace import LaplaceLoss\n"
        "from dpcompose.curves.answers import epsilon_at\n"
        "from dpcompose.curves.backends.lattice import sizes\n"
        "from dpcompose.curves.backends.renyi import renyi_curves as renyi\n"
        "from dpcompose.curves.curve import *\n"
        f"{calls}"
    )
    assert subprocess.run([sys.executable, "-c", whole], check=False).returncode == 0


@pytest.mark.parametrize(
    ("curve", "epsilon", "delta"),
    [
        # A small chance of a large loss is seen by a small tilt alone.
        (curves.gaussian(sigma=1).at_distance(2).sample(fixed="1.1e-7").repeat(100), 9e-4, "1e-9"),
        # Of a few losses the saddle point says little.
        (
            curves.maximum(
                curves.laplace(scale="9.07246").sample(poisson="0.594278"),
                curves.approx("0.27164", "1.2e-30"),
            ),
            0.25387,
            "0.01",
        ),
        # A rare large loss hides the others under a tilt.
        (curves.gaussian(sigma=100).sample(poisson="0.001").at_distance(5), 1e-4, "1e-6"),
        # Nothing is lost at a δ that the whole curve is below.
        (curves.gaussian(sigma=300_000).allocate(85), 0, "0.999999"),
    ],
    ids=["rare", "few", "hidden", "nothing"],
)
def test_epsilon_of_losses_that_are_not_nearly_normal(
    curve: curves.Curve, epsilon: float, delta: str
) -> None:
    found = curve.epsilon(delta=delta)
    assert found is not None and float(found) <= epsilon


@pytest.mark.slow
def test_delta_far_beyond_all_losses() -> None:
    curve = curves.gaussian(sigma=16_901).sample(fixed="0.0002").repeat(1_012_639)
    for epsilon in ("0.1", "3.78", "1000"):
        assert float(curve.delta(epsilon=epsilon)) < 1e-50
