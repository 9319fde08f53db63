"""Bounds below randomness against the worst mechanisms, which linear programs find.

No bound may be below the truth of any small universe (see `oracle.worst`), and every two features
of the language that can meet do so in specs that were judged.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
import yaml
from oracle.cases import Invalid, Spec, claims, together
from oracle.features import FEATURES, never, used
from oracle.judge import Claim, judge
from oracle.matrix import DUE, QUICK, Matrix, attempt, fill, pairs, plan
from oracle.shapes import draft
from tables import tables
from volume import thinned

TABLES = tables(__file__)

PLAN = plan()
#: So many parts of the long test run side by side.
PARTS = 8


def name(entry: tuple[int, tuple[str, ...]]) -> str:
    return f"{entry[0]}: {', '.join(entry[1])}"


@pytest.mark.slow
@pytest.mark.parametrize("entry", PLAN, ids=name)
def test_no_bound_is_below_the_truth(entry: tuple[int, tuple[str, ...]]) -> None:
    tried = attempt(entry)
    assert tried.breach is None, (tried.specs, tried.breach)
    # Refused, it would fill no cell of the matrix: `python -m tests.oracle.matrix --plan`.
    assert tried.outcome == "judged"


def test_every_pair_of_features_is_judged() -> None:
    matrix = Matrix()
    for entry in PLAN:
        found = used(draft(*entry))
        for pair in combinations([each for each in FEATURES if each in found], 2):
            if never(*pair) is None:
                matrix.counts[pair] += 1
    assert matrix.short(QUICK) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_of_features_is_judged_often(part: int) -> None:
    matrix = Matrix({pair: 0 for n, pair in enumerate(pairs()) if n % PARTS == part})
    for tried in fill(matrix, DUE, tries=10 * DUE):
        assert tried.breach is None, (tried.specs, tried.breach)
    assert matrix.short(DUE) == []


#: What is below the truth: the ε (and δ) that a plain composition and amplification would give.
SPECS = TABLES["below the truth"]


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "text"), SPECS.values(), ids=SPECS)
def test_randomness_below_a_statement(wrong: str, text: str) -> None:
    spec: Spec = {"dpcompose": 1, **yaml.safe_load(text)}
    try:
        found = claims([spec])
    except Invalid:
        found = []
    for seed in range(3):
        verdict = judge(spec, found, seed, (2, 5))
        assert verdict.breach is None, verdict.breach
    epsilon, _, delta = wrong.partition(", ")
    claim = Claim("approx" if delta else "pure", Fraction(epsilon), Fraction(delta or 0))
    few, many = ((2, 5), None), ((6, 12), 4)
    assert any(judge(spec, [claim], n, *size).breach for size in (few, many) for n in range(4))


#: What reads one row of each key, and the root pairs of the universe that attain it.
ONE_OF_EACH = "{from: rows, map: {kind: limit, per: k, rows: 1, keep: random}}"
DRAWN = TABLES["one row of each key"]


@pytest.mark.parametrize(
    ("protect", "read", "attained"), thinned(map(tuple, DRAWN.values())), ids=DRAWN
)
def test_one_row_of_each_key(protect: str, read: str, attained: bool) -> None:
    datasets = {
        "rows": "{}",
        "d": ONE_OF_EACH,
        "f": "{from: d, map: {kind: filter}}",
        "t": "{from: d, map: {kind: flatten, max_rows: 2}}",
        "b": "{from: d, partition: {by: value, blocks: [p, q]}}",
    }
    mechanisms = [{"name": f"m{n}", **yaml.safe_load(m)} for n, m in enumerate(read.split("; "))]
    wanted = {"rows", "d", *(str(each["reads"]).partition(".")[0] for each in mechanisms)}
    spec: Spec = {
        "dpcompose": 1,
        "protect": yaml.safe_load(protect),
        "datasets": {name: yaml.safe_load(datasets[name]) for name in datasets if name in wanted},
        "mechanisms": mechanisms,
    }
    [found, *_] = claims([spec])
    verdicts = [judge(spec, [found], seed, (2, 6)) for seed in range(3)]
    assert not any(each.breach for each in verdicts)
    most = max(each.attained for each in verdicts)
    claimed = float(found.delta or found.value)
    assert not attained or most == pytest.approx(claimed, rel=1e-6)


ORDERED = """
dpcompose: 1
protect: bounded
datasets:
  rows: {domain: ordered-table, size: 3}
  s: {from: rows, map: {kind: sample, size: 2, of: 3}}
mechanisms: [{name: a, reads: s, notion: pure, epsilon: 1, relation: bounded}]
"""


def test_a_sample_without_replacement_that_keeps_the_order_of_rows() -> None:
    spec: Spec = yaml.safe_load(ORDERED)
    assert judge(spec, claims([spec]), 0, (2, 6)).breach is None


ROOTS = """
dpcompose: 1
population: people
protect: unbounded
roots: disjoint
datasets: {a: {}, b: {}}
mechanisms:
  - {name: of a, reads: a, notion: pure, epsilon: 1}
  - {name: of b, reads: b, notion: pure, epsilon: 1.1}
"""


@pytest.mark.slow
def test_roots_are_disjoint_in_total_where_every_spec_says_so() -> None:
    said = yaml.safe_load(ROOTS)
    silent = {key: value for key, value in said.items() if key != "roots"}
    for specs in ([said, said], [said, silent], [silent, said]):
        merged, found = together(specs), claims(specs)
        assert found and judge(merged, found, 1, (1, 12)).breach is None
    least = [Claim("pure", Fraction("2.19"))]
    assert judge(together([said, said]), least, 1, (1, 12)).breach is not None
