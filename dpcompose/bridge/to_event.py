"""A spec as a tree of DpEvents, where it is a flat composition.

The classes and fields are those of dp_accounting. Noise is rounded down and losses up, so that the
tree never states a smaller loss than the spec.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcompose.bridge.dp_events import RELATIONS
from dpcompose.bridge.values import Unconvertible
from dpcompose.core.change.maps.sample import AllRows, Sample
from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.matrix import Tree
from dpcompose.core.mechanisms.noisy_max import NoisyMax, PermuteAndFlip
from dpcompose.core.mechanisms.private_selection import Selected
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.model.problem import Dataset, Mechanism
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import exp_up, sqrt_up
from dpcompose.errors import quoted
from dpcompose.resolve import resolve
from dpcompose.source import load

Event = dict[str, Any]
_WHAT = "events say a flat composition: mechanisms on one table, or on Poisson samples of it"


def to_event(spec: bytes | str, file: str = "<spec>") -> Event:
    """Returns the tree of DpEvents of a spec, as a mapping with `dp_event` and, beside it,
    `neighboring_relation`.

    Raises Unconvertible for what events cannot say, and InvalidSpec.
    """
    resolved = resolve(load(spec, file))
    problem, goal = resolved.problem, resolved.problem.goal
    relation = "zero-out" if goal.relation.leaves_nulls else str(goal.relation)
    if resolved.ledger:
        raise Unconvertible("adaptivity", "events have no parameters that are chosen on the way")
    names = {ours: theirs for theirs, ours in RELATIONS.items()}
    if relation not in names or goal.distance > 1:
        raise Unconvertible("protect", f"events have no word for {quoted(relation)} neighbours")
    if len(problem.roots) != 1:
        raise Unconvertible("datasets", "there are several roots", _WHAT)
    events = _below(problem.roots[0].dataset, relation)
    return {"neighboring_relation": names[relation], "dp_event": _composed(events)}


def _below(dataset: Dataset, relation: str) -> list[Event]:
    """Returns the events of all mechanisms that read a dataset, or samples of it; `relation`: the
    protected one."""
    if dataset.partitions:
        raise Unconvertible(dataset.partitions[0].name, "events have no partitions", _WHAT)
    events = [_repeated(_released(each, relation), each.count) for each in dataset.mechanisms]
    for each in dataset.derived:
        made_by = each.made_by
        if isinstance(made_by, AllRows):
            events += _below(each, relation)
        elif not isinstance(made_by, Sample) or made_by.size is not None or made_by.cycle > 1:
            map_ = "" if made_by is None else made_by.describe()
            raise Unconvertible(each.name, f"events have no word for this map: {map_}", _WHAT)
        elif each.derived or each.partitions:
            raise Unconvertible(each.name, "other data are made from this sample", _WHAT)
        else:
            events += _below_sample(each, made_by, relation)
    return events


def _below_sample(dataset: Dataset, sample: Sample, relation: str) -> list[Event]:
    """Returns the events of all mechanisms that read a Poisson sample; `relation`: the protected
    one."""
    if relation == "bounded":
        raise Unconvertible(
            dataset.name, "dp_accounting counts Poisson samples for no row that is replaced"
        )
    rate = _float_up(sample.rate)
    counts = [(_released(each, relation), each.count) for each in dataset.mechanisms]
    if sample.shared:
        inner = _composed([_repeated(event, count) for event, count in counts])
        return [_event("PoissonSampled", sampling_probability=rate, event=inner)] if counts else []
    # Copy i of each mechanism reads the i-th sample: as many samples as the most copies.
    events, before = [], 0
    for most in sorted({count for _, count in counts}):
        inner = _composed([event for event, count in counts if count >= most])
        one = _event("PoissonSampled", sampling_probability=rate, event=inner)
        events.append(_repeated(one, most - before))
        before = most
    return events


def _released(mechanism: Mechanism, relation: str) -> Event:
    """Returns the event of one copy of a mechanism."""
    wanted = ("unbounded", "zero-out") if relation == "zero-out" else (relation,)
    why = "its guarantee is not for one step of what is protected, on the data that it reads"
    for each in mechanism.statements:
        if each.up == 0 and str(each.relation) in wanted:
            found = _guaranteed(each.guarantee, relation)
            if not isinstance(found, str):
                return found
            why = found
    raise Unconvertible(mechanism.name, why, _WHAT)


def _guaranteed(said: Guarantee, relation: str) -> Event | str:
    """Returns the event of a guarantee; a text says why there is none."""
    if said.noise is not None:
        return _noise(said.noise, said.shift, relation)
    match said.notion:
        case Notion.PURE | Notion.APPROX:
            epsilon, delta = _float_up(said.value), _float_up(said.delta)
            return _event("EpsilonDelta", epsilon=epsilon, delta=delta)
        case Notion.ZCDP:
            return _event("ZC", rho=_float_up(said.value), xi=0.0)
        case Notion.GDP if relation != "bounded":
            return _event("Gaussian", noise_multiplier=_float_down(1 / said.value))
    return f"events have no word for a guarantee in {said.notion.facts.words}"


def _noise(noise: Family, shift: Fraction, relation: str) -> Event | str:
    """Returns the event of a concrete mechanism; a text says why there is none. `shift`: its
    sensitivity."""
    if isinstance(noise, RandomizedResponse) and type(noise) is RandomizedResponse:
        lie = noise.k / (exp_up(noise.odds) + noise.k - 1)
        return _event("RandomizedResponse", noise_parameter=_float_down(lie), num_buckets=noise.k)
    if relation == "bounded":
        return (
            "the accountants of dp_accounting disagree on what a noise multiplier means where a "
            "row is replaced"
        )
    ratio: Callable[[Fraction], float] = lambda amount: _float_down(amount / shift)  # noqa: E731
    if not shift:
        return _event("NoOp")
    match noise:
        case Gaussian(sigma, unit):
            return _event("Gaussian", noise_multiplier=ratio(sigma / sqrt_up(unit)))
        case Laplace(scale):
            return _event("Laplace", noise_multiplier=ratio(scale))
        case Geometric(scale):
            a = _float_up(1 / scale)
            return _event("DiscreteLaplace", noise_parameter=a, sensitivity=math.ceil(shift))
        case DiscreteGaussian(sigma, norm, unit):
            moved = _float_up(shift * sqrt_up(unit))
            dimension = 1 if norm == "L1" else None
            return _event(
                "DiscreteGaussian", sigma=_float_down(sigma), sensitivity=moved, dimension=dimension
            )
        case Exponential():
            return _event("ExponentialMechanism", epsilon=_float_up(noise.epsilon(shift)))
        case PermuteAndFlip():
            return _event("PermuteAndFlip", epsilon=_float_up(noise.epsilon(shift)))
        case NoisyMax(_, "gumbel") if type(noise) is NoisyMax:
            return _event("ExponentialMechanism", epsilon=_float_up(noise.epsilon(shift)))
        case Tree(sigma, steps, 1, _, restarts, unit):
            trees = [steps] * (restarts + 1) if restarts else steps
            multiplier = ratio(sigma / sqrt_up(unit))
            return _event(
                "SingleEpochTreeAggregation", noise_multiplier=multiplier, step_counts=trees
            )
        case Selected("negative_binomial", mean, shape, _, of) if _float_up(shape) == _float_down(
            shape
        ):
            runs = [_guaranteed(each, relation) for each in of]
            if why := next((each for each in runs if isinstance(each, str)), None):
                return why
            one = _composed([each for each in runs if not isinstance(each, str)])
            return _event("RepeatAndSelect", event=one, mean=_float_up(mean), shape=float(shape))
    return f"events have no word for this: {noise.describe(shift)}"


def _float_down(value: Fraction) -> float:
    """Returns the nearest double whose decimal is not above a number."""
    found = float(value)
    return found if Fraction(repr(found)) <= value else math.nextafter(found, 0)


def _float_up(value: Fraction) -> float:
    """Returns the nearest double whose decimal is not below a number."""
    found = float(value)
    return found if Fraction(repr(found)) >= value else math.nextafter(found, math.inf)


def _repeated(event: Event, count: int) -> Event:
    """Returns the event of `count` copies of an event."""
    return event if count == 1 else _event("SelfComposed", event=event, count=count)


def _composed(events: list[Event]) -> Event:
    """Returns the event that composes all of the events."""
    return events[0] if len(events) == 1 else _event("Composed", events=events)


def _event(kind: str, **fields: object) -> Event:
    """Returns an event of a class: `_event("Gaussian", …)` is a GaussianDpEvent."""
    called = "ZCDpEvent" if kind == "ZC" else f"{kind}DpEvent"
    return {"module_name": "dp_accounting.dp_event", "class_name": called, **fields}
