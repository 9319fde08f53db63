"""The families of concrete mechanisms: noise, choices and answers, one file each."""

from __future__ import annotations

from dpcompose.core.mechanisms import (
    discrete_gaussian,
    exponential,
    gaussian,
    geometric,
    laplace,
    matrix,
    noisy_histogram,
    noisy_max,
    private_selection,
    randomized_response,
    shuffled_reports,
    skellam,
    sparse_vector,
)
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.mechanisms.one_hot import OneHot
from dpcompose.core.notions.concrete_mechanism import Family

#: Every family by its name in a spec.
FORMS: dict[str, FamilyForm] = {
    form.name: form
    for form in (
        laplace.FORM,
        gaussian.FORM,
        geometric.FORM,
        discrete_gaussian.FORM,
        exponential.FORM,
        randomized_response.FORM,
        skellam.FORM,
        sparse_vector.FORM,
        matrix.FORM,
        matrix.MATRIX,
        noisy_max.FORM,
        noisy_max.PERMUTE_AND_FLIP,
        noisy_max.TOP_K,
        noisy_histogram.FORM,
        noisy_histogram.KEY_SELECTION,
        private_selection.FORM,
    )
}


def form_of(mechanism: Family) -> FamilyForm:
    """Returns the form in which a mechanism is written in a spec."""
    plain = mechanism.noise if isinstance(mechanism, OneHot) else mechanism
    forms = (*FORMS.values(), shuffled_reports.FORM)
    kinds = type(plain).__mro__
    return next(form for kind in kinds for form in forms if form.family is kind)
