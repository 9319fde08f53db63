"""Mappings with a fixed set of keys, as models of pydantic."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A mapping with a fixed set of keys; `what` is what messages call it.

    The schema tells `__doc__` of each model: it is assigned, since Python can be run without
    docstrings.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    what: ClassVar[str] = "a mapping"
