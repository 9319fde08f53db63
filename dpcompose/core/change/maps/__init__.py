"""The kinds of maps, one file each."""

from __future__ import annotations

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
from dpcompose.core.change.maps.kind import Map, MapForm

#: Every kind by its name in a spec.
MAPS: dict[str, MapForm] = {
    form.name: form
    for form in (
        filter.FORM,
        row.FORM,
        columns.FORM,
        flatten.FORM,
        join_public.FORM,
        group.FORM,
        limit.FORM,
        cap.FORM,
        stable.FORM,
        value.FORM,
        edges.FORM,
        nodes.FORM,
        sample.FORM,
        batches.FORM,
        allocate.FORM,
        shuffle.FORM,
        opaque.FORM,
    )
}


def form_of(made_by: Map) -> MapForm:
    """Returns the form of a map's kind."""
    return next(form for form in MAPS.values() if type(made_by) in (form.kind, form.other))
