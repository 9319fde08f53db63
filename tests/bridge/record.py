"""Files as dp_accounting and OpenDP write them: `python -m tests.bridge.record` writes them anew.

Needs `pip install dp-accounting opendp`; the tests read the recorded files, and hold them against
the libraries where these are installed.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"


def events() -> dict[str, Any]:
    """Returns the events that tests read, by the names of their files."""
    import dp_accounting as d

    gauss, poisson = d.GaussianDpEvent, d.PoissonSampledDpEvent
    return {
        "pld-two": d.ComposedDpEvent([poisson(0.1, gauss(1.0)), gauss(2.0)]),
        "pld-six": d.SelfComposedDpEvent(gauss(1.0), 6),
        "dpsgd": d.SelfComposedDpEvent(poisson(0.01, gauss(1.0)), 128),
        "answers": d.SelfComposedDpEvent(d.RandomizedResponseDpEvent(4 / (3 + math.e), 4), 20),
    }


def as_mapping(event: Any) -> Any:
    """Returns an event as mappings all the way down, from its named tuple."""
    if isinstance(event, tuple) and hasattr(event, "_asdict"):
        return {key: as_mapping(value) for key, value in event._asdict().items()}
    return [as_mapping(each) for each in event] if isinstance(event, list) else event


def opendp() -> Any:
    """Returns the library, which tests are typed without."""
    return import_module("opendp.prelude")


def measurements() -> dict[str, Any]:
    """Returns the measurements that tests read, by the names of their files."""
    dp = opendp()
    dp.enable_features("contrib", "honest-but-curious")
    numbers = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    count = numbers >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
    total = numbers >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=5.0)
    number = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    sized = dp.vector_domain(dp.atom_domain(T=int), size=10), dp.symmetric_distance()
    few = sized >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)
    floats = dp.vector_domain(dp.atom_domain(T=float, nan=False, bounds=(0.0, 10.0)))
    mean = (
        (floats, dp.symmetric_distance())
        >> dp.t.then_resize(size=100, constant=5.0)
        >> dp.t.then_mean()
        >> dp.m.then_laplace(scale=2.0)
    )
    return {
        "composition": dp.c.make_composition([count, total]),
        "casting": dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*number, 0.5)),
        "response": dp.m.make_randomized_response_bool(0.75),
        "amplified": dp.c.make_population_amplification(few, 100),
        "budgets": dp.c.make_adaptive_composition(
            *numbers, dp.max_divergence(), d_in=1, d_mids=[1.0, 2.0]
        ),
        "mean": mean,
    }


def recorded() -> dict[str, str]:
    """Returns the texts of all files by their names."""
    dp, found = opendp(), {}
    for name, event in events().items():
        # As `json.dumps` has named tuples, and with the names of the fields.
        found[f"{name}.event.json"] = json.dumps(event.to_named_tuple())
        found[f"{name}.fields.json"] = json.dumps(as_mapping(event.to_named_tuple()), indent=1)
    for name, measurement in measurements().items():
        found[f"{name}.opendp.json"] = dp.serialize(measurement)
    return {name: f"{text}\n" for name, text in found.items()}


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for file, text in recorded().items():
        (RECORDED / file).write_text(text, encoding="utf-8")
