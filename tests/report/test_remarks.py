"""What reports say beside the number: findings, assumptions, reasons, and words for guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.pipeline import analyze
from dpcompose.report import At
from dpcompose.report.assumptions import assumptions
from dpcompose.report.certify import CertifiedRelease
from dpcompose.report.findings import FINDING_CODES, findings
from dpcompose.report.findings.reasons import missing_notion, reasons, why_none
from dpcompose.report.wording import guarantee
from dpcompose.resolve import resolve
from dpcompose.source import load

F = Fraction


def _why(
    solver: Solver, solutions: Sequence[Solution], tried: Sequence[At] = (), asked: bool = False
) -> list[str]:
    return why_none(CertifiedRelease(solver, tuple(solutions), tuple(tried), (), asked))


def spec(protect: str, datasets: str, *mechanisms: str, more: str = "") -> str:
    rows = "".join(f"  - {{{each}}}\n" for each in mechanisms)
    return f"dpcompose: 1\nprotect: {protect}\n{more}datasets:\n{datasets}mechanisms:\n{rows}"


def problem_of(text: str) -> Problem:
    return resolve(load(text, "s.yaml")).problem


def solved(text: str) -> tuple[Problem, Solver, list[Solution]]:
    problem = problem_of(text)
    solver = Solver(problem)
    return problem, solver, [solver.solve(notion) for notion in notions(problem)]


def assumed(text: str) -> list[str]:
    problem = problem_of(text)
    facts = assumptions(problem, Solver(problem).tops)
    return [fact.says for fact in facts if fact.path is not None]


def found(text: str, code: str) -> list[str]:
    problem, solver, solutions = solved(text)
    finite = next((each for each in solutions if each.finite), None)
    remarks = findings(problem, solver.tops, finite)
    assert all(each.code in FINDING_CODES for each in remarks)
    return [each.message for each in remarks if each.code == code]


POISSON = "  people: {}\n  batch: {from: people, map: {kind: sample, poisson: 0.1}}\n"
SHARED = POISSON.replace("0.1}", "0.1, draws: one}")
FIXED = (
    "  people: {domain: fixed-size-table, size: 100}\n"
    "  few: {from: people, map: {kind: sample, size: 10, of: 100}}\n"
)
PURE = "notion: pure, epsilon: 1"


# --- assumptions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("datasets", "mechanisms", "says"),
    [
        (
            POISSON,
            [f"name: a, reads: batch, {PURE}"],
            "the sample `batch` is drawn at random, each row by itself with chance 0.1, and stays "
            "secret",
        ),
        (
            POISSON,
            [f"name: a, reads: batch, {PURE}, count: 14062"],
            "the sample `batch` is drawn at random, each row by itself with chance 0.1, afresh for "
            "each of the 14062 copies of `a`, and stays secret",
        ),
        (
            POISSON,
            [f"name: a, reads: batch, {PURE}, count: 3", f"name: b, reads: batch, {PURE}"],
            "the sample `batch` is drawn at random, each row by itself with chance 0.1, 3 times: "
            "copy i of each mechanism reads the i-th draw, and stays secret",
        ),
        (
            SHARED,
            [f"name: a, reads: batch, {PURE}, count: 3"],
            "the sample `batch` is drawn at random, each row by itself with chance 0.1, once for "
            "all copies of what reads it, and stays secret",
        ),
        (
            FIXED,
            [f"name: a, reads: few, {PURE}"],
            "the sample `few` is drawn at random, 10 rows of at least 100 without replacement, "
            "and stays secret",
        ),
    ],
)
def test_a_sample_is_assumed_to_be_drawn_and_secret(
    datasets: str, mechanisms: list[str], says: str
) -> None:
    protect = "bounded" if datasets is FIXED else "unbounded"
    facts = assumed(spec(protect, datasets, *mechanisms))
    assert [each for each in facts if "sample" in each] == [says]


def test_several_draws_of_a_sample_do_not_repeat_what_is_below() -> None:
    datasets = (
        f"{POISSON}  adults: {{from: batch, map: filter}}\n"
        "  region: {from: adults, partition: {by: value, blocks: [north, south]}}\n"
    )
    text = spec(
        "unbounded",
        datasets,
        f"name: a, reads: region.north, {PURE}, count: 2",
        f"name: b, reads: region.*, {PURE}, count: 5",
        f"name: c, reads: adults, {PURE}, count: 9",
    )
    facts = assumed(text)
    assert len(facts) == len(set(facts)) == 3
    assert facts[1] == "the filter `adults` looks at each row by itself"
    # The fifth draw and later ones have no reader of the blocks, which is no finding.
    assert found(text, "DPC203") == []


def test_what_is_trusted_of_concrete_mechanisms_and_curves() -> None:
    table = "  people: {domain: fixed-size-table}\n"
    text = spec(
        "bounded",
        table,
        "name: a, reads: people, mechanism: laplace, scale: 2, sensitivity: {bounded: 1}",
        "name: b, reads: people, mechanism: discrete-gaussian, sigma: 2, sensitivity: {bounded: 1}",
        "name: c, reads: people, mechanism: exponential, epsilon: 1, sensitivity: {bounded: 1}",
        "name: d, reads: people, mechanism: randomized-response, epsilon: 1",
        "name: e, reads: people, notion: rdp, points: [[2, 0.1], [8, 0.5]]",
        "name: f, reads: people, notion: profile, points: [[0, 0.1], [1, 0.01]]",
        f"name: g, reads: people, {PURE}",
    )
    assert assumed(text) == [
        "the noise of `a` and `b` is drawn from exactly the law stated: no floating-point leaks",
        "the sensitivities of `a`, in L1, hold for every two bounded neighbours (one row replaced)",
        "the sensitivities of `b`, in L2, hold for every two bounded neighbours (one row replaced)",
        "`c`: outcomes are chosen with exactly the weights of the exponential mechanism",
        "the sensitivities of `c` hold for every two bounded neighbours (one row replaced)",
        "`d`: each row is answered by itself, with exactly the odds stated",
        "the points stated for `e` and `f` hold for every two neighbours, in both orders",
    ]
    report = analyze(text, deltas=[F("1e-6")])
    noisy = next(each for each in report.assumptions if each.says.startswith("the noise"))
    assert noisy.span is not None and noisy.span.line == 6


@pytest.mark.parametrize(
    ("name", "told"),
    [("tuned model", 1), ("grid_search", 1), ("Best-run", 0), ("best run", 1), ("best sellers", 0)],
)
def test_what_is_called_tuned_is_told(name: str, told: int) -> None:
    text = spec("unbounded", POISSON, f"name: {name}, reads: people, {PURE}")
    assert len(found(text, "DPC216")) == told
    assert not found(text.replace(PURE, f"{PURE}, count: 3"), "DPC216")
    run = f"mechanism: select, of: {{{PURE}}}, runs: {{geometric: 3}}"
    assert not found(text.replace(PURE, run), "DPC216")


# --- findings ------------------------------------------------------------------------------------


def test_copies_that_read_fresh_samples_are_told() -> None:
    text = spec(
        "unbounded",
        f"{POISSON}  adults: {{from: batch, map: filter}}\n",
        f"name: a, reads: adults, {PURE}, count: 14062",
        f"name: b, reads: batch, {PURE}",
        f"name: c, reads: people, {PURE}, count: 7",
    )
    says = "each of the 14062 copies of `a` reads its own fresh sample `batch`"
    assert found(text, "DPC206") == [says]
    assert found(text.replace("0.1}", "0.1, draws: one}"), "DPC206") == []
    both = text.replace("count: 7", "count: 7}\n  - {name: d, reads: batch, " + PURE + ", count: 2")
    assert found(both, "DPC206") == ["copy i of `d` and `a` reads the i-th fresh sample `batch`"]
    report = analyze(text)
    told = next(each for each in report.findings if each.code == "DPC206")
    assert told.level == "note" and "draws: one" in (told.hint or "")


def test_a_sample_that_looks_like_training_is_told_of_loaders() -> None:
    """One note a sample, in place of the one on fresh samples."""
    steps = "mechanism: gaussian, sigma: 1, sensitivity: 1, count: 100"
    text = spec(
        "unbounded", POISSON, f"name: a, reads: batch, {steps}", f"name: b, reads: batch, {steps}"
    )
    [says] = found(text, "DPC217")
    assert says.startswith("each of the 100 steps of `a` draws `batch` anew by Poisson sampling")
    assert not found(text, "DPC206")
    told = next(each for each in analyze(text).findings if each.code == "DPC217")
    assert told.level == "note" and "map: {kind: batches, epochs: …}" in (told.hint or "")
    assert not found(text.replace("count: 100", "count: 99"), "DPC217")
    assert not found(text.replace("0.1}", "0.1, draws: one}"), "DPC217")
    assert not found(text.replace("0.1}", "0.1, cycle: 4}"), "DPC217")
    assert not found(text.replace("poisson: 0.1", "poisson: 1"), "DPC217")
    laplace = text.replace("gaussian, sigma", "laplace, scale")
    assert not found(laplace, "DPC217") and found(laplace, "DPC206")


def test_a_sample_that_amplifies_nothing_is_told() -> None:
    """Stated for replaced rows alone, below a Poisson sample."""
    bounded = spec("bounded", POISSON, f"name: a, reads: batch, {PURE}, relation: bounded")
    says = found(bounded, "DPC207")
    assert len(says) == 1 and "`a` is stated for replaced rows alone" in says[0]
    report = analyze(bounded)
    assert report.bound is not None and report.bound.value == 1
    either = spec("bounded", POISSON, f"name: a, reads: batch, {PURE}, relation: unbounded")
    assert found(either, "DPC207") == []
    fixed = spec("bounded", FIXED, f"name: a, reads: few, {PURE}")
    assert found(fixed, "DPC207") == []
    report = analyze(fixed)
    assert report.bound is not None and report.bound.value < F("0.16")


def test_a_sample_hides_no_unit_of_many_rows() -> None:
    user = POISSON.replace("people: {}", "people: {unit: id}")
    grouped = user.replace(
        "batch: {from: people",
        "own: {from: people, map: {kind: group, by: id}}\n  batch: {from: own",
    )
    whole = "notion: pure, epsilon: 1, relation: user"
    text = spec("user", user, f"name: a, reads: batch, {whole}")
    assert len(found(text, "DPC207")) == 1
    text = spec("user", grouped, f"name: a, reads: batch, {PURE}, relation: unbounded")
    assert found(text, "DPC207") == []


def test_a_statement_above_a_sample_saves_from_the_filter() -> None:
    datasets = (
        "  people: {}\n  adults: {from: people, map: filter}\n"
        "  batch: {from: adults, map: {kind: sample, poisson: 0.1}}\n"
    )
    rows = [f"name: a, reads: batch, {PURE}, relation: bounded, stated_on: people"]
    assert found(spec("bounded", datasets, *rows), "DPC201") == []
    below = spec("bounded", datasets, f"name: a, reads: batch, {PURE}, relation: bounded")
    assert len(found(below, "DPC201")) == 1


def test_the_points_of_one_profile_are_not_looser_than_each_other() -> None:
    text = spec(
        "unbounded",
        "  people: {}\n  adults: {from: people, map: filter}\n",
        "name: a, reads: adults, notion: profile, points: [[0, 0.1], [1, 0.01], [2, 0.001]], "
        "stated_on: people",
    )
    assert found(text, "DPC205") == []


# --- reasons -------------------------------------------------------------------------------------


def test_a_rho_is_not_amplified_without_a_delta() -> None:
    text = spec(
        "unbounded",
        POISSON,
        "name: a, reads: batch, notion: zcdp, rho: 0.1",
        "name: b, reads: batch, mechanism: gaussian, sigma: 2, sensitivity: 1",
    )
    report = analyze(text)
    assert report.status == "no-guarantee" and len(report.reasons) == 1
    assert "`a` and `b` read the sample `batch`" in report.reasons[0]
    assert "--delta" in report.reasons[0]
    _, _, solutions = solved(text)
    assert list(reasons(solutions[0], asked=True)) == []


def test_statements_above_a_shared_sample_are_not_used() -> None:
    text = spec(
        "unbounded",
        POISSON,
        f"name: a, reads: batch, {PURE}, stated_on: people",
        f"name: b, reads: batch, {PURE}, stated_on: people",
    )
    report = analyze(text)
    assert report.status == "no-guarantee"
    assert any("the sample `batch` lies between" in each for each in report.reasons)
    assert all("stated_on: batch" in each for each in report.reasons)


@pytest.mark.parametrize("kind", ["value, blocks: 3", "membership, blocks: 3, max_blocks: 2"])
def test_what_is_missing_on_a_block_is_told_where_no_notion_is_common(kind: str) -> None:
    report = analyze(
        spec(
            "bounded",
            f"  r: {{}}\n  p: {{from: r, partition: {{by: {kind}}}}}\n",
            "name: a, reads: p.0, mechanism: laplace, sensitivity: {unbounded: 1, bounded: 2}, "
            "scale: 3",
            "name: b, reads: p.1, notion: zcdp, rho: 0.1",
            "name: c, reads: p.2, notion: approx, epsilon: 0.1, delta: 1e-9",
            more="report: {delta: 1e-6}\n",
        )
    )
    assert report.status == "no-guarantee"
    assert len(report.reasons) == 1 and " Way out: state the guarantee" in report.reasons[0]
    assert "`b` reads `p.1`, " in report.reasons[0]
    assert "the worst change is: 1 row added or removed" in report.reasons[0]
    alone = analyze(spec("unbounded", POISSON, f"name: a, reads: batch, {PURE}, stated_on: people"))
    assert alone.bound is not None and alone.bound.value == 1


def test_a_sample_of_fixed_size_covers_replaced_rows_alone() -> None:
    text = spec("free-lunch", FIXED, f"name: a, reads: few, {PURE}, relation: free-lunch")
    _, solver, solutions = solved(text)
    assert not solutions[0].finite
    why = _why(solver, solutions)
    assert len(why) == 1 and why[0].startswith("The sample `few` has a fixed size")
    assert " Way out: protect `bounded` neighbours, or draw each row by chance" in why[0]
    assert _why(solver, solutions, (), asked=True) == why


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ("notion: rdp, points: [[2, 0.1]]", "`a` is stated as rdp, which is a number only at"),
        ("notion: profile, points: [[1, 0.1], [2, 0]]", None),
    ],
)
def test_a_curve_needs_a_delta(stated: str, says: str | None) -> None:
    report = analyze(spec("unbounded", "  people: {}\n", f"name: a, reads: people, {stated}"))
    assert (report.status == "no-guarantee") == (says is not None)
    assert all(each.startswith(says or "") and "--delta" in each for each in report.reasons)


def test_mechanisms_without_a_common_notion_need_a_delta() -> None:
    rows = ["notion: approx, epsilon: 1, delta: 1e-6", "notion: zcdp, rho: 1"]
    named = [f"name: {name}, reads: people, {row}" for name, row in zip("ab", rows, strict=True)]
    text = spec("unbounded", "  people: {}\n", *named)
    report = analyze(text)
    assert report.status == "no-guarantee"
    assert report.reasons == (missing_notion(problem_of(text)),)
    assert "`report: {delta: 1e-6}`" in report.reasons[0]
    assert "not supported" not in report.reasons[0]


def test_why_a_mix_has_no_number_at_any_delta() -> None:
    """One mechanism of a mix is stated for other neighbours: a δ does not help."""
    text = spec(
        "unbounded",
        "  people: {}\n",
        "name: a, reads: people, notion: approx, epsilon: 1, delta: 1e-6",
        "name: b, reads: people, notion: zcdp, rho: 1, relation: bounded",
    )
    _, solver, solutions = solved(text)
    assert not solutions
    why = _why(solver, solutions, (), asked=True)
    assert len(why) == 1 and "`b` reads `people`" in why[0]
    assert " Way out: give its unbounded guarantee" in why[0]
    assert len(_why(solver, solutions)) == 2


def test_why_a_delta_is_too_small() -> None:
    text = spec(
        "unbounded",
        "  people: {}\n",
        "name: a, reads: people, notion: approx, epsilon: 1, delta: 1e-6",
        "name: b, reads: people, notion: zcdp, rho: 1",
    )
    _, solver, solutions = solved(text)
    tried = [At("delta", F(given), None, None, "", "") for given in ("1e-9", "0")]
    small, none = _why(solver, solutions, tried, asked=True)
    assert "At δ = 1e-9 no ε is finite" in small and "choose a larger δ" in small
    assert "At δ = 0 no ε is finite" in none and "above 0" in none


def test_mechanisms_without_a_bound_for_the_same_reason_stand_in_one_sentence() -> None:
    text = spec(
        "bounded",
        "  people: {}\n  adults: {from: people, map: filter}\n  old: {from: people, map: filter}\n",
        "name: a, reads: adults, notion: pure, epsilon: 1, relation: bounded",
        "name: b, reads: adults, notion: pure, epsilon: 2, relation: bounded",
        "name: c, reads: old, notion: pure, epsilon: 1, relation: bounded",
        "name: d, reads: people, notion: pure, epsilon: 1",
    )
    (why,) = analyze(text).reasons
    assert " Way out: state the guarantee on the whole table (`stated_on: people`)" in why
    assert (
        "`a` and `b` read `adults`, `c` reads `old`, where" in why
        and "their guarantees are for" in why
    )
    assert "`d`" not in why


# --- what a bound is put down to -----------------------------------------------------------------

BLOCKS = "abcdefghijklmn"
SPLIT = (
    "  people: {}\n"
    f"  part: {{from: people, partition: {{by: value, blocks: [{', '.join(BLOCKS)}]}}}}\n"
)


@pytest.mark.parametrize("more", ["", "delta: 1e-6, "])
def test_several_units_alike_count_as_often_as_they_are(more: str) -> None:
    """Too many blocks to try all ways: the bound is a path, and each share counts its steps."""
    notion = "approx" if more else "pure"
    rows = [
        f"name: m{block}, reads: part.{block}, notion: {notion}, epsilon: 0.{50 + i}, {more}"
        "relation: bounded, stated_on: people"
        for i, block in enumerate(BLOCKS)
    ]
    report = analyze(spec("{relation: bounded, distance: 3}", SPLIT, *rows))
    assert report.bound is not None and report.worst is not None
    assert "for each of 3 such units" in report.worst.says[-1]
    assert sum(each.bound.value for each in report.shares) == report.bound.value == F("3.75")
    unused = [each for each in report.alternatives if each.bound is None and "δ" in each.why]
    assert [each.why for each in unused] == (
        ["some mechanism has no finite bound by itself, or all δ's together reach 1"]
        if more
        else []
    )


UNREAD = (
    "  made: {from: people, map: filter}\n"
    "  other: {from: people, partition: {by: value, blocks: [x, y]}}\n"
)


@pytest.mark.parametrize("more", ["", "  made: {from: people, map: filter}\n", UNREAD])
def test_what_no_mechanism_reads_does_not_keep_a_theorem_from_being_cited(more: str) -> None:
    rows = [f"name: {each}, reads: part.{each}, {PURE}, stated_on: people" for each in "ab"]
    report = analyze(spec("unbounded", SPLIT + more, *rows))
    assert report.theorem == "V.6" and report.bound is not None and report.bound.value == 1


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (Guarantee(Notion.PURE, F("0.7")), "0.7-DP"),
        (
            Guarantee(Notion.PURE, F(1, 2), noise=Laplace(F(2)), shift=F(1)),
            "0.5-DP (Laplace noise of scale 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.PURE, F(1, 2), noise=Geometric(F(2)), shift=F(1)),
            "0.5-DP (geometric noise of scale 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.GDP, F(1, 2), noise=Gaussian(F(2)), shift=F(1)),
            "0.5-GDP (Gaussian noise of σ = 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.ZCDP, F(1, 8), noise=DiscreteGaussian(F(2)), shift=F(1)),
            "0.125-zCDP (discrete Gaussian noise of σ = 2, sensitivity 1)",
        ),
        (
            Guarantee(Notion.PURE, F(3, 2), noise=Exponential(F(1)), shift=F(3, 2)),
            "1.5-DP (exponential mechanism of range 1.5)",
        ),
        (
            Guarantee(Notion.PURE, F(1), noise=RandomizedResponse(5, F(1)), shift=F(1)),
            "1-DP (randomized response over 5 values)",
        ),
        (Guarantee(Notion.RDP, F(0), points=((F(8), F(1, 2)),)), "(8, 0.5)-RDP"),
        (
            Guarantee(Notion.RDP, F(0), points=((F(2), F("0.1")), (F(8), F(1, 2)))),
            "(2, 0.1)- and (8, 0.5)-RDP",
        ),
        (
            Guarantee(Notion.PROFILE, F(0), points=tuple((F(i), F(1, 10**i)) for i in range(4))),
            "(0, 1)-DP to (3, 0.001)-DP (4 points)",
        ),
    ],
)
def test_words_for_a_guarantee(stated: Guarantee, says: str) -> None:
    assert guarantee(stated) == says


def test_a_graph_beside_a_table_has_no_replaced_rows() -> None:
    """What is made of it is asked of no row, where rows of the other root are replaced."""
    report = analyze(
        "dpcompose: 1\nprotect: bounded\ndatasets:\n"
        "  friends: {domain: graph, max_degree: 2}\n"
        "  people: {from: friends, map: nodes}\n"
        "  rows: {}\n"
        "mechanisms:\n"
        "  - {name: m, reads: people, notion: pure, epsilon: 1, relation: free-lunch}\n"
        "  - {name: k, reads: rows, notion: pure, epsilon: 1, relation: bounded}\n"
    )
    assert report.bound is not None and report.bound.value == 2
    assert report.findings == ()


# --- guarantees taken for users ------------------------------------------------------------------

CAPPED = """  visits: {unit: visitor}
  capped: {from: visits, map: {kind: cap, rows: 4, keep: random}}
  late: {from: capped, map: filter}
  wards: {from: late, partition: {by: value, blocks: 2}}
  people: {from: capped, map: {kind: group, by: visitor}}
"""


@pytest.mark.parametrize(
    ("reads", "more", "told"),
    [
        ("capped", "", True),
        ("late", "", True),
        ("wards.*", "", True),
        ("wards.*", ", relation: user", False),
        ("wards.*", ", relation: unbounded", False),
        ("late", ", stated_on: visits", False),  # where users have any number of rows
        ("visits", "", False),
        ("people", "", False),  # one row is one user
    ],
)
def test_what_holds_for_users_by_default_is_told_where_their_rows_are_counted(
    reads: str, more: str, told: bool
) -> None:
    text = spec("user", CAPPED, f"name: m, reads: {reads}, notion: zcdp, rho: 0.1{more}")
    says = found(text, "DPC202")
    assert bool(says) is told
    for each in says:
        assert "user is assumed, by which all rows of one `visitor`" in each
    if told:  # and it matters: for one row each the same number is another promise
        one_row = text.replace("rho: 0.1", "rho: 0.1, relation: unbounded")
        bounds = [analyze(each).bound for each in (text, one_row)]
        assert bounds[0] is not None and bounds[1] is not None
        assert bounds[1].value > bounds[0].value
