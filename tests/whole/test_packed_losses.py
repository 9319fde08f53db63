"""Losses that are several copies of a few are compared copy by copy, in totals too."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest
from command import run

from dpcompose.core.loss.dominance import Steps, packs

SPEC = """\
dpcompose: 1
population: riders
protect: user
datasets:
  trips: {{unit: person}}
  some: {{from: trips, map: {{kind: cap, rows: 20, keep: {keep}}}}}
  days: {{from: some, partition: {{by: value, blocks: 30, max_blocks_per_unit: 3}}}}
mechanisms:
  - {{name: x, reads: days.*, mechanism: laplace, scale: 40, sensitivity: 1}}
  - {{name: y, reads: days.*, mechanism: laplace, scale: 2000, sensitivity: 50}}
report: {{delta: 1e-6}}
"""


def test_copies_are_packed_copy_by_copy() -> None:
    whole: dict[Steps, int] = {((F(1, 2), 1),): 2}
    parts: dict[Steps, int] = {((F(9, 40), 1),): 2, ((F(8, 40), 1),): 2, ((F(3, 40), 1),): 2}
    assert packs(whole, parts)
    assert not packs(whole, {**parts, ((F(4, 40), 1),): 2})
    assert not packs({((F(1, 2), 1),): 1}, parts)


@pytest.mark.slow
def test_random_caps_of_a_total_cost_as_first_rows_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bounds = []
    for keep in ("first", "random"):
        names = [f"{keep}-{n}.yaml" for n in range(12)]
        for name in names:
            (tmp_path / name).write_text(SPEC.format(keep=keep))
        shown = run("total", "--fixed", "planned in January", *names).stdout
        bounds.append(shown.partition("bound")[2].partition(" at ")[0].strip())
    assert bounds == ["ε ≤ 11.0942", "ε ≤ 11.0942"]
