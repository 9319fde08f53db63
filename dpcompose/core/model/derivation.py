"""Derivations: trees of steps, with facts of the spec at the leaves and theorems above them.

A derivation is data. `facts` holds what the wording (`report.explanation`) needs; nothing here is
a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpcompose.core.model.problem import Path
from dpcompose.core.notions.guarantee import Quantity


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of a derivation, with the bound that it proves.

    `rule`: the name of the rule applied, by which it is worded; `theorem`: the id of the theorem
    that justifies it, None for a fact given in the spec. `inputs`: the steps it uses. `paths`: the
    places of the spec that it is about.
    """

    rule: str
    theorem: str | None
    inputs: tuple[Step, ...]
    bound: Quantity | None
    facts: dict[str, Any] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
