"""δ of few outcomes, against the same sum in 60 digits, and against what is exact."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.closed_forms.few_outcomes import delta_of_few
from dpcompose.curves.curve import Curve, Response


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterable[None]:
    with mp.workdps(60):
        yield


def real(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def curve(t: Any, mu: Any) -> Any:
    if not mu:
        return max(mp.mpf(0), -mp.expm1(t))
    near = mp.erfc((t / mu - mu / 2) / mp.sqrt(2)) / 2
    return near - mp.exp(t) * mp.erfc((t / mu + mu / 2) / mp.sqrt(2)) / 2


def true_delta(responses: dict[Fraction, int], gaussian: Fraction, at: Fraction) -> Any:
    """Every outcome of equal responses with its binomial chance."""
    total = mp.mpf(0)
    for ways in product(*(range(count + 1) for count in responses.values())):
        chance, loss = mp.mpf(1), Fraction(0)
        for minus, (epsilon, count) in zip(ways, responses.items(), strict=True):
            likely = 1 / (1 + mp.exp(-real(epsilon)))
            chance *= mp.binomial(count, minus) * likely ** (count - minus) * (1 - likely) ** minus
            loss += (count - 2 * minus) * epsilon
        total += chance * curve(real(at - loss), mp.sqrt(real(gaussian)))
    return total


epsilons = st.fractions(Fraction(1, 100), 4, max_denominator=100)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.dictionaries(epsilons, st.integers(1, 6), max_size=3),
    st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 10**4), 30)),
    st.fractions(0, 8, max_denominator=1000),
)
def test_it_is_above_the_truth_by_next_to_nothing(
    responses: dict[Fraction, int], gaussian: Fraction, at: Fraction
) -> None:
    found = delta_of_few(responses, gaussian, at)
    true = true_delta(responses, gaussian, at)
    if found is None:
        assert gaussian and true < real(gaussian)
        return
    assert real(found.upper) >= true
    assert real(found.upper) <= true * (1 + mp.mpf("2e-8")) + mp.mpf("1e-279")


@pytest.mark.parametrize("count", [1, 40, 1999])
@pytest.mark.parametrize("size", ["0.0001", "0.05", "0.07"])
def test_many_equal_ones_are_as_by_whole_numbers(count: int, size: str) -> None:
    epsilon = Fraction(size)
    for share in (Fraction(0), Fraction(1, 3), Fraction(99, 100)):
        at = epsilon * count * share
        found, exact = (
            delta_of_few({epsilon: count}, Fraction(0), at),
            delta_at(Curve(((Response(epsilon), count),)), at),
        )
        assert found is not None and exact.lower is not None
        assert exact.lower <= found.upper
        assert found.upper <= exact.upper * (1 + Fraction(1, 10**10)) + Fraction(1, 10**279)


def test_what_is_too_much_is_left_to_others() -> None:
    one, none = Fraction(1), Fraction(0)
    assert delta_of_few({one: 2000}, none, none) is None
    assert delta_of_few({one: 301}, none, none) is None
    assert delta_of_few({one: 1}, none, Fraction(400)) is None
    assert delta_of_few({}, Fraction(1, 10**8), none) is None
    assert delta_of_few({}, Fraction(10**6), none) is None
    assert delta_of_few({Fraction(1, 3**400): 1}, none, none) is None
    # Far in the tail next to nothing is left of a difference.
    assert delta_of_few({}, Fraction(1, 10**6), Fraction(3, 100)) is None
