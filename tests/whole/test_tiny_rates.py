"""Replaced rows behind samples of tiny rates, with discrete noise: against exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpcompose

DELTAS = ("1e-2", "1e-4", "1e-6", "1e-8", "1e-10")


def law_of(noise: str, spread: float) -> np.ndarray:
    """Chances of whole numbers from -200 to 200; what is beyond is next to nothing."""
    x = np.arange(-200, 201)
    size = np.abs(x) / spread if noise == "geometric" else x**2 / (2 * spread**2)
    found: np.ndarray = np.exp(-size) / np.exp(-size).sum()
    return found


@pytest.mark.parametrize(("noise", "spread"), [("geometric", 2.0), ("discrete-gaussian", 1.0)])
@pytest.mark.parametrize("rate", ["1e-3", "1e-6"])
def test_a_row_replaced_behind_a_rare_sample(noise: str, spread: float, rate: str) -> None:
    key = "scale" if noise == "geometric" else "sigma"
    found = dpcompose.analyze(
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  rows: {}\n"
        f"  s: {{from: rows, map: {{kind: sample, poisson: {rate}}}}}\nmechanisms:\n"
        f"  - {{name: a, reads: s, mechanism: {noise}, {key}: {spread}, sensitivity: 1}}\n"
        f"report: {{delta: [{', '.join(DELTAS)}]}}\n"
    )
    law, q = law_of(noise, spread), float(rate)
    old = (1 - q) * law + q * np.roll(law, 1)
    for new in (law, (1 - q) * law + q * np.roll(law, -1)):
        for delta, at in zip(DELTAS, found.at_delta, strict=True):
            assert at.value is not None
            grown = math.exp(float(at.value))
            for one, other in ((old, new), (new, old)):
                lost = float(np.maximum(one - grown * other, 0.0).sum())
                assert lost <= float(Fraction(delta)) * (1 + 1e-9) + 1e-15
