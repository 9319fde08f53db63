"""Filters, for parameters that are chosen after seeing outputs, and concurrent composition.

All of them are cited: the search adds losses up for each change, whoever asks first, and holds the
largest sum against a budget.
"""

from __future__ import annotations

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Role, Use, theorem

_FILTER = (Use(Role.FILTER),)
_CONCURRENT = (Use(Role.CONCURRENT),)

theorem(
    "pure-filter",
    title="A filter in ε",
    source="RRUV16",
    place="Privacy filters, basic composition",
    formula="Σ ε_i ≤ ε on every path gives ε-DP  (the bound gives what is left of ε)",
    notion=Notion.PURE,
    uses=_FILTER,
)(None)
theorem(
    "approx-filter",
    title="A filter in ε and δ",
    source="RRUV16",
    place="Privacy filters, basic composition",
    formula="Σ ε_i ≤ ε and Σ δ_i ≤ δ on every path give (ε, δ)-DP  (the bound gives what is left)",
    notion=Notion.APPROX,
    uses=_FILTER,
)(None)
theorem(
    "zcdp-filter",
    title="A filter in ρ",
    source="FZ21",
    place="Rényi filters",
    formula="Σ ρ_i ≤ ρ on every path gives ρ-zCDP  (the bound gives what is left of ρ)",
    notion=Notion.ZCDP,
    uses=_FILTER,
)(None)
theorem(
    "gdp-filter",
    title="A filter in μ",
    source="ST22",
    place="Fully adaptive composition for Gaussian DP",
    formula="Σ μ_i² ≤ μ² on every path gives μ-GDP  (the bound takes μ², and gives what is left)",
    notion=Notion.GDP,
    uses=_FILTER,
)(None)
theorem(
    "concurrent-pure",
    title="Interactive mechanisms at the same time, pure DP",
    source="VW21",
    place="Concurrent composition of pure DP",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D')), whoever is asked first",
    specialises=("concurrent-approx",),
    notion=Notion.PURE,
    uses=_CONCURRENT,
)(None)
theorem(
    "concurrent-approx",
    title="Interactive mechanisms at the same time, (ε, δ)",
    source="L22",
    place="Concurrent composition of approximate DP",
    formula="as for mechanisms that answer once: Σ ε_i, Σ δ_i, or the optimal composition",
    notion=Notion.APPROX,
    uses=_CONCURRENT,
)(None)
theorem(
    "concurrent-zcdp",
    title="Interactive mechanisms at the same time, ρ",
    source="L22",
    place="Concurrent composition of Rényi DP",
    formula="ρ = Σ ρ_i, and Rényi divergences add up at every order",
    notion=Notion.ZCDP,
    uses=_CONCURRENT,
)(None)
theorem(
    "concurrent",
    title="Interactive mechanisms at the same time, trade-off functions",
    source="VZ23",
    place="Concurrent composition of f-DP",
    formula="f = f_1 ⊗ … ⊗ f_n, as for mechanisms that answer once;  μ² = Σ μ_i²",
    uses=_CONCURRENT,
)(None)
theorem(
    "concurrent-filter",
    title="Interactive mechanisms under a filter",
    source="HST23",
    place="Filters and odometers for concurrent composition",
    formula="the sums of pure-filter, approx-filter, zcdp-filter and gdp-filter, in any order",
    uses=(Use(Role.CONCURRENT_FILTER),),
)(None)
