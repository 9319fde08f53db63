"""The theorem book, and the theorems that the example specs name."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
import yaml
from conftest import LIBRARY
from hypothesis import given
from hypothesis import strategies as st

import dpcompose.core.theorems
from core.theorems.for_readers import BOUNDS
from dpcompose.core.theorem import Theorem
from dpcompose.core.theorems import (
    composition,
    conversion,
    filtering,
    one_mechanism,
    sampling,
    two_hypotheses,
)
from dpcompose.core.theorems.book import BOOK
from dpcompose.core.theorems.composition import (
    largest,
    largest_pair,
    total,
    total_pairs,
    two_largest,
)
from dpcompose.core.theorems.one_mechanism import approximate_group
from dpcompose.curves.rounding.exact import decimal_up
from dpcompose.handbook import whole_book

ROOT = Path(__file__).parents[3]
SPECS = [*LIBRARY.values()]
PAPER = """
    II.5 II.6 II.7 II.8 II.9 III.3 III.4 III.6 III.8 A.3
    IV.1 IV.3 IV.6 IV.10 IV.11 IV.12 IV.13 IV.15 V.2 V.3 V.4 V.5 V.6
    VI.3 VI.4 VI.5 VI.6 VI.7 A.13 VI.12 VI.13 VI.14 VI.15 VI.16 A.15
    VI.20 VI.21 VI.22 VI.23 VI.24 VI.25 VI.26 A.17 A.18 VII.1 VII.2 VII.3
"""
BEYOND = """
    exponential-zcdp exponential-gdp geometric-zcdp geometric-gdp laplace-zcdp laplace-gdp
    correlated-noise unknown-keys noisy-max private-selection randomized-response-zcdp
    randomized-response-gdp shuffled-reports skellam-zcdp
    sparse-vector
    gaussian-curve zcdp-at-delta renyi-at-delta trade-off total-variation success-from-baseline
    dominating-pairs optimal-composition profile-on-disjoint
    concurrent-pure concurrent-approx concurrent-zcdp concurrent concurrent-filter
    pure-to-zcdp pure-to-gdp gdp-to-zcdp bounded-range
    pure-filter approx-filter zcdp-filter zcdp-filter-aside gdp-filter
    joint-l1 kept-columns poisson-sample poisson-sample-added poisson-sample-replaced
    sample-without-replacement truncated-poisson-sample sample-with-replacement
    random-allocation random-limit
    HBW.1 HBW.mixture HBW.3 HBW.6 HBW.7 HBW.coupling HBW.A3 HBW.likelihoods
