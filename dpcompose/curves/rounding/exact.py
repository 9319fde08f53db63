"""Exact rationals, and the few irrational functions, always rounded up.

Everything that is not rational passes through here, so that no result falls below what was
certified. A rounded value is a fraction at most one part in 10**40 above the true one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from dpcompose.curves.rounding.doubles import BITS, MAX_BITS

ZERO, ONE = Fraction(0), Fraction(1)
#: Operations in 50 digits, rounded up, and the factor that covers the rounding of a few of them.
UP = Context(prec=50, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
_UP = Fraction(10**45 + 1, 10**45)
#: Above this exponent a factor e^x is no longer written out: no δ survives it.
MAX_EXPONENT = 10_000
#: Above this ε the tail of the normal law is replaced by the first term of its expansion, which has
#: 14 digits there; exponents of doubles and decimals end soon after.
FURTHEST = 10**15
#: So many things (rows, steps of a path, blocks of a sum) are treated one by one; of more, several
#: count as the worst of them.
MANY = 1024
#: So many different laws are made one by one, each of which takes as long as the rest of an answer.
MOST_LAWS = 32


class RoundingWatch:
    """A record of whether any result that was computed in a `with` block is not the exact one."""

    def __init__(self) -> None:
        self.rounded = False

    def __enter__(self) -> RoundingWatch:
        _watches.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watches.remove(self)


_watches: list[RoundingWatch] = []


def note_rounding() -> None:
    """Notes in every watch that a result is no longer the exact one."""
    for watch in _watches:
        watch.rounded = True


def _digits(n: int) -> int:
    """Returns about how many decimal digits `n` has; never more than one too many."""
    return n.bit_length() * 30103 // 100000 + 1


def _decimal(x: Fraction) -> Decimal:
    return UP.divide(Decimal(x.numerator), Decimal(x.denominator))


def _margin(x: Decimal) -> Fraction:
    """Returns `x` as a fraction, moved away from zero far enough to cover its rounding."""
    return Fraction(x) * _UP


def sqrt_up(x: Fraction) -> Fraction:
    """Returns the square root of `x` ≥ 0: exact where it is rational, else rounded up."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom)
    note_rounding()
    # Scale so that the integer root carries BITS significant bits.
    shift = max(0, BITS - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    root = math.isqrt((x.numerator << (2 * shift)) // x.denominator) + 1
    return Fraction(root, 1 << shift)


def sqrt_down(x: Fraction) -> Fraction:
    """Returns the square root of `x` ≥ 0: exact where it is rational, else rounded down."""
    if is_square(x):
        return sqrt_up(x)
    shift = max(0, BITS - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    root = math.isqrt((x.numerator << (2 * shift)) // x.denominator)
    return Fraction(root, 1 << shift)


def is_square(x: Fraction) -> bool:
    """Returns whether the square root of `x` ≥ 0 is rational."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return top * top == x.numerator and bottom * bottom == x.denominator


def exp_up(x: Fraction) -> Fraction:
    """Returns e^x rounded up, for x ≤ MAX_EXPONENT."""
    if x == 0:
        return Fraction(1)
    if x > MAX_EXPONENT:
        raise OverflowError("e^x with x above MAX_EXPONENT")
    if x < -MAX_EXPONENT:
        x = Fraction(-MAX_EXPONENT)
    # The argument's relative error of 10**-49 costs at most |x|·10**-49 < 10**-45 in the result.
    value = UP.exp(_decimal(x))
    return _shorten(Fraction(value) * (1 + Fraction(3, 10**45)))


def geometric_up(x: Fraction, steps: int) -> Fraction:
    """Returns (e^(steps·x) - 1)/(e^x - 1) = 1 + e^x + … + e^((steps-1)x), rounded up; `steps` at x
    = 0."""
    if x == 0 or steps <= 1:
        return Fraction(steps)
    if x * (steps - 1) > MAX_EXPONENT:
        raise OverflowError("group privacy beyond MAX_EXPONENT")
    if steps <= 8:
        return sum((exp_up(x * i) for i in range(1, steps)), Fraction(1))
    # Enough digits that the cancellation in e^x - 1 for tiny x does no harm.
    extra = max(0, _digits(x.denominator) - _digits(x.numerator) + 2)
    context = Context(prec=60 + extra, Emax=MAX_EMAX, Emin=MIN_EMIN)
    exact = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    top = context.subtract(context.exp(context.multiply(exact, Decimal(steps))), Decimal(1))
    bottom = context.subtract(context.exp(exact), Decimal(1))
    return _shorten(_margin(context.divide(top, bottom)))


def _shorten(x: Fraction) -> Fraction:
    """Returns a positive fraction rounded up to 50 significant digits, to keep later sums small."""
    note_rounding()
    return Fraction(UP.divide(Decimal(x.numerator), Decimal(x.denominator)))


def tanh_up(x: Fraction) -> Fraction:
    """Returns tanh(x) for x ≥ 0, rounded up; never above 1 nor above x."""
    if x == 0:
        return x
    if x > 200:
        note_rounding()
        return Fraction(1)
    # tanh x = (e^2x - 1)/(e^2x + 1); digits for the cancellation at tiny x.
    extra = max(0, _digits(x.denominator) - _digits(x.numerator) + 2)
    context = Context(prec=60 + extra, Emax=MAX_EMAX, Emin=MIN_EMIN)
    power = context.exp(
        context.multiply(2, context.divide(Decimal(x.numerator), Decimal(x.denominator)))
    )
    value = context.divide(context.subtract(power, Decimal(1)), context.add(power, Decimal(1)))
    return min(_shorten(_margin(value)), Fraction(1), x)


def gaussian_mean_up(epsilon: Fraction) -> Fraction:
    """Returns 2Φ⁻¹(e^ε/(1+e^ε)) rounded up: the least μ for which every ε-DP mechanism is μ-GDP.

    Found by Newton's method on the logarithm of the Gaussian tail; the result is then checked to
    have a tail no larger than wanted, so that it is not below the true value.
    """
    if epsilon == 0:
        return Fraction(0)
    if epsilon > FURTHEST:
        # Φ(-x) ≤ e^(-x²/2)/2, which is at most 1/(1+e^ε) from x = √(2ε) on.
        return 2 * sqrt_up(2 * epsilon)
    note_rounding()
    return _gaussian_mean(epsilon)


@lru_cache(maxsize=1 << 12)  # asked for several times for each loss
def _gaussian_mean(epsilon: Fraction) -> Fraction:
    """Returns 2Φ⁻¹(e^ε/(1+e^ε)), rounded up; raises ArithmeticError where its tail would be too
    large."""
    from mpmath import mp, mpf

    # At tiny ε the tail is within ε/4 of one half: keep enough digits to see it.
    lost = max(0, _digits(epsilon.denominator) - _digits(epsilon.numerator))
    with mp.workdps(50 + lost + _digits(epsilon.numerator // epsilon.denominator)):
        eps = mpf(epsilon.numerator) / epsilon.denominator
        log_tail = -eps - mp.log1p(mp.exp(-eps))

        def log_upper(x: object) -> object:
            return mp.log(mp.erfc(x / mp.sqrt(2)) / 2)

        x = mp.sqrt(2 * eps) if eps > 1 else eps * mp.sqrt(mp.pi / 8)
        root = mp.sqrt(2 * mp.pi)
        for _ in range(60):
            here = log_upper(x)
            step = (log_tail - here) * mp.exp(x * x / 2 + here) * root
            x = x - step
            if abs(step) <= abs(x) * mpf(10) ** -42:
                break
        x = x * (1 + mpf(10) ** -35)
        if not log_upper(x) < log_tail:
            raise ArithmeticError("the Gaussian quantile did not converge")
        sign, mantissa, exponent, _ = (2 * x)._mpf_
        assert not sign
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return _shorten(value)


def summed(terms: Iterable[Any]) -> Any:
    """Returns the exact sum; infinite where a term is.

    Terms with many denominators are added in pairs: one after the other takes time by their square.
    """
    tops: dict[int, int] = {}
    for term in terms:
        if isinstance(term, float):
            return math.inf
        tops[term.denominator] = tops.get(term.denominator, 0) + term.numerator
    parts = [(top, bottom) for bottom, top in sorted(tops.items())]
    while len(parts) > 1:
        halves = zip_longest(parts[::2], parts[1::2], fillvalue=(0, 1))
        parts = [_plus(*one, *other) for one, other in halves]
    return Fraction(*parts[0]) if parts else ZERO


def _plus(top: int, bottom: int, other_top: int, other_bottom: int) -> tuple[int, int]:
    common = math.gcd(bottom, other_bottom)
    mine, other = bottom // common, other_bottom // common
    return top * other + other_top * mine, bottom * other


def capped(x: Fraction) -> Fraction:
    """Returns `x` itself, or, where its denominator has become very long, `x` rounded up on a fine
    grid."""
    if x.denominator.bit_length() <= MAX_BITS:
        return x
    scale = _fine_grid(x)
    return Fraction(-((-x.numerator * scale) // x.denominator), scale)


def capped_down(x: Fraction) -> Fraction:
    """Returns `x` itself, or, where its denominator has become very long, `x` rounded down on a
    fine grid."""
    if x.denominator.bit_length() <= MAX_BITS:
        return x
    scale = _fine_grid(x)
    return Fraction((x.numerator * scale) // x.denominator, scale)


def power_down(chance: Fraction, times: int) -> Fraction:
    """Returns chance^times for 0 ≤ chance ≤ 1, rounded down where it has too many digits."""
    if not chance or chance.denominator.bit_length() * times <= MAX_BITS:
        return Fraction(chance**times)
    logarithm = log_inverse_up(chance) * times
    return ZERO if logarithm > MAX_EXPONENT else 1 / exp_up(logarithm)


def _fine_grid(x: Fraction) -> int:
    note_rounding()
    return 1 << max(0, x.denominator.bit_length() - x.numerator.bit_length()) + BITS


def float_up(x: Fraction) -> float:
    """Returns the smallest double that is not below `x`; raises OverflowError beyond the
    largest."""
    value = x.numerator / x.denominator
    return value if Fraction(value) >= x else math.nextafter(value, math.inf)


def decimal_up(x: Fraction, digits: int) -> str:
    """Returns `x` ≥ 0 as text with at most `digits` significant digits, rounded up, in the shortest
    usual form."""
    if x == 0:
        return "0"
    context = Context(prec=digits, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    top, places = _leading(x, digits)
    value = context.scaleb(context.divide(Decimal(top.numerator), Decimal(top.denominator)), places)
    exponent = value.adjusted()
    if -5 <= exponent < 16:
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = format(value.scaleb(-exponent, context), "f")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{exponent}"


def _leading(x: Fraction, digits: int) -> tuple[Fraction, int]:
    """Returns `x` > 0 as (number, power of ten by which to multiply it); a number much longer than
    `digits` digits is rounded up first, since to write out all of them takes time by their square.
    """
    if max(x.numerator.bit_length(), x.denominator.bit_length()) <= MAX_BITS:
        return x, 0
    places = _digits(x.numerator) - _digits(x.denominator) - digits - 4
    ten = 10 ** abs(places)
    top, bottom = (
        (x.numerator, x.denominator * ten) if places > 0 else (x.numerator * ten, x.denominator)
    )
    return Fraction(-(-top // bottom)), places


def log_inverse_up(x: Fraction) -> Fraction:
    """Returns -ln x for 0 < x ≤ 1, rounded up."""
    if x == 1:
        return Fraction(0)
    if 1 - x < Fraction(1, 10**30):
        # -ln(1-d) ≤ d/(1-d), which is this close.
        return (1 - x) / x
    # Not the sign operator, which would round to the digits of the thread's own context.
    logarithm = UP.minus(UP.ln(_decimal(x)))
    return _shorten(_margin(logarithm) + Fraction(1, 10**48))


def amplified_up(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns ln(1 + q·(e^ε - 1)) rounded up, the ε behind a sample of rate 0 < q ≤ 1; ε itself
    where that is too large to compute."""
    if rate == 1 or epsilon == 0 or epsilon > MAX_EXPONENT:
        return epsilon
    return log1p_up(rate * (exp_up(epsilon) - 1))


def amplified_added_up(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns -ln(1 - q + q·e^-ε) rounded up, for a sample of rate 0 < q ≤ 1; never above ε.

    It is the ε for the table without a row against the table with it.
    """
    if rate == 1 or epsilon == 0:
        return epsilon
    if epsilon > MAX_EXPONENT:
        return min(epsilon, log_inverse_up(1 - rate))
    drawn = rate * (1 - 1 / exp_up(epsilon))
    return min(epsilon, log1p_up(drawn / (1 - drawn)))


def added_share_up(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns q·e^-ε/(1 - q + q·e^-ε) rounded up: the factor by which δ shrinks where ε becomes
    `amplified_added_up`."""
    rest = rate * exp_up(-epsilon)
    return rest / (1 - rate + rest)


def exchanged_up(once: Fraction | None, both: Fraction | None, rate: Fraction) -> Fraction | None:
    """Returns the ε of one row replaced behind a Poisson sample of rate q,
    ln[(1-q+q·e^u)/(1-q+q·e^(u-b))], rounded up; None where u or b is not known.

    `once`: u, the ε of one row there or not; `both`: b ≤ 2u, the ε of one row replaced in the
    sample.
    """
    if once is None:
        return both
    both = 2 * once if both is None else min(both, 2 * once)
    found = several_exchanged_up([(rate, once, both)])
    return both if found is None else min(both, found)


def several_exchanged_up(ways: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Fraction | None:
    """Returns the ε of several rows replaced together behind a Poisson sample, rounded up; None
    where one ε is too large.

    `ways`: for each number j of drawn rows its chance, the ε of so many rows there or not (u_j),
    and of so many replaced in the sample (b_j).

    Given the rest of the sample let μ₀ be the law where none is drawn, P_j and Q_j those where j of
    the old or of the new rows are. As P_j ≤ e^u_j·μ₀, Q_j ≥ e^-u_j·μ₀ and P_j ≤ e^b_j·Q_j, the most
    of P_j - a·Q_j is where Q_j is e^(u_j-b_j)·μ₀ or e^-u_j·μ₀, the first if e^b_j ≥ a. The least a
    for which the sum is at most (a-1)·w₀·μ₀ is the greatest quotient of all such choices.
    """
    if any(max(u, b) > MAX_EXPONENT for _, u, b in ways):
        return None
    known = sorted((min(b, 2 * u), w, u) for w, u, b in ways)
    none = 1 - sum((w for w, _, _ in ways), ZERO)
    top = none + sum((w * exp_up(u) for _, w, u in known), ZERO)
    bottom = none + sum((w / exp_up(b - u) for b, w, u in known), ZERO)
    most = top / bottom
    for b, w, u in known:
        top += w * (exp_up(b - u) - exp_up(u))
        bottom += w * (1 / exp_up(u) - 1 / exp_up(b - u))
        most = max(most, top / bottom)
    return log1p_up(max(most - 1, ZERO))


def log1p_up(x: Fraction) -> Fraction:
    """Returns ln(1 + x) for x ≥ 0, rounded up; never above x."""
    if x == 0:
        return x
    extra = max(0, _digits(x.denominator) - _digits(x.numerator) + 2)
    if extra > 200:
        return x
    context = Context(prec=60 + extra, Emax=MAX_EMAX, Emin=MIN_EMIN)
    shifted = 1 + x
    value = context.ln(context.divide(Decimal(shifted.numerator), Decimal(shifted.denominator)))
    return min(x, _shorten(_margin(value)))


def bits_up(x: Fraction, bits: int) -> Fraction:
    """Returns the least number of at most `bits` significant bits that is at least `x` ≥ 0."""
    top, bottom = x.numerator, x.denominator
    if not top:
        return x
    shift = bits - top.bit_length() + bottom.bit_length()
    whole = -((-top << shift) // bottom) if shift >= 0 else -(-top // (bottom << -shift))
    return Fraction(whole) / Fraction(2) ** shift
