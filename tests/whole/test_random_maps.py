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
SPECS: dict[str, tuple[str, str]] = {
    "a sample between a unit's rows and their cap": (
        "1",
        """
protect: user
datasets:
  rows: {unit: k}
  s: {from: rows, map: {kind: sample, poisson: 0.5}}
  c: {from: s, map: {kind: cap, rows: 1, keep: first}}
mechanisms:
  - {name: a, reads: c, notion: pure, epsilon: 1, relation: unbounded, stated_on: rows}
""",
    ),
    "a sample between two caps": (
        "1",
        """
protect: user
datasets:
  rows: {unit: k}
  few: {from: rows, map: {kind: cap, rows: 3, keep: random}}
  s: {from: few, map: {kind: sample, poisson: 0.5}}
  c: {from: s, map: {kind: cap, rows: 1, keep: random}}
mechanisms:
  - {name: a, reads: c, notion: pure, epsilon: 1, relation: unbounded, stated_on: rows}
""",
    ),
    "a random choice among several results of a row": (
        "2",
        """
protect: user
datasets:
  rows: {unit: k}
  f: {from: rows, map: {kind: flatten, max_rows: 2, keeps: [k]}}
  c: {from: f, map: {kind: cap, rows: 2, keep: random}}
mechanisms:
  - {name: a, reads: c, notion: pure, epsilon: 1, relation: unbounded, stated_on: rows}
""",
    ),
    "a statement above two samples": (
        "0.1586",
        """
protect: unbounded
datasets:
  rows: {}
  s: {from: rows, map: {kind: sample, poisson: 0.1}}
  t: {from: s, map: {kind: sample, poisson: 0.1}}
mechanisms: [{name: a, reads: t, notion: pure, epsilon: 1, stated_on: rows}]
""",
    ),
    "a statement in the middle of three samples": (
        "0.3574",
        """
protect: unbounded
datasets:
  rows: {}
  s: {from: rows, map: {kind: sample, poisson: 0.5}}
  t: {from: s, map: {kind: sample, poisson: 0.5}}
  u: {from: t, map: {kind: sample, poisson: 0.5}}
mechanisms: [{name: a, reads: u, notion: pure, epsilon: 1, stated_on: s}]
""",
    ),
    "blocks between two samples, with a δ": (
        "0.3006, 0.0541",
        """
protect: bounded
datasets:
  rows: {domain: fixed-size-table, size: 3}
  s: {from: rows, map: {kind: sample, size: 2, of: 3}}
  b: {from: s, partition: {by: membership, blocks: [p, q], max_blocks: 1}}
  t: {from: b.q, map: {kind: sample, poisson: 0.25}}
mechanisms:
  - {name: a, reads: t, notion: approx, epsilon: 0.5, delta: 0.1, stated_on: rows}
""",
    ),
    "another release on the sample": (
        "0.4941",
        """
protect: unbounded
datasets:
  rows: {}
  s: {from: rows, map: {kind: sample, poisson: 0.1}}
  t: {from: s, map: {kind: sample, poisson: 0.5}}
mechanisms:
  - {name: a, reads: t, notion: pure, epsilon: 1, stated_on: rows}
  - {name: b, reads: s, notion: pure, epsilon: 1}
""",
    ),
    "a declared statement above a sample": (
        "0.0341",
        """
protect: house
relations: {house: {within: unbounded, distance: 2}}
datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: 0.01}}}
mechanisms: [{name: a, reads: s, notion: pure, epsilon: 1, relation: house, stated_on: rows}]
""",
    ),
    "two declared statements above a sample": (
        "0.158",
        """
protect: house
relations: {house: {within: unbounded, distance: 2}}
datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: 0.01}}}
mechanisms:
  - {name: a, reads: s, notion: pure, epsilon: 1, relation: house, stated_on: rows, count: 2}
  - {name: b, reads: s, notion: pure, epsilon: 1, relation: house, stated_on: rows}
""",
    ),
    "two declared statements above a random limit": (
        "2",
        """
protect: house
relations: {house: {within: unbounded, distance: 4}}
datasets: {rows: {}, l: {from: rows, map: {kind: limit, per: c, rows: 1, keep: random}}}
mechanisms:
  - {name: a, reads: l, notion: pure, epsilon: 1, relation: house, stated_on: rows}
  - {name: b, reads: l, notion: pure, epsilon: 1, relation: house, stated_on: rows}
""",
    ),
    "one draw below a fresh sample": (
        "0.0512",
        """
protect: unbounded
datasets:
  rows: {}
  s: {from: rows, map: {kind: sample, poisson: 0.1}}
  t: {from: s, map: {kind: sample, poisson: 0.1, draws: one}}
mechanisms: [{name: a, reads: t, notion: pure, epsilon: 1, count: 3}]
""",
    ),
}


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
DRAWN: dict[str, tuple[str, str, bool]] = {
    "one mechanism": ("unbounded", "{reads: d, notion: pure, epsilon: 1}", True),
    "a small one": ("unbounded", "{reads: d, notion: pure, epsilon: 0.1}", True),
    "two": (
        "unbounded",
        "{reads: d, notion: pure, epsilon: 1}; {reads: d, notion: pure, epsilon: 0.5}",
        True,
    ),
    "one below": (
        "unbounded",
        "{reads: f, notion: pure, epsilon: 1}; {reads: d, notion: pure, epsilon: 0.5}",
        True,
    ),
    "blocks": (
        "unbounded",
        "{reads: b.p, notion: pure, epsilon: 1}; {reads: b.q, notion: pure, epsilon: 0.5}",
        True,
    ),
    "with a δ": ("unbounded", "{reads: d, notion: approx, epsilon: 0.5, delta: 0.1}", True),
    "several rows of it": ("unbounded", "{reads: t, notion: pure, epsilon: 0.5}", False),
    "and the table": (
        "unbounded",
        "{reads: d, notion: pure, epsilon: 1}; {reads: rows, notion: approx, epsilon: 0.5, "
        "delta: 0.05}",
        False,
    ),
    "replaced": ("bounded", "{reads: d, notion: pure, epsilon: 1, relation: unbounded}", False),
    "a group": (
        "{relation: unbounded, distance: 2}",
        "{reads: d, notion: pure, epsilon: 1}",
        False,
    ),
    "said above as well": (
        "unbounded",
        "{reads: d, guarantees: [{notion: pure, epsilon: 1}, "
        "{notion: pure, epsilon: 1.9, stated_on: rows}]}",
        True,
    ),
}


@pytest.mark.parametrize(("protect", "read", "attained"), DRAWN.values(), ids=DRAWN)
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
