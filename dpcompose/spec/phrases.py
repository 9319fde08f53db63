"""What messages call the parts of a spec, and the phrases that they share."""

from __future__ import annotations

from dpcompose.core.exact_expr import number_hint
from dpcompose.errors import Path, quoted
from dpcompose.source import Number
from dpcompose.spec.fields import Model
from dpcompose.spec.mechanisms import Declared
from dpcompose.spec.model import TAGS, Spec

#: Said of what the contract of the spec language has and this version has not.
LATER = "this version of dpcompose cannot analyse it: remove it, or model the release without it"
STATE_IT = "state its guarantee: `notion: pure` with `epsilon`, for example"
PARAMETERS = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
}
BUDGET_FORMS = "`{epsilon}`, `{epsilon, delta}`, `{rho}` or `{mu}`"


def shown(value: object) -> str:
    """How a message quotes a value that is not what it should be."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true`" if value else "`false`"
        case str():
            looks = not isinstance(value, Number) and number_hint(value) is None
            return f'`"{value}"`' if looks else quoted(value)
        case list():
            return "a list"
        case _:
            return "a mapping"


def model_at(loc: Path) -> type[Model]:
    """The model that an error at `loc` speaks of."""
    if loc and loc[0] == "relations":
        return Declared
    tags = [step for step in loc if step in TAGS]
    return TAGS[str(tags[-1])] if tags else Spec


def keys_of(model: type[Model]) -> dict[str, str]:
    """The legal keys of a model, with what they mean."""
    return {
        field.alias or name: field.description or "" for name, field in model.model_fields.items()
    }


def as_hint(description: str) -> str | None:
    """The description of a field as a hint."""
    text = description.rstrip(".")
    return text[:1].lower() + text[1:] if text else None


def name_of(path: Path) -> str:
    """What a message calls the value at `path`."""
    if path and isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {quoted(str(path[-2]))}"
    if len(path) > 1 and path[-2] in {"epsilon", "delta", "rho", "mu"}:
        return f"{quoted(str(path[-2]))} of {quoted(str(path[-1]))}"
    return quoted(str(path[-1])) if path else "the spec"
