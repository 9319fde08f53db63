"""Other libraries beside dpcompose, on the reference values.

    python -m venv peers && peers/bin/pip install -e . -r tests/bench/peers.txt pytest
    peers/bin/python tests/bench/peers.py [--only gaussian/] [--write tests/bench/peers.md]

Run by hand, not by pytest. Every value of `tests/reference/values.json` is asked of each library
that has a question for it, with the settings that the library has if nothing is said; a library
that is not installed is left out. An answer below the lower end is wrong, one more than a millionth
above the upper end is loose. What must hold: no library that is not below the truth has a smaller
answer than dpcompose, by more than a millionth; the exceptions are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import logging
import math
import sys
import warnings
from collections.abc import Callable
from functools import cache, reduce
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.recipes import Value, f, load
from reference.test_values import UNASKED, answer

#: What an answer may be above the upper end, or a smaller one of another library.
NEAR = 1e-6
#: What the last bits of a double may be off by, where an answer is not rounded to one side.
LAST_BITS = 1e-12

Ask = Callable[[Value], float | None]


class Refused(Exception):
    """The library has no question for it."""


def number(entry: Value, key: str) -> float:
    return float(f(entry[key]))


def count_of(entry: Value, value: Value) -> int:
    return int(entry.get("count", 1)) * int(value.get("epochs", 1))


def multiplier(entry: Value, value: Value) -> float:
    """σ in units of how far the value moves."""
    moved = 1 / f(entry["mu"]) if "mu" in entry else f(entry["sigma"]) / f(entry["sensitivity"])
    return float(moved / value.get("distance", 1))


def plain(value: Value, *keys: str) -> None:
    """Refuses what has other circumstances than these."""
    known = {"sample", "epochs", "reports", "filter", "allocation", "distance"}
    if (known - set(keys)) & set(value):
        raise Refused


def only(value: Value) -> Value:
    """The mechanism, where it is one."""
    if len(value["mechanisms"]) > 1:
        raise Refused
    entry: Value = value["mechanisms"][0]
    return entry


def asked_of(
    value: Value, epsilon: Callable[[float], float], delta: Callable[[float], float]
) -> float:
    """ε at a δ, δ at an ε, or the advantage, of what answers these two."""
    at = {key: float(f(each)) for key, each in value.get("at", {}).items()}
    if value["asked"] == "epsilon" and at["delta"]:
        return epsilon(at["delta"])
    if value["asked"] == "delta":
        return delta(at["epsilon"])
    if value["asked"] == "advantage":
        return delta(0.0)
    raise Refused


# --- dp-accounting and jax-privacy ---------------------------------------------------------------


def loss_distribution(entry: Value, value: Value) -> Any:
    """The privacy loss distribution of one mechanism, on the grid of dp-accounting."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    rate = number(value["sample"], "poisson") if "sample" in value else 1.0
    steps = value.get("distance", 1)
    match entry["mechanism"]:
        case "gaussian" | "gdp":
            return pld.from_gaussian_mechanism(multiplier(entry, value), sampling_prob=rate)
        case "laplace":
            scale = float(f(entry["scale"]) / f(entry["sensitivity"]) / steps)
            return pld.from_laplace_mechanism(scale, sampling_prob=rate)
    if "sample" in value:
        raise Refused
    match entry["mechanism"]:
        case "pure" | "approx" if steps == 1:
            parameters = number(entry, "epsilon"), float(f(entry.get("delta", 0)))
            return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(*parameters))
        case "randomized-response" if steps == 1:
            k, odds = int(entry["k"]), math.exp(number(entry, "epsilon"))
            return pld.from_randomized_response(k / (odds + k - 1), k)
        case "geometric":
            return pld.from_discrete_laplace_mechanism(
                1 / number(entry, "scale"), int(entry["sensitivity"]) * steps
            )
        case "discrete-gaussian":
            return pld.from_discrete_gaussian_mechanism(
                number(entry, "sigma"), int(entry["sensitivity"]) * steps
            )
    raise Refused


def dp_accounting_pld(value: Value) -> float:
    plain(value, "sample", "epochs", "distance")
    parts = [
        loss_distribution(entry, value).self_compose(count_of(entry, value))
        for entry in value["mechanisms"]
    ]
    whole = reduce(lambda one, other: one.compose(other), parts)
    return asked_of(value, whole.get_epsilon_for_delta, whole.get_delta_for_epsilon)


