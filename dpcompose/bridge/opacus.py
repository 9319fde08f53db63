"""Histories of Opacus accountants as specs."""

from __future__ import annotations

from collections.abc import Iterable

from dpcompose.bridge.values import Item, exact
from dpcompose.bridge.writer import SpecText, entry, known_relation, name, places
from dpcompose.errors import quoted

_POISSON = (
    "Opacus counts Poisson samples: `poisson_sampling=False`, or a loader of another kind, is not "
    "covered"
)


def history_of(item: Item) -> Item | None:
    """Returns the history in the state of an accountant, in a checkpoint with such a state, or in
    an accountant; None if there is none."""
    inside = item.find("privacy_accountant_state_dict")
    return (item if inside is None else inside).find("history")


def from_opacus(state: object, relation: str | None = None, deltas: Iterable[object] = ()) -> str:
    """Returns the spec of the history of an Opacus accountant.

    `state`: its `state_dict()`, a checkpoint that has one, or the accountant. `relation`: what to
    protect; Opacus counts for `unbounded`, one row added or removed. `deltas`: where to state the
    ε. Raises Unconvertible.
    """
    top = Item(state)
    history = history_of(top)
    if history is None:
        top.fail("`history` is missing", "`accountant.state_dict()` has it")
    protect = known_relation(relation or "unbounded", {"ADD_OR_REMOVE_ONE": "unbounded"})
    says = "Opacus clips the gradient of each row: one is added or removed"
    spec = SpecText("an Opacus history", protect, says)
    rows = spec.dataset("rows", {}, "the training data")
    steps: dict[tuple[str, str], tuple[int, list[str]]] = {}
    for each in history.items():
        step = each.items()
        if len(step) != 3:
            each.fail("an entry is [noise multiplier, sample rate, steps]")
        sigma = step[0].positive("without noise nothing is private")
        rate, times = step[1].positive("no row is ever drawn"), step[2].integer()
        if exact(rate) > 1:
            step[1].fail(f"a chance of at most 1 is due, not {quoted(rate)}")
        count, places_ = steps.get((sigma, rate), (0, []))
        if times:
            steps[sigma, rate] = count + times, [*places_, each.path]
    kind = (history_kind := top.find("mechanism")) and str(history_kind.value)
    for (sigma, rate), (count, where) in steps.items():
        origin = f"from {places(where)}"
        reads = rows
        if exact(rate) < 1:
            drawn = {"from": rows, "map": entry({"kind": "sample", "poisson": rate})}
            drawn["because"] = name(_POISSON)
            reads = spec.dataset("batch", drawn, f"{origin}: the sample rate")
        values = {"reads": reads, "mechanism": "gaussian", "sigma": sigma, "sensitivity": "1"}
        note = "; the ε of the accountant `gdp` is a limit theorem's, below the truth"
        spec.mechanism(
            "gradients", values | {"count": str(count)}, origin + (note if kind == "gdp" else "")
        )
    return spec.text(deltas)
