"""A declared bound on the rows of a unit gives what a cap at the root gives."""

from __future__ import annotations

import pytest
from volume import thinned

from dpcompose.pipeline import analyze

SPEC = """\
dpcompose: 1
protect: {protect}
datasets:
  {root}
  city: {{from: t, partition: {{by: value, blocks: 5, max_blocks_per_unit: 2}}}}
  words: {{from: city.*, map: {{kind: flatten, max_rows: 2}}}}
  month: {{from: t, partition: {{by: membership, blocks: 12, max_blocks: 2}}}}
mechanisms:
  - {{name: a, reads: t, notion: pure, epsilon: 1, relation: unbounded}}
  - {{name: b, reads: city.*, notion: pure, epsilon: 1/2, relation: unbounded}}
  - {{name: c, reads: words, notion: pure, epsilon: 1/7, relation: unbounded}}
  - {{name: d, reads: month.*, notion: pure, epsilon: 1/3, relation: unbounded}}
  - {{name: e, reads: t, notion: pure, epsilon: 1/5, relation: user}}
"""


@pytest.mark.parametrize(
    "protect", ["user", "{relation: user, distance: 2}", "unbounded", "bounded"]
)
@pytest.mark.parametrize("rows", thinned([3, 1]))
def test_a_declared_bound_gives_what_a_cap_gives(protect: str, rows: int) -> None:
    declared = SPEC.format(protect=protect, root=f"t: {{unit: u, max_rows_per_unit: {rows}}}")
    cap = f"all: {{unit: u}}\n  t: {{from: all, map: {{kind: cap, rows: {rows}, keep: random}}}}"
    capped = SPEC.format(protect=protect, root=cap)
    found = [analyze(each, "t", deltas=("1e-4",), recheck=True) for each in (declared, capped)]
    assert found[0].bound is not None
    if protect.startswith(("u", "{")) and protect != "unbounded":
        assert found[0].bound == found[1].bound
        assert found[0].at_delta[0].value == found[1].at_delta[0].value
    else:  # below the cap a row may displace another one; nothing is displaced where none is
        assert found[0].bound.value is not None and found[1].bound is not None
        assert found[0].bound.value <= found[1].bound.value


def test_the_bound_is_an_assumption() -> None:
    text = SPEC.format(protect="user", root="t: {unit: u, max_rows_per_unit: 3}")
    says = [each.says for each in analyze(text, "t").assumptions]
    assert "no `u` has more than 3 rows in `t`" in says
    unbounded = text.replace(", max_rows_per_unit: 3", "")
    assert analyze(unbounded, "t").status == "no-guarantee"