def event_of(entry: Value, value: Value) -> Any:
    """The event of dp-accounting for one mechanism."""
    import dp_accounting as dp

    match entry["mechanism"]:
        case "gaussian" | "gdp":
            event = dp.GaussianDpEvent(multiplier(entry, value))
        case "laplace":
            event = dp.LaplaceDpEvent(
                float(f(entry["scale"]) / f(entry["sensitivity"]) / value.get("distance", 1))
            )
        case "zcdp":
            event = dp.dp_event.ZCDpEvent(number(entry, "rho"))
        case "select" if entry["of"]["mechanism"] == "gdp" and "stop" not in entry["runs"]:
            runs = entry["runs"]
            shape = number(runs, "shape") if "shape" in runs else math.inf
            mean = number(runs, "mean" if "mean" in runs else "poisson")
            event = dp.dp_event.RepeatAndSelectDpEvent(event_of(entry["of"], value), mean, shape)
        case "tree" if "participations" not in entry:
            event = dp.dp_event.SingleEpochTreeAggregationDpEvent(
                number(entry, "sigma"), [int(entry["steps"])] * int(entry.get("restarts", 1))
            )
        case _:
            raise Refused
    if "sample" in value:
        event = dp.PoissonSampledDpEvent(number(value["sample"], "poisson"), event)
    return dp.SelfComposedDpEvent(event, count_of(entry, value))


def dp_accounting_rdp(value: Value) -> float:
    import dp_accounting as dp
    from dp_accounting.rdp import RdpAccountant

    plain(value, "sample", "epochs", "distance")
    # Trees are for rows that become null; all else costs the same for them as for added rows.
    trees = any(entry["mechanism"] == "tree" for entry in value["mechanisms"])
    relation = dp.NeighboringRelation.REPLACE_SPECIAL if trees else None
    accountant = RdpAccountant(**({"neighboring_relation": relation} if trees else {}))
    events = [event_of(entry, value) for entry in value["mechanisms"]]
    accountant.compose(dp.ComposedDpEvent(events))
    return asked_of(value, accountant.get_epsilon, accountant.get_delta)


def jax_privacy(value: Value) -> float:
    from dp_accounting.pld import PLDAccountant
    from jax_privacy.experimental import accounting

    plain(value, "sample")
    entry = only(value)
    if "sample" not in value:
        raise Refused
    rate = number(value["sample"], "poisson")
    if entry["mechanism"] == "gaussian":
        event = accounting.dpsgd_event(
            multiplier(entry, value), count_of(entry, value), sampling_prob=rate
        )
    elif entry["mechanism"] == "matrix":
        event = accounting.amplified_bandmf_event(
            number(entry, "sigma") / number(entry, "column_norm"),
            int(entry["participations"]) * int(value["sample"]["cycle"]),
            num_bands=int(value["sample"]["cycle"]),
            sampling_prob=rate,
        )
    else:
        raise Refused
    accountant = PLDAccountant()
    accountant.compose(event)
    return asked_of(value, accountant.get_epsilon, accountant.get_delta)


# --- opake ---------------------------------------------------------------------------------------


@cache
def opake_native() -> Any:
    """Its compiled module alone: Python 3.11.7 cannot import the package around it."""
    import opake as package

    path = Path(next(iter(package.__path__))) / "api/accounting/core/opake_accounting.abi3.so"
    found = spec_from_file_location("opake_accounting", path)
    assert found is not None and found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def opake(value: Value) -> float:
    native = opake_native()
    plain(value, "sample", "epochs", "distance", "allocation")
    settings = native.DiscretizationConfig()
    parts = []
    for entry in value["mechanisms"]:
        match entry["mechanism"]:
            case "gaussian" | "gdp" if "allocation" in value:
                part = native.random_allocation_gaussian_pld(
                    multiplier(entry, value), int(value["allocation"]["steps"]), 1, settings
                )
            case "gaussian" | "gdp":
                part = native.gaussian_pld(multiplier(entry, value), settings)
            case "matrix" if "sample" in value:
                sigma = number(entry, "sigma") / number(entry, "column_norm")
                part = native.gaussian_pld(sigma, settings)
            case "pure" | "approx" if "distance" not in value and "sample" not in value:
                parameters = number(entry, "epsilon"), float(f(entry.get("delta", 0)))
                part = native.eps_delta_pld(*parameters, settings)
            case _:
                raise Refused
        if "sample" in value:
            part = native.poisson_pld(part, number(value["sample"], "poisson"))
        many = int(entry["participations"]) if entry["mechanism"] == "matrix" else 1
        parts.append(part.self_compose(many * count_of(entry, value)))
    whole = reduce(lambda one, other: one.compose(other), parts)
    if value["asked"] == "hits":
        return 1.0 - float(whole.beta_at(number(value["at"], "false_alarms")))
    if value["asked"] == "advantage":
        return float(whole.advantage())
    return asked_of(value, whole.epsilon_at, whole.delta_at)


