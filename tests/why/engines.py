"""Every engine and special case that could be left out, with a spec on which it wins.

An engine wins where some number is more than 1e-4 larger without it. `python -m tests.why` switches
each off in turn and prints what that costs, in time as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, NamedTuple


def nothing(*_: Any, **__: Any) -> None:
    """Gives no answer."""


def no(*_: Any, **__: Any) -> bool:
    """Says that it does not apply."""
    return False


def empty(*_: Any, **__: Any) -> tuple[()]:
    """Gives no bounds."""
    return ()


def certain(*_: Any, **__: Any) -> float:
    """Gives the largest rate there is."""
    return 1.0


def one_for_all(options: Any, units: int) -> list[list[Any]]:
    """Covers all units by one guarantee."""
    return [[(loss, steps * units)] for loss, _, steps in options]


class Engine(NamedTuple):
    """What an engine is for, how it is switched off, and where it wins.

    `off`: names in modules, each with what stands in its place. `spec`: a text, or a file from the
    root of the repository. `wins`: some number of it grows by more than this share.
    """

    name: str
    off: tuple[tuple[str, str, Any], ...]
    spec: str
    wins: float

    @contextmanager
    def switched_off(self) -> Iterator[None]:
        """Runs what is inside without the engine."""
        with ExitStack() as stack:
            for module, name, instead in self.off:
                stack.enter_context(_replaced(module, name, instead))
            yield


@contextmanager
def _replaced(module: str, name: str, instead: Any) -> Iterator[None]:
    owner: Any = import_module(f"dpcompose.{module}")
    *path, last = name.split(".")
    for each in path:
        owner = getattr(owner, each)
    before = vars(owner)[last]
    setattr(owner, last, instead)
    try:
        yield
    finally:
        setattr(owner, last, before)


def spec(mechanisms: str, protect: str = "unbounded", datasets: str = "t: {}") -> str:
    listed = "".join(
        f"  - {{name: m{n}, {each}}}\n" for n, each in enumerate(mechanisms.split("; "))
    )
    made = "".join(f"  {each}\n" for each in datasets.split("; "))
    return f"dpcompose: 1\nprotect: {protect}\ndatasets:\n{made}mechanisms:\n{listed}"


LINE = "curves.backends.vertical_line"
ENGINES = (
    Engine(
        "pure DP over several steps is less than one step of the sum (geometric curve)",
        (("curves.families.pure_steps", "MOST_POINTS", 1),),
        "specs/patterns/visits-cap-and-places.yaml",
        0.1,
    ),
    Engine(
        "(ε, δ) over several steps: power functions, put into one another",
        (
            ("core.loss.loss_bounds", "pair_steps", empty),
            ("core.loss.pattern_options", "pair_steps", empty),
        ),
        spec(
            "reads: t, notion: approx, epsilon: 1, delta: 1e-5",
            "{relation: unbounded, distance: 3}",
        ),
        0.1,
    ),
    Engine(
        "several guarantees of one mechanism as one curve",
        (("core.loss.pattern_algebra", "of_several_kinds", no),),
        spec(
            "reads: t, guarantees: [{notion: pure, epsilon: 1}, {notion: gdp, mu: 0.5}]; "
            "reads: t, notion: pure, epsilon: 0.5"
        ),
        1e-3,
    ),
    Engine(
        "several guarantees of one mechanism, all of them at each of several steps",
        (("core.loss.pattern_algebra", "over_steps", nothing),),
        spec(
            "reads: t, guarantees: [{notion: pure, epsilon: 1}, {notion: gdp, mu: 0.5}]",
            "{relation: unbounded, distance: 3}",
        ),
        1e-3,
    ),
    Engine(
        "several pure losses packed into one that is worse than they are together",
        (("core.loss.dominance", "packs", no),),
        spec(
            "reads: s, notion: pure, relation: unbounded, epsilon: 0.1; "
            "reads: s, notion: pure, relation: unbounded, epsilon: 0.5",
            "node",
            "g: {domain: graph, max_degree: 2}; v: {from: g, map: nodes}; "
            "d: {from: v, map: {kind: sample, size: 3, of: 3}}; s: {from: d, map: filter}",
        ),
        1e-2,
    ),
    Engine(
        "each step of a path by a guarantee of its own, where they are for one relation",
        (("core.loss.pair_cost", "_shared_out", one_for_all),),
        spec(
            "reads: t, guarantees: [{notion: approx, epsilon: 0.2, delta: 1e-2}, "
            "{notion: approx, epsilon: 0.8, delta: 1e-4}]",
            "{relation: unbounded, distance: 2}",
        ),
        0.1,
    ),
    Engine(
        "discrete Gaussian noise in L2: the whole vectors of a norm, not ρ",
        (("core.mechanisms.discrete_gaussian", "MOST_STEPS", 0),),
        spec("reads: t, mechanism: discrete-gaussian, sigma: 3, sensitivity: {l2_squared: 2}"),
        0.1,
    ),
    Engine(
        "the vertical line: no grid for smooth losses",
        (
            (f"{LINE}.contour", "epsilon_on_line", nothing),
            (f"{LINE}.contour", "log_delta_on_line", nothing),
        ),
        spec(
            "reads: s, mechanism: gaussian, sigma: 1, sensitivity: 1, count: 100000",
            datasets="t: {}; s: {from: t, map: {kind: sample, poisson: 0.0001}}",
        ),
        1e-2,
    ),
    Engine(
        "hits by Rényi divergences of all orders, not by way of (ε, δ)",
        (
            ("curves.trade_off", "most_hits", certain),
            ("curves.trade_off", "most_advantage", certain),
        ),
        spec("reads: t, notion: zcdp, rho: 0.05"),
        1e-2,
    ),
)
