"""The formats of comparisons and totals of specs; a small module, since every start imports it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcompose.core.notions.notion import Notion


class Reviewed(StrEnum):
    """The formats of `diff`."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    SARIF = "sarif"


class Told(StrEnum):
    """The formats of `total`."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class Planned(StrEnum):
    """The formats of `fit` and `savings`."""

    TEXT = "text"
    JSON = "json"


class FilterKind(StrEnum):
    """The notions in which a filter counts a budget, where parameters are chosen along the way."""

    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    GDP = "gdp"

    @property
    def notion(self) -> Notion:
        """Returns the notion itself."""
        from dpcompose.core.notions.notion import Notion

        return Notion(self.value)