# --- OpenDP --------------------------------------------------------------------------------------


def opendp(value: Value) -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib", "private-selection-v2", "honest-but-curious")
    plain(value, "epochs", "distance")
    steps = int(value.get("distance", 1))
    entries, pure = value["mechanisms"], value.get("at", {}).get("delta") == "0"
    kinds = {entry["mechanism"] for entry in entries}
    if kinds <= {"gaussian", "gdp", "zcdp", "laplace", "pure", "discrete-gaussian"} and steps == 1:
        rho = 0.0
        for entry in entries:
            rho += opendp_rho(entry, value) * count_of(entry, value)
        if value["asked"] == "rho":
            return rho
        whole = dp.c.make_zCDP_to_approxDP(opendp_guarantee(dp.zero_concentrated_divergence(), rho))
        profile = whole.map(1)
        return asked_of(value, profile.epsilon, profile.delta)
    entry = only(value)
    choices = ("noisy-max", "permute-and-flip", "exponential", "top-k")
    if entry["mechanism"] in choices and "count" not in entry:
        # Exponential noise for ε, Gumbel noise for ρ.
        concentrated = value["asked"] == "rho"
        if concentrated != (entry["mechanism"] in ("exponential", "top-k")):
            raise Refused
        measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
        domain = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        k, scale = int(entry.get("k", 1)), 2 / number(entry, "epsilon")
        if concentrated or value["asked"] == "epsilon":
            return float(dp.m.make_noisy_top_k(*domain, measure, k=k, scale=scale).map(1))
        raise Refused
    if entry["mechanism"] == "select" and "stop" in entry["runs"] and pure:
        one = opendp_guarantee(dp.max_divergence(), number(entry["of"], "epsilon"), pair=True)
        stop = number(entry["runs"], "stop")
        return float(
            dp.c.make_select_private_candidate(one, stop_probability=stop, threshold=0.5).map(1)
        )
    raise Refused


def opendp_guarantee(measure: Any, amount: float, pair: bool = False) -> Any:
    """A measurement that is stated to have a guarantee."""
    import opendp.prelude as dp

    domain = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    made = (lambda _: [0.0, 0.0]) if pair else (lambda _: 0)
    return dp.m.make_user_measurement(*domain, measure, made, lambda _: amount)


def opendp_rho(entry: Value, value: Value) -> float:
    import opendp.prelude as dp

    match entry["mechanism"]:
        case "zcdp":
            return number(entry, "rho")
        case "gdp" | "gaussian":
            domain = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
            return float(dp.m.make_gaussian(*domain, multiplier(entry, value)).map(1.0))
        case "discrete-gaussian":
            whole = dp.atom_domain(T=int), dp.absolute_distance(T=float)
            made = dp.m.make_gaussian(*whole, number(entry, "sigma"))
            return float(made.map(number(entry, "sensitivity")))
        case "laplace" | "pure":
            epsilon = (
                number(entry, "epsilon")
                if "epsilon" in entry
                else float(f(entry["sensitivity"]) / f(entry["scale"]))
            )
            return float(
                dp.c.make_pureDP_to_zCDP(opendp_guarantee(dp.max_divergence(), epsilon)).map(1)
            )
    raise Refused


# --- autodp --------------------------------------------------------------------------------------


def autodp(value: Value) -> float:
    from autodp import mechanism_zoo as zoo
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    plain(value, "sample", "epochs", "distance")
    made = []
    for entry in value["mechanisms"]:
        steps = value.get("distance", 1)
        match entry["mechanism"]:
            case "gaussian" | "gdp":
                made.append(zoo.ExactGaussianMechanism(sigma=multiplier(entry, value)))
            case "laplace":
                scale = float(f(entry["scale"]) / f(entry["sensitivity"]) / steps)
                made.append(zoo.LaplaceMechanism(b=scale))
            case "pure" if steps == 1:
                made.append(zoo.PureDP_Mechanism(number(entry, "epsilon")))
            case _:
                raise Refused
        if "sample" in value:
            made[-1].neighboring = "add_remove"
            sample = AmplificationBySampling(PoissonSampling=True)
            made[-1] = sample(
                made[-1], number(value["sample"], "poisson"), improved_bound_flag=True
            )
    counts = [count_of(entry, value) for entry in value["mechanisms"]]
    whole = made[0] if counts == [1] else Composition()(made, counts)
    if value["asked"] == "hits":
        return 1.0 - float(whole.get_fDP(number(value["at"], "false_alarms")))
    return asked_of(value, whole.get_approxDP, whole.approx_delta)


# --- the table -----------------------------------------------------------------------------------

