"""The kinds of maps, one file each."""

from __future__ import annotations

from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps import (
    allocate,
    batches,
    cap,
    columns,
    edges,
    filter,
    flatten,
    group,
    join_public,
    limit,
    nodes,
    opaque,
    row,
    sample,
    shuffle,
    stable,
    value,
)
from dpcompose.core.change.maps.kind import Map

#: Every kind by its name in a spec.
MAPS: dict[str, Form[Map]] = {
    kind.FORM.name: kind.FORM
    for kind in (
        filter,
        row,
        columns,
        flatten,
        join_public,
        group,
        limit,
        cap,
        stable,
        value,
        edges,
        nodes,
        sample,
        batches,
        allocate,
        shuffle,
        opaque,
    )
}


def form_of(made_by: Map) -> Form[Map]:
    """Returns the form of a map's kind."""
    return next(form for form in MAPS.values() if type(made_by) in (form.kind, form.other))
