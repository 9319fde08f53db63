"""Claims: every number of every key counts by value, whatever it is called and however written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import command
import pytest
from conftest import LIBRARY
from tables import tables
from volume import rare

from dpcompose.core.numbers.expressions import bounds
from dpcompose.errors import InvalidSpec
from dpcompose.planning.comparison import Change, Invalid, SameTerms, Version, change
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.rewrites import content, less
from dpcompose.policy.accepted import Accepted, AcceptedClaim
from dpcompose.policy.accepted import written as policy_written
from dpcompose.report.declared_assumptions import NO_CLAIMS, Vouched, claims, is_new
from dpcompose.resolve import Resolved, resolve
from dpcompose.source import Number, Source, load
from dpcompose.spec.fields import Model, ReadNumber
from dpcompose.spec.model import keys_of, models
from dpcompose.spec.parts import WHOLE, Part

from .reviewer import codes, commit, run, write

TABLES = tables(__file__)
OWN: dict[str, str] = TABLES["every number"]
LOCK = ("--assumptions", "assumptions.lock")
#: No claims: the number of copies is a parameter, and these sections ask or allow.
ASKED = frozenset({"budget", "report", "constants"})


class Place(NamedTuple):
    """A number in a spec: its path, its text, what the models say of it, and whose key it is."""

    path: tuple[str | int, ...]
    text: str
    part: Part
    key: tuple[type[Model], str | int]

    @property
    def is_whole(self) -> bool:
        return self.part.held is int


def places(
    value: Any,
    part: Part = WHOLE,
    path: tuple[str | int, ...] = (),
    key: tuple[type[Model], str | int] | None = None,
) -> Iterator[Place]:
    """The numbers of a spec, also those that are keys."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, each in steps:
        below, at = part.below(step, each), (*path, step)
        own = key if part.model is None else (part.model, step)
        if isinstance(each, dict | list):
            yield from places(each, below, at, own)
        elif below.is_number and own is not None:
            yield Place(at, each, below, own)


