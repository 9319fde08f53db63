"""Derivations: given facts at the leaves, applications of theorems above them.

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
    """One line of reasoning.

    `rule`: which rule was applied (the wording knows each by name); `theorem`: the id in
    the book that justifies it, None for a fact given in the spec. `inputs`: the steps it uses.
    `paths`: the places of the spec that it speaks of.
    """

    rule: str
    theorem: str | None
    inputs: tuple[Step, ...]
    bound: Quantity | None
    facts: dict[str, Any] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
