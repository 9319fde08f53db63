"""Each engine wins on its spec: without it some number grows, and none falls."""

from __future__ import annotations

import pytest

from .engines import ENGINES, Engine
from .measure import cost, growth


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_engine_wins_on_its_spec(engine: Engine) -> None:
    assert engine.wins >= 1e-4
    best, worse = cost(engine), cost(engine, off=True)
    assert growth(best, worse) > engine.wins
    for key in best.numbers.keys() & worse.numbers.keys():
        assert worse.numbers[key] >= best.numbers[key] * (1 - 1e-6), key
