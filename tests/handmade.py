"""Reports made by hand: what the renderers are tested on, whatever the engine says."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.guarantee import Notion
from dpcompose.errors import Diagnostic, Span
from dpcompose.report import (
    Alternative,
    Assumption,
    Bound,
    Limit,
    Line,
    Report,
    Share,
    Touch,
    Verdict,
    WorstChange,
)


def span(line: int, column: int = 5, width: int = 10) -> Span:
    return Span(line, column, line, column + width)


def pure(value: str) -> Bound:
    return Bound(Notion.PURE, Fraction(value))


def limit(**parameters: str) -> Limit:
    return Limit(tuple((name, Fraction(value)) for name, value in parameters.items()))


RIDES = Report(
    file="specs/rides.yaml",
    title="Ambulance availability by district",
    status="ok",
    relation="bounded",
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
    alternatives=(
        Alternative("V.3", pure("11/5"), "it adds up all mechanisms, though one change cannot"),
        Alternative(
            "V.4", None, "a replaced row changes two blocks: `district` is not compatible (line 9)"
        ),
    ),
    assumptions=(
        Assumption("The noise of each mechanism is fresh and independent.", None),
        Assumption("The blocks of `district` are disjoint sets of row values.", span(9)),
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
        Share("count south", pure("7/10"), span(14)),
        Share("count east", pure("1"), span(15)),
    ),
    verdict=Verdict(limit(epsilon="2"), True, Fraction(3, 10)),
    lines=tuple(f"  - {{name: mechanism of line {number}}}" for number in range(1, 20)),
)

TRAP = Report(
    file="trap.yaml",
    title="",
    status="no-guarantee",
    relation="bounded",
    distance=3,
    reasons=(
        "`n` guarantees something only for replaced rows of `district.north`, but a replaced row "
        "of `people` can add a row to that block or take one away (VII.2). Either state the "
        "guarantee on the whole table (`stated_on: people`), or give the unbounded guarantee.",
    ),
    assumptions=(Assumption("The noise of each mechanism is fresh and independent.", None),),
    alternatives=(Alternative("V.4", None, "replaced rows can change two blocks"),),
    verdict=Verdict(limit(epsilon="1", delta="1e-6"), False, None, "there is no finite bound"),
)

HOSTILE = Report(
    file="we\x1b[31mird \udc80.yaml",
    title="[red]not markup[/red] \x07 \u202e ε \ud800",
    status="ok",
    relation="unbounded",
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
    relation="bounded",
        keeps=("user_id",),
    bound=Bound(Notion.ZCDP, Fraction(293764, 114921)),
    theorem="VI.13",
    verdict=Verdict(limit(rho="5/2"), False, Fraction(5, 2) - Fraction(293764, 114921)),
)

GAUSS = Report(
    file="gauss.yaml",
    title="Two queries",
    status="ok",
    relation="unbounded",
    bound=Bound(Notion.GDP, Fraction(7071067812, 10**10), exact=False),
    theorem="VI.23",
    shares=(
        Share("a", Bound(Notion.GDP, Fraction(1, 2)), span(5)),
        Share("b", Bound(Notion.GDP, Fraction(1, 2)), None),
    ),
    assumptions=(Assumption("The noise of each mechanism is fresh and independent.", None),),
    verdict=Verdict(limit(epsilon="4", delta="1e-6"), True, Fraction(13, 21)),
)

PURE_AGAINST_RHO = Report(
    file="mixed.yaml",
    title="",
    status="ok",
    relation="unbounded",
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
