"""`total` where a later release may be decided on after seeing an earlier one."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import command
import pytest
from contracts import checked
from typer.testing import Result
from volume import seeds

from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import Total, TotalAsked, add_up
from dpcompose.resolve import resolve
from dpcompose.source import load

HEAD = "dpcompose: 1\npopulation: p\nprotect: unbounded\n"
PEOPLE = "datasets:\n  people: {}\n  part: {from: people, partition: {by: value, blocks: [a, b]}}\n"
HALF, ONE = (Budget((("epsilon", Fraction(n, 2)),)) for n in (1, 2))
APPROX = Budget((("epsilon", Fraction(2)), ("delta", Fraction("1e-6"))))


def spec(name: str, says: str, reads: str = "people", more: str = "") -> str:
    return f"{HEAD}{more}{PEOPLE}mechanisms: [{{name: {name}, reads: {reads}, {says}}}]\n"


def pure(epsilon: object, name: str = "a", **more: str) -> str:
    return spec(name, f"notion: pure, epsilon: {epsilon}", **more)


def total(*texts: str, limit: Budget | None = APPROX, **asked: object) -> Total:
    releases = [
        Release(f"{i}.yaml", resolve(load(text, f"{i}.yaml"))) for i, text in enumerate(texts)
    ]
    (found,) = add_up(releases, TotalAsked(limit, **asked)).totals  # type: ignore[arg-type]
    return found


def amounts(found: Total) -> tuple[Fraction, Fraction, Fraction]:
    """The limit, what is spent, and what is left, of the first parameter."""
    record = found.record
    assert record is not None and record.spent is not None, found.reasons
    return record.limit[0][1], record.spent[0][1], record.left[0][1]


def test_the_guarantee_of_a_ledger_is_its_budget() -> None:
    found = total(pure("0.3"), pure("0.2", "b", reads="part.*"))
    (bound,) = found.bounds
    assert (bound.value, bound.delta) == (Fraction(2), Fraction("1e-6"))
    assert found.theorem == "zcdp-filter" and found.verdict is not None and found.verdict.ok
    limit, spent, left = amounts(found)
    assert left == limit - spent > 0
    assert any("fixed before the first output" in each for each in found.assumed)


def test_without_a_budget_only_the_record_is_told() -> None:
    found = total(pure("0.3"), pure("0.2", "b"), limit=None)
    assert not found.finite and found.bounds == () and found.record is None
    assert found.realised is not None and found.realised.value == Fraction(1, 2)
    (why,) = found.reasons
    for said in ("no guarantee", "--epsilon", "total-budget", "--fixed REASON"):
        assert said in why


def test_planned_together_in_words_or_in_every_spec() -> None:
    planned = "adaptivity: adaptive\nbecause: all waves were planned in the protocol\n"
    for found in (
        total(pure("0.3"), pure("0.2", "b"), fixed="planned in the protocol"),
        total(pure("0.3", more=planned), pure("0.2", "b", more=planned)),
    ):
        assert found.record is None and found.bounds[0].value == Fraction(1, 2)
        assert found.planned is not None and "protocol" in found.planned
    one = total(pure("0.3", more=planned), pure("0.2", "b"))
    assert one.record is not None and one.planned is None


def test_what_specs_and_options_say_must_agree() -> None:
    along = "adaptivity: parameters\nfilter: zcdp\n"
    gaussian = "adaptivity: parameters\nfilter: gdp\n"
    assert "--fixed says" in str(total(pure(1, more=along), fixed="all was planned").refused)
    assert "one notion" in str(total(pure(1, more=along), pure(1, "b", more=gaussian)).refused)
    assert "one notion" in str(total(pure(1, more=along), filter=Notion.PURE).refused)
    assert total(pure(1), filter=Notion.PURE).record is not None


def gaussian(mu: object, name: str = "a", **more: str) -> str:
    return spec(name, f"notion: gdp, mu: {mu}", **more)


def test_the_filter_never_follows_from_what_is_in_the_record() -> None:
    """Else one could go on in μ or in ρ, whichever has more left after the first output."""
    first = gaussian("0.2")
    for second in (gaussian("0.4012530865", "b"), spec("b", "notion: zcdp, rho: 0.068")):
        found = total(first, second)
        assert found.record is not None and found.record.notion is Notion.ZCDP
    assert total(first, gaussian("0.4012530865", "b")).bounds == ()
    assert total(first, gaussian("0.4012530865", "b"), filter=Notion.GDP).bounds


def test_a_filter_that_comes_later_counts_nothing_again() -> None:
    named = "adaptivity: parameters\nfilter: gdp\n"
    later = total(gaussian("0.2"), gaussian("0.1", "b", more=named))
    assert "1.yaml gdp, 0.yaml zcdp, as it names none" in str(later.refused)
    assert total(gaussian("0.2", more=named), gaussian("0.1", "b", more=named)).bounds
    usual = named.replace("gdp", "zcdp")
    assert total(gaussian("0.2"), gaussian("0.1", "b", more=usual)).bounds


def test_the_budget_of_specs_of_a_ledger_is_that_of_the_ledger() -> None:
    own = "adaptivity: parameters\nbudget: {epsilon: 1}\n"
    found = total(pure("0.3", more=own), pure("0.2", "b", more=own), limit=None)
    assert amounts(found) == (Fraction(1), Fraction(1, 2), Fraction(1, 2))
    assert found.bounds[0].value == 1
    other = own.replace("epsilon: 1", "epsilon: 3")
    assert "total budget" in str(
        total(pure("0.3", more=own), pure("0.2", "b", more=other), limit=None).refused
    )
    adaptive = "budget: {epsilon: 1}\n"  # which is for that release by itself
    assert not total(pure("0.3", more=adaptive), limit=None).finite


def test_a_release_that_passes_the_budget_leaves_no_guarantee() -> None:
    found = total(pure("0.6"), pure("0.6", "b"), limit=Budget((("epsilon", Fraction(1)),)))
    assert not found.finite and "passes the budget" in found.reasons[0]
    assert found.verdict is not None and not found.verdict.ok
    assert amounts(found)[2] == 0


def test_blocks_of_several_releases_keep_their_worth() -> None:
    one = spec("a", "notion: pure, epsilon: {a: 0.3, b: 0.1}", reads="part.*")
    other = spec("b", "notion: pure, epsilon: {a: 0.1, b: 0.3}", reads="part.*")
    assert amounts(total(one, other, limit=Budget((("epsilon", Fraction(1)),))))[1] == Fraction(
        2, 5
    )


@pytest.mark.parametrize("seed", seeds(20, range(20), quick=7))
def test_a_filter_is_never_below_fixed_parameters_and_orders_do_not_matter(seed: int) -> None:
    choose = random.Random(seed)
    texts = [
        pure(f"{choose.randint(1, 60)}/100", f"m{i}", reads=choose.choice(["people", "part.*"]))
        for i in range(choose.randint(2, 5))
    ]
    limit = Budget((("epsilon", Fraction(50)), ("delta", Fraction("1e-6"))))
    found = total(*texts, limit=limit)
    assert found.record is not None and found.record.cost is not None
    fixed = total(*texts, limit=limit, fixed="planned before the first output")
    planned = next(at.value for at in fixed.at_delta if at.given == Fraction("1e-6"))
    assert planned is not None and planned <= found.record.cost[1]
    assert amounts(total(*reversed(texts), limit=limit)) == amounts(found)
    assert amounts(total(*texts[1:], limit=limit))[2] >= amounts(found)[2]


# --- what one more mechanism may have ------------------------------------------------------------

STATED = {"epsilon": "pure", "rho": "zcdp", "mu": "gdp"}
BUDGETS = [
    APPROX,
    Budget((("epsilon", Fraction(1)),)),
    Budget((("rho", Fraction(1, 10)),)),
    Budget((("mu", Fraction(1)),)),
]


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [None, "planned before the first output"])
@pytest.mark.parametrize("limit", BUDGETS, ids=lambda limit: limit.parameters[0][0])
def test_what_remains_fits_and_more_does_not(limit: Budget, fixed: str | None) -> None:
    says = (
        "notion: gdp, mu: 0.1" if limit.parameters[0][0] == "mu" else "notion: pure, epsilon: 0.2"
    )
    record = (spec("a", says, reads="part.*"), spec("b", says))
    wanted = {"epsilon": "approx" if limit is APPROX else "pure", "rho": "zcdp", "mu": "gdp"}
    named = Notion("zcdp" if limit is APPROX else wanted[limit.parameters[0][0]])
    asked = {"fixed": fixed, "filter": None if fixed else named}
    found = total(*record, limit=limit, rest=True, **asked)
    assert found.remaining is not None
    told = dict(found.remaining)
    assert set(told) == set(STATED)
    assert told[limit.parameters[0][0] if limit is not APPROX else "rho"]
    for name, value in told.items():
        if value is None:
            one = spec("c", f"notion: {STATED[name]}, {name}: 1/1000000")
            assert not _fits(*record, one, limit=limit, **asked)
            continue
        assert _fits(
            *record, spec("c", f"notion: {STATED[name]}, {name}: {value}"), limit=limit, **asked
        )
        more = value * (1 + Fraction(1, 10**6))
        assert not _fits(
            *record, spec("c", f"notion: {STATED[name]}, {name}: {more}"), limit=limit, **asked
        )


def _fits(*texts: str, limit: Budget, **asked: object) -> bool:
    found = total(*texts, limit=limit, **asked)
    return found.verdict is not None and found.verdict.ok


def test_what_remains_of_groups_counts_all_their_steps() -> None:
    texts = [
        pure("0.1").replace("protect: unbounded", "protect: {relation: unbounded, distance: 3}")
    ]
    found = total(*texts, limit=Budget((("epsilon", Fraction(1)),)), rest=True)
    assert found.remaining is not None
    value = dict(found.remaining)["epsilon"]
    assert value is not None and 0 <= Fraction(7, 30) - value < Fraction(1, 10**8)


def test_what_remains_is_the_least_that_any_filter_has_left() -> None:
    spec = resolve(load(pure("0.3"), "a.yaml"))
    for limits in ((HALF, ONE), (ONE, HALF)):
        (found,) = add_up([Release("a.yaml", spec, limits)], TotalAsked(rest=True)).totals
        value = dict(found.remaining or ())["epsilon"]
        assert value is not None and 0 <= Fraction(1, 5) - value < Fraction(1, 10**8)


def test_what_remains_is_a_short_number_where_one_fits() -> None:
    """0.3 beside 0.7 of 1, not 0.29999999977."""
    limit = Budget((("epsilon", Fraction(1)),))
    found = total(pure("0.7"), limit=limit, rest=True, fixed="planned before the first output")
    assert dict(found.remaining or ())["epsilon"] == Fraction(3, 10)


def test_nothing_remains_of_a_budget_that_is_passed() -> None:
    for fixed in (None, "planned before the first output"):
        limit = Budget((("epsilon", Fraction(1)),))
        found = total(pure(3), limit=limit, rest=True, fixed=fixed)
        assert dict(found.remaining or ())["epsilon"] == 0


# --- the command ---------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    return command.run("total", *arguments)


def test_the_ledger_beside_the_examples() -> None:
    folder = Path(__file__).parents[2] / "specs" / "ledger-2026"
    result = run(str(folder), "--format", "json", "--remaining")
    assert result.exit_code == 0
    (found,) = checked("total", result.stdout)["totals"]
    assert found["population"] == "riders-2026" and len(found["files"]) == 3
    spent = 0.3 * math.tanh(0.15) + 0.03 + 400 / 200**2 / 2
    assert found["filter"]["spent"]["rho"] == pytest.approx(spent)
    assert found["remaining"]["rho"] == found["filter"]["left"]["rho"] > 0
    for path in folder.glob("*.yaml"):  # each by itself has its own bound
        assert command.run("analyze", "-q", str(path)).exit_code == 0
