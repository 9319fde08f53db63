"""Reports made by hand: what the renderers are tested on, whatever the engine says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpcompose.core.change.neighbouring import BOUNDED, UNBOUNDED
from dpcompose.core.model.problem import Goal
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Diagnostic, Span
from dpcompose.report import (
    Alternative,
    Assumption,
    At,
    Bound,
    Line,
    Node,
    Report,
    Route,
    Share,
    Touch,
    Verdict,
    WorstChange,
)


def span(line: int, column: int = 5, width: int = 10) -> Span:
    return Span(line, column, line, column + width)


def pure(value: str) -> Bound:
    return Bound(Notion.PURE, Fraction(value))


def limit(**parameters: str) -> Budget:
    return Budget(tuple((name, Fraction(value)) for name, value in parameters.items()))


RIDES = Report(
    file="specs/rides.yaml",
    title="Ambulance availability by district",
    status="ok",
    goal=Goal(BOUNDED),
    protects="1 row replaced",
    bound=pure("17/10"),
    theorem="IV.13",
    worst=WorstChange(
        says=("One row moves from `district.south` to `district.east`.",),
        datasets=("ambulances", "district.south", "district.east"),
        touches=(
            Touch("count south", "district.south", 1, pure("7/10"), pure("7/10"), span(14)),
            Touch("count east", "district.east", 1, pure("1"), pure("1"), span(15)),
        ),
    ),
    chain=(
        Line(
            1,
            None,
            "`count south` is 7/10-DP for bounded neighbours of `ambulances`, as stated",
            (),
            pure("7/10"),
            (span(14),),
        ),
        Line(
            2,
            None,
            "`count east` is 1-DP for bounded neighbours of `ambulances`, as stated",
            (),
            pure("1"),
            (span(15),),
        ),
        Line(
            3,
            "IV.11",
            "A replaced row of `ambulances` changes at most two blocks of `district`, since the "
            "blocks are disjoint sets of row values",
            (),
            None,
            (span(9), span(10), span(11)),
        ),
        Line(
            4,
            "IV.13",
            "The two blocks that cost most are south and east",
            (1, 2, 3),
            pure("17/10"),
            (),
        ),
    ),
    tree=(
        Node(1, 0, "dataset", "ambulances", "1 row replaced", spans=(span(9),)),
        Node(2, 1, "partition", "district", "the row moves from block `south` to block `east`"),
        Node(
            3,
            2,
            "mechanism",
            "count south",
            "block south: 0.7-DP",
            pure("7/10"),
            "IV.10",
            (span(14),),
        ),
        Node(4, 2, "mechanism", "count east", "block east: 1-DP", pure("1"), "IV.10", (span(15),)),
        Node(5, 0, "sum", "", "ε add up: 1 + 0.7 = 1.7", pure("17/10"), "V.2"),
    ),
    alternatives=(
        Alternative("V.3", pure("11/5"), "it adds up all mechanisms, though one change cannot"),
        Alternative(
            "V.4", None, "a replaced row changes two blocks: `district` is not compatible (line 9)"
        ),
    ),
    assumptions=(
        Assumption("The noise of each mechanism is fresh and independent."),
        Assumption("The blocks of `district` are disjoint sets of row values.", span=span(9)),
    ),
    findings=(
        Diagnostic(
            "DPC204",
            "`count north` cannot influence the worst case",
            span(13, 5, 3),
            "up to 7/10 it could be more exact at no cost",
            "note",
        ),
    ),
    shares=(
        Share("count south", pure("7/10"), span(14), Fraction(7, 17)),
        Share("count east", pure("1"), span(15), Fraction(10, 17)),
    ),
    verdict=Verdict(limit(epsilon="2"), True, Fraction(3, 10)),
    lines=tuple(f"  - {{name: mechanism of line {number}}}" for number in range(1, 20)),
)

TRAP = Report(
    file="trap.yaml",
    title="",
    status="no-guarantee",
    goal=Goal(BOUNDED, 3),
    reasons=(
        "`n` guarantees something only for replaced rows of `district.north`, but a replaced row "
        "of `people` can add a row to that block or take one away (VII.2). Either state the "
        "guarantee on the whole table (`stated_on: people`), or give the unbounded guarantee.",
    ),
    assumptions=(Assumption("The noise of each mechanism is fresh and independent."),),
    alternatives=(Alternative("V.4", None, "replaced rows can change two blocks"),),
    verdict=Verdict(limit(epsilon="1", delta="1e-6"), False, None, "there is no finite bound"),
)

HOSTILE = Report(
    file="we\x1b[31mird \udc80.yaml",
    title="[red]not markup[/red] \x07 \u202e ε \ud800",
    status="ok",
    goal=Goal(UNBOUNDED),
    bound=Bound(Notion.APPROX, Fraction(6), Fraction(3, 50000)),
    theorem="VI.7",
    worst=WorstChange(
        says=("One row is added.",),
        datasets=("a\nb",),
        touches=(
            Touch(
                "[bold]x[/bold]\n" + "long " * 20,
                "病院.東京",
                3,
                Bound(Notion.APPROX, Fraction(2), Fraction(1, 50000)),
                Bound(Notion.APPROX, Fraction(6), Fraction(3, 50000)),
                span(2),
            ),
        ),
        omitted=4997,
    ),
    shares=(
        Share("[bold]x[/bold]", Bound(Notion.APPROX, Fraction(6), Fraction(3, 50000)), span(2)),
    ),
    verdict=Verdict(
        limit(epsilon="6", delta="1e-5"), False, Fraction(0), "δ is above the budget's δ"
    ),
)

CENSUS = Report(
    file="census.yaml",
    title="US Census 2020, redistricting data",
    status="ok",
    goal=Goal(BOUNDED._replace(keeps=frozenset({"user_id"}))),
    bound=Bound(Notion.ZCDP, Fraction(293764, 114921)),
    theorem="VI.13",
    verdict=Verdict(limit(rho="5/2"), False, Fraction(5, 2) - Fraction(293764, 114921)),
)

GAUSS = Report(
    file="gauss.yaml",
    title="Two queries",
    status="ok",
    goal=Goal(UNBOUNDED),
    bound=Bound(Notion.GDP, Fraction(7071067812, 10**10), exact=False),
    theorem="VI.23",
    shares=(
        Share("a", Bound(Notion.GDP, Fraction(1, 2)), span(5)),
        Share("b", Bound(Notion.GDP, Fraction(1, 2)), None),
    ),
    assumptions=(Assumption("The noise of each mechanism is fresh and independent."),),
    verdict=Verdict(limit(epsilon="4", delta="1e-6"), True, Fraction(13, 21)),
)

PURE_AGAINST_RHO = Report(
    file="mixed.yaml",
    title="",
    status="ok",
    goal=Goal(UNBOUNDED),
    bound=Bound(Notion.APPROX, Fraction(1), Fraction(1, 10**6)),
    theorem="V.2",
    verdict=Verdict(
        limit(rho="1"), False, None, "An (ε,δ) bound says nothing in ρ: give an ε and a δ."
    ),
)

INVALID = Report(
    file="bad.yaml",
    title="",
    status="invalid",
    findings=(
        Diagnostic("DPC004", "the file is empty", None, "write a spec"),
        Diagnostic("DPC101", "unknown key `epsilom`", span(2, 3, 7), "did you mean `epsilon`?"),
    ),
    lines=("dpcompose: 1", "  epsilom: 0.5"),
)

REPORTS: dict[str, Report] = {
    "rides": RIDES,
    "trap": TRAP,
    "hostile": HOSTILE,
    "census": CENSUS,
    "gauss": GAUSS,
    "mixed": PURE_AGAINST_RHO,
    "invalid": INVALID,
}

# --- numbers at a chosen δ or ε ------------------------------------------------------------------


def route(name: str, value: str | None, why: str = "") -> Route:
    return Route(name, None if value is None else Fraction(value), why)


AT_MILLIONTH = At(
    "delta",
    Fraction("1e-6"),
    Fraction("4.774567588110000001"),
    Fraction("4.774567588109999999"),
    "optimal composition",
    "the privacy losses of 100 guarantees are composed exactly, on the grid of their decimals",
    (
        route("zCDP", "4.9013", "converted at δ (Canonne, Kamath and Steinke 2020)"),
        route("closed-form KOV", "5.756", "Kairouz, Oh and Viswanath 2015, Theorem 3.4"),
        route("basic composition", "10"),
        route("Gaussian curve", None, "`query` is not Gaussian"),
    ),
    (),
    ("all of δ = 1e-6 is spent by the composition: no mechanism states a δ",),
)
AT_BILLIONTH = AT_MILLIONTH._replace(
    given=Fraction("1e-9"),
    value=Fraction("6.2"),
    lower=Fraction("6.1935"),
    others=(route("basic composition", "10"),),
    worst=("In `rides`: 1 row replaced", "the same 365 hospitals are hit twice"),
)
AT_ZERO = At("delta", Fraction(0), None, None, "", "Gaussian noise has no finite ε at δ = 0")
AT_ONE = At(
    "epsilon",
    Fraction(1),
    Fraction("3.14159265e-7"),
    None,
    "optimal composition",
    "the other way round",
    (route("zCDP", "1/1000"), route("basic composition", None, "1 is below the sum of all ε")),
)

#: No notion is common to the mechanisms of this one.
PROFILE = Report(
    file="mixed-notions.yaml",
    title="Laplace and Gaussian noise",
    status="ok",
    goal=Goal(UNBOUNDED),
    at_delta=(AT_MILLIONTH,),
    shares=(
        Share("sum", pure("1/2"), span(3)),
        Share("mean", Bound(Notion.GDP, Fraction(1, 2)), span(4)),
    ),
    assumptions=(Assumption("The noise of each mechanism is fresh and independent."),),
)

CHOSEN: dict[str, Report] = {
    "one": replace(RIDES, at_delta=(AT_MILLIONTH,)),
    "several": replace(
        RIDES,
        at_delta=(
            AT_MILLIONTH,
            AT_BILLIONTH,
            AT_BILLIONTH._replace(given=Fraction("1e-12"), value=Fraction(7), lower=None),
            AT_MILLIONTH._replace(given=Fraction(1, 3), value=Fraction(1, 3), lower=Fraction(0)),
            AT_ZERO,
        ),
        at_epsilon=(AT_ONE,),
        verdict=Verdict(
            limit(epsilon="5", delta="1e-9"), False, Fraction(5) - Fraction("6.2"), at=AT_BILLIONTH
        ),
    ),
    "profile": replace(
        PROFILE,
        verdict=Verdict(
            limit(epsilon="5", delta="1e-6"),
            True,
            Fraction(5) - Fraction("4.774567588110000001"),
            at=AT_MILLIONTH,
        ),
    ),
    "profile-uncompared": replace(
        PROFILE,
        verdict=Verdict(
            limit(epsilon="5"), False, None, "a budget with epsilon and delta would be comparable"
        ),
    ),
    "profile-nowhere": replace(
        PROFILE,
        at_delta=(AT_ZERO,),
        verdict=Verdict(limit(epsilon="5", delta="0"), False, None, AT_ZERO.says, at=AT_ZERO),
    ),
}
