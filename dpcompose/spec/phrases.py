"""What messages call the parts of a spec, and the phrases that they share."""

from __future__ import annotations

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Path, quoted
from dpcompose.source import Number
from dpcompose.spec.adversary import Adversary, AdversaryLimit
from dpcompose.spec.asked import Reporting, WrittenQuestion, WrittenRisk
from dpcompose.spec.concrete import Binomial, NegativeBinomial, Runs, UntilThreshold
from dpcompose.spec.datasets import WrittenJoint
from dpcompose.spec.model import TAGS, Spec
from dpcompose.spec.models import Model
from dpcompose.spec.relations import Declared

PARAMETERS = {notion.value: notion.facts.parameters for notion in Notion}
#: The parameters of each concrete mechanism, sensitivities apart.
NOISE_PARAMETERS = {name: tuple(key.name for key in form.keys) for name, form in FORMS.items()}
#: Parameters that may be a mapping by block.
BY_BLOCK = frozenset(
    {"epsilon", "delta", "rho", "mu", "alpha", "unbounded", "bounded"}
    | {key.name for form in FORMS.values() for key in form.numbers if key.name != "sensitivity"}
)
BUDGET_FORMS = (
    "`{epsilon}`, `{epsilon, delta}`, `{rho}`, `{mu}`, `{advantage}` or `{success, baseline}`"
)

#: The models that stand in no union, by their top-level key.
_SINGLE: dict[str | int, type[Model]] = {"relations": Declared, "report": Reporting}

#: The models of the laws of a number of runs.
_LAWS: dict[str | int, type[Model]] = {
    "negative_binomial": NegativeBinomial,
    "binomial": Binomial,
    "until_threshold": UntilThreshold,
}


def value_text(value: object) -> str:
    """Returns a wrong value as messages quote it: its text, or `nothing`, `a list`, `a mapping`."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true`" if value else "`false`"
        case str():
            return f'`"{value}"`' if _is_quoted_number(value) else quoted(value)
        case list():
            return "a list"
        case _:
            return "a mapping"


def _is_quoted_number(value: str) -> bool:
    """Returns whether a text is a number in quotation marks."""
    if isinstance(value, Number):
        return False
    try:
        parse(value, {})
    except ExpressionError:
        return False
    return True


def model_at(loc: Path) -> type[Model]:
    """Returns the model in which pydantic found the error at `loc`."""
    if loc[:2] == ("report", "risk") and len(loc) > 2:
        return WrittenRisk
    if loc[:2] == ("report", "questions") and len(loc) > 3:
        return WrittenQuestion
    if loc and loc[0] in _SINGLE:
        return _SINGLE[loc[0]]
    if loc[:1] == ("adversary",) and "<sets>" not in loc:
        return Adversary
    if "<adversary budget>" in loc and "adversary" in loc[:-1]:
        return AdversaryLimit
    if "<select noise>" in loc and "runs" in loc[:-1]:
        return next((_LAWS[step] for step in loc[:-1] if step in _LAWS), Runs)
    if loc[2:4] == ("<table>", "joint") and len(loc) > 4:
        return WrittenJoint
    ends = [step for step in loc if step in TAGS]
    return TAGS[str(ends[-1])] if ends else Spec


def keys_of(model: type[Model]) -> dict[str, str]:
    """Returns the legal keys of a model, each with its description."""
    return {
        field.alias or name: field.description or "" for name, field in model.model_fields.items()
    }


def as_hint(description: str) -> str | None:
    """Returns the description of a field as a hint, in lower case; None if it is empty."""
    text = description.rstrip(".")
    if text.startswith(_PEOPLE):
        return text
    return text[:1].lower() + text[1:] if text else None


#: Words that keep their capital letter.
_PEOPLE = ("Gaussian", "Rényi", "Poisson", "Laplace", "Skellam")


def name_of(path: Path) -> str:
    """Returns the name that messages use for the value at `path`."""
    if not path:
        return "the spec"
    *above, last = path
    if isinstance(last, int):
        return f"item {last + 1} of {name_of(tuple(above))}"
    if above and above[-1] in BY_BLOCK:
        return f"{quoted(str(above[-1]))} of {quoted(last)}"
    return quoted(last)
