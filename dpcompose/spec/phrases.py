"""What messages call the parts of a spec, and the phrases and examples that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.core.numbers.form_keys import REQUIRED, Sort
from dpcompose.errors import Path, quoted
from dpcompose.source import Number, Value
from dpcompose.spec.fields import Model
from dpcompose.spec.mechanisms import NORM_KEYS, ROW_CHANGES, kind_of

PARAMETERS = {notion.value: notion.facts.parameters for notion in Notion}
#: The parameters of each concrete mechanism, sensitivities apart.
NOISE_PARAMETERS = {name: tuple(key.name for key in form.keys) for name, form in FORMS.items()}
#: Parameters that may be a mapping by block.
BY_BLOCK = frozenset(
    {"epsilon", "delta", "rho", "mu", "alpha", *ROW_CHANGES}
    | {key.name for form in FORMS.values() for key in form.numbers if key.name != "sensitivity"}
)
BUDGET_FORMS = (
    "`{epsilon}`, `{epsilon, delta}`, `{rho}`, `{mu}`, `{advantage}` or `{success, baseline}`"
)


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
    if above and above[-1] in ROW_CHANGES and last in NORM_KEYS:
        return f"{quoted(last)} of {quoted(str(above[-1]))}"
    if above and above[-1] in BY_BLOCK:
        return f"{quoted(str(above[-1]))} of {quoted(last)}"
    return quoted(last)


class UnknownKey(NamedTuple):
    """An unknown key at `path`, with the other keys of its mapping and the model of that
    mapping."""

    model: type[Model]
    path: Path
    siblings: Mapping[str, Value]

    @property
    def name(self) -> str:
        """Returns the key itself."""
        return str(self.path[-1])

    @property
    def above(self) -> Path:
        """Returns the path of the mapping in which the key stands."""
        return self.path[:-1]

    @property
    def legal(self) -> dict[str, str]:
        """Returns the legal keys of the mapping, each with its description."""
        return keys_of(self.model)

    @property
    def noise(self) -> str | None:
        """Returns the name of the concrete mechanism that the mapping states; None if it states
        none."""
        return kind_of(self.model)

    @property
    def unknown(self) -> str:
        """Returns the message that the key is unknown."""
        return f"unknown key {quoted(self.name)} in {self.model.what}"

    def beside(self, key: str) -> Path:
        """Returns the path of the key `key` of the same mapping."""
        return (*self.above, key)


# --- examples of keys -----------------------------------------------------------------------------

#: What has kinds: the key that names them, and their forms.
KINDS: dict[str, tuple[str, Mapping[str, Form[Any]]]] = {
    "map": ("kind", MAPS),
    "partition": ("by", PARTITIONS),
}


def form_of_kind(noun: str, given: object) -> Form[Any] | None:
    """Returns the form (the keys and their types) of the kind `given` of a map or a partition
    (`noun`); None if the kind is unknown."""
    tag, forms = KINDS[noun]
    kind = given.get(tag) if isinstance(given, dict) else given
    return forms.get(kind) if isinstance(kind, str) else None


#: What stands at a required key of each sort in an example.
_EXAMPLES = {
    Sort.WHOLE: "5",
    Sort.NAME: "city",
    Sort.COLUMN: "city",
    Sort.COLUMNS: "[city]",
    Sort.FLAG: "true",
    Sort.NUMBER: "1",
    Sort.MOVES: "1",
    Sort.BLOCKS: "4",
    Sort.FEEDS: "{free: [common], paid: [common, extra]}",
}


def example_of(form: Form[Any]) -> str:
    """Returns an example of the required keys of a kind, as text; "" if it requires none."""
    return entries_of(form, required(form))


def required(form: Form[Any]) -> list[str]:
    """Returns the keys of a kind that must be given."""
    return [each.name for each in form.keys if each.default is REQUIRED]


def entries_of(form: Form[Any], keys: Iterable[str]) -> str:
    """Returns an example of the given keys of a kind, as text: `rows: 5, keep: random`."""
    examples = {
        each.name: each.choices[-1] if each.choices else _EXAMPLES.get(each.sort)
        for each in form.keys
    }
    return ", ".join(f"{name}: {examples[name]}" for name in keys)
