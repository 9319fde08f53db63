"""Long chains of datasets with statements at many ancestors, whose history is cut at some depth."""

from __future__ import annotations

import pytest

import dpcompose
from dpcompose.core.model import tree


def _filters(length: int, protect: str, where: float) -> str:
    lines = ["dpcompose: 1", f"protect: {protect}", "datasets:", "  d0: {}"]
    lines += [f"  d{i}: {{from: d{i - 1}, map: filter}}" for i in range(1, length)]
    lines.append("mechanisms:")
    lines += [
        f"  - {{name: m{i}, reads: d{i}, notion: pure, epsilon: 1, stated_on: d{int(i * where)}}}"
        for i in range(length)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("where", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("length", [12, 40])
def test_an_unbounded_row_costs_one_step_of_every_mechanism(length: int, where: float) -> None:
    report = dpcompose.analyze(_filters(length, "unbounded", where))
    assert report.bound is not None and report.bound.value == length


@pytest.mark.slow
@pytest.mark.parametrize("protect", ["unbounded", "bounded"])
@pytest.mark.parametrize("where", [0.0, 0.3, 0.5, 0.7])
def test_cutting_the_history_never_lowers_a_bound(
    protect: str, where: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _filters(40, protect, where)
    cut = dpcompose.analyze(text).bound
    monkeypatch.setattr(tree, "MOST_LEVELS", 1000)
    whole = dpcompose.analyze(text).bound
    assert cut is None or (whole is not None and cut.value >= whole.value)