def written(value: Any) -> str:
    """A tree of a spec as a text in the flow style of YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)}: {written(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return value if isinstance(value, Number) else json.dumps(value)


def with_number(source: Source, path: tuple[str | int, ...], text: str, **constants: str) -> str:
    """The text of a spec with another number at a path, and further constants."""
    tree: Any = deepcopy(source.value)
    node = tree
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = Number(text) if text.isdecimal() else text
    if constants:
        tree["constants"] = {**tree.get("constants", {}), **constants}
    return written(tree)


@cache
def known(name: str) -> Resolved:
    text = OWN[name] if name in OWN else LIBRARY[name].read_text("utf-8")
    return resolve(load(text, name))


def resolved(text: str) -> Resolved | None:
    """A spec with its meaning; None where the number does not fit its key."""
    try:
        return resolve(load(text, "mutant"))
    except InvalidSpec as error:
        assert not any(
            each.code == "DPC110" and "exact" not in each.message for each in error.diagnostics
        ), error
        return None


def of_entry(spec: Resolved, path: tuple[str | int, ...]) -> Vouched:
    return next(each for each in claims(spec) if each.path == path[: len(each.path)])


def is_claimed(place: Place) -> bool:
    copies = place.path[0] == "mechanisms" and place.path[2:] == ("count",)
    steps = place.path == ("protect", "distance")  # what is protected is compared by itself
    return place.path[0] not in NO_CLAIMS and not copies and not steps


# Factors above 1 by which a number becomes another one, the nearest first: not every value fits.
FACTORS = [Fraction(11, 10), Fraction(10001, 10000), Fraction(2), Fraction(3, 2)]
#: Ways to write a number times a factor: as itself, through constants, and with values that no
#: fraction has.
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "itself": ("{value}", {}),
    "a constant": ("K_", {"K_": "{value}"}),
    "a constant of a constant": ("(K_ + K_)/D_", {"J_": "2*({value})", "K_": "J_/2", "D_": "2"}),
    "a denominator": ("1/K_", {"K_": "1/({value})"}),
    "a root": ("({value})*sqrt(2)/1.5", {}),
    "a constant with a logarithm": ("K_*ln(3)", {"K_": "{value}"}),
    "nested, with exp": ("K_/L_", {"J_": "exp(1/5)", "L_": "J_*1.25", "K_": "{value}"}),
}
WHOLE_WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "itself": ("{value}", {}),
    "a product": ("1 * {value}", {}),
}


def variants(source: Source, place: Place, way: str) -> Iterator[tuple[Resolved, Resolved]]:
    """The spec with a smaller and a larger number at a place, both valid, the first that are."""
    value = bounds(place.text, _constants(source))
    form, constants = (WHOLE_WAYS if place.is_whole else WAYS)[way]

    def made(number: Fraction) -> Resolved | None:
        named = {name: text.format(value=number) for name, text in constants.items()}
        return resolved(with_number(source, place.path, form.format(value=number), **named))

    pairs: list[tuple[Fraction, Fraction]]
    if place.is_whole:
        one, low = Fraction(1), value.low
        pairs = [(low, low + one), (low - one, low), (low, 2 * low), (Fraction(low // 2), low)]
    elif not value.low:
        pairs = [(value.low, Fraction(1, 1000)), (value.low, Fraction(2))]
    else:
        pairs = [
            pair
            for by in FACTORS
            for pair in ((value.low, value.low * by), (value.low / by, value.low))
        ]
    for low, high in pairs:
        small, large = made(low), made(high)
        if small is not None and large is not None:
            yield small, large
            return


def _constants(source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    tree = source.value
    assert isinstance(tree, dict)
    written_ = tree.get("constants", {})
    assert isinstance(written_, dict)
    for name, text in written_.items():
        found[name] = bounds(str(text), found)
    return found


def judge(name: str, way: str) -> int:
    """Changes every number of a spec in one way, and wants a new claim of each but where less is
    claimed; returns how many were judged."""
    spec = known(name)
    judged = 0
    for place in places(spec.source.value):
        if not is_claimed(place) or way not in (WHOLE_WAYS if place.is_whole else WAYS):
            continue
        for small, large in variants(spec.source, place, way):
            judged += 1
            one, other = (of_entry(each, place.path) for each in (small, large))
            assert not is_new(one, one), place
            assert is_new(one, other) or "smaller" in place.part.weaker, place
            assert is_new(other, one) or "larger" in place.part.weaker, place
            assert is_new(one, other) or is_new(other, one), place
            assert one.content != other.content, place
    return judged


#: Specs of so many curves that their numbers take seconds each way, of which some will do: the
#: others hold all ways.
LARGE = ("noise", "selected")
FEW_WAYS = ("itself", "a constant with a logarithm", "a product")


def marks(name: str, way: str) -> list[pytest.MarkDecorator]:
    if name not in LARGE:
        return [] if way in FEW_WAYS else [pytest.mark.slow]
    return [pytest.mark.slow if way in FEW_WAYS else pytest.mark.long]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, marks=marks(name, way))
        for name in OWN
        for way in (*WAYS, "a product")
    ],
)
def test_every_number_counts_by_value(name: str, way: str) -> None:
    judged = judge(name, way)
    if way == "itself":  # but for weights, which sum to 1
        there = places(known(name).source.value)
        assert judged == sum(is_claimed(each) and each.path[-1] != "weight" for each in there)


def test_weights_of_hypotheses_count_by_value() -> None:
    text = (
        OWN["doubted"]
        .replace("weight: 1/2", "weight: 1 - W")
        .replace("weight: 1/4", "weight: W - 1/4")
    )
    old, new = (
        resolve(load(f"constants: {{W: {weight}}}\n{text}", "s")) for weight in ("1/2", "5/8")
    )
    one, other = (of_entry(each, ("adversary",)) for each in (old, new))
    assert is_new(one, other) and is_new(other, one)


@pytest.mark.slow
@pytest.mark.parametrize("name", rare(sorted(LIBRARY), 3))
def test_every_number_of_the_library_counts_by_value(name: str) -> None:
    try:
        known(name)
    except InvalidSpec:
        return
    assert judge(name, "itself") + judge(name, "nested, with exp") >= 0


def holds_number(held: Any) -> bool:
    """Whether a number stands at a key, not below the keys of another model."""
    if get_origin(held) is Annotated:
        marks = held.__metadata__
        return any(isinstance(each, ReadNumber) for each in marks) or holds_number(held.__origin__)
    return not isinstance(held, type) and any(map(holds_number, get_args(held)))


def test_every_key_with_a_number_is_looked_at() -> None:
    """A new key is in some spec above or in the library, and so changed by these tests."""
    seen: set[tuple[type[Model], str | int]] = set()
    for each in [load(text, name) for name, text in OWN.items()] + [
        load(file.read_bytes(), name) for name, file in LIBRARY.items()
    ]:
        seen |= {place.key for place in places(each.value)}
    there = {
        (model, key)
        for model in models()
        for key, held in keys_of(model).items()
        if holds_number(held)
    }
    left = [
        (model.__name__, key)
        for model, key in there
        if not any(issubclass(one, model) and key == of for one, of in seen)
    ]
    assert not left


def test_every_key_of_a_spec_is_a_claim_or_known_to_be_none() -> None:
    """A new key at the top of a spec is a claim unless somebody says that it is none."""
    assert set(WHOLE.keys) - NO_CLAIMS == {
        "population",
        "protect",
        "adaptivity",
        "filter",
        "roots",
        "relations",
        "datasets",
        "mechanisms",
        "adversary",
    }


# --- what `diff` says of it ----------------------------------------------------------------------


def found(old: str, new: str) -> Change:
    result = change(Version("old", old), Version("new", new))
    assert isinstance(result, Change), result
    return result


def flagged(name: str, most: int) -> None:
    """Changes numbers of a spec, and wants an event wherever a number of the bound decreased."""
    spec = known(name)
    looked = 0
    for place in places(spec.source.value):
        copies = place.path[0] == "mechanisms" and place.path[2:] == ("count",)
        if looked == most or place.path[0] in ASKED or copies:
            continue
        for small, large in variants(spec.source, place, "itself"):
            looked += 1
            texts = [each.source.lines.text for each in (small, large)]
            for old, new in (texts, texts[::-1]):
                made = found(old, new)
                assert made.events or made.direction != "decreased", (place, made.numbers)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["answers", "units", "places", "values", "doubted"])
def test_no_bound_decreases_without_an_event(name: str) -> None:
    flagged(name, 1000)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_no_bound_of_the_library_decreases_without_an_event(name: str) -> None:
    try:
        known(name)
    except InvalidSpec:
        return
    flagged(name, 40)


CASES: list[dict[str, Any]] = TABLES["what is compared by value"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_compared_by_value(case: dict[str, Any]) -> None:
    old, new = (Template(case["spec"]).substitute(case[when]) for when in ("old", "new"))
    assert list(found(old, new).events) == case["events"]
    more = f"{new}title: another\n"
    assert found(new, more).events == ()


@pytest.mark.parametrize("case", CASES)
def test_a_record_holds_values_too(case: dict[str, Any]) -> None:
    """What claims more than a release of a ledger did says less of it, and counts as it was."""
    old, new = (
        Release(when, resolve(load(Template(case["spec"]).substitute(case[when]), when)))
        for when in ("old", "new")
    )
    told = [says for says, _ in less(old, new)]
    assert bool(told) == ("new-assumption" in case["events"])
    assert all(" was " in says or says.endswith(" is gone") for says in told), told
    assert (content(old) == content(new)) == (not case["events"])


def test_a_lock_holds_the_value_of_a_constant(home: Path) -> None:
    case = CASES[0]
    old, new = (Template(case["spec"]).substitute(case[when]) for when in ("old", "new"))
    write("s.yaml", old)
    assert run("accept", "s.yaml", "-o", "assumptions.lock").exit_code == 0
    assert codes("check", "s.yaml", "--epsilon", "9", "--delta", "1e-6", *LOCK) == (0, [])
    write("s.yaml", old.replace("200*sqrt(2)", "sqrt(2)*200"))
    assert codes("check", "s.yaml", "--epsilon", "9", "--delta", "1e-6", *LOCK) == (0, [])
    write("s.yaml", new)
    result = run("check", "s.yaml", "--epsilon", "9", "--delta", "1e-6", *LOCK)
    told = "sensitivity is `2.82842712475…` and was `282.842712475…`"
    assert (result.exit_code, told in " ".join(result.stdout.split())) == (1, True)


def test_a_lock_that_states_no_number_is_told_of(home: Path) -> None:
    """Whoever can write the lock can work out its hash: what it states may be anything."""
    write("s.yaml", OWN["places"])
    run("accept", "s.yaml", "-o", "assumptions.lock")
    for text in ("9e999999999", "1/0", "nan", "1 to", "x", "-1 to 2"):
        name, claim = "mechanism a", {"reads": "position.*", "notion": "pure", "epsilon": text}
        entry = AcceptedClaim("s.yaml", 1, name, claim, "Ann", "2026-01-02")
        lock = Accepted("assumptions.lock", ".", (entry,))
        write("assumptions.lock", policy_written(lock))
        result = run("check", "s.yaml", "--epsilon", "99", *LOCK)
        assert result.exit_code == 1 and "nobody has accepted `mechanism a`" in result.stdout


def test_a_fault_with_one_spec_hides_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcompose.commands import diff

    def faulty(old: Version | None, new: Version | None, terms: SameTerms) -> Change | Invalid:
        if new is not None and new.name.startswith("b"):
            raise RuntimeError("as if")
        return change(old, new, terms)

    case = CASES[0]
    old, new = (Template(case["spec"]).substitute(case[when]) for when in ("old", "new"))
    for name in "abc":
        write(f"{name}.yaml", old)
    commit()
    for name in "abc":
        write(f"{name}.yaml", new)
    monkeypatch.setattr(diff, "change", faulty)
    for limits in ((), ("--max-seconds", "60")):
        call = ("diff", "--against", "HEAD", ".", "--format", "json", "-o", "out.json", *limits)
        result = command.run(*call)
        assert result.exit_code == 70
        assert "RuntimeError: as if" in result.stderr
        told = json.loads(Path("out.json").read_text("utf-8"))["changes"]
        assert [each.get("events") for each in told if "events" in each] == [["new-assumption"]] * 2
