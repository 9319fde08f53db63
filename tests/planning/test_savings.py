"""`savings` at a δ of many mechanisms: what each saves is what its changed spec comes to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from dpcompose.planning.savings import savings_of
from dpcompose.planning.scaling import parameters
from dpcompose.planning.what_if import Put, what_if
from dpcompose.report.certify import certify
from dpcompose.source import load

DELTA = Fraction(1, 10**6)
BOTH = "sensitivity: {unbounded: 1, bounded: 1}"
#: Of what is on no grid or on an exact one nothing is lost; two grids may differ by so much.
EXACT, ON_GRIDS = 3e-9, 2e-6


def mixed(i: int) -> str:
    n = 1000 + 7 * i
    return (
        f"notion: pure, epsilon: {n}/20003",
        f"mechanism: laplace, {BOTH}, scale: {n}/70",
        f"mechanism: gaussian, {BOTH}, sigma: {n}/70",
        f"notion: zcdp, rho: {n}/1000003",
        f"mechanism: geometric, {BOTH}, scale: {n}/70",
        f"notion: approx, epsilon: {n}/100003, delta: 1e-{9 + i % 5}",
        f"mechanism: discrete-gaussian, {BOTH}, sigma: {n}/70",
        f"mechanism: exponential, {BOTH}, epsilon: {n}/100003",
    )[i % 8]


KINDS: dict[str, tuple[float, Callable[[int], str]]] = {
    "laplace": (EXACT, lambda i: f"mechanism: laplace, {BOTH}, scale: {10 + i}/7"),
    "geometric": (EXACT, lambda i: f"mechanism: geometric, {BOTH}, scale: {1000 + i}/70"),
    "discrete gaussian": (
        EXACT,
        lambda i: f"mechanism: discrete-gaussian, {BOTH}, sigma: {1000 + i}/70",
    ),
    "gaussian": (EXACT, lambda i: f"mechanism: gaussian, {BOTH}, sigma: {100 + i}/7"),
    "laplace and gaussian": (
        EXACT,
        lambda i: (
            f"mechanism: laplace, {BOTH}, scale: {10 + i}/7"
            if i % 3
            else f"mechanism: gaussian, {BOTH}, sigma: {100 + i}/7"
        ),
    ),
    "pure": (EXACT, lambda i: f"notion: pure, epsilon: {100 + i}/1003"),
    "pure, some often": (
        EXACT,
        lambda i: f"notion: pure, epsilon: {100 + i // 2}/1003, count: {1 + i % 3}",
    ),
    "pure of all sizes": (EXACT, lambda i: f"notion: pure, epsilon: {1 + i * i}/1003"),
    "one that is large": (
        EXACT,
        lambda i: f"notion: pure, epsilon: {100 + i if i else 5000}/1003",
    ),
    "pure on no common grid": (ON_GRIDS, lambda i: f"notion: pure, epsilon: 1/{10 + i * i}"),
    "pure and gaussian": (
        EXACT,
        lambda i: (
            f"notion: pure, epsilon: {100 + i}/1003"
            if i % 4
            else f"mechanism: gaussian, {BOTH}, sigma: {100 + i}/7"
        ),
    ),
    "approx": (
        EXACT,
        lambda i: f"notion: approx, epsilon: {100 + i}/1003, delta: 1/{10**9 + 7 * i}",
    ),
    "exponential": (
        ON_GRIDS,
        lambda i: f"mechanism: exponential, {BOTH}, epsilon: {1000 + i}/10003",
    ),
    "mixed": (ON_GRIDS, mixed),
}


def checked(text: str, most: float, names: list[str]) -> None:
    """What halving some mechanisms saves, against their changed specs, analysed by themselves."""
    source = load(text, "spec")
    found = savings_of(source, DELTA, 100)
    saves = {each.mechanism: each.saves for each in found.savings}
    for name in names:
        halves = [
            Put(each.path, f"({each.text}) {'*' if each.noise else '/'} 2")
            for each in parameters(source)[name]
        ]
        changed = what_if(source, halves)
        [direct] = certify(changed, (), [DELTA]).at_delta
        saved = saves[name]
        assert direct.value is not None and saved is not None
        now = found.total - saved
        assert abs(float((now - direct.value) / direct.value)) < most, name
        if direct.lower is not None:
            assert now >= direct.lower


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_mechanism_saves_what_its_changed_spec_does(kind: str) -> None:
    most, each = KINDS[kind]
    rows = [f"  - {{name: m{i}, reads: r, {each(i)}}}\n" for i in range(36)]
    head = "dpcompose: 1\nprotect: unbounded\ndatasets: {r: {}}\nmechanisms:\n"
    checked(head + "".join(rows), most, ["m0", "m3", "m14", "m35"])


def test_answers_for_every_row_save_what_they_should() -> None:
    rows = [
        f"  - {{name: m{i}, reads: r, mechanism: randomized-response, epsilon: {50 + i}/499, "
        f"k: {2 + i % 3}}}\n"
        for i in range(14)
    ]
    head = "dpcompose: 1\nprotect: bounded\ndatasets: {r: {}}\nmechanisms:\n"
    checked(head + "".join(rows), EXACT, ["m0", "m5", "m13"])


def test_what_is_sampled_saves_what_it_should() -> None:
    datasets = "  r: {}\n" + "".join(
        f"  s{i}: {{from: r, map: {{kind: sample, poisson: {i + 1}/140}}}}\n" for i in range(8)
    )
    rows = [
        f"  - {{name: m{i}, reads: s{i}, count: {10 + i}, mechanism: gaussian, {BOTH}, "
        f"sigma: {10 + i}/9}}\n"
        for i in range(8)
    ]
    text = f"dpcompose: 1\nprotect: unbounded\ndatasets:\n{datasets}mechanisms:\n{''.join(rows)}"
    checked(text, EXACT, ["m0", "m2", "m7"])
