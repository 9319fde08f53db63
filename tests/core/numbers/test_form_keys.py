"""What numbers at the keys of forms must be, and in which direction they may be rounded."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.numbers.form_keys import (
    NOISE,
    NUMBER,
    POSITIVE,
    STEPS,
    WHOLE_L2,
    FormKey,
    Need,
    Sort,
)


@pytest.mark.parametrize(
    ("need", "fine", "wrong"),
    [
        (POSITIVE, "1/1000", "0"),
        (NOISE, "1/1000", "0"),
        (STEPS, "3", "3/2"),
        (WHOLE_L2, "0", "1/2"),
    ],
)
def test_a_need_tells_the_numbers_that_fit(need: Need, fine: str, wrong: str) -> None:
    assert need.fits is not None
    assert need.fits(Fraction(fine)) and not need.fits(Fraction(wrong))


def test_what_any_number_fulfils_asks_nothing() -> None:
    assert NUMBER.fits is None and not NUMBER.signed


def test_noise_is_rounded_down_and_losses_up() -> None:
    key = FormKey("scale", Sort.NUMBER, "…")
    assert key.safe == "up"
    assert key._replace(noise=True).safe == "down"
    assert key._replace(noise=True, exactly=True).safe is None
