"""Templates of HTML pages, in which every text is escaped and control characters are visible."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from rich.text import Text

from dpcompose.errors import printable
from dpcompose.render.layout import sentence
from dpcompose.render.words.theorem_text import flowing


@cache
def environment() -> Environment:
    """Returns the environment of the templates. The filter `marked` shows what stands between
    backquotes as code."""
    found = Environment(
        loader=PackageLoader("dpcompose.render.html"),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"marked": with_code, "sentence": sentence, "flowing": flowing}
    return found


def with_code(said: str | Text) -> str:
    """Returns text as markup, in which words between backquotes are code."""
    text = str(said)
    parts = [printable(each) for each in text.split("`")]
    if len(parts) % 2 == 0:
        return printable(text)
    forms = (Markup("<code>{}</code>" if n % 2 else "{}") for n in range(len(parts)))
    return Markup("").join(form.format(each) for form, each in zip(forms, parts, strict=True))
