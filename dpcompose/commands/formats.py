"""How comparisons and sums of specs are printed; light, since every start imports it."""

from __future__ import annotations

from enum import StrEnum


class Reviewed(StrEnum):
    """How changes are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    SARIF = "sarif"


class Told(StrEnum):
    """How totals are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