#: The name of each column, the package that it needs, and who answers.
LIBRARIES: dict[str, tuple[str, Callable[[Value], float]]] = {
    "dp-accounting PLD": ("dp-accounting", dp_accounting_pld),
    "dp-accounting RDP": ("dp-accounting", dp_accounting_rdp),
    "jax-privacy": ("jax-privacy", jax_privacy),
    "opake": ("opake", opake),
    "OpenDP": ("opendp", opendp),
    "autodp": ("autodp", autodp),
}


class Answer(NamedTuple):
    """Who says what; None where there is no question, a text where the library fails."""

    name: str
    found: float | str | None


def told(name: str, ask: Ask, value: Value) -> Answer:
    """What a library says of a value."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            found = ask(value)
        return Answer(name, None if found is None else float(found))
    except Refused:
        return Answer(name, None)
    except Exception as fault:
        unasked = type(fault).__name__ == "UnsupportedEventError"
        return Answer(name, None if unasked else type(fault).__name__)


def cell(answer: Answer, value: Value) -> str:
    """How an answer stands to both ends."""
    lower, upper = float(f(value["lower"])), float(f(value["upper"]))
    if not isinstance(answer.found, float):
        return answer.found or "–"
    if math.isnan(answer.found):
        return "not a number"
    if answer.found < lower * (1 - LAST_BITS):
        return f"**below**, {answer.found / lower - 1:.1e}"
    if not upper or answer.found <= upper * (1 + NEAR):
        return "tight" if answer.found <= upper * (1 + LAST_BITS) or not upper else "≤ 1e-6"
    excess = answer.found / upper - 1
    return f"+{excess:.0e}" if excess < 1e-3 else f"+{excess:.1%}" if excess < 10 else "+10×"


def ours(value: Value) -> float | None:
    if value["id"] in UNASKED or "filter" in value:
        raise Refused
    return float(answer(value))


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold libraries against the reference values.")
    parser.add_argument("--only", default="", help="ids that begin so")
    parser.add_argument("--write", type=Path, help="a Markdown file for the table")
    options = parser.parse_args()
    columns: dict[str, Ask] = {"dpcompose": ours}
    for name, (package, ask) in LIBRARIES.items():
        with contextlib.suppress(ImportError):
            importlib.import_module(package.replace("-", "_"))
            columns[name] = ask
    logging.disable()  # of orders that dp-accounting leaves out
    versions = ["dpcompose " + version("dpcompose")]
    versions += sorted({f"{p} {version(p)}" for n, (p, _) in LIBRARIES.items() if n in columns})
    lines = ["| value | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    counts = {name: [0, 0, 0] for name in columns}
    exceptions = []
    for value in load():
        if not value["id"].startswith(options.only):
            continue
        answers = [told(name, ask, value) for name, ask in columns.items()]
        cells = [cell(each, value) for each in answers]
        lines.append(f"| {value['id']} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        for each, word in zip(answers, cells, strict=True):
            if isinstance(each.found, float):
                counts[each.name][0] += 1
                counts[each.name][1] += word.startswith("**")
                counts[each.name][2] += word.startswith("+")
        mine = answers[0].found
        for each, word in zip(answers[1:], cells[1:], strict=True):
            if isinstance(each.found, float) and not word.startswith(("**", "not")):
                if not isinstance(mine, float):
                    exceptions.append(f"{value['id']}: {each.name} answers, dpcompose does not")
                elif mine > each.found * (1 + NEAR):
                    exceptions.append(
                        f"{value['id']}: {each.name} {each.found:.12g}, dpcompose {mine:.12g}"
                    )
    summary = ["| library | answers | below the truth | looser than 1e-6 |", "|---|---|---|---|"]
    summary += [f"| {name} | {a} | {b} | {c} |" for name, (a, b, c) in counts.items()]
    misses = [f"- {each}" for each in exceptions] or ["None."]
    print("\n".join(["", ", ".join(versions), *summary, "", "Smaller than dpcompose's:", *misses]))
    if options.write:
        text = [
            "# Other libraries on the reference values",
            "",
            f"Written by `tests/bench/peers.py` with {', '.join(versions)}.",
            "",
            "*tight*: within the last bits of the upper end; *≤ 1e-6*: no more above it; +x:",
            "above it by that share; **below**: below what a mechanism attains; –: not asked.",
            "",
            *summary,
            "",
            "Smaller than dpcompose's, by more than 1e-6, and not below the truth, of these values"
            " alone (`side_by_side/table.md` has others, samples of tiny rates among them):",
            "",
            *misses,
            "",
            *lines,
        ]
        options.write.write_text("\n".join(text) + "\n", encoding="utf-8")
    return 1 if exceptions else 0


if __name__ == "__main__":
    sys.exit(main())
