"""The kinds of maps, one file each."""

from __future__ import annotations

from importlib import import_module

from dpcompose.core.change.kind_form import Form, Forms
from dpcompose.core.change.maps.kind import Map

#: Every kind by its name in a spec.
MAPS: Forms[Map] = Forms(
    f"{__name__}.",
    *("filter", "row", "columns", "flatten", "join-public", "group", "limit", "cap", "stable"),
    *("value", "edges", "nodes", "sample", "batches", "allocate", "shuffle", "opaque"),
)


def form_of(made_by: Map) -> Form[Map]:
    """Returns the form of a map's kind, which stands in the file of its class."""
    form: Form[Map] = import_module(type(made_by).__module__).FORM
    return form
