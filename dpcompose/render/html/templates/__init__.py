"""Templates of HTML pages, in which every text is escaped and control characters are visible."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from dpcompose.errors import printable


@cache
def environment() -> Environment:
    """Returns the environment of the templates."""
    return Environment(
        loader=PackageLoader("dpcompose.render.html"),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