"""
SOURCES = {"GMPS24", "dpcompose", "KOV15", "BW18", "BBG18", "CKS20", "CR21", "ZDW22", "HBW22"} | {
    "DRS22",
    "KGK25",
}
SOURCES |= {"GKMS23", "RRUV16", "FZ21", "WRRW23", "ST22"} | {
    "VW21",
    "L22",
    "VZ23",
    "HST23",
}

entries = pytest.mark.parametrize("entry", whole_book().values(), ids=whole_book())
specs = pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)

losses = st.lists(st.fractions(min_value=0, max_value=10, max_denominator=1000), max_size=8)
deltas = st.fractions(min_value=0, max_value=1, max_denominator=1000)


# --- entries -------------------------------------------------------------------------------------


def test_every_theorem_is_there_in_the_order_of_the_paper() -> None:
    assert dpcompose.core.theorems.__doc__
    assert list(whole_book()) == PAPER.split() + BEYOND.split()


#: The files of entries, each with some of them.
FILES = {
    composition: "IV.13 VI.5 A.18 optimal-composition",
    conversion: "VII.1 pure-to-zcdp renyi-at-delta",
    filtering: "zcdp-filter concurrent",
    one_mechanism: "III.3 III.6 A.3 IV.15 joint-l1",
    sampling: "poisson-sample random-limit",
    two_hypotheses: "HBW.1 HBW.likelihoods",
}


def test_entries_are_in_the_file_of_their_subject() -> None:
    for file, ids in FILES.items():
        assert all(f'    "{each}",\n' in inspect.getsource(file) for each in ids.split())


def test_whatever_the_code_has_of_a_theorem_readers_are_told_of_it() -> None:
    for identifier, entry in BOOK.items():
        told = whole_book()[identifier]
        assert told.statement and told.bound is entry.bound and told.uses == entry.uses
        said = {each.name: each for each in told.hypotheses}
        for each in entry.hypotheses:
            assert said[each.name] == each._replace(says=each.says or said[each.name].says)


def rounded(found: Any, digits: int) -> Any:
    if isinstance(found, tuple):
        return tuple(rounded(each, digits) for each in found)
    return Fraction(decimal_up(found, digits))


@entries
def test_worked_example(entry: Theorem) -> None:
    assert entry.example is not None
    bound = entry.bound or BOUNDS[entry.id]
    found = bound(*entry.example.arguments)
    if entry.example.digits is not None:
        found = rounded(found, entry.example.digits)
    assert found == entry.example.result
    assert entry.example.says.endswith(".")


@entries
def test_wording(entry: Theorem) -> None:
    paper = entry.source == "GMPS24"
    assert entry.source in SOURCES and entry.place
    assert not paper or entry.place.endswith(f" {entry.id}")
    assert entry.title and "\n" not in entry.formula
    for text in (inspect.cleandoc(entry.statement), entry.departs or "."):
        assert text.rstrip().endswith(".")
        assert not re.search(r"[\\$]|\b(TODO|FIXME)\b", text)


@entries
def test_hypotheses_are_named(entry: Theorem) -> None:
    names = [each.name for each in entry.hypotheses]
    assert all(names) and len(set(names)) == len(names)
    for each in entry.hypotheses:
        assert each.says and not each.says.endswith(".")
        assert len(each.name) <= 30


def test_one_name_stands_for_one_hypothesis() -> None:
    # Names that mean the same under different notions or goals may be worded differently.
    reworded = {"one row replaced", "one row added or removed", "Gaussian DP", "pure DP"}
    said: dict[str, str] = {}
    for each in (each for entry in whole_book().values() for each in entry.hypotheses):
        if each.name not in reworded:
            assert said.setdefault(each.name, each.says) == each.says


@entries
def test_adaptive_theorems_fix_their_parameters(entry: Theorem) -> None:
    """Whatever composes needs fresh noise; parameters chosen from outputs are not covered."""
    names = {each.name for each in entry.hypotheses}
    if "fresh noise" in names:
        assert names & {"fixed in advance", "independent", "chosen first"}


@entries
def test_specialises_an_entry_of_the_book(entry: Theorem) -> None:
    seen: set[str] = set()
    above = list(entry.specialises)
    while above:
        each = above.pop()
        assert each != entry.id, "a theorem is a case of itself"
        if each not in seen:
            seen.add(each)
            above.extend(whole_book()[each].specialises)


@entries
def test_spec_exists(entry: Theorem) -> None:
    if entry.spec is not None:
        assert (ROOT / entry.spec).is_file()


@pytest.mark.parametrize("identifier", ["IV.13", "A.18", "VI.7"])
def test_printed_for_independent_mechanisms_but_adaptive(identifier: str) -> None:
    entry = whole_book()[identifier]
    assert "adaptively" in (entry.departs or "")
    assert "independent" not in {each.name for each in entry.hypotheses}


@pytest.mark.parametrize("identifier", ["A.13", "A.15"])
def test_compatibility_is_required_where_the_print_forgets_it(identifier: str) -> None:
    entry = whole_book()[identifier]
    assert "compatible partition" in {each.name for each in entry.hypotheses}
    assert "leaves out" in (entry.departs or "")


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.slow
@given(losses)
def test_disjoint_bounds_lie_between_the_largest_loss_and_the_sum(epsilons: list[Fraction]) -> None:
    assert largest(epsilons) <= two_largest(epsilons) <= total(epsilons)
    if len(epsilons) > 1:
        pairs = itertools.combinations(epsilons, 2)
        assert two_largest(epsilons) == max(first + second for first, second in pairs)


@pytest.mark.slow
@given(losses, st.data())
def test_pairs_agree_with_the_two_sums(epsilons: list[Fraction], data: st.DataObject) -> None:
    pairs = [(epsilon, data.draw(deltas)) for epsilon in epsilons]
    epsilon, delta = total_pairs(pairs)
    assert epsilon == total(epsilons)
    assert delta <= sum(each for _, each in pairs)
    assert delta <= 1 and (delta < 1 or any(each == 1 for _, each in pairs))
    assert largest_pair(pairs)[0] <= epsilon and largest_pair(pairs)[1] <= delta


def test_delta_that_reaches_one() -> None:
    pair = (Fraction(1), Fraction("0.6"))
    assert total_pairs([pair, pair]) == (Fraction(2), Fraction("0.84"))
    assert approximate_group((Fraction(1), Fraction("1e-5")), 12) is not None
    assert approximate_group((Fraction(1), Fraction("1e-5")), 13) is None


def test_approximate_group_privacy() -> None:
    found = approximate_group((Fraction(1, 2), Fraction("1e-6")), 3)
    assert found is not None
    exact = 1e-6 * (1 + math.exp(0.5) + math.e)
    assert float(found[1]) == pytest.approx(exact, rel=1e-12)


# --- conversions ---------------------------------------------------------------------------------

EPSILONS = ["1e-6", "0.1", "1", "3", "20"]


@pytest.mark.parametrize("text", EPSILONS)
def test_pure_to_zcdp_is_the_divergence_of_randomized_response(text: str) -> None:
    epsilon = Fraction(text)
    rho = float(BOUNDS["pure-to-zcdp"](epsilon))
    e = float(epsilon)
    assert rho == pytest.approx(e * math.tanh(e / 2), rel=1e-12)
    assert rho <= e * e / 2 * (1 + 1e-12)
    if e >= 0.1:
        for order in (1.001, 1.5, 2.0, 5.0, 50.0):
            half = (order - 0.5) * e
            log_cosh = half + math.log1p(math.exp(-2 * half))
            log_cosh -= e / 2 + math.log1p(math.exp(-e))
            assert log_cosh / (order - 1) <= rho * order * (1 + 1e-9)


@pytest.mark.parametrize("text", ["0.1", "1", "3"])
def test_pure_to_gdp_touches_the_corner_of_randomized_response(text: str) -> None:
    epsilon = Fraction(text)
    e = float(epsilon)
    mu = math.sqrt(float(BOUNDS["pure-to-gdp"](epsilon)))
    assert mu == pytest.approx(2 * NormalDist().inv_cdf(1 / (1 + math.exp(-e))), rel=1e-9)


def test_conversions_compose() -> None:
    """Going through μ is never better than going to ρ at once."""
    for text in EPSILONS:
        by_mu = BOUNDS["pure-to-gdp"](Fraction(text))
        assert isinstance(by_mu, Fraction)
        assert BOUNDS["pure-to-zcdp"](Fraction(text)) <= BOUNDS["gdp-to-zcdp"](by_mu)


# --- specs ---------------------------------------------------------------------------------------


@specs
def test_spec_names_theorems_of_the_book(path: Path) -> None:
    named = re.findall(r"\b(?:V?I{1,3}|IV|V|A)\.[0-9]+\b", path.read_text(encoding="utf-8"))
    examples = {"IV.2", "IV.5", "IV.7", "IV.14", "VI.8"}
    assert set(named) <= set(whole_book()) | examples


def _exact(text: str, names: dict[str, Fraction]) -> Fraction:
    """Products and quotients of numbers and names, in a way that shares nothing with the tool."""
    value, sign = Fraction(1), "*"
    for token in re.findall(r"[*/]|[^*/\s]+", text):
        if token in "*/":
            sign = token
        else:
            number = names[token] if token in names else Fraction(token)
            value = value * number if sign == "*" else value / number
    return value


def _stated(name: str, parameter: str) -> Sequence[tuple[str, Fraction]]:
    # The base loader keeps the text of every number.
    text = LIBRARY[name].read_text(encoding="utf-8")
    spec = yaml.load(text, Loader=yaml.BaseLoader)
    names: dict[str, Fraction] = {}
    for constant, written in spec.get("constants", {}).items():
        names[constant] = _exact(written, names)
    return [(each["name"], _exact(each[parameter], names)) for each in spec["mechanisms"]]


def test_census_shares_add_up_exactly() -> None:
    stated = _stated("census-2020-redistricting-persons", "rho")
    assert len(stated) == len({name for name, _ in stated}) == 65
    assert total(rho for _, rho in stated) == Fraction(542, 339) ** 2 == Fraction(293764, 114921)
    levels = {"US": 104, "State": 1440, "County": 447, "Tract": 687, "Block": 165}
    levels["Block group"] = 1256
    for level, parts in levels.items():
        mine = [
            rho
            for name, rho in stated
            if name.startswith(f"{level} ") and (level != "Block" or "group" not in name)
        ]
        assert len(mine) == (10 if level == "US" else 11)
        assert total(mine) == Fraction(293764, 114921) * Fraction(parts, 4099)


def test_other_census_budgets_add_up_exactly() -> None:
    assert total(e for _, e in _stated("census-2018-end-to-end", "epsilon")) == Fraction(1, 4)
    relation = _stated("census-dhca-change-of-relation", "rho")
    assert total(rho for _, rho in relation) == Fraction(618, 125)
