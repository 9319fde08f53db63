"""A whole spec as it is written, the models of its parts, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import Field

from dpcompose.core.change.maps import MAPS
from dpcompose.errors import Path
from dpcompose.source import Number
from dpcompose.spec.asked import RELATIONS, Adversary, Declared, Protect, Reporting, WrittenBudget
from dpcompose.spec.datasets import Dataset, map_model
from dpcompose.spec.fields import Model, Name, OneOf, Optional, ReadBy, Scalar, expected
from dpcompose.spec.mechanisms import Mechanism


def _version(value: object) -> int:
    """Returns the version of the spec language, 1; raises the error of the field for any other
    value."""
    if isinstance(value, Number) and value == "1":
        return 1
    write = "1" if isinstance(value, str) and value in {"1", "1.0", "v1"} else None
    what = "`1`, the only version of the spec language"
    raise expected(what, "write `dpcompose: 1`", "DPC107", write)


class Spec(Model):
    __doc__ = "What is computed from sensitive data, and what it must protect."

    what = "a spec"
    dpcompose: Annotated[int, ReadBy(_version, {"const": 1})] = Field(
        description="The version of the spec language: 1."
    )
    title: Name = Field(default="", description="What the release is.")
    population: Optional[Name] = Field(
        default=None,
        description="Whose data it is, such as `patients-2026`: releases on the same people add "
        "up (`dpcompose total`), and names of datasets mean the same in all of their specs.",
    )
    protect: Protect = Field(
        description="The neighbouring relation of the final guarantee: "
        + "".join(
            f"`{name}` ({says}), "
            for name, says in RELATIONS.items()
            if name not in ("euclidean", "l1")
        )
        + "or one declared under `relations`."
    )
    adaptivity: Literal["adaptive", "independent", "parameters"] = Field(
        default="adaptive",
        description="Whether a mechanism may use earlier outputs, and whether its parameters may "
        "be chosen after seeing them (`parameters`).",
    )
    filter: Optional[Literal["pure", "approx", "zcdp", "gdp"]] = Field(
        default=None,
        description="With `adaptivity: parameters`: the notion in which the budget is counted, "
        "chosen before the first output. Left out: that of the budget; `zcdp` for (ε, δ) and "
        "for a budget in risk. It never depends on the releases.",
    )
    because: Optional[Name] = Field(
        default=None,
        description="Beside `adaptivity: adaptive`: why all parameters were fixed before the first "
        "output, in a ledger of several specs.",
    )
    roots: Optional[Literal["disjoint"]] = Field(
        default=None, description="`disjoint`: nobody is in two roots."
    )
    relations: dict[str, Declared] = Field(default={}, description="Relations of your own.")
    constants: dict[str, Scalar] = Field(default={}, description="Numbers for use in expressions.")
    datasets: dict[str, Dataset] = Field(
        description="Roots hold sensitive data; the others are made from them.",
        json_schema_extra={"minProperties": 1, "propertyNames": {"pattern": "^[^.]+$"}},
    )
    mechanisms: list[Mechanism] = Field(
        description="What is released.", json_schema_extra={"minItems": 1}
    )
    budget: Optional[WrittenBudget] = Field(default=None, description="What `check` compares with.")
    report: Optional[Reporting] = Field(
        default=None,
        description="What to state beside the bound: `{delta: [1e-6, 1e-9], risk: {}}`.",
    )
    adversary: Optional[Adversary] = Field(
        default=None,
        description="Two hypotheses about one person, for a bound that is weaker than DP: "
        "`{hypotheses: none-vs-uniform}`.",
    )


# --- the models of a spec -------------------------------------------------------------------------


def located(loc: Path) -> tuple[type[Model], Path]:
    """Returns the model of the mapping in which pydantic found an error, and the path of the error
    in the spec: `loc` without the tags of unions."""
    node: Any = Spec
    model: type[Model] = Spec
    path: list[str | int] = []
    for step in loc:
        node, choice = _bare(node)
        if choice is not None:
            node = choice.member(node, str(step))
            continue
        path.append(step)
        if isinstance(node, type) and issubclass(node, Model):
            model, node = node, keys_of(node).get(step)
        else:
            node = get_args(node)[-1] if get_origin(node) in (list, dict) else None
    return model, tuple(path)


def models() -> list[type[Model]]:
    """Returns the models of all mappings of the language."""
    found: dict[type[Model], None] = {}
    stack: list[Any] = [Spec]
    while stack:
        node, choice = _bare(stack.pop())
        if choice is not None:
            stack.extend(reversed(choice.members(node)))
        elif isinstance(node, type) and issubclass(node, Model):
            if node not in found:
                found[node] = None
                stack.extend(reversed(keys_of(node).values()))
        else:
            stack.extend(reversed(get_args(node)))
    return list(found)


def _bare(node: Any) -> tuple[Any, OneOf | None]:
    """Returns a type without what pydantic is told about it, and the choice among its members if it
    is a union."""
    while get_args(node):
        if get_origin(node) is Annotated:
            choice = next((each for each in node.__metadata__ if isinstance(each, OneOf)), None)
            if choice is not None:
                return node.__origin__, choice
            node = node.__origin__
        elif type(None) in get_args(node):  # a key that may be left out
            node = get_args(node)[0]
        else:
            break
    return node, None


@cache
def keys_of(model: type[Model]) -> dict[str | int, Any]:
    """Returns what stands at each key of a model."""
    fields = model.model_fields.items()
    return {field.alias or name: field.rebuild_annotation() for name, field in fields}


# --- the JSON Schema, for editors -----------------------------------------------------------------

#: A part of a JSON Schema.
Node = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def json_schema() -> Node:
    """Returns the JSON Schema (draft 2020-12) of a spec: that of `Spec`, with those of the other
    models in `$defs`. Do not change it."""
    schema: Node = _without_nulls(Spec.model_json_schema())
    mapped = schema["$defs"]["Mapped"]["properties"]["map"]
    alone = [kind for kind in MAPS if _required(map_model(kind)) == {"kind"}]
    forms = [{"enum": alone, "title": "kind"}, *mapped.pop("anyOf")]
    mapped["anyOf"] = forms
    return {"$schema": _DIALECT, "title": "dpcompose spec"} | schema


def choices(node: Node) -> Iterator[Node]:
    """Yields the parts of the JSON Schema that one of its parts stands for, by a reference or as a
    choice of several, each with its own description."""
    if "$ref" in node:
        yield from choices(json_schema()["$defs"][node["$ref"].rpartition("/")[2]])
        return
    options = node.get("anyOf", ())
    for each in options:
        for choice in choices(each):
            yield {"description": node.get("description", ""), **choice}
    if not options:
        yield node


def words(node: Node) -> list[Any]:
    """Returns the values that a part of a schema lists, not those of what it may stand for."""
    return [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]


def _required(model: Any) -> set[str]:
    return {name for name, field in model.model_fields.items() if field.is_required()}


def _without_nulls(node: Any) -> Any:
    """Returns a JSON Schema without the type null that stands for keys left out, in which a value
    has any of its forms."""
    if isinstance(node, list):
        return [_without_nulls(each) for each in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _without_nulls(value) for key, value in node.items()}
    if tidy.get("default", ...) in (None, ""):
        del tidy["default"]
    if "const" in tidy:  # pydantic before 2.10 lists the value, too
        tidy.pop("enum", None)
    if "oneOf" in tidy:  # the reader chooses a form by its keys, and those of two may be alike
        tidy["anyOf"] = tidy.pop("oneOf")
    options = tidy.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        options.remove({"type": "null"})
        if len(options) == 1:
            del tidy["anyOf"]
            tidy = options[0] | tidy
    return tidy
