"""How comparisons and sums of specs are printed; light, since every start imports it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcompose.core.notions.notion import Notion


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


class FilterKind(StrEnum):
    """The notions in which a budget can be counted where parameters are chosen along the way."""

    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    GDP = "gdp"

    @property
    def notion(self) -> Notion:
        """Returns the notion itself."""
        from dpcompose.core.notions.notion import Notion

        return Notion(self.value)
