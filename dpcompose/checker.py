"""A stand-alone checker of dpcompose certificates: it reads a file and says yes or no.

    python -m dpcompose.checker CERTIFICATE [--spec SPEC.yaml]

It imports nothing but the standard library (PyYAML for `--spec` alone), so that this file can be
copied and run by itself. It searches for nothing. A claim says what a change of one dataset loses
at most; the checker does the step from its premises anew: the losses of the mechanisms from their
statements, all outcomes of a map, all ways to spread over blocks, and the sum. Numbers are exact
fractions. Exponentials, logarithms and roots are rational intervals; a claim that needs them is
confirmed to one part in 10^12, a number at a chosen δ to the tolerance that is printed.

What is malformed or does not follow is refused, with the claim. What this file has no rule for is
"not checked", and said so. CERTIFICATE.md describes the format; sections are those of the theory.
"""

from __future__ import annotations

import decimal
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction as F
from functools import cache, lru_cache
from itertools import accumulate, combinations, combinations_with_replacement, pairwise, product
from typing import Any, NamedTuple

VERSION, MOST_LINES, MOST_DIGITS, MOST_WAYS = 1, 200_000, 20_000, 5_000
INF, ZERO, ONE, TWO = math.inf, F(0), F(1), F(2)
Line = dict[str, Any]


class Rejected(Exception):
    """The certificate is malformed, or a line of it does not follow."""


class Missing(Rejected):
    """A premise that a rule needs is not there."""


class NotChecked(Exception):
    """The checker has no rule for this."""


# -- numbers -------------------------------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]+(/[1-9][0-9]*)?")
SCALE = 1 << 320
#: Whether an irrational step was taken since this was cleared.
rounded = [False]


def number(text: Any) -> F:
    """Returns the fraction of at least 0 that a string `p/q` stands for."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS or not _NUMBER.fullmatch(text):
        raise Rejected(f"{str(text)[:40]!r} is not a number of the form `p/q`")
    return F(text)


def mapping(pairs: list[tuple[str, Any]]) -> Line:
    """Returns the mapping of pairs of JSON, each key of which is there once."""
    if len(found := dict(pairs)) < len(pairs):
        raise Rejected("a key is there twice")
    return found


def integer(value: Any, least: int = 0) -> int:
    """Returns a whole number of a certificate."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise Rejected(f"{str(value)[:40]!r} is not a whole number of at least {least}")
    return value


@lru_cache(maxsize=4096)
def _exp(x: F) -> tuple[F, F]:
    if x < 0:
        return 1 / _exp(-x)[1], 1 / _exp(-x)[0]
    if x > 5_000:
        raise NotChecked("e to a power above 5000")
    halves = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 8)
    step = (x.numerator * SCALE // x.denominator) >> halves
    low = term = SCALE
    n = 0
    while term:
        n += 1
        term = term * step // (n * SCALE)
        low += term
    high = low + 4 * n + 8  # each term is cut by less than a unit, the power and the rest by two
    for _ in range(halves):
        low, high = low * low // SCALE, high * high // SCALE + 1
    return F(low, SCALE), F(high, SCALE)


def exp(x: F) -> tuple[F, F]:
    """Returns a lower and an upper bound of e^x."""
    rounded[0] = rounded[0] or x != 0
    return _exp(x)


def log(y: F) -> F:
    """Returns an upper bound of ln y for y ≥ 1: ln y ≤ r + (y/e^r - 1) for any r."""
    if y <= 1:
        return ZERO
    near = y - 1 if y - 1 < F(1, 10**12) else F(math.log(y.numerator) - math.log(y.denominator))
    near = F(math.log1p(float(y - 1))) if F(1, 10**12) <= y - 1 < 1 else max(near, ZERO)
    return F(math.ceil((near + y / exp(near)[0] - 1) * SCALE), SCALE)


def sqrt(x: F) -> F:
    """Returns an upper bound of the root of x, exact where it is rational."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return F(top, bottom)
    rounded[0] = True
    size = SCALE << max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return F(math.isqrt(x.numerator * size * size // x.denominator) + 1, size)


# -- shapes: which keys a line has, and what stands there ----------------------------------------


def flag(value: Any) -> None:
    """Refuses what is not true or false."""
    if not isinstance(value, bool):
        raise Rejected(f"{str(value)[:40]!r} is not true or false")


def word(value: Any) -> None:
    """Refuses what is not a text."""
    if not isinstance(value, str):
        raise Rejected(f"{str(value)[:40]!r} is not a name")


def words(value: Any) -> None:
    """Refuses what is not a list of texts, each once."""
    if not isinstance(value, list) or len({*map(str, value)}) < len(value):
        raise Rejected("a list of names is due, each once")
    for each in value:
        word(each)


def positive(value: Any) -> None:
    """Refuses what is not a number above 0."""
    if not number(value):
        raise Rejected("a number above 0 is due")


def once(value: Any) -> None:
    """Refuses what is not a whole number of at least 1."""
    integer(value, 1)


def maybe(shape: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a test that lets null pass as well."""
    return lambda value: None if value is None else shape(value)


Shape = dict[str, Callable[[Any], Any]]
_DROPS: Shape = {"drops": flag, "uses": maybe(words)}
_KEEP: Shape = {"rows": once, "keep": word}
MAP_SHAPES: dict[str, Shape] = {
    "filter": _DROPS,
    "row": {"keeps": words, "uses": maybe(words)},
    "columns": {"only": words},
    "all-rows": {},
    "flatten": {"max_rows": once, "exact": flag, "keeps": words, **_DROPS},
    "join-public": {"max_rows": once, "exact": flag, "said_by": word, **_DROPS},
    "group": {"by": word},
    "limit": {"per": word, **_KEEP},
    "cap": _KEEP,
    "sample": {"rate": positive, "size": maybe(once), "of": maybe(once), "shared": flag},
    "stable": {"stability": integer},
    "value": {
        **dict.fromkeys(("unbounded", "bounded", "diameter"), maybe(number)),
        "metric": word,
        "joint": maybe(lambda joint: has_shape(joint, {"datasets": words, "l1": number})),
    },
    "edges": {},
    "nodes": {},
    "opaque": {},
}
PARTITION_SHAPES: dict[str, Shape] = {
    "value": {"uses": maybe(words)},
    "key": {"column": word},
    "position": {},
    "membership": {"max_blocks": once},
    "kinds": {"kinds": lambda kinds: [[integer(n) for n in kinds[name]] for name in kinds]},
}
_NOISE: Shape = {"sigma": positive, "unit": positive}
_CHOICE: Shape = {"range_epsilon": number, "law": word, "monotone": flag}
NOISE_SHAPES: dict[str, Shape] = {
    "Laplace": {"scale": positive},
    "Geometric": {"scale": positive},
    "Exponential": {"range": number},
    "RandomizedResponse": {"odds": number, "k": once},
    "Gaussian": _NOISE,
    "DiscreteGaussian": {**_NOISE, "norm": word},
    "SparseVector": {
        **dict.fromkeys(("threshold_epsilon", "answer_epsilon", "value_epsilon"), number),
        "positives": once,
        "monotone": flag,
    },
    "NoisyMax": _CHOICE,
    "PermuteAndFlip": _CHOICE,
    "TopK": {**_CHOICE, "k": once, "peeling": flag},
    "Matrix": {
        **_NOISE,
        "column_norm": number,
        "participations": once,
        "min_separation": once,
        "bands": maybe(once),
    },
}
ROOT_SHAPE: Shape = {
    "domain": word,
    "unit": maybe(word),
    "size": maybe(integer),
    "max_degree": maybe(integer),
    "columns": maybe(words),
}


def has_shape(value: Any, needed: Shape, more: Shape | None = None) -> None:
    """Refuses a mapping that lacks a needed key, has one that is unknown, or another value."""
    if not isinstance(value, dict) or not {*needed} <= {*value} <= {*needed, *(more or {})}:
        raise Rejected("it has other keys than the format says")
    for key, test in {**needed, **(more or {})}.items():
        if key in value:
            test(value[key])


def one_of(shapes: dict[str, Shape], strict: bool) -> Callable[[Any], None]:
    """Returns a test of a mapping with a `kind`; other kinds pass if it is not `strict`."""

    def test(value: Any) -> None:
        kind = value["kind"]
        if kind in shapes:
            has_shape(value, {"kind": word, **shapes[kind]})
        elif strict or not isinstance(kind, str):
            raise Rejected(f"there is no kind {str(kind)[:40]!r}")

    return test


def relation_shape(value: Any) -> None:
    """Refuses what is no neighbouring relation."""
    kind = value["kind"]
    if kind == "declared":
        has_shape(value, {"kind": word, "name": word, "distance": once, "within": relation_shape})
        if value["within"]["kind"] == "declared":
            raise Rejected("a declared relation is within one of the others")
    elif kind == "bounded":
        has_shape(value, {"kind": word}, {"keeps": words, "changes": words})
        if {"keeps", "changes"} <= {*value}:
            raise Rejected("a relation keeps some columns, or it changes some alone")
    elif kind in "unbounded user edge node node-rewired euclidean free-lunch".split():
        has_shape(value, {"kind": word})
    else:
        raise Rejected(f"there is no relation {str(kind)[:40]!r}")


def statement_shape(value: Any) -> None:
    """Refuses what is no stated guarantee: a δ is part of approximate DP alone."""
    more: Shape = {"noise": one_of(NOISE_SHAPES, False), "shift": number, "implied": flag}
    if value["notion"] == "approx":
        more["delta"] = number
    if value["notion"] in ("rdp", "profile"):
        more["points"] = lambda points: [[number(x) for x in point] for point in points]
        more["delta"] = number
    needed: Shape = {"relation": relation_shape, "up": integer, "notion": word, "value": number}
    has_shape(value, needed, more)
    if ("noise" in value) != ("shift" in value) or number(value.get("delta", "0")) > 1:
        raise Rejected("a noise has a shift, and a δ is at most 1")


def mechanism_shape(value: Any) -> None:
    """Refuses what is no mechanism."""
    has_shape(
        value,
        {"name": word, "count": once, "statements": lambda all_: [*map(statement_shape, all_)]},
    )


def dataset_shape(line: Line) -> None:
    """Refuses a line of a dataset that is neither a root nor made by a map or a partition."""
    more: Shape = {
        "history": lambda levels: [integer(level, -1) for level in levels],
        "mechanisms": lambda all_: [*map(mechanism_shape, all_)],
    }
    needed: Shape = {"line": word, "id": integer, "name": word}
    if "root" in line:
        per_unit: Shape = {"max_rows_per_unit": once}
        needed["root"] = lambda root: has_shape(root, ROOT_SHAPE, per_unit)
    elif "map" in line:
        needed |= {"parent": integer, "map": one_of(MAP_SHAPES, False)}
        more |= {"draws": once, "one_release": flag, "through": words}
    else:
        needed |= {"parent": integer, "partition": integer, "class": integer}
    has_shape(line, needed, more)
    made_by = line.get("map") or {}
    if made_by.get("kind") != "sample":
        known = not made_by or made_by["kind"] in MAP_SHAPES
        if known and line.get("draws", 1) != 1:
            raise Rejected("samples alone are drawn several times")
        return
    rate, size, of = number(made_by["rate"]), made_by["size"], made_by["of"]
    if rate > 1 or (size is not None and (of is None or size > of or rate != F(size, of))):
        raise Rejected("a rate is at most 1, and that of a sample of fixed size is size / of")


def partition_shape(line: Line) -> None:
    """Refuses a line of a partition that contradicts itself."""
    has_shape(
        line,
        {
            "line": word,
            "id": integer,
            "of": integer,
            "name": word,
            "by": one_of(PARTITION_SHAPES, True),
            "sizes": lambda sizes: [*map(once, sizes)],
            "drops": flag,
            "max_blocks_per_unit": maybe(once),
            "max_rows_per_block": maybe(once),
        },
    )
    fed = [each for some in line["by"].get("kinds", {}).values() for each in some]
    if "kinds" in line["by"] and (
        any(size > 1 for size in line["sizes"]) or max(fed, default=0) >= len(line["sizes"])
    ):
        raise Rejected("the kinds of rows name blocks, each of which is there once")


# -- changes -------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """One unit of a change, with what became of it further down where that is followed."""

    kind: str
    ends: tuple[int, ...] = (0,)
    kept: tuple[str, ...] = ()
    size: F | None = None
    displaced: int = 0
    sign: int = 0
    directed: int = 0
    below: Any = ()


#: Units with how often each occurs, in a fixed order.
Change = tuple[tuple[Unit, int], ...]
BOTH = 2
PAIR, ANY = Unit("pair", (0, 1)), Unit("any")
SINGLE = OLD = Unit("single")
NEW = Unit("single", (1,), sign=1)
KINDS = "single pair user edge node node-rewired declared metric any".split()


def gather(items: Iterable[tuple[Unit, int]]) -> Change:
    """Returns units in a fixed order, equal ones counted together."""
    counted: dict[Unit, int] = {}
    for unit, count in items:
        counted[unit] = counted.get(unit, 0) + count
    return tuple(sorted(counted.items(), key=repr))


def _turned(unit: Unit) -> Unit:
    """Returns the same unit with its two sides numbered the other way round."""
    swap = ((u._replace(ends=tuple((1, 0, 2)[e] for e in u.ends)), n) for u, n in unit.below)
    return unit._replace(ends=unit.ends[::-1], below=gather(swap))


def around(unit: Unit, below: Change) -> Unit:
    """Returns a unit that became others; how its two sides are numbered is free."""
    if not below:
        return unit
    unit = unit._replace(sign=0, directed=0, below=below)
    return unit if len(unit.ends) == 1 else min(unit, _turned(unit), key=repr)


def _over(change: Change, act: Callable[[Unit], Unit]) -> Change:
    """Returns a change with an action on its innermost units."""
    return gather((around(u, _over(u.below, act)) if u.below else act(u), n) for u, n in change)


def _settled(change: Change) -> Change:
    """Returns a change whose outermost units have sides numbered in one way."""
    found = []
    for unit, count in change:
        ways = [unit, _turned(unit)] if unit.below and len(unit.ends) == 2 else [unit]
        plain = (each._replace(ends=(0, 1)[: len(unit.ends)]) for each in ways)
        found.append((min(plain, key=repr), count))
    return gather(found)


def _backwards(unit: Unit) -> Unit:
    back = unit._replace(ends=unit.ends[::-1])
    return back if unit.kind in ("pair", "any", "metric") else back._replace(sign=1 - unit.sign)


@lru_cache(maxsize=1 << 14)
def canonical(change: Change) -> Change:
    """Returns the one form of a change; one that is not directed may as well be read backwards."""
    ways = {unit.directed for unit, _ in leaves(change) if unit.kind in ("single", "user")}
    if ways == {0, 1}:
        change = _over(change, lambda u: u._replace(directed=0))
    forms = [_settled(change)] + [_settled(_over(change, _backwards))] * (ways != {1})
    return min(forms, key=repr)


def leaves(change: Change) -> list[tuple[Unit, int]]:
    """Returns the units at the dataset itself, with how often each occurs."""
    found: dict[Unit, int] = {}
    for unit, count in change:
        for leaf, times in leaves(unit.below) if unit.below else [(unit, 1)]:
            found[leaf] = found.get(leaf, 0) + times * count
    return list(found.items())


def seen_through(unit: Unit, outer: Unit) -> Unit:
    """Returns a unit with ends relative to what encloses `outer`, in place of `outer` itself."""
    both = outer.ends[0] if len(set(outer.ends)) < len(outer.ends) else BOTH
    ends = tuple(both if e == BOTH else outer.ends[min(e, len(outer.ends) - 1)] for e in unit.ends)
    return unit._replace(ends=tuple(sorted(ends)) if unit.kind in ("any", "metric") else ends)


def _drop(change: Change, depth: int) -> Change:
    """Returns a change without the history at a level; what it holds moves up."""
    if depth:
        return gather((around(u, _drop(u.below, depth - 1)), n) for u, n in change)
    return gather((seen_through(i, u), n * k) for u, n in change for i, k in u.below)


def down(
    change: Change,
    node: DataNode,
    child: DataNode,
    become: Callable[[Unit], Iterable[tuple[Unit, int]]],
) -> Change:
    """Returns a change one dataset further down, where each unit becomes the units of `become`."""
    trace = node.depth in child.history

    def descend(items: Change) -> Iterator[tuple[Unit, int]]:
        for unit, count in items:
            if unit.below:
                inner = gather(descend(unit.below))
                yield from [(around(unit, inner), count)] * bool(inner)
            else:
                yield from ((u, n * count) for u, n in placed(unit, become(unit), trace))

    return fit(gather(descend(change)), node, child)


def placed(unit: Unit, made: Iterable[tuple[Unit, int]], trace: bool) -> list[tuple[Unit, int]]:
    """Returns what became of a unit: inside of it where it is followed, else in its place."""
    if trace:
        below = gather(made)
        return [(around(unit, below), 1)] if below else []
    found = [(seen_through(u, unit), n) for u, n in made]
    rows = unit.kind in ("single", "pair")  # a row that stems from all rows of a user stays one
    lacks = [rows and BOTH in u.ends and u.size is None for u, _ in found]
    return [
        (u._replace(size=unit.size) if no else u, n)
        for (u, n), no in zip(found, lacks, strict=True)
    ]


def fit(change: Change, node: DataNode, child: DataNode) -> Change:
    """Returns a change in canonical form, without the history that `child` does not keep."""
    if node.leans and not child.leans:
        change = _over(change, lambda u: u._replace(directed=0))
    levels = [*node.history, *([node.depth] if node.depth in child.history else [])]
    for depth in range(len(levels) - 1, -1, -1):
        change = change if levels[depth] in child.history else _drop(change, depth)
    return canonical(change)


def parts_of(change: Change, outermost: bool) -> list[tuple[Change, int]]:
    """Returns a change in parts that can be followed one at a time: its single units, or those of
    the outermost level that has several; with how many there are of each."""

    def parts(items: Change) -> Iterator[tuple[Unit, int]]:
        for unit, count in items:
            if not unit.below or (outermost and (len(items) > 1 or count > 1)):
                yield unit, count
            else:
                yield from ((around(unit, ((u, 1),)), n * count) for u, n in parts(unit.below))

    merged: dict[Change, int] = {}
    for unit, count in parts(change):
        each = canonical(((unit, 1),))
        merged[each] = merged.get(each, 0) + count
    return list(merged.items())


def only_rows(change: Change) -> bool:
    """Whether all units, and what holds them, are rows that come, go or are replaced."""
    rows = ("single", "pair")
    return all(u.kind in rows and not u.displaced and only_rows(u.below) for u, _ in change)


def sides(unit: Unit) -> set[int]:
    """Returns the ends of a unit from which something reaches the dataset at hand."""
    every = set(range(len(unit.ends)))
    found = {u.ends[min(s, len(u.ends) - 1)] for u, _ in unit.below for s in sides(u)}
    return found if unit.below and BOTH not in found else every


# -- datasets ------------------------------------------------------------------------------------


class DataNode:
    """A dataset, with what follows from its place (`facts`)."""

    def __init__(self, line: Line, parent: DataNode | None) -> None:
        self.id, self.name, self.parent = line["id"], str(line["name"])[:60], parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.map: Line | None = line.get("map")
        self.block: tuple[Line, int] | None = None
        self.draws, self.one_release = (
            integer(line.get("draws", 1), 1),
            bool(line.get("one_release")),
        )
        self.history, self.mechanisms = tuple(line.get("history", ())), line.get("mechanisms", [])
        self.children: list[DataNode] = []
        self.joint = self.joint_bound()
        self.partitions: list[Line] = []
        self.facts: Line = {}
        self.read = self.leans = False
        #: Whether this file has rules for the maps on the way from the root.
        self.known: bool = parent is None or parent.known
        #: Outcomes of random maps down to this depth are given; or a random map is part of one
        #: release, and a statement must be on a dataset at depth `above` or further up.
        self.given: int = 0 if parent is None else parent.given
        self.above: int | None = None if parent is None else parent.above

    def up(self, steps: int) -> list[DataNode]:
        """Returns the datasets from `steps` further up down to this one."""
        above = self.parent if steps else None
        if steps and above is None:
            raise Rejected(f"a statement in `{self.name}` is above its root")
        return [*(above.up(steps - 1) if above else ()), self]

    def joint_bound(self) -> str | None:
        """Returns the joint bound, as text, of a value whose releases are all per unit of distance;
        None of other datasets."""
        said = [each for mechanism in self.mechanisms for each in mechanism["statements"]]
        if not said or (self.map or {}).get("joint") is None:
            return None
        plain = all(x["relation"]["kind"] == "euclidean" and x["notion"] == "pure" for x in said)
        return json.dumps(self.map["joint"]) if plain and self.map else None

    def is_sample(self) -> bool:
        """Whether it is a sample whose outcome is taken as given."""
        return self.map is not None and self.map["kind"] == "sample" and self.above is None


class Conduct(NamedTuple):
    """How a map treats rows: how many it makes of one (one, several, or that depends on others),
    whether one may leave no trace, whether some row is declared to give nothing, what it draws."""

    gives: str
    may_drop: bool = False
    drops: bool = False
    random: bool = False


def conduct(made_by: Line) -> Conduct:
    """Returns how a map treats rows."""
    match made_by["kind"]:
        case "filter":
            return Conduct("one", True, bool(made_by["drops"]))
        case "row" | "columns" | "all-rows":
            return Conduct("one")
        case "flatten" | "join-public":
            return Conduct("several", True, bool(made_by["drops"]))
        case "group":
            return Conduct("depends", True)
        case "limit" | "cap":
            return Conduct("depends", True, random=made_by["keep"] == "random")
        case "sample":
            return Conduct("depends", random=True)
        case "stable" | "value" | "edges" | "nodes" | "opaque":
            return Conduct("depends")
    raise NotChecked(f"maps of kind {made_by['kind']!r}")


def names(value: Any) -> frozenset[str] | None:
    """Returns columns, or None where they are not said."""
    return None if value is None else frozenset(map(str, value))


def root_facts(root: Line) -> Line:
    """Returns what is public of a root."""
    graph, size, unit = root["domain"] == "graph", root["size"], root["unit"]
    most = root.get("max_rows_per_unit")
    return {
        "shape": "graph" if graph else "table",
        "unit": unit,
        "degree": root["max_degree"] if graph else None,
        "ordered": root["domain"] == "ordered-table",
        "size": size,
        "fixed": root["domain"] == "fixed-size-table" or size is not None,
        "most": size,
        "columns": names(root["columns"]),
        "free": root["domain"] == "table" and size is None and unit is None,
        "most_of_unit": None if most is None else F(most),
    }


def facts_after(made_by: Line, f: Line) -> Line:
    """Returns what is known of the table that a map makes, from what is known of what it reads."""
    kind, unit, had = made_by["kind"], f.get("unit"), f.get("columns")
    conduct(made_by)  # of a kind that is known
    keeps: frozenset[str] = (
        names(made_by.get("only" if kind == "columns" else "keeps")) or frozenset()
    )
    keeps = keeps if kind != "join-public" else had or frozenset()
    keeps = keeps if kind != "group" else frozenset([made_by["by"]])
    made = {"columns": None if had is None else had & keeps, "others": had is not None}
    if kind == "columns":
        made["others"] = had is not None and not keeps <= had
    unit_kept = unit if unit in keeps or kind == "join-public" else None
    if f.get("fixed") and (kind == "stable" or (kind == "value" and made_by["unbounded"])):
        raise Rejected("of tables of one size none has a row more than another")
    match kind:
        case "filter" | "all-rows" | "sample":
            size, free = made_by["size"] if kind == "sample" else None, f.get("free")
            if size is not None and not (f.get("fixed") and made_by["of"] <= (f["most"] or INF)):
                raise Rejected("a sample is of more rows than are known to be there")
            fixed = size is not None
            most = size if fixed else f.get("most")
            free = free and kind != "sample"
            return {**f, "size": size, "fixed": fixed, "most": most, "free": free}
        case "row" | "columns":
            same = {each: f.get(each) for each in ("ordered", "size", "fixed", "most", "free")}
            single = f.get("rows_are_units") and unit_kept is not None
            return {**same, **made, "unit": unit_kept, "rows_are_units": single}
        case "flatten" | "join-public":
            exact = bool(made_by["exact"] and f.get("fixed"))
            size = f["size"] * integer(made_by["max_rows"]) if exact and f["size"] else None
            same = {"ordered": f.get("ordered"), "size": size, "fixed": exact, "most": size}
            return {**made, **same, "unit": unit_kept}
        case "group":
            return {**made, "unit": unit_kept, "rows_are_units": unit_kept is not None}
        case "limit":
            return {k: f.get(k) for k in ("unit", "rows_are_units", "columns", "others")}
        case "cap":
            same = dict.fromkeys(("edge_rows", "ordered", "free", "fixed"), False)
            return {**f, **same, "size": None}
        case "value":
            most = made_by["diameter"]
            return {"shape": "value", "diameter": None if most is None else number(most)}
        case "edges":
            return {"edge_rows": True, "degree": f.get("degree"), "unit": unit}
        case "nodes":
            return {"unit": unit, "fixed": True, "size": None, "most": f.get("most")}
    return made  # stable, opaque


# -- what a map makes of one unit (section 4) ----------------------------------------------------

#: Units with counts; the column within which an added row displaces another, else None.
Outcome = tuple[tuple[tuple[Unit, int], ...], str | None]


def _one(unit: Unit, count: int = 1) -> list[Outcome]:
    return [(((unit, count),), None)]


def _row(unit: Unit) -> Unit:
    return Unit("single", sign=unit.sign, directed=unit.directed)


def _as_it_is(unit: Unit) -> Unit:
    return unit._replace(ends=tuple(range(len(unit.ends))), displaced=0)


def _mix(first: Unit, second: Unit, rows: int) -> list[Outcome]:
    """Returns so many rows, each one of two units, in all numbers."""
    if rows > 24:
        raise NotChecked("more than 24 rows of one row replaced")
    split = (((first, rows - i), (second, i)) for i in range(rows + 1))
    return [(tuple(each for each in way if each[1]), None) for way in split]


def _per_key(unit: Unit, column: str, first: bool, alone: bool, one_end: bool) -> list[Outcome]:
    """Returns a row's change where each value of a column has rows of its own."""
    inside, other = Unit("pair", (0, 0), (column,)), Unit("pair", (1, 1), (column,))
    if unit.kind == "single":
        return _one(_row(unit)) + ([] if alone else [(((inside, 1),), column if first else None)])
    if column in unit.kept:
        pair = Unit("pair", (0, 1) if alone else (0, 0) if one_end else (BOTH, BOTH), (column,))
        return _one(pair)
    return [(((a, 1), (b, 1)), None) for a in (inside, OLD) for b in (other, NEW)]


def joint_moves(made_by: Line, unit: Unit, f: Line) -> F | None:
    """Returns how far one unit of the root moves the values of a joint bound in sum."""
    of_unit = f.get("unit")
    units = {"single": 2 if of_unit else 1, "user": 1, "pair": 2}.get(unit.kind)
    if unit.kind == "pair" and of_unit and of_unit not in unit.kept:
        units = 4
    if made_by["joint"] is None or units is None:
        return None
    return units * number(made_by["joint"]["l1"])


def outcomes(made_by: Line, unit: Unit, f: Line) -> list[Outcome]:
    """Returns all that a map may make of one unit; what something else dominates is left out."""
    kind, pair, user = made_by["kind"], unit.kind == "pair", unit.kind == "user"
    every, uses = tuple(range(len(unit.ends))), names(made_by.get("uses"))
    keeps: frozenset[str] = (
        names(made_by.get("only" if kind == "columns" else "keeps")) or frozenset()
    )
    anything = _one(ANY._replace(ends=every))
    if kind == "value":
        u, b, most = (
            made_by[k] and number(made_by[k]) for k in ("unbounded", "bounded", "diameter")
        )
        ways = [b, u and 2 * u] if pair else [u if unit.size is None else u and u * unit.size]
        unknown = unit.kind not in ("single", "pair", "user") or (user and unit.size is None)
        moves = [
            x
            for x in ([] if unknown else [min((w for w in ways if w is not None), default=None)])
            + [most]
            if x is not None
        ]
        moves += [x for x in [joint_moves(made_by, unit, f)] if x is not None]
        return _one(Unit("metric", every, (), min(moves, default=None)))
    if unit.kind == "any" or kind == "opaque":
        return anything
    if kind in ("edges", "nodes"):
        degree = f.get("degree")
        if unit.kind not in ("edge", "node", "node-rewired"):
            raise NotChecked(f"the {kind} of a graph after a change of a {unit.kind}")
        if unit.kind != "edge" and degree is None:
            return anything
        rows = 1 if unit.kind == "edge" else integer(degree)
        if kind == "nodes":
            rows = 1 + (1 if unit.kind == "edge" else rows * (1 if unit.kind == "node" else 2))
            return _one(Unit("pair", (0, 0)), rows)
        rewired = unit.kind == "node-rewired"
        return _mix(Unit("pair", (0, 0)), SINGLE, rows) if rewired else _one(SINGLE, rows)
    if unit.kind not in ("single", "pair", "user"):
        raise NotChecked(f"a map of kind {kind!r} after a change of a {unit.kind}")
    decided = uses is not None and uses <= set(unit.kept)
    kept = unit.kept if kind == "join-public" else tuple(c for c in unit.kept if c in keeps)
    if kind in ("filter", "all-rows", "sample"):
        if not pair:
            return _one(unit._replace(ends=(0,), displaced=0, kept=()))
        ends = [] if kind == "all-rows" or decided else _one(OLD) + _one(NEW)
        return _one(Unit("pair", (0, 1), unit.kept)) + ends
    if kind == "columns":
        decided = keeps <= set(unit.kept)
    if kind in ("row", "columns", "flatten", "join-public"):
        rows = integer(made_by.get("max_rows", 1))
        if pair and kind != "join-public" and decided and keeps <= set(unit.kept):
            return [((), None)]
        if pair:
            as_many = decided or kind in ("row", "columns") or made_by["exact"]
            made = Unit("pair", (0, 1), kept)
            return _one(made, rows) if as_many else _mix(made, SINGLE, rows)
        if user and f.get("unit") is not None and (kind == "join-public" or f["unit"] in keeps):
            return _one(unit._replace(size=None if unit.size is None else unit.size * rows))
    elif kind in ("group", "limit", "cap"):
        column = (
            made_by["by"]
            if kind == "group"
            else made_by["per"]
            if kind == "limit"
            else f.get("unit")
        )
        rows, first = integer(made_by.get("rows", 1)), made_by.get("keep") == "first"
        if user and (column == f.get("unit") or kind == "cap"):
            if kind == "group":
                return _one(_row(unit)._replace(ends=(BOTH,), size=unit.size))
            return _one(
                unit._replace(size=F(rows) if unit.size is None else min(unit.size, F(rows)))
            )
        if not user:
            alone = bool(f.get("rows_are_units")) and column == f.get("unit")
            one_end = kind == "limit" and first and rows == 1 and bool(f.get("free"))
            return _per_key(unit, str(column), first, alone, one_end)
        return (
            anything
            if unit.size is None
            else _mix(_row(unit), Unit("pair", (0, 0)), int(unit.size))
        )
    elif kind == "stable":
        rows = integer(made_by["stability"])
        if pair:
            return [(((SINGLE, rows), (Unit("single", (1,)), rows)), None)]
        unit = unit._replace(directed=0, sign=0)
    if user:
        return anything if unit.size is None else _one(_row(unit), int(unit.size) * rows)
    return _one(_row(unit), rows)


# -- losses (section 2) --------------------------------------------------------------------------

#: To which notions a statement of a notion can be read without a δ.
READS = {
    "pure": "pure approx gdp zcdp profile",
    "approx": "approx profile",
    "gdp": "gdp zcdp profile",
    "zcdp": "zcdp",
    "profile": "",
}
Loss = Any  # a number, infinite where none is known; or undominated pairs (ε, δ), none of them
Parts = Sequence[tuple[Loss, int]]


#: The loss of one mechanism at all δ: (ε, δ) of a randomized response; or the kind of noise, its
#: numbers and the shift; or "Poisson", the rate, whether the row is added, and what it amplifies.
Item = tuple[Any, ...]
Multiset = tuple[tuple[Item, int], ...]


class Multisets(tuple[Multiset, ...]):
    """Losses kept apart, for bounds at a δ: each change loses what some multiset of items does."""

    def __add__(self, other: Any) -> Multisets:
        if not isinstance(other, Multisets):
            return self  # a sum begins with 0
        return Multisets({_merged(a, b): None for a, b in _product([self, other])})

    __radd__ = __add__

    def __mul__(self, copies: Any) -> Multisets:
        if len(self) < 2:
            return Multisets(
                tuple((item, n * copies) for item, n in each) for each in self if copies
            )
        # Each copy may lose another one of them.
        if math.comb(len(self) + copies - 1, copies) > MOST_WAYS:
            raise NotChecked(f"more than {MOST_WAYS} ways")
        ways = [*combinations_with_replacement(self, copies)] if copies else []
        return Multisets({_merged(*way): None for way in ways})


def _merged(*several: Multiset) -> Multiset:
    found: dict[Item, int] = {}
    for item, count in (each for some in several for each in some):
        found[item] = found.get(item, 0) + count
    return tuple(sorted(found.items(), key=repr))


def _ranks(items: Multiset) -> dict[Any, list[tuple[F, int]]]:
    """Returns the sizes of each kind of loss: ε, δ, and the shifts of each kind of noise."""
    found: dict[Any, list[tuple[F, int]]] = {}
    for item, n in items:
        if isinstance(item[0], F):
            sizes: list[tuple[Any, F]] = [*enumerate(item)]
        else:
            sizes = [(item, ONE)] if item[0] == "Poisson" else [(item[:-1], item[-1])]
        for kind, size in sizes:
            found.setdefault(kind, []).append((size, n))
    return found


def _is_no_worse(less: Multiset, more: Multiset) -> bool:
    """Whether a multiset of losses is covered by another one, as it is or in responses: noise in
    pure DP is no more than the response of its ε, pure DP over k steps no less than k responses.
    """
    common = [(item, min(n, m)) for item, n in less for other, m in more if item == other]
    less, more = (
        _merged(tuple(each), tuple((item, -n) for item, n in common)) for each in (less, more)
    )
    above = _merged(tuple((_response_of(item), n) for item, n in less))
    below = _merged(
        tuple(
            ((1 / item[1], ZERO), n * int(item[2])) if item[0] == "Geometric" else (item, n)
            for item, n in more
        )
    )
    return any(_are_no_larger(a, b) for a, b in product((less, above), (more, below)))


def _response_of(item: Item) -> Item:
    if item[0] == "Geometric":
        return item[2] / item[1], ZERO
    return (item[1], ZERO) if item[0] == "Laplace" else item


def _are_no_larger(less: Multiset, more: Multiset) -> bool:
    """Whether each loss of a multiset has one of its own kind in another one, and no smaller."""
    others = _ranks(more)
    for kind, sizes in _ranks(less).items():
        rest = sorted(others.get(kind, ()), reverse=True)
        for size, count in sorted(sizes, reverse=True):
            while count and size and rest:
                largest_size, left = rest.pop(0)
                if largest_size < size:
                    return False
                used = min(count, left)
                count -= used
                rest[:0] = [(largest_size, left - used)] * (left > used)
            if count and size:
                return False
    return True


def _guess(loss: Multisets) -> float:
    """Returns about how large a loss is: of several that hold any may be taken."""

    def size(item: Item) -> float:
        if item[0] == "Poisson":
            return float(item[1]) * sum((size(inner) * n for inner, n in item[3]), 0.0)
        if item[0] == "Gaussian":
            return float(item[1])
        epsilon = float(_response_of(item)[0]) if item[0] != "DiscreteGaussian" else 1.0
        return epsilon * math.tanh(epsilon / 2) + (float(item[1]) if len(item) == 2 else 0)

    return max(sum((size(item) * n for item, n in each), 0.0) for each in loss)


def top(losses: Iterable[Loss]) -> Loss:
    """Returns the largest loss; of losses that are kept apart all."""
    known = list(losses)
    if not any(isinstance(each, Multisets) for each in known):
        return max(known, default=ZERO)
    if () in known:
        return Multisets()
    sets = (loss if isinstance(loss, Multisets) else [()] for loss in known)
    return Multisets({each: None for loss in sets for each in loss})


class Algebra:
    """How losses of a notion add up: one number for ε, ρ and μ², undominated pairs for (ε, δ)."""

    def __init__(self, notion: str, multiplied: bool = False) -> None:
        self.notion, self.multiplied = notion, multiplied
        self.pairs, self.power = notion == "approx", 1 if notion == "pure" else 2
        self.zero: Loss = ((ZERO, ZERO),) if self.pairs else ZERO
        self.none: Loss = () if self.pairs else INF
        self.apart = notion == "profile"
        if self.apart:
            self.zero, self.none = Multisets([()]), Multisets()

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least of several bounds, all of which hold."""
        if self.apart:
            return min(filter(None, losses), key=_guess, default=self.none)
        if not self.pairs:
            return min(losses, default=INF)
        kept: list[tuple[F, F]] = []
        for epsilon, delta in sorted(pair for loss in losses for pair in loss):
            if not kept or delta < kept[-1][1]:
                kept.append((epsilon, delta))
        if len(kept) > 400:
            raise NotChecked("more than 400 undominated pairs")
        return tuple(kept)

    def add(self, losses: Sequence[Loss]) -> Loss:
        """Returns the loss of all together; δ as 1-Π(1-δ) where the proof says `multiplied`."""
        if not self.pairs:
            return INF if INF in losses else sum(losses, self.zero)
        found, lost = self.zero, self.multiplied
        for loss in losses:
            if lost and max((d.denominator.bit_length() for _, d in found), default=0) > 1 << 18:
                raise NotChecked("chances of very many digits")
            ways = [(a + c, b + d - b * d * lost) for a, b in found for c, d in loss]
            found = self.best([ways])
        return found

    def times(self, loss: Loss, copies: int) -> Loss:
        """Returns the loss of so many copies."""
        if not self.pairs:
            return loss * copies if loss else loss
        found = self.zero
        for bit in bin(copies)[2:]:
            found = self.add([found, found, loss] if bit == "1" else [found, found])
        return found

    def cover(self, losses: Sequence[Loss]) -> Loss:
        """Returns a loss that covers each of several."""
        if not self.pairs:
            return top(losses)
        found: Loss = self.zero
        for loss in losses:
            found = self.best([[(max(a, c), max(b, d)) for a, b in found for c, d in loss]])
        return found

    def chain(self, parts: Parts, free: bool = False) -> Loss:
        """Returns the loss along a path of tables: so many steps of each loss."""
        parts = [(loss, count) for loss, count in parts if count and loss != ZERO]
        if self.apart and [count for _, count in parts] == [1]:
            return parts[0][0]
        if self.apart and parts:
            return Multisets([((_over_steps(parts), 1),)])
        if self.pairs:
            ways = _product([loss for loss, _ in parts])
            walks = [
                chain_pairs([(pair, n) for pair, (_, n) in zip(way, parts, strict=True)], free)
                for way in ways
            ]
            return self.best([[pair for pair in walks if pair is not None]])
        if any(loss == INF for loss, _ in parts):
            return INF
        if self.power == 1:
            return sum((loss * count for loss, count in parts), ZERO)
        if len({loss for loss, _ in parts}) == 1:
            return parts[0][0] * sum(n for _, n in parts) ** 2
        return sum((sqrt(loss) * count for loss, count in parts), ZERO) ** 2


def _over_steps(parts: Parts) -> Item:
    """Returns the loss of one mechanism over several steps: the shifts of Gaussian noise add up;
    of pure DP that of geometric noise over as many steps (Dong, Roth and Su 2022, Theorem 2.14).
    """
    steps = [(loss[0][0][0], n) for loss, n in parts if len(loss) == len(loss[0]) == loss[0][0][1]]
    items, count = {item for item, _ in steps}, sum(n for _, n in steps)
    if len(steps) == len(parts) and all(item[0] == "Gaussian" for item in items):
        return ("Gaussian", sum((sqrt(item[1]) * n for item, n in steps), ZERO) ** 2)
    if len(steps) == len(parts) and len(items) == 1:
        ((epsilon, *delta),) = items
        if delta == [0]:
            return ("Geometric", 1 / epsilon, F(count)) if epsilon else (ZERO, ZERO)
    raise NotChecked("several steps at a δ")


def _product(options: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields every choice of one of each, if these are not too many."""
    if math.prod(map(len, options)) > MOST_WAYS:
        raise NotChecked(f"more than {MOST_WAYS} ways")
    return product(*options)


def chain_pairs(steps: list[tuple[tuple[F, F], int]], free: bool) -> tuple[F, F] | None:
    """Returns (ε, δ) along a path (VI.3), in the best order of steps if it is `free`, else in the
    worst one; None if δ reaches 1."""
    merged: dict[tuple[F, F], int] = {}
    for pair, count in steps:
        merged[pair] = merged.get(pair, 0) + count
    epsilon = sum((pair[0] * n for pair, n in merged.items()), ZERO)
    if epsilon > 4_000 and any(pair[1] for pair in merged):
        return None
    if len(merged) == 1 and [*merged.values()] == [1]:
        return None if steps[0][0][1] >= 1 else steps[0][0]

    def ratio(pair: tuple[F, F]) -> tuple[bool, F]:
        e, d = pair
        return (bool(d), ZERO) if not (e and d) else (False, d / (exp(e)[1] - 1))

    delta, before = ZERO, ZERO
    for e, d in sorted(merged, key=ratio, reverse=free):
        count = merged[e, d]
        if d:
            grown = F(count) if not e else (exp(e * count)[1] - 1) / (exp(e)[0] - 1)
            delta += exp(before)[1] * d * (ONE if count == 1 else grown)
        before += e * count
    return None if delta >= 1 else (epsilon, delta)


def converted(amount: Loss, source: str, target: str) -> Loss:
    """Returns the least known amount in `target` of what has this one in `source`."""
    if source == target or not amount or amount == INF:
        return amount
    if (source, target) == ("pure", "zcdp"):
        return amount * (1 - 2 / (exp(amount)[1] + 1))  # ε·tanh(ε/2)
    if (source, target) == ("gdp", "zcdp"):
        return amount / 2
    raise NotChecked(f"{source} read as {target}")


# -- what a mechanism loses (section 4) ----------------------------------------------------------


class View(NamedTuple):
    """A statement as seen from the dataset read: the level of its dataset `home` in a change, and
    what holds on the way down: the padding lemma; no random choice."""

    said: Line
    level: int
    home: DataNode
    padded: bool
    plain: bool


def view(node: DataNode, said: Line) -> View | None:
    """Returns a statement of a mechanism that reads `node`; None where it says nothing there."""
    home, *edges = node.up(integer(said["up"]))
    index = {depth: n for n, depth in enumerate((*node.history, node.depth))}
    of, admitted = said["relation"]["kind"], node.given <= home.depth
    if not admitted or not (node.above is None or home.depth <= node.above):
        return None
    if of == "declared":
        at_root = -1 in index and home.parent is None
        return View(said, index[-1], home, False, True) if at_root else None
    if home.depth in index:
        plain = not any(edge.map is not None and conduct(edge.map).random for edge in edges)
        return View(said, index[home.depth], home, padded(edges), plain)
    if of == "unbounded" and all(map(_keeps_rows, edges)):
        return View(said, len(node.history), node, False, True)
    return None


def _keeps_rows(edge: DataNode) -> bool:
    """Whether a row that is added above is at most one added row below."""
    if edge.block is not None:
        return str(edge.block[0]["by"]["kind"]) != "position"
    return edge.map is not None and conduct(edge.map).gives == "one"


def padded(edges: Sequence[DataNode]) -> bool:
    """Whether some row gives nothing along the edges, as the padding lemma needs it."""
    for edge in edges:
        if edge.block is None:
            found = conduct(edge.map or {})
            if found.gives != "one" or found.drops:
                return found.drops
            continue
        part, number_ = edge.block
        kind, fed = part["by"]["kind"], part["by"].get("kinds", {}).values()
        if kind in ("key", "position"):
            return False
        several = kind == "value" and sum(part["sizes"]) > 1
        if part["drops"] or several or any(number_ not in each for each in fed):
            return True
    return False


def required(relation: Line, facts: Line) -> frozenset[str] | None:
    """Returns the columns that a replacement must keep to be one step; None: none is known to."""
    keeps, changes = names(relation.get("keeps", ())), names(relation.get("changes"))
    columns, others = facts.get("columns"), facts.get("others")
    if columns is None and changes is not None:
        return None  # which columns are left is not known
    if columns is None or (changes is None and others):
        return keeps
    return (
        (keeps or frozenset()) & columns
        if changes is None
        else None
        if others
        else columns - changes
    )


def steps(v: View, unit: Unit) -> int | None:
    """Returns how many steps of a statement cover what of a unit reaches the dataset read; None if
    no number does (section 3)."""
    facts, relation, kind = v.home.facts, v.said["relation"], unit.kind
    of, size = relation["kind"], None if unit.size is None else int(unit.size)
    reached = len(sides(unit) if v.plain else unit.ends)
    if facts.get("fixed") and of in ("unbounded", "user"):
        return None  # no two tables of one size are such neighbours
    if of == "user" and facts.get("unit") is None:
        return None
    if of == "unbounded" or (of == "edge" and facts.get("edge_rows")):
        return reached if kind in ("single", "pair") else size if kind == "user" else None
    if of == "bounded":
        keeps = required(relation, facts)
        if keeps is not None and keeps <= set(unit.kept) and (kind == "pair" or unit.displaced):
            return 1
        if keeps is None or keeps or kind == "pair":
            return None
        return (
            size
            if kind == "any" or (kind == "user" and v.padded)
            else 1
            if kind == "single" and v.padded
            else None
        )
    if of == "user":
        if kind in ("user", "single"):
            return 1 if facts.get("rows_are_units") or kind == "user" else 2
        few = facts.get("unit") in unit.kept or reached == 1
        return (
            None if kind != "pair" else reached if facts.get("rows_are_units") else 2 if few else 4
        )
    if of == "declared":
        return 1 if kind == "declared" and relation["name"] in unit.kept else None
    degree = facts.get("degree")
    table = {"edge>node": degree, "edge>node-rewired": degree and 2 * degree, "node>edge": 2}
    table |= {"node>node-rewired": 2, "node-rewired>edge": 1, "node-rewired>node": 1}
    return 1 if of == kind else table.get(f"{of}>{kind}")


def matrix_moves(noise: Line) -> F:
    """Returns the square of how far vectors of norm 1 in all of a row's steps move C·x."""
    times, bands = int(noise["participations"]), noise["bands"]
    apart = bands is not None and int(bands) <= int(noise["min_separation"])
    return (times if apart else times * times) * number(noise["column_norm"]) ** 2


def _squared(noise: Line, shift: F) -> F:
    """Returns the μ² of Gaussian noise of σ at a shift in its unit."""
    return (shift / number(noise["sigma"])) ** 2 * number(noise["unit"])


#: ε of pure DP, ρ, and μ² of noise with known parameters at a shift s.
NOISES: dict[str, dict[str, Callable[[Line, F], F]]] = {
    "Laplace": {"pure": lambda p, s: s / number(p["scale"])},
    "Geometric": {"pure": lambda p, s: s / number(p["scale"])},
    "Exponential": {"pure": lambda p, s: number(p["range"]) * s},
    "RandomizedResponse": {"pure": lambda p, s: number(p["odds"]) * math.ceil(s)},
    "SparseVector": {
        "pure": lambda p, s: (
            (
                number(p["threshold_epsilon"])
                + number(p["answer_epsilon"])
                + number(p["value_epsilon"])
            )
            * math.ceil(s)
        )
    },
    "NoisyMax": {"pure": lambda p, s: number(p["range_epsilon"]) * math.ceil(s)},
    "PermuteAndFlip": {"pure": lambda p, s: number(p["range_epsilon"]) * math.ceil(s)},
    "TopK": {"pure": lambda p, s: number(p["range_epsilon"]) * int(p["k"]) * math.ceil(s)},
    "Gaussian": {"zcdp": lambda p, s: _squared(p, s) / 2, "gdp": _squared},
    "Matrix": {
        "zcdp": lambda p, s: _squared(p, s) * matrix_moves(p) / 2,
        "gdp": lambda p, s: _squared(p, s) * matrix_moves(p),
    },
    "DiscreteGaussian": {"zcdp": lambda p, s: _squared(p, s) / 2},
}


def stated(said: Line) -> F:
    """Returns the amount (ε, ρ, μ²) that a statement says for one step of its relation."""
    value, noise, notion = number(said["value"]), said.get("noise"), said["notion"]
    amount = value * value if notion == "gdp" else value
    if noise is None:
        return amount
    known = NOISES.get(noise["kind"], {}).get(notion)
    if known is None:
        raise NotChecked(f"noise of kind {noise['kind']!r} in {notion}")
    least = known(noise, number(said["shift"]))
    if amount < least:
        raise Rejected(f"a statement says {said['value']}, which its noise does not give")
    return least


def mechanism_loss(views: Sequence[View], change: Change, algebra: Algebra) -> Loss:
    """Returns the least loss of one copy of a mechanism that its statements give for a change."""
    found, target = [algebra.none], algebra.notion
    notions = {v.said["notion"] for v in views}
    sources = {n for n in notions if target in READS.get(n, "").split()}
    listed = algebra.pairs or algebra.apart
    for v in views if algebra.apart else ():
        if v.said.get("noise"):  # its own loss is below everything else that is stated
            return _loss_of_noise(v, change)
    groups = [({n}, n) for n in sources] * (not listed) + [(sources, target)] * bool(sources)
    for group, notion in groups:
        inner, chosen = Algebra(notion), [v for v in views if v.said["notion"] in group]
        amounts: dict[int, Loss] = {}
        for v in chosen:
            amount, delta = stated(v.said), number(v.said.get("delta", "0"))
            known: Loss = ((amount, delta),)
            if algebra.apart:
                gaussian = v.said["notion"] == "gdp"
                known = Multisets([((("Gaussian", amount) if gaussian else (amount, delta), 1),)])
            alone = known if listed else converted(amount, v.said["notion"], notion)
            amounts[id(v.said)] = alone
        for v in chosen:
            of = v.said["relation"]["kind"]
            here = _flat(change, v.level)
            moved = _distance(here, v.home.facts.get("diameter")) if of == "euclidean" else 1
            if of == "euclidean" and algebra.apart:
                raise NotChecked("a distance at a δ")
            if of == "euclidean" and inner.pairs and moved is not None:
                found.append(
                    ((stated(v.said) * moved, ZERO),) if v.said["notion"] == "pure" else ()
                )
            elif of == "euclidean" and moved is not None and v.said["notion"] == "pure":
                amount = converted(stated(v.said) * moved, v.said["notion"], notion)
                found.append(converted(amount, notion, target))
            elif of == "free-lunch":
                found.append(converted(amounts[id(v.said)], notion, target))
        for some, rows in _ways(chosen, change):
            options: list[list[Any]] = []
            for unit, count in rows:
                covers_ = [
                    (v, [(steps(v, u), n * count) for u, n in at_level(unit, v.level)])
                    for v in some
                ]
                options.append([(v, ks) for v, ks in covers_ if all(k is not None for k, _ in ks)])
            for way in _product(options):
                levels = {v.level for v, _ in way}
                free = len(levels) == 1 and only_rows(_flat(rows, *levels))
                parts = [(amounts[id(v.said)], k * n) for v, ks in way for k, n in ks]
                found.append(converted(inner.chain(parts, free), notion, target))
    for v in views:  # the shifts of noise add along a path
        shifted = NOISES.get(str((v.said.get("noise") or {}).get("kind")), {}).get(target)
        if shifted is not None and target in ("zcdp", "gdp"):
            said = {**v.said, "value": v.said["shift"], "notion": "pure", "noise": None}
            moved = mechanism_loss([v._replace(said=said)], change, Algebra("pure"))
            found.append(INF if moved == INF else shifted(v.said["noise"], moved))
    return algebra.best(found)


def _loss_of_noise(v: View, change: Change) -> Multisets:
    """Returns what concrete noise loses at all δ, where a change shifts it along a path."""
    noise, said = v.said["noise"], {**v.said, "value": v.said["shift"], "notion": "pure"}
    shift = mechanism_loss([v._replace(said={**said, "noise": None})], change, Algebra("pure"))
    unit = number(noise.get("unit", "1"))
    if shift == INF:
        return Multisets()
    if not shift:
        return Multisets([()])
    if noise["kind"] == "Laplace":
        item: Item = ("Laplace", shift / number(noise["scale"]))
    elif noise["kind"] == "Gaussian":
        item = ("Gaussian", (shift / number(noise["sigma"])) ** 2 * unit)
    elif noise["kind"] == "Geometric" and shift.denominator == 1:
        item = ("Geometric", number(noise["scale"]), shift)
    elif noise["kind"] == "DiscreteGaussian" and shift.denominator == 1 and noise["norm"] == "L1":
        item = ("DiscreteGaussian", number(noise["sigma"]) ** 2, shift)
    else:
        raise NotChecked(f"noise of kind {str(noise['kind'])[:30]!r} at a δ")
    return Multisets([((item, 1),)])


def sharper(views: Sequence[View], change: Change, notion: str) -> str:
    """Returns why less may be known of a loss than this file knows, or nothing."""
    if any(v.said.get("noise") for v in views) and notion in ("zcdp", "gdp"):
        return f"the {notion} of concrete noise that has none by itself"
    if len(views) > 1:
        return "statements that take turns along a path"
    if any(v.said["notion"] == "pure" for v in views) and notion in ("zcdp", "gdp"):
        return f"the {notion} of a pure statement over several steps"
    if any(u.kind in ("user", "edge", "node", "node-rewired") and u.below for u, _ in change):
        return "the rows of a unit that arrive at a dataset"
    return "" if all(v.plain for v in views) else "units beyond a random choice"


def at_level(unit: Unit, level: int) -> list[tuple[Unit, int]]:
    """Returns the units so many levels below an outermost one, with counts."""
    found = [(unit, 1)]
    for _ in range(level):
        found = [(u, n * k) for outer, n in found for u, k in outer.below]
    return found


def _flat(change: Change, level: int) -> Change:
    found = [(u._replace(below=()), n * k) for top, n in change for u, k in at_level(top, level)]
    return tuple(found)


def _distance(change: Change, diameter: F | None) -> F | None:
    """Returns how far a value moves at most, over all units of a change."""
    if any(u.kind != "metric" or u.size is None for u, _ in leaves(change)):
        return diameter
    moved = sum(((u.size or ZERO) * n for u, n in leaves(change)), ZERO)
    return moved if diameter is None else min(moved, diameter)


def _ways(views: Sequence[View], change: Change) -> Iterator[tuple[Sequence[View], Change]]:
    """Yields statements with the change that they cover; those on the dataset read once more with
    its removed and added rows joined to replaced ones."""
    yield views, change
    rows, depth, below = leaves(change), 0, change
    while below and below[0][0].below:
        depth, below = depth + 1, below[0][0].below
    gone, come = (sum(n for u, n in rows if u.kind == "single" and u.sign == s) for s in (0, 1))
    own = [v._replace(level=0) for v in views if v.level == depth]
    if gone and come and own:
        rest = [(u, n) for u, n in rows if u.kind != "single"]
        joined = [(PAIR, min(gone, come)), (SINGLE, abs(gone - come))]
        yield own, canonical(gather(rest + [each for each in joined if each[1]]))


# -- rules: maps and samples (sections 4 and 7) --------------------------------------------------


class Rules:
    """A claim that is checked. Its rules bound all that is made by one map (`child`) or one
    partition (`part`) of a dataset, from losses that premises give."""

    def __init__(self, algebra: Algebra, pure: bool, premises: dict[Any, Loss]) -> None:
        self.algebra, self.pure, self.premises = algebra, pure, premises
        self.used: set[Any] = set()

    def ask(self, node: DataNode, change: Change) -> Loss:
        """Returns what a premise says of a change of a dataset."""
        key = node.id, change, self.pure
        if key not in self.premises:
            raise Missing(f"nothing is claimed of a change in `{node.name}` that may happen")
        self.used.add(key)
        return self.premises[key]

    def bound(
        self, node: DataNode, edge: DataNode | BlockClasses, how: Any, change: Change
    ) -> Loss:
        """Returns the bound that a rule, or a combination of rules, gives."""
        name, of = (how, []) if isinstance(how, str) else (how[0], how[1:])
        if name == "best":
            once_each = {json.dumps(each): each for each in of}.values()
            return self.algebra.best([self.bound(node, edge, each, change) for each in once_each])
        if name in ("units", "outermost"):
            parts = parts_of(change, name == "outermost")
            free = only_rows(change) and node.up(node.depth)[0].facts.get("unit") is None
            losses = [(self._bound_of_unit(node, edge, of, each), n) for each, n in parts]
            return self.algebra.chain(losses, free)
        kind = "map_" if isinstance(edge, DataNode) else "split_"
        rule = getattr(self, kind + re.sub(r"\W", "_", name), None)
        if rule is None:
            raise NotChecked(f"rule {name!r}")
        return rule(node, edge, change, *([of] if of else []))

    def _bound_of_unit(
        self, node: DataNode, edge: DataNode | BlockClasses, rules: Sequence[Any], change: Change
    ) -> Loss:
        """Returns the least bound of those rules that apply to one unit."""
        found, why = [], Rejected("no rule is named for a unit")
        for rule in {json.dumps(each): each for each in rules}.values():
            try:
                found.append(self.bound(node, edge, rule, change))
            except Missing:
                raise
            except Rejected as refused:
                why = refused
        if not found:
            raise why
        return self.algebra.best(found)

    def map_unread(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        if child.read:
            raise Rejected(f"`{child.name}` is read")
        return self.algebra.zero

    def map_release(
        self, node: DataNode, child: DataNode, change: Change, of: Sequence[Any]
    ) -> Loss:
        """One release alone depends on what a random map draws: what is stated above covers it."""
        inside = [*node.children, child][node.children.index(child) + 1]
        if not inside.one_release or inside.map != child.map or releases(inside) != 1:
            raise Rejected("more than one release depends on what is drawn")
        return self.algebra.times(self.bound(node, inside, of[0], change), child.draws)

    def map_listed(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        """The worst of everything that a map may make of the change."""
        made_by, trace = child.map or {}, node.depth in child.history
        if child.is_sample():
            raise Rejected("a sample is no map whose outcomes are listed")
        mixed = len({u.sign for u, _ in leaves(change) if u.kind == "single"}) > 1
        vanish = mixed and conduct(made_by).may_drop

        def ways(items: Change) -> Iterator[Change]:
            options: list[list[Any]] = []
            for unit, count in items:
                each: list[Any]
                if unit.below:
                    each = [((around(unit, way), 1),) if way else () for way in ways(unit.below)]
                else:
                    each = [()] * (vanish and unit.kind == "single")
                    for made, column in outcomes(made_by, unit, node.facts):
                        told_ = (
                            unit._replace(displaced=1, kept=(column,)) if column and trace else unit
                        )
                        each.append(tuple(placed(told_, made, trace)))
                each = list(dict.fromkeys(each))
                if len(each) == 1:
                    each, count = [tuple((u, n * count) for u, n in each[0])], 1
                if math.comb(len(each) + count - 1, count) > MOST_WAYS:
                    raise NotChecked(f"more than {MOST_WAYS} ways")
                options.append([sum(way, ()) for way in combinations_with_replacement(each, count)])
            return (gather(sum(way, ())) for way in _product(options))

        found = {fit(way, node, child) for way in ways(change)}
        once_ = self.algebra.cover([self.ask(child, each) for each in found])
        # Of a map that is part of one release `map_release` counts the draws.
        return once_ if child.one_release else self.algebra.times(once_, child.draws)

    def map_joint(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        """Values that move together by a joint bound; the first of them is charged for all."""
        if child.joint is None:
            raise Rejected("no joint bound covers the change")
        if next(each for each in node.children if each.joint == child.joint) is not child:
            return self.algebra.zero
        values = [each for each in node.children if each.joint == child.joint]
        named = [str(each) for each in json.loads(child.joint)["datasets"]]
        if any(v.children or v.partitions or v.name not in named for v in values):
            raise Rejected("a joint bound covers the values that it names, and nothing below them")
        moved = [(joint_moves(child.map or {}, u, node.facts), n) for u, n in leaves(change)]
        if any(each is None for each, _ in moved):
            raise Rejected("no joint bound covers the change")
        left = sum(((each or ZERO) * n for each, n in moved), ZERO)

        def moves(value: DataNode) -> Change:
            made_by = value.map or {}
            return down(change, node, value, lambda u: [*outcomes(made_by, u, node.facts)[0][0]])

        changes = [moves(each) for each in values]
        far_ = [
            _distance(moved_, v.facts.get("diameter"))
            for v, moved_ in zip(values, changes, strict=True)
        ]
        reach = [each or ZERO for each in far_]
        algebra, said = self.algebra, [m["statements"] for v in values for m in v.mechanisms]
        noises = {(one.get("noise") or {}).get("kind") for each in said for one in each}
        released = [
            sorted(json.dumps([m["statements"], m["count"]]) for m in each.mechanisms)
            for each in values
        ]
        alike = noises <= {None, "Laplace", "Geometric"} and all(x == released[0] for x in released)
        if algebra.notion != "pure" and alike and all(each == left for each in reach):
            return self.ask(child, changes[0])
        inner = self if algebra.notion == "pure" else Rules(Algebra("pure"), True, self.premises)
        known = [(inner.ask(v, m), far) for v, m, far in zip(values, changes, reach, strict=True)]
        self.used |= inner.used
        total = ZERO
        for loss, far in sorted(known, key=lambda x: x[0] / x[1] if x[1] else ZERO, reverse=True):
            total += loss * min(far, left) / far if far else ZERO
            left -= min(far, left)
        if not total:
            return algebra.zero
        if algebra.apart:
            item: Item = ("Laplace", total) if noises == {"Laplace"} else (total, ZERO)
            return Multisets([((item, 1),)])
        if noises == {"Laplace"} and algebra.notion in ("zcdp", "gdp"):
            raise NotChecked(f"the {algebra.notion} of Laplace noise that is unlike")
        return ((total, ZERO),) if algebra.pairs else converted(total, "pure", algebra.notion)

    def map_sample(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        """All that reads one sample is composed, and amplified once, draw by draw."""
        algebra, ((unit, count), *more) = self.algebra, leaves(change)
        if not child.is_sample() or algebra.notion in ("zcdp", "gdp") or count > 1 or more:
            raise Rejected("it is for one unit of change and a sample, in ε")
        assert child.map is not None
        rate, fixed = number(child.map["rate"]), child.map["size"] is not None

        def inside(unit: Unit) -> Loss:
            return self.ask(child, down(change, node, child, lambda _: [(unit, 1)]))

        if algebra.apart:
            if fixed or unit.kind != "single" or not unit.directed:
                raise NotChecked(
                    "samples at a δ that are not Poisson, of a row that is there or not"
                )
            within = inside(_as_it_is(unit))
            if any(item[0] == "Poisson" for each in within for item, _ in each):
                raise NotChecked("samples of samples at a δ")
            drawn = [
                ((("Poisson", rate, F(unit.sign), each), 1),) if each else () for each in within
            ]
            return Multisets(drawn) * child.draws
        if fixed and unit.kind != "pair":
            return algebra.none
        loss = inside(_as_it_is(unit))
        found = [loss, _thinned(algebra, loss, rate)] if fixed else [loss]
        if fixed and not child.facts.get("ordered"):
            other = inside(PAIR)
            found.append(amplified(algebra, other, rate))
            if other != loss:
                found.append(exchanged(algebra, other, loss, rate))
        elif not fixed and unit.kind == "single":
            found.append(amplified(algebra, loss, rate, bool(unit.directed and unit.sign)))
        elif not fixed and unit.kind == "pair":
            found.append(exchanged(algebra, inside(OLD), loss, rate))
        elif unit.kind == "any" and unit.size is not None and loss != algebra.zero:
            row = exchanged(algebra, inside(OLD), inside(PAIR), rate)
            found.append(algebra.chain([(row, int(unit.size))]))
        elif unit.kind == "user" and unit.size and loss != algebra.zero:
            row = amplified(algebra, inside(SINGLE), rate)
            found.append(algebra.chain([(row, int(unit.size))]))
        return algebra.times(algebra.best(found), child.draws)

    def map_as_pure(
        self, node: DataNode, child: DataNode, change: Change, of: Sequence[Any]
    ) -> Loss:
        """The ρ of the pure DP that a sample amplifies, draw by draw."""
        if not child.is_sample() or child.map is None:
            raise Rejected("it is for a sample")
        inner = Rules(Algebra("pure"), True, self.premises)
        undirected = canonical(_over(change, lambda u: u._replace(directed=0)))
        loss = inner.bound(node, child, of[0], undirected)
        # What is shown below is asked for as well, and may prove nothing here.
        self.used |= inner.used | {key for key in self.premises if key[0] == child.id}
        if not loss:
            return loss
        found = converted(loss / child.draws, "pure", self.algebra.notion) * child.draws
        ((unit, count), *more) = leaves(change)
        if (
            count == 1
            and not more
            and (unit.kind == "pair" or (unit.kind == "single" and child.map["size"] is None))
        ):
            # Both samples hold the change, or neither does: no worse than a public sample.
            public = down(undirected, node, child, lambda u: [(_as_it_is(u), 1)])
            own = self.premises.get((child.id, public, False), INF)
            found = min(found, own * child.draws)
        return found

    # -- rules: partitions (section 5)

    def _blocks(
        self, node: DataNode, part: BlockClasses, change: Change, become: Callable[[Unit], Unit]
    ) -> list[Loss]:
        """Returns for each class of blocks the loss of one block where units become that."""
        return [self.ask(b, down(change, node, b, lambda u: [(become(u), 1)])) for b in part.blocks]

    def _total(self, rule: Callable[..., Loss], *losses: Sequence[Loss]) -> Loss:
        """Returns the worst total by a rule in numbers; of pairs for ε and for δ apart."""
        if not self.algebra.pairs:
            return rule(*losses)
        if self.algebra.multiplied:
            raise NotChecked("multiplied chances over blocks")
        if rule(*([ZERO if loss else INF for loss in each] for each in losses)) == INF:
            return ()
        flat, size = [loss or self.algebra.zero for each in losses for loss in each], len(losses[0])
        few = math.prod(map(len, flat)) <= 64
        ways = product(*flat) if few else iter([[x[0] for x in flat], [x[-1] for x in flat]])
        found = []
        for way in ways:
            split = [way[n : n + size] for n in range(0, len(flat), size)]
            found.append(
                tuple(rule(*([pair[k] for pair in each] for each in split)) for k in (0, 1))
            )
        return self.algebra.best([found])

    def split_everywhere(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """Every block may change in any way: their losses add."""
        losses = self._blocks(node, part, change, lambda u: ANY._replace(ends=_as_it_is(u).ends))
        return self.algebra.add(
            [self.algebra.times(x, n) for x, n in zip(losses, part.sizes, strict=True)]
        )

    def split_one_row(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """One row in the blocks where it can be; a replaced one leaves some and enters others."""
        unit = part.followed(change, one=True)
        if unit.kind == "user":
            raise Rejected("it is for a row")
        if unit.kind != "pair":
            return self._total(
                part.worst_row, self._blocks(node, part, change, lambda _: _row(unit))
            )
        lean = int(node.leans)
        old = self._blocks(node, part, change, lambda _: OLD._replace(directed=lean))
        new = (
            self._blocks(node, part, change, lambda _: NEW._replace(directed=lean)) if lean else old
        )
        both = self._blocks(node, part, change, lambda _: Unit("pair", (0, 1), unit.kept))
        kept = unit.kept
        return self._total(lambda u, v, b: part.worst_pair(u, v, b, kept), old, new, both)

    def split_one_unit_s_rows(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """All rows of one unit, as many as it has at most, over the blocks."""
        unit, blocks = part.followed(change, one=True), part.line["max_blocks_per_unit"]
        if unit.kind != "user":
            raise Rejected("it is for the rows of a unit")
        rows = None if unit.size is None else int(unit.size)
        hits = None if rows is None else rows * part.copies
        limits = (part.of_unit(node.facts.get("unit")), blocks, sum(part.sizes), hits)
        most = min(each for each in limits if each is not None)
        caps = [each for each in (rows, part.line["max_rows_per_block"]) if each is not None]

        def holding(size: int | None) -> list[Loss]:
            here = None if size is None else F(size)
            return self._blocks(node, part, change, lambda u: u._replace(ends=(0,), size=here))

        full = self._total(lambda u: largest(u, part.sizes, most), holding(min(caps, default=None)))
        if hits is None or not caps or hits >= most * min(caps):
            return full
        return self.algebra.best([full, self._spread(part, holding, hits, min(caps), most)])

    def _spread(
        self,
        part: BlockClasses,
        holding: Callable[[int], list[Loss]],
        hits: int,
        cap: int,
        most: int,
    ) -> Loss:
        """Returns the worst of so many rows over so many blocks, at most `cap` in one."""
        if self.algebra.apart:
            raise NotChecked("the rows of a unit over blocks at a δ")
        if self.algebra.pairs:
            worst = self._total(lambda u: max(u, default=ZERO), holding(1))
            return self.algebra.chain([(worst, hits)])
        if hits * cap * most * sum(min(n, most, hits) for n in part.sizes) > 300_000:
            raise NotChecked("many rows of a unit over many blocks")
        columns = [*zip([ZERO] * len(part.sizes), *map(holding, range(1, cap + 1)), strict=True)]
        best = [[ZERO] * (hits + 1) for _ in range(most + 1)]
        for column, many in zip(columns, part.sizes, strict=True):
            for used in [u for _ in range(min(many, most, hits)) for u in range(most, 0, -1)]:
                for n in range(hits, 0, -1):
                    ways = (best[used - 1][n - t] + column[t] for t in range(min(n, cap) + 1))
                    best[used][n] = max(best[used][n], *ways)
        return max(row[hits] for row in best)

    def split_all_in_each_block(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """At most so many blocks are hit, each as if all units hit it."""
        part.followed(change)
        rows = leaves(change)
        hits = sum(len(u.ends) * n for u, n in rows) * part.copies
        full = self._blocks(node, part, change, _as_it_is)
        if (
            len(
                {u.sign for u, _ in rows if u.kind == "single"}
                | {2 for u, _ in rows if u.kind == "pair"}
            )
            > 1
            or rows[0][0].kind == "pair"
        ):
            once = self._blocks(node, part, change, lambda _: OLD)
            full = [self.algebra.chain([(a, 1), (b, 1)]) for a, b in zip(full, once, strict=True)]
        return self._total(lambda u: largest(u, part.sizes, hits), full)

    def split_every_way(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """Every way of assigning every end to blocks; of equal blocks as many as may be hit."""
        part.followed(change)
        rows = leaves(change)
        hits = sum(len(u.ends) * n for u, n in rows) * part.copies
        read = [part.kind == "kinds" or b.read for b in part.blocks]
        places = [i for i, n in enumerate(part.sizes) if read[i] for _ in range(min(n, hits))]
        if sum(n for _, n in rows) > 8 or len(places) > 12:
            raise Rejected("there are too many ways")
        directed = node.leans and not self.algebra.apart
        directed = directed and all(u.directed or u.kind != "single" for u, _ in rows)

        def units(items: Change) -> Iterator[Unit]:
            for unit in [unit for unit, count in items for _ in range(count)]:
                yield from units(unit.below) if unit.below else (unit,)

        @cache
        def loss(index: int, here: tuple[Unit | None, ...]) -> Loss:
            block, rest = part.blocks[index], iter(here)
            trace = node.depth in block.history

            def descend(items: Change) -> Iterator[tuple[Unit, int]]:
                for unit in [unit for unit, count in items for _ in range(count)]:
                    if unit.below:
                        inner = gather(descend(unit.below))
                        yield from [(around(unit, inner), 1)] * bool(inner)
                    elif (made := next(rest)) is not None:
                        yield from placed(unit, [(made, 1)], trace)

            return self.ask(block, fit(gather(descend(change)), node, block))

        found = set()
        for way in _product([part.placements(u, places, directed) for u in units(change)]):
            here = [(i, tuple(each[n] for each in way)) for n, i in enumerate(places)]
            found.add(self.algebra.add([loss(i, what) for i, what in here if any(what)]))
        return self.algebra.cover([*found])


def _content(node: DataNode) -> Any:
    """Returns what a dataset is and what is made of it, without what is part of one release."""
    made = [_content(each) for each in node.children if not each.one_release]
    parts = [
        ({**part, "id": 0, "of": 0, "blocks": 0}, [*map(_content, part["blocks"])])
        for part in node.partitions
    ]
    return node.name, node.map, node.draws, node.mechanisms, made, parts


def releases(node: DataNode) -> int:
    """Returns how many releases there are at and below a dataset."""
    found = sum(integer(each["count"]) for each in node.mechanisms)
    found += sum(releases(each) * each.draws for each in node.children if not each.one_release)
    for part in node.partitions:
        blocks = zip(part["blocks"], part["sizes"], strict=True)
        found += sum(releases(block) * many for block, many in blocks)
    return found


def amplified(algebra: Algebra, loss: Loss, rate: F, added: bool = False) -> Loss:
    """Returns a loss through a sample: ln(1+q(e^ε-1)) with qδ; of a row that is only added
    -ln(1-q+q·e^-ε) with δ·q·e^-ε/(1-q+q·e^-ε)."""

    def grown(epsilon: F) -> F:
        up = log(
            1 / (1 - rate + rate / exp(epsilon)[1]) if added else 1 + rate * (exp(epsilon)[1] - 1)
        )
        return min(epsilon, up) if rate < 1 else epsilon

    if not algebra.pairs:
        return INF if loss == INF else grown(loss)
    shares = [rate / exp(e)[0] for e, _ in loss]
    return tuple(
        (grown(e), d * (s / (1 - rate + s) if added else rate))
        for (e, d), s in zip(loss, shares, strict=True)
    )


def _thinned(algebra: Algebra, loss: Loss, rate: F) -> Loss:
    """Returns the loss where both samples hold the change, or neither: (ε, qδ)."""
    return tuple((e, rate * d) for e, d in loss) if algebra.pairs else loss


def exchanged(algebra: Algebra, once: Loss, both: Loss, rate: F) -> Loss:
    """Returns the loss of a row replaced above a sample; `once` of one that is there or not."""

    def grown(u: F, b: F) -> F:
        return max(ONE, (1 - rate + rate * exp(u)[1]) / (1 - rate + rate * exp(u - b)[0]))

    if not algebra.pairs:
        least = min(both, 2 * once)
        return both if once == INF else min(least, log(grown(once, least)))
    found = [*_thinned(algebra, both, rate)]
    for u, d in once:
        a = grown(u, 2 * u)
        found.append((log(a), min(ONE, rate * d * (1 + a / exp(u)[0]))))
        for b, e in both:
            a = grown(u, b)
            share = (1 - rate) * (a - 1) / exp(u)[0] * d
            found.append((log(a), min(ONE, share + rate * a / exp(b)[0] * e)))
    return algebra.best([found])


def largest(losses: Sequence[Loss], sizes: Sequence[int], most: int) -> Loss:
    """Returns the sum of the largest losses of at most so many blocks."""
    if losses and isinstance(losses[0], Multisets):
        ways = _product([range(min(many, most) + 1) for many in sizes])
        each_way = [way for way in ways if sum(way) == min(most, sum(sizes))]
        zero = Multisets([()])
        return top(
            sum((x * k for x, k in zip(losses, way, strict=True) if k), zero) for way in each_way
        )
    found: Loss = ZERO
    for loss, many in sorted(zip(losses, sizes, strict=True), reverse=True):
        used = min(many, most)
        found, most = found + (loss * used if loss and used else ZERO), most - used
    return found


class BlockClasses:
    """A partition with its blocks, one for each class of equal ones."""

    def __init__(self, line: Line) -> None:
        self.line, self.blocks, self.sizes = line, line["blocks"], line["sizes"]
        self.by, self.kind = line["by"], line["by"]["kind"]
        self.fed = [frozenset(each) for each in self.by.get("kinds", {}).values()]
        #: In how many blocks one row can be at most.
        self.copies = min(
            sum(self.sizes), max(map(len, self.fed), default=self.by.get("max_blocks", 1))
        )

    def followed(self, change: Change, one: bool = False) -> Unit:
        """Returns a unit of a change that can be followed to its blocks; `one`: the only one."""
        rows, several = leaves(change), sum(n for _, n in leaves(change)) > 1
        movable = ("pair",) if self.kind == "position" else ("pair", "single", "user")
        users = not one and any(u.kind == "user" for u, _ in rows)
        if any(u.kind not in movable for u, _ in rows) or users or (one and several):
            raise Rejected("it is for other changes, that are followed to their blocks")
        return rows[0][0]

    def fixed(self, kept: Sequence[str]) -> bool:
        """Whether a row put in the place of another is in its block, as these columns are kept."""
        uses = [self.by["column"]] if self.kind == "key" else self.by.get("uses")
        by_columns = self.kind in ("key", "value") and uses is not None
        return self.kind == "position" or (by_columns and {*uses} <= {*kept})

    def of_unit(self, unit: str | None) -> int | None:
        """Returns in how many blocks rows of one unit can be, where the kind says it."""
        return 1 if self.kind != "position" and self.fixed([str(unit)]) and unit else None

    def worst_row(self, u: Sequence[Loss]) -> Loss:
        """Returns the worst total for a row that comes or goes."""
        if self.kind == "kinds":
            return top(sum((u[i] for i in fed), ZERO) for fed in self.fed)
        return top(u) if self.copies == 1 else largest(u, self.sizes, self.copies)

    def worst_pair(
        self, u: Sequence[Loss], v: Sequence[Loss], b: Sequence[Loss], kept: Sequence[str]
    ) -> Loss:
        """Returns the worst total for a replaced row: `u` of blocks that it leaves, `v` of those
        that it enters, `b` of those where it stays."""
        if self.fixed(kept):
            return top(b)
        if self.kind == "kinds":

            def total(p: frozenset[int], q: frozenset[int]) -> Loss:
                hits = ((b if i in p & q else u if i in p else v)[i] for i in p | q)
                return sum(hits, ZERO)

            return top(total(p, q) for p, q in product(self.fed, self.fed))
        if self.kind != "membership":
            n = range(len(u))
            two = [u[i] + v[j] for i in n for j in n if i != j or self.sizes[i] > 1]
            return top([*u, *v, *b, *two])
        if isinstance(u[0], Multisets):
            if len(u) > 1 or u != v:
                raise NotChecked("a row that moves between unlike overlapping blocks, at a δ")
            many, most = self.sizes[0], self.copies  # k blocks have both ends, the rest one each
            ways = ((min(2 * (most - k), many - k), k) for k in range(most + 1))
            parts = ([u[0] * once] * (once > 0) + [b[0] * k] * (k > 0) for once, k in ways)
            return top(sum(each, ZERO) for each in parts)
        if INF in (*u, *v, *b):
            return INF
        # Each hit of a block by both ends pays half of a steep one, or what it adds to the first.
        w, twice = [max(pair) for pair in zip(u, v, strict=True)], self.sizes * 2
        first = [max(x, y / 2) for x, y in zip(w, b, strict=True)]
        joint = largest(
            first + [max(ZERO, y - x) for x, y in zip(first, b, strict=True)],
            twice,
            2 * self.copies,
        )
        raised = [max(y, z - x) for x, y, z in zip(u, v, b, strict=True)]
        apart_ = largest(u, self.sizes, self.copies) + largest(raised, self.sizes, self.copies)
        return min(joint, apart_)

    def placements(
        self, unit: Unit, places: Sequence[int], directed: bool
    ) -> list[tuple[Unit | None, ...]]:
        """Returns every way in which a row can be in the blocks: for each what it is there."""
        n, pair, stays = range(len(places)), unit.kind == "pair", Unit("pair", (0, 1), unit.kept)
        at = {block: k for k, block in reversed([*enumerate(places)])}
        one = self.kind == "position" or (pair and self.fixed(unit.kept))
        sizes = [1] if one else range(min(self.copies, len(places)) + 1)
        sets = [frozenset(at[i] for i in fed) for fed in self.fed]
        sets = sets or [frozenset(each) for size in sizes for each in combinations(n, size)]
        if not pair or one:
            return [
                tuple((stays if pair else _row(unit)) if i in each else None for i in n)
                for each in sets
            ]
        old, new = OLD._replace(directed=int(directed)), NEW._replace(directed=int(directed))
        names_ = {(True, True): stays, (True, False): old, (False, True): new, (False, False): None}
        ways = [tuple(names_[i in p, i in q] for i in n) for p, q in _product([sets, sets])]
        return [way for way in ways if any(way)]


# -- a certificate -------------------------------------------------------------------------------


class Checker:
    """Goes through the lines of a certificate, once and in order."""

    def __init__(self) -> None:
        self.header: Line = {}
        self.declared: dict[str, Line] = {}
        self.nodes: list[DataNode] = []
        self.parts: list[BlockClasses | Line] = []
        self.algebra: Algebra | None = None
        #: The claims of the proof at hand: dataset, change, whether in pure DP, loss.
        self.claims: list[tuple[int, Change, bool, Loss]] = []
        self.views: dict[int, list[list[View]]] = {}
        self.checked = 0
        #: How many proofs have begun, and those of which some claim was not checked.
        self.proofs, self.partly = 0, set[int]()
        #: Why lines were not checked, with their numbers.
        self.unchecked: dict[str, list[int]] = {}
        self.left = 0  # claims among them
        #: The bounds that are confirmed, by their proofs, and the points that follow: ε, δ,
        #: and to which part of ε.
        self.bounds: dict[int, tuple[str, Loss]] = {}
        self.points: list[tuple[F, F, F]] = []

    def read(self, lines: Sequence[str]) -> None:
        """Checks all lines; raises Rejected at the first that is wrong."""
        if len(lines) > MOST_LINES:
            raise Rejected(f"more than {MOST_LINES} lines")
        what: Any = None
        acts = {"header": self._header, "dataset": self._dataset, "partition": self._partition}
        acts |= {"proof": self._proof, "claim": self._claim, "bound": self._bound}
        acts |= {"point": self._point}
        for n, text in enumerate(lines, 1):
            line: Any = None
            try:
                line = json.loads(
                    text, parse_float=number, parse_constant=number, object_pairs_hook=mapping
                )
                before, what = what, line["line"]
                if (before is None) != (what == "header") or what not in acts:
                    raise Rejected(f"no line {str(what)[:40]!r} is due here")
                acts[what](line)
            except NotChecked as why:
                self.unchecked.setdefault(str(why), []).append(n)
                self.left += what == "claim"
                self.partly.add(self.proofs)
            except Rejected as why:
                raise Rejected(f"{_where(n, line)}: {why}") from None
            except (
                ArithmeticError,
                LookupError,
                RecursionError,
                TypeError,
                ValueError,
                AttributeError,
            ) as why:
                raise Rejected(f"{_where(n, line)}: malformed ({type(why).__name__})") from None
        if self.claims or what is None:
            raise Rejected("it ends without a bound")

    def _header(self, line: Line) -> None:
        if line["version"] != VERSION:
            raise Rejected(f"its version is {line['version']!r}, and this checker reads {VERSION}")
        self.header = line
        if "name" in line["protect"]:
            self.declared[line["protect"]["name"]] = line["protect"]
        has_shape(
            line,
            {
                "line": word,
                "version": once,
                "spec": word,
                "protect": relation_shape,
                "distance": once,
                "apart": lambda groups: [[integer(n) for n in each] for each in groups],
            },
        )

    def _dataset(self, line: Line) -> None:
        dataset_shape(line)
        if line["id"] != len(self.nodes) or self.algebra is not None:
            raise Rejected("datasets are numbered in order, before the first proof")
        parent = self.nodes[integer(line["parent"])] if "parent" in line else None
        node = DataNode(line, parent)
        self.nodes.append(node)
        for relation in [x["relation"] for m in node.mechanisms for x in m["statements"]]:
            name = relation.get("name")
            if name is not None and self.declared.setdefault(name, relation) != relation:
                raise Rejected(f"`{str(name)[:40]}` is declared in two ways")
        if parent is None:
            node.facts = root_facts(line["root"])
        elif node.map is not None:
            parent.children.append(node)
            try:
                node.facts = facts_after(node.map, parent.facts)
            except NotChecked:
                node.known = False
            random = node.known and conduct(node.map).random and parent.above is None
            if node.one_release and not random:
                raise Rejected("a map that draws nothing is part of every release")
            if random and node.one_release:
                node.above = parent.depth
            elif random:
                node.given = node.depth
        else:
            part = self.parts[integer(line["partition"])]
            assert isinstance(part, dict)
            node.block = part, integer(line["class"])
            if part["of"] != parent.id or part["blocks"][node.block[1]] is not None:
                raise Rejected("a block is of another dataset, or there twice")
            part["blocks"][node.block[1]] = node
            all_ = part["by"]["kind"] == "position" and sum(part["sizes"]) == 1
            node.facts = {**parent.facts, "size": parent.facts.get("size") if all_ else None}
            by_position = part["by"]["kind"] == "position"
            node.facts["fixed"] = by_position and parent.facts.get("fixed")
        above = {*parent.history, parent.depth} if parent else {-1}
        if [*node.history] != sorted({*node.history}) or not {*node.history} <= above:
            raise Rejected("its history is not one that its parent has")

    def _partition(self, line: Line) -> None:
        partition_shape(line)
        if line["id"] != len(self.parts) or self.algebra is not None:
            raise Rejected("partitions are numbered in order, before the first proof")
        node = self.nodes[integer(line["of"])]
        if line["by"]["kind"] == "position" and node.known and not node.facts.get("ordered"):
            raise Rejected(f"rows of `{node.name}` have no positions")
        line["blocks"] = [None for n in line["sizes"] if integer(n, 1)]
        self.parts.append(line)
        node.partitions.append(line)

    def _proof(self, line: Line) -> None:
        if self.algebra is None:
            for node in reversed(self.nodes):
                blocks = [b for part in node.partitions for b in part["blocks"]]
                if None in blocks:
                    raise Rejected(f"a block of `{node.name}` is missing")
                for before, child in zip([node, *node.children], node.children, strict=False):
                    given = before is not node and not before.one_release
                    if child.one_release and not (given and _content(before) == _content(child)):
                        raise Rejected(f"`{child.name}` is not also there as a map that is given")
                below = [*node.children, *blocks]
                node.read = bool(node.mechanisms) or any(each.read for each in below)
                poisson = [b.is_sample() and b.map["size"] is None and b.read for b in below]
                node.leans = any(poisson) or any(each.leans for each in below)
            self.parts = [BlockClasses(line) for line in self.parts if isinstance(line, dict)]
        elif self.claims:
            raise Rejected("the proof before has no bound")
        if line["id"] != self.proofs:
            raise Rejected("proofs are numbered in order")
        self.proofs += 1
        self.algebra = Algebra(str(line["notion"]), bool(line["multiplied"]))
        if self.algebra.notion not in READS:
            raise Rejected(f"there is no notion {self.algebra.notion!r}")

    def _claim(self, line: Line) -> None:
        if self.algebra is None or line["id"] != len(self.claims):
            raise Rejected("claims are numbered in order, in a proof")
        node, pure = self.nodes[integer(line["dataset"])], bool(line.get("pure"))
        algebra = Algebra("pure") if pure else self.algebra
        change, loss = parse_change(line["change"]), parse_loss(line["loss"], algebra)
        self.claims.append((node.id, change, pure, loss))
        self.checked += 1
        premises: dict[Any, Loss] = {}
        for before, each in pairwise([-1, *line["premises"]]):
            if not before < integer(each) < line["id"]:
                raise Rejected("premises are earlier claims, in rising order, each once")
            *key, known = self.claims[each]
            premises[tuple(key)] = known
        if loss == algebra.none or not change:
            return  # nothing is claimed, or nothing changes
        if not all(each.known for each in (node, *node.children)):
            raise NotChecked("maps of a kind that this checker does not know")
        rounded[0], step = False, Rules(algebra, pure, premises)
        parts = [*self._charges(line["charges"], node, change, algebra)]
        edges: list[Any] = [c for c in node.children if not c.one_release]
        edges += [self.parts[part["id"]] for part in node.partitions]
        if len(edges) != len(line["rules"]):
            raise Rejected(f"there is not one rule for each thing made from `{node.name}`")
        ruled = [*zip(edges, line["rules"], strict=True)]
        joined = {e.joint for e, how in ruled if how == "joint" and isinstance(e, DataNode)}
        for edge, how in ruled:  # the parts of a joint bound are bounds together only
            covered = isinstance(edge, DataNode) and edge.joint and edge.joint in joined
            if how != "joint" and (covered or '"joint"' in json.dumps(how)):
                raise Rejected("a joint bound is of all its values together, or of none")
        parts += [step.bound(node, edge, how, change) for edge, how in ruled]
        _claim_holds(algebra, loss, algebra.add(parts), "the change")
        if premises.keys() - step.used:
            raise Rejected("a premise is not needed")

    def _charges(
        self, claimed: Sequence[Any], node: DataNode, change: Change, algebra: Algebra
    ) -> Iterator[Loss]:
        """Yields what the mechanisms of a dataset are charged, each at least what it loses."""
        if len(claimed) != len(node.mechanisms):
            raise Rejected(f"not every mechanism that reads `{node.name}` is charged")
        if node.id not in self.views:
            found = ([view(node, said) for said in each["statements"]] for each in node.mechanisms)
            self.views[node.id] = [[v for v in views if v is not None] for views in found]
        for mechanism, views, text in zip(
            node.mechanisms, self.views[node.id], claimed, strict=True
        ):
            charge = parse_loss(text, algebra)
            yield charge
            if charge == algebra.none:
                continue
            least = algebra.times(
                mechanism_loss(views, change, algebra), integer(mechanism["count"], 1)
            )
            try:
                _hold(algebra, charge, least, f"`{str(mechanism['name'])[:60]}`")
            except Rejected:
                if why := sharper(views, change, algebra.notion):
                    raise NotChecked(why) from None
                raise

    def _bound(self, line: Line) -> None:
        assert self.algebra is not None
        if line["id"] != self.proofs - 1:
            raise Rejected("a bound has the number of its proof")
        claims = {self.claims[integer(each)][:3]: self.claims[each][3] for each in line["roots"]}
        self.claims, algebra, goal = [], self.algebra, self.header["protect"]
        one_way = goal["kind"] in ("unbounded", "user") and self.header["distance"] == 1
        roots = [node for node in self.nodes if node.parent is None]
        groups = [{*map(integer, each)} for each in self.header["apart"] if len(each) > 1]
        if sum(map(len, groups)) > len(set().union(*groups)):
            raise Rejected("a root is in two sets of roots that are apart")
        if goal["kind"] == "free-lunch":
            groups = []
        if groups and (goal["kind"] == "declared" or self.header["distance"] > 1):
            raise NotChecked("several steps shared out among roots that are apart")
        groups += [{n} for n in {*range(len(roots))}.difference(*groups)]
        changes = [[protected(root, goal, self.header["distance"])] for root in roots]
        if algebra.apart and one_way and any(root.leans for root in roots):
            # The two tables may be exchanged: the row is removed from the first root that leans.
            if len(groups) < len(roots):
                raise NotChecked("Poisson samples at a δ below roots that are apart")
            first = next(n for n, root in enumerate(roots) if root.leans)
            for n, root in enumerate(roots):
                signs = () if not root.leans else (0,) if n == first else (0, 1)
                changes[n] = [
                    _over(changes[n][0], lambda u: u._replace(directed=1, sign=sign))  # noqa: B023
                    for sign in signs
                ] or changes[n]
        keys = [[(root.id, each, False) for each in changes[n]] for n, root in enumerate(roots)]
        if {key for each in keys for key in each} != {*claims}:
            if not all(node.known for node in self.nodes):  # it may lean below such a map
                raise NotChecked("maps of a kind that this checker does not know")
            raise Rejected("its claims are not those about the protected change in each root")
        rounded[0] = False
        least = algebra.add(
            [algebra.cover([claims[key] for n in group for key in keys[n]]) for group in groups]
        )
        bound = parse_loss(line["loss"], algebra)
        _claim_holds(algebra, bound, least, "the protected change")
        self.bounds[line["id"]] = algebra.notion, bound

    def _point(self, line: Line) -> None:
        """A number at a chosen δ that follows from a bound (section 6)."""
        if integer(line["proof"]) + 1 in self.partly:
            raise NotChecked("a number that rests on claims that were not checked")
        notion, bound = self.bounds[line["proof"]]
        delta, epsilon, within = number(line["delta"]), number(line["epsilon"]), F(1, 10**6)
        if notion == "profile":
            found = [tolerance_of(each, epsilon, delta) for each in bound]
            if not found:
                raise Rejected("no loss at a δ is claimed")
            self.points.append((epsilon, delta, max(found)))
            return
        if notion in ("pure", "approx"):
            pairs = bound if notion == "approx" else ((bound, ZERO),)
            least = min((d for e, d in pairs if e <= epsilon * (1 + within)), default=ONE)
        elif notion == "zcdp":
            least = _delta_of_rho(bound, epsilon * (1 + within), number(line["order"]))
        else:
            least = _delta_of_mu(bound, epsilon * (1 + within))
        if least > delta:
            raise Rejected(f"at ε = {float(epsilon):.9g} δ may be {float(least):.6g}")
        self.points.append((epsilon, delta, within))


def _claim_holds(algebra: Algebra, claimed: Loss, least: Loss, what: str) -> None:
    """As `_hold`; at a δ equal sums say nothing, since more may be known of what is worse."""
    try:
        _hold(algebra, claimed, least, what)
    except Rejected:
        if algebra.apart and claimed:
            raise NotChecked("losses at a δ that others cover in other ways") from None
        raise


def _hold(algebra: Algebra, claimed: Loss, least: Loss, what: str) -> None:
    """Raises Rejected where a claimed loss is smaller than what follows."""
    near = 1 + F(1, 10**12) if rounded[0] else ONE
    if algebra.apart:
        covered = (any(_is_no_worse(a, b) for b in claimed) for a in least)
        holds = bool(least) and all(covered)
    elif algebra.pairs:
        holds = all(any(a <= e * near and b <= d * near for a, b in least) for e, d in claimed)
    else:
        holds = claimed == INF or least <= claimed * near
    if not holds:
        shown = [*least[:3]] if algebra.pairs else [(least,)] * (least != INF and not algebra.apart)
        words = " or ".join(", ".join(f"{float(x):.9g}" for x in each) for each in shown)
        raise Rejected(f"{what} loses more than is claimed: {words or 'there is no bound'}")


def protected(root: DataNode, goal: Line, distance: int) -> Change:
    """Returns the protected change in a root."""
    declared, facts = goal["kind"] == "declared", root.facts
    relation, inside = (goal["within"], integer(goal["distance"], 1)) if declared else (goal, 1)
    kind, keeps = relation["kind"], required(relation, facts) or frozenset()
    if relation.get("changes") is not None and keeps == facts["columns"]:
        return ()
    table = facts["shape"] == "table"
    unit = ANY._replace(size=None if facts["size"] is None else F(integer(facts["size"])))
    if kind == "bounded" and table:
        unit = Unit("pair", (0, 1), tuple(sorted(keeps)))
    elif table and (kind == "unbounded" or (kind == "user" and facts["unit"] is not None)):
        most = facts["most_of_unit"] if kind == "user" else None
        unit = Unit("single" if kind == "unbounded" else "user", size=most)
    elif not table and kind in ("edge", "node", "node-rewired"):
        unit = Unit(kind)
    if -1 not in root.history:
        return canonical(((unit, inside * distance),))
    if declared:
        unit = unit._replace(ends=(0,) * len(unit.ends))
    step = Unit("declared", (0,), (str(goal["name"]),) if declared else ())
    return canonical(((around(step, ((unit, inside),)), distance),))


def _where(n: int, line: Any) -> str:
    known = isinstance(line, dict) and {"id", "line"} <= {*line}
    return f"line {n}" + (f" ({str(line['line'])[:20]} {str(line['id'])[:20]})" if known else "")


def parse_change(items: Any, depth: int = 0) -> Change:
    """Returns a change as a certificate writes it."""
    found = []
    for line, count, *below in items:
        kept, size = tuple(map(str, line.get("kept", ()))), line.get("size")
        ends = tuple(integer(end) for end in line.get("ends", (0,)))
        flags = [integer(line.get(name, 0)) for name in ("displaced", "sign", "directed")]
        unit = Unit(str(line["kind"]), ends, kept, None if size is None else number(size), *flags)
        if unit.kind not in KINDS or not 1 <= len(ends) <= 2 or max(ends) > 2 or depth > 12:
            raise Rejected("there is no such unit of change")
        inner = parse_change(below[0], depth + 1) if below else ()
        found.append((around(unit, inner), integer(count, 1)))
    return gather(found) if depth else canonical(gather(found))


def parse_loss(value: Any, algebra: Algebra) -> Loss:
    """Returns a loss as a certificate writes it; null: no finite bound is claimed."""
    if algebra.apart:
        return Multisets(parse_multiset(each) for each in value or ())
    if not algebra.pairs:
        return INF if value is None else number(value)
    return algebra.best([[(number(e), number(d)) for e, d in value]])


#: How many numbers each kind of item has after its name.
_NUMBERS = {"Laplace": 1, "Gaussian": 1, "Geometric": 2, "DiscreteGaussian": 2, "Poisson": 2}


def parse_multiset(value: Any, nested: bool = False) -> Multiset:
    """Returns a multiset of losses as a certificate writes it, each with its count."""
    found: list[tuple[Item, int]] = []
    for *item, count in value:
        name = item[0]
        if name == "Poisson" and nested:
            raise Rejected("a sample of a sample")
        inner = [parse_multiset(item.pop(), nested=True)] if name == "Poisson" else []
        if name in _NUMBERS:
            numbers = tuple(map(number, item[1:]))
            if len(numbers) != _NUMBERS[name] or not all(numbers[: 1 + (name != "Poisson")]):
                raise Rejected(f"{name} has other numbers")
            if name in ("Geometric", "DiscreteGaussian") and numbers[1].denominator > 1:
                raise Rejected("noise in whole numbers hides whole steps")
            found.append(((name, *numbers, *inner), integer(count, 1)))
        else:
            epsilon, delta = map(number, item)
            found.append(((epsilon, delta), integer(count, 1)))
    return _merged(tuple(found))


def check(lines: Sequence[str]) -> Checker:
    """Returns what was checked in the lines of a certificate; raises Rejected if one is wrong."""
    checker = Checker()
    checker.read(lines)
    return checker


# -- numbers at a chosen δ (section 6) -----------------------------------------------------------


def _delta_of_rho(rho: F, epsilon: F, order: F) -> F:
    """Returns δ at ε of ρ-zCDP by one order α (Canonne, Kamath and Steinke 2020, Corollary 13)."""
    if order <= 1:
        raise Rejected("an order is above 1")
    # (1-1/α)^α = e^(-α·ln y) for y = α/(α-1), and ln y ≥ r + 1 - e^r/y for every r.
    y = order / (order - 1)
    near = F(math.log(y.numerator) - math.log(y.denominator))
    rest = exp(-order * max(ZERO, near + 1 - exp(near)[1] / y))[1]
    return exp((order - 1) * (order * rho - epsilon))[1] / (order - 1) * rest


def _normal_above(x: F) -> F:
    """Returns 1 - Φ(x), at most 10^-45 off, by the series of Φ around 0; beyond 30 as at 30."""
    x = max(F(-30), min(F(30), x))
    bits = 180 + math.ceil(x**2)
    size = math.floor(x * (1 << bits))
    square, term, total, n = (size * size) >> bits, size, 0, 0
    while abs(term) > 1:
        total += (term if n % 2 == 0 else -term) // (2 * n + 1)
        n += 1
        term = (term * square >> bits) // (2 * n)
    return F(1, 2) - F(total, 1 << bits) / _ROOT


#: √(2π), and by how much 1 - Φ may be off.
_ROOT, _OFF = sqrt(2 * F(31415926535897932384626433832795028841971693993751, 10**49)), F(1, 10**45)


def _delta_of_mu(square: F, epsilon: F) -> F:
    """Returns δ at ε of μ-GDP, μ² = `square` (Balle and Wang 2018, Theorem 8)."""
    if epsilon > 50:
        raise NotChecked("an ε above 50 of μ-GDP")
    if not square:
        return ZERO
    high = sqrt(square)  # δ grows with μ
    first = _normal_above(epsilon / high - high / 2)
    return first + _OFF - exp(epsilon)[0] * (_normal_above(epsilon / high + high / 2) - _OFF)


class LossCurve(NamedTuple):
    """The δ at every ε of either sign; and about the least and the largest loss."""

    formula: Callable[[F], F]
    low: F
    high: F

    def delta(self, epsilon: F) -> F:
        """Returns an upper bound of δ, by the formula where that is more than every δ is."""
        return max(self.formula(epsilon), ZERO, 1 - exp(epsilon)[0])


#: Up to so many standard deviations losses are told apart.
_REACH = F(17, 2)


@cache
def curve_of(item: Item, added: bool) -> LossCurve:
    """Returns the curve of one loss; `added`: with the two tables exchanged."""
    kind, *numbers = item
    if kind == "Laplace":
        (shift,) = numbers
        return LossCurve(cache(lambda e: 1 - exp((e - shift) / 2)[0]), -shift, shift)
    if kind == "Gaussian":
        reach = _REACH * sqrt(numbers[0]) + numbers[0] / 2
        return LossCurve(cache(lambda e: _delta_of_mu(numbers[0], e)), -reach, reach)
    if kind == "Geometric":
        scale, shift = numbers
        return LossCurve(
            cache(lambda e: _of_geometric(scale, shift, e)), -shift / scale, shift / scale
        )
    if kind == "DiscreteGaussian":
        variance, shift = numbers
        reach = shift * _REACH / sqrt(variance) + shift**2 / variance / 2
        return LossCurve(cache(_of_discrete_gaussian(variance, shift)), -reach, reach)
    if kind == "Poisson":
        rate, sign, inner = numbers
        if rate == 1:
            raise NotChecked("a sample of rate 1 at a δ")
        one = _inside(inner)
        low, high = F(math.log1p(-float(rate))), log(1 + rate * (exp(one.high)[1] - 1))
        if bool(sign) == added:
            return LossCurve(cache(lambda e: _of_poisson(one, rate, e)), low, high)
        # With the tables exchanged δ(ε) is 1 - e^ε + e^ε·δ(-ε).
        removed = curve_of(("Poisson", rate, F(added), inner), added)
        return LossCurve(cache(lambda e: 1 + exp(e)[1] * (removed.delta(-e) - 1)), -high, -low)
    epsilon, delta = item
    return LossCurve(cache(lambda e: _of_response(epsilon, delta, e)), -epsilon, epsilon)


def _of_response(stated: F, delta: F, epsilon: F) -> F:
    """Returns δ at ε of the randomized response that attains (ε, δ)-DP."""
    x, high = exp(epsilon)[0], exp(stated)[1]
    return delta + (1 - delta) * max(ZERO, 1 - x, (high - x) / (1 + high))


def _of_geometric(scale: F, shift: F, epsilon: F) -> F:
    """Returns δ at ε of noise of mass proportional to e^(-|n|/scale), by the outcomes n ≥ least."""
    least = min(max(1, math.floor((epsilon * scale + shift) / 2) + 1), int(shift) + 1)
    both = 1 + exp(-1 / scale)[1]
    first = 1 - exp((least - shift - 1) / scale)[0] / both
    return first - exp(epsilon)[0] * exp(-least / scale)[0] / both


def _of_discrete_gaussian(variance: F, shift: F) -> Callable[[F], F]:
    """Returns δ as a function of ε, of noise of mass proportional to e^(-n²/2σ²)."""
    most = math.ceil(16 * sqrt(variance)) + int(shift)
    if most > 50_000:
        raise NotChecked("wide discrete Gaussian noise at a δ")
    tail, above = 1, []  # sums over n ≥ j, in units of 2^-320; what is left is below 10^-50
    sure, below = 0, []  # the same, rounded down
    for n in range(most, -most - 1, -1):
        low, high = exp(-F(n * n) / (2 * variance))
        tail, sure = tail + int(high * SCALE) + 1, sure + int(low * SCALE)
        above.append(tail)
        below.append(sure)
    above.reverse()
    below.reverse()

    def delta(epsilon: F) -> F:
        least = math.floor(epsilon * variance / shift + shift / 2) + 1
        first, second = (max(0, min(2 * most, n + most)) for n in (least - int(shift), least))
        rest = exp(epsilon)[0] * F(below[second], tail) if least <= most else ZERO
        return F(above[first], sure) - rest + F(1, 10**45)

    return delta


def _of_poisson(inner: LossCurve, rate: F, epsilon: F) -> F:
    """Returns δ at ε of (1-q)Q+qP against Q: q·δ of P against Q at ln((e^ε-1+q)/q)."""
    x = exp(epsilon)[0]
    y = (x - 1 + rate) / rate
    if y <= F(1, 10**30):
        return 1 - x + rate * max(ZERO, y)
    near = F(math.log(y.numerator) - math.log(y.denominator))
    return rate * inner.delta(near + 1 - exp(near)[1] / y)  # ln z ≥ 1 - 1/z


#: Masses of loss distributions are whole numbers of 10^-45, rounded up; tails of a sum of at most
#: 10^-20 move up.
DIGITS, WHOLE, SPARE = 45, 10**45, 10**25
#: To which part of ε numbers are confirmed, by the second where they are exact.
TOLERANCES = F(1, 20_000), F(1, 10**6), F(1, 1_000), F(1, 100)
#: Of how many cells one loss has at most, and a sum.
MOST_CELLS, MOST_SUMS = 4_096, 40_000


class LossLaw(NamedTuple):
    """A loss distribution: masses at start·step, (start+1)·step, …, and the mass of infinity."""

    start: int
    masses: list[int]
    lost: int


@cache
def law_of(item: Item, added: bool, step: F) -> LossLaw:
    """Returns the distribution whose curve is that of a loss on a grid, and linear in e^ε between
    (Doroshenko et al. 2022): it is nowhere below, as a curve is convex."""
    curve = curve_of(item, added)
    start, end = math.floor(curve.low / step), math.ceil(curve.high / step)
    if end - start > MOST_CELLS:
        raise NotChecked("losses that no grid holds")
    places = [int(exp(k * step)[0] * SCALE) for k in range(start, end + 1)]
    heights = [math.ceil(curve.delta(k * step) * SCALE) for k in range(start, end + 1)]
    masses, before = [], (heights[0] - SCALE) * SCALE // places[0]
    for k, place in enumerate(places):
        slope = 0
        if k + 1 < len(places):
            slope = (heights[k + 1] - heights[k]) * SCALE // (places[k + 1] - place)
        masses.append(max(0, place * (slope - before) * WHOLE // SCALE**2) + 1)
        before = slope
    return LossLaw(start, masses, heights[-1] * WHOLE // SCALE + 1)


def convolved(a: LossLaw, b: LossLaw) -> LossLaw:
    """Returns the distribution of a sum.

    The product of two numbers that hold the masses as digits holds those of the sum.
    """
    width, cells = 2 * DIGITS + 6, len(a.masses) + len(b.masses) - 1
    if cells > MOST_SUMS:
        raise NotChecked("numbers at a δ that need a finer grid")
    with decimal.localcontext() as context:
        context.prec, context.Emax = width * (cells + 1), decimal.MAX_EMAX
        first, second = (
            decimal.Decimal("".join(f"{mass:0{width}d}" for mass in reversed(each.masses)))
            for each in (a, b)
        )
        text = format(first * second, "f").zfill(cells * width)
    masses = [int(text[i - width : i]) // WHOLE + 1 for i in range(cells * width, 0, -width)]
    lost, first_kept, low = 0, 0, 0
    while len(masses) > 1 and lost + masses[-1] <= SPARE:
        lost += masses.pop()
    while first_kept < len(masses) - 1 and low + masses[first_kept] <= SPARE:
        low, first_kept = low + masses[first_kept], first_kept + 1
    kept = [masses[first_kept] + low, *masses[first_kept + 1 :]]
    both = a.lost + b.lost - a.lost * b.lost // WHOLE
    return LossLaw(a.start + b.start + first_kept, kept, both + lost)


def _repeated(law: LossLaw, count: int) -> LossLaw:
    found = law
    for bit in bin(count)[3:]:
        found = convolved(found, found)
        found = convolved(found, law) if bit == "1" else found
    return found


@cache
def _sum_of(items: Multiset, step: F, added: bool) -> LossLaw:
    """Returns the distribution of all losses of a multiset; Gaussian ones are one."""
    found, square = LossLaw(0, [WHOLE], 0), ZERO
    for item, count in items:
        if item[0] == "Gaussian":
            square += item[1] * count
        else:
            one = law_of(item, added, step)
            found = convolved(found, _repeated(one, count))
    if square:
        found = convolved(found, law_of(("Gaussian", square), added, step))
    return found


def _delta_of_law(law: LossLaw, step: F, epsilon: F) -> F:
    """Returns δ at ε: the sum of mass·(1 - e^(ε - loss)) over all larger losses."""
    first = max(law.start, math.floor(epsilon / step) + 1)
    rest, down_by = (int(exp(each)[0] * SCALE) for each in (epsilon - first * step, -step))
    found = 0
    for mass in law.masses[first - law.start :]:
        found += mass * (SCALE - rest)
        rest = rest * down_by // SCALE
    return F(found, SCALE * WHOLE) + F(law.lost, WHOLE)


@cache
def _inside(items: Multiset) -> LossCurve:
    """Returns the curve of what one sample is read by."""
    square = sum((item[1] * n for item, n in items if item[0] == "Gaussian"), ZERO)
    rest = [(item, n) for item, n in items if item[0] != "Gaussian"]
    if not rest:
        return curve_of(("Gaussian", square), False)
    if not square and len(rest) == rest[0][1] == 1:
        return curve_of(rest[0][0], False)
    *_, step = _grids(items)[1]
    law = _sum_of(items, step, False)
    low, high = law.start * step, (law.start + len(law.masses) - 1) * step
    weights = [
        mass * int(exp(-k * step)[0] * SCALE) for k, mass in enumerate(law.masses, law.start)
    ]
    above = [*accumulate(reversed(law.masses), initial=law.lost)][::-1]
    below = [*accumulate(reversed(weights), initial=0)][::-1]

    def delta(epsilon: F) -> F:
        first = max(0, min(len(law.masses), math.floor(epsilon / step) + 1 - law.start))
        less = math.floor(exp(epsilon)[0] * below[first])
        return min(ONE, F(above[first] * SCALE - less, SCALE * WHOLE))

    return LossCurve(cache(delta), low, high)


def _grids(items: Multiset) -> tuple[bool, list[F]]:
    """Returns the steps of finer and finer grids; or, with True, one that holds all losses."""
    if all(isinstance(item[0], F) or item[0] == "Geometric" for item, _ in items):
        units = [1 / item[1] if item[0] == "Geometric" else item[0] for item, _ in items]
        sizes = [*filter(None, units)] or [ONE]
        bottom = math.lcm(*(size.denominator for size in sizes))
        step = F(math.gcd(*(int(size * bottom) for size in sizes)), bottom)
        if sum(_response_of(item)[0] * n for item, n in items) / step < MOST_SUMS / 2:
            return True, [step]
    widest = max((curve_of(item, False).high for item, _ in items), default=ONE)
    cells = [16 << k for k in range((MOST_CELLS // 16).bit_length())]
    return False, [F(math.ceil(widest / n * 2**40), 2**40) for n in cells]


def tolerance_of(items: Multiset, stated: F, delta: F) -> F:
    """Returns to which part an ε at a δ, which may be 10^-12 of it larger, holds of losses that are
    composed; raises Rejected."""
    if not items:
        return ZERO
    delta *= 1 + F(1, 10**12)
    before, gained = TWO, TWO
    orders = (False, True) if any(item[0] == "Poisson" for item, _ in items) else (False,)
    laws: list[tuple[LossLaw, F]] = []
    exact, steps = _grids(items)
    for step in steps:
        try:
            laws = [(_sum_of(items, step, added), step) for added in orders]
        except NotChecked:
            if not laws:
                raise
            break
        least = max(
            _delta_of_law(law, step, stated * (1 + TOLERANCES[exact])) for law, step in laws
        )
        if least <= delta:
            return TOLERANCES[exact]
        before, gained = least, before - least
    if exact or 4 * gained < before - delta:  # a finer grid would not do
        raise Rejected(f"at ε = {float(stated):.9g} δ may be {float(before):.6g}")
    for within in TOLERANCES[2:]:
        if max(_delta_of_law(law, step, stated * (1 + within)) for law, step in laws) <= delta:
            return within
    raise NotChecked("numbers at a δ that need a finer grid")


# -- the spec that a certificate is about --------------------------------------------------------

#: Keys of a certificate that have another name in a spec.
_RENAMED = {"poisson": "rate"}
#: What a certificate says of a key that a spec leaves out; the others must be written.
_DEFAULTS = {"keeps": [], "drops": False, "exact": False, "shared": False, "distance": 1}
_DEFAULTS |= {
    "epochs": 1,
    "domain": "table",
    "keep": "random",
    "kind": "row",
    "order": "shuffled",
    "metric": "euclidean",
}
_DEFAULTS |= dict.fromkeys(("uses", "unbounded", "bounded", "diameter", "size", "of", "unit"))
_DEFAULTS |= dict.fromkeys(
    ("max_degree", "columns", "changes", "max_blocks_per_unit", "max_rows_per_block")
)
#: Keys of a certificate that follow from other keys of the spec, which are then not compared.
_FOLLOWS = {
    "rate": {"size"},
    "said_by": {"kind"},
    "uses": {"column"},
    "max_rows": {"column"},
}


_CAPS = ("max_blocks_per_unit", "max_rows_per_block")


class SpecComparison:
    """A certificate against the text of its spec, field by field."""

    def __init__(self, lines: Sequence[str], text: bytes) -> None:
        import hashlib

        import yaml

        self.lines: list[Line] = [json.loads(line) for line in lines]
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every value as it is written
        self.spec: Any = yaml.load(text, Loader=loader)
        #: Fields that were compared, and those that were not.
        self.compared, self.left = 0, set[str]()
        if self.lines[0]["spec"] != hashlib.sha256(text).hexdigest():
            raise Rejected("the certificate is about another text")
        mechanisms = [x for x in self.spec["mechanisms"] if "post_processes" not in x]
        #: What reads a dataset or a block, and what is made of it, as they are written there.
        self.reads, self.made = dict[str, list[Line]](), dict[str, list[str]]()
        #: Datasets with a mechanism below, and the blocks that something is said of by name.
        self.needed, self.named = set[str](), dict[str, set[str]]()
        self._fold_columns()
        self._protect()
        for name, entry in self.spec["datasets"].items():
            source = str(entry["from"]) if isinstance(entry, dict) and "from" in entry else ""
            self.made.setdefault(source, []).append(name)
            self._names(source)
        for each in mechanisms:
            self.reads.setdefault(str(each["reads"]), []).append(each)
            self._names(str(each["reads"]), each, *each.get("guarantees", []))
            above = _base(each["reads"])
            while above and above not in self.needed:
                self.needed.add(above)
                entry = self.spec["datasets"].get(above)
                above = _base(entry.get("from", "")) if isinstance(entry, dict) else ""
        told_ = {m["name"] for line in self.lines for m in line.get("mechanisms", ())}
        if {each["name"] for each in mechanisms} != told_:
            raise Rejected("its mechanisms are not those of the spec")
        self.kids: dict[Any, list[Line]] = {}
        self.nodes = {x["id"]: x for x in self.lines if x["line"] == "dataset"}
        self.facts: dict[int, Any] = {}
        for line in self.lines:
            if line["line"] == "dataset":
                self.kids.setdefault(line.get("parent"), []).append(line)
                self._dataset(line)
            elif line["line"] == "partition":
                self.kids.setdefault(line["of"], []).append(line)
                self._partition(line)
        self.seen: set[int] = set()
        self._below(None, {}, None, 1)
        if {i for i, x in self.nodes.items() if i not in self.seen and not self._twin(x)}:
            raise Rejected("a dataset is there that is not in the spec")

    def _names(self, source: str, *entries: Line) -> None:
        """Stores in `named` the blocks of a partition that the spec names one by one."""
        name, _, block = source.partition(".")
        known = self.named.setdefault(name, set())
        known |= {block} - {"", "*"}
        for each in entries:
            known.update(*(v for v in each.values() if isinstance(v, dict)))

    def _twin(self, line: Line) -> bool:
        """Returns whether a dataset is, or is below, one that is there as part of one release."""
        while "parent" in line and not line.get("one_release"):
            line = self.nodes[line["parent"]]
        return bool(line.get("one_release"))

    def _fold_columns(self) -> None:
        """Moves mechanisms to what they read, from the columns of it that they `use`."""
        uses = {each["name"]: each["uses"] for each in self.spec["mechanisms"] if "uses" in each}
        used: set[str] = set()
        nodes: dict[Any, Line] = {x["id"]: x for x in self.lines if x["line"] == "dataset"}
        for line in [each for each in nodes.values() if "map" in each]:
            above, columns = nodes[line["parent"]], line["map"].get("only")
            if line["name"] in self.spec["datasets"] or columns is None:
                continue
            if not columns or any(x["name"] not in uses for x in line.get("mechanisms", ())):
                raise Rejected("mechanisms read columns that they do not use in the spec")
            for each in line.get("mechanisms", ()):
                told_ = [{**x, "up": x["up"] - 1} for x in each["statements"]]
                above.setdefault("mechanisms", []).append({**each, "statements": told_})
                used.add(each["name"])
                if any(x["up"] < 0 for x in told_):
                    raise Rejected(f"{str(each['name'])[:60]} is stated on other rows in the spec")
                self._field(f"{each['name']}.uses", [*{*uses[each["name"]]}], columns)
            self.lines.remove(line)
        if uses.keys() - used:
            raise Rejected(f"{min(uses.keys() - used)[:60]} uses columns in the spec")

    def _entry(self, name: str) -> Line:
        entry = self.spec["datasets"].get(str(name).split(".")[0])
        if entry is None and str(name).split(".")[0] not in self.spec["datasets"]:
            raise Rejected(f"the spec has no dataset {name!r}")
        return entry if isinstance(entry, dict) else {}

    def _field(self, where: str, written: Any, told_: Any) -> None:
        """Compares a value as it is written with that of the certificate."""
        if isinstance(told_, list) or (isinstance(written, list) and not isinstance(told_, int)):
            listed = written if isinstance(written, list) else [written]
            same = sorted(map(str, listed)) == sorted(map(str, told_ or ()))
        elif isinstance(written, list):
            same = len(written) == told_
        elif told_ is None:
            same = written in ("", "~", "null")
        elif isinstance(told_, bool):
            if written not in ("true", "false"):
                self.left.add(where)
                return
            same = written == str(told_).lower()
        elif _fraction(told_):
            if not _fraction(written):  # an expression
                self.left.add(where)
                return
            same = F(written) == F(told_)
        else:
            same = written == told_
        if not same:
            raise Rejected(f"{where} is {str(written)[:40]} in the spec, {str(told_)[:40]} here")
        self.compared += 1

    def _fields(self, where: str, written: Any, told_: Line) -> None:
        if isinstance(written, str):
            written = {"kind": written}
        there = {_RENAMED.get(key, key) for key in written}
        for key, value in told_.items():
            if key in there or (key in _DEFAULTS and value == _DEFAULTS[key]):
                continue
            if not _FOLLOWS.get(key, set()) & {*written}:
                raise Rejected(f"{where} has no {key} in the spec")
            self.left.add(f"{where}.{key}")
        for key, value in written.items():
            name = _RENAMED.get(key, key)
            if key == "kinds" and isinstance(value, dict) and value.keys() == told_[key].keys():
                for kind, blocks in value.items():
                    self._field(f"{where}.{kind}", blocks, told_[key][kind])
            elif name in told_ and not isinstance(value, dict):
                self._field(f"{where}.{key}", value, told_[name])
            else:
                self.left.add(f"{where}.{key}")

    def _protect(self) -> None:
        written, header = self.spec["protect"], self.lines[0]
        written = {"relation": written} if isinstance(written, str) else written
        goal = header["protect"]
        within = self.spec.get("relations", {}).get(written["relation"], {}).get("within")
        self.nulls = "zero-out" in (written["relation"], within)
        if self.nulls:  # where nulls are as if absent, this is one row more or less
            self.left.add("protect.relation")
            written = {**written, "relation": goal.get("name", "unbounded")}
        name = goal.get("name", goal["kind"])
        told_ = {"keeps": goal.get("keeps", []), "changes": goal.get("changes")}
        told_ |= {"relation": name, "distance": header["distance"]}
        self._fields("protect", written, told_)
        self._declared(goal)

    def _declared(self, goal: Line) -> None:
        """Compares a relation that the spec declares with what it says there."""
        if goal["kind"] == "declared":
            declared = {**self.spec["relations"][goal["name"]]}
            if self.nulls:
                declared["within"] = "unbounded"
            told_ = {key: each for key, each in goal["within"].items() if key != "kind"}
            told_ |= {"within": goal["within"]["kind"], "distance": goal["distance"]}
            self._fields(f"relations.{goal['name']}", declared, told_)

    def _dataset(self, line: Line) -> None:
        entry, name = self._entry(line["name"]), line["name"]
        if "root" in line:
            if "from" in entry:
                raise Rejected(f"`{name}` is no root in the spec")
            public = ("drops", "joint", *(("domain", "size") if self.nulls else ()))
            self._fields(name, {k: v for k, v in entry.items() if k not in public}, line["root"])
            self.facts[line["id"]] = root_facts(line["root"])
        elif "partition" in line:
            self.facts[line["id"]] = self.facts[line["parent"]]
        else:
            try:
                self.facts[line["id"]] = facts_after(line["map"], self.facts[line["parent"]])
            except (NotChecked, Rejected, LookupError, TypeError):
                self.facts[line["id"]] = None
            if "through" in line:
                self.left.add(f"{name}.map")
                return
            every_row = line["map"]["kind"] == "all-rows"
            told_: Line = {"kind": "sample", "rate": "1"} if every_row else {**line["map"]}
            if told_["kind"].startswith("sample-"):  # one that is not drawn as usual
                told_["kind"] = "sample"
            written = entry.get("map", {})
            written = {"kind": written} if isinstance(written, str) else {**written}
            if "shared" in told_ and written.pop("draws", "each") in ("each", "one"):
                self._draws(name, told_.pop("shared"))
            if told_.get("size") is not None:
                told_.pop("rate", None)  # it is size / of
            if told_["kind"] == "value" and "sensitivity" in written:
                by = written.pop("sensitivity")
                written |= by if isinstance(by, dict) else {"unbounded": by}
            joint, root = told_.pop("joint", None), _base(entry["from"])
            if joint is not None:
                said = self._entry(root).get("joint", {})
                if name not in said.get("datasets", []):
                    raise Rejected(f"`{name}` is under no joint bound in the spec")
                self._fields(f"{root}.joint", said, joint)
            self._fields(f"{name}.map", written, told_)

    def _draws(self, name: str, shared: bool) -> None:
        """Compares whether all copies of the mechanisms read one sample."""
        written = self._entry(name).get("map", {})
        drawn = written.get("draws", "each") if isinstance(written, dict) else "each"
        self._field(f"{name}.draws", drawn, "one" if shared else "each")

    def _partition(self, line: Line) -> None:
        written = self._entry(line["name"])["partition"]
        told_ = {**line["by"], "by": line["by"]["kind"], "blocks": sum(line["sizes"])}
        told_ |= {key: line[key] for key in ("drops", *_CAPS)}
        del told_["kind"]
        if isinstance(written.get("kinds"), dict):
            blocks = [x for x in self.nodes.values() if x.get("partition") == line["id"]]
            names = {x["class"]: str(x["name"]).partition(".")[2] for x in blocks}
            told_["kinds"] = {k: [names[n] for n in told_["kinds"][k]] for k in told_["kinds"]}
            known = {name for each in written["kinds"].values() for name in each}
            if {*line["sizes"]} != {1} or {*names.values()} != known or len(names) != len(known):
                raise Rejected(f"`{line['name']}` has other blocks in the spec")
            del told_["blocks"]
        self._fields(line["name"], written, told_)

    def _below(
        self, node: Line | None, blocks: Line, drawn: tuple[int, int, int] | None, epochs: int
    ) -> None:
        """Compares all that is made of a dataset with the spec: each thing is there once.

        `blocks`: which block of each partition the dataset is in (None: one without a name);
        `drawn`: which of the fresh samples above it, and how many there are.
        """
        stack = [(node, blocks, drawn, epochs)]
        while stack:
            node, blocks, drawn, epochs = stack.pop()
            sources = [""]
            if node is not None:
                self.seen.add(node["id"])
                sources = [name := str(node["name"])]
                if "partition" in node:
                    sources = [f"{_base(name)}.*", f"{_base(name)}.{blocks[_base(name)]}"]
                self._mechanisms(node, sources, blocks, drawn, epochs)
            found: dict[str, list[Line]] = {}
            for line in self.kids.get(None if node is None else node["id"], ()):
                if "partition" not in line and not line.get("one_release"):
                    first = [*line.get("through", ()), line["name"]][0]
                    found.setdefault(first, []).append(line)
            due = [x for each in sources for x in self.made.get(each, ())]
            where = "a root" if node is None else f"made of `{node['name']}`"
            if {*found} - {*due} or self.needed & {*due} - {*found}:
                name = min(({*found} - {*due}) | (self.needed & {*due} - {*found}))
                raise Rejected(f"the spec says otherwise whether `{name}` is {where}")
            for first, lines in found.items():
                if lines[0]["line"] == "partition":
                    stack += self._blocks(lines, blocks, drawn, epochs)
                    continue
                if "through" in lines[0]:
                    self._chain(first, lines[0])
                made_by = lines[0].get("map", {})
                fresh = str(made_by.get("kind")).split("-")[0] in ("sample", "allocate")
                fresh = fresh and drawn is None and not made_by.get("shared", "bins" in made_by)
                if any(x.get("map", {}) != made_by for x in lines) or (
                    not fresh and (len(lines) > 1 or lines[0].get("draws", 1) != 1)
                ):
                    raise Rejected(f"`{first}` is there several times, and once in the spec")
                start, total = 0, sum(x.get("draws", 1) for x in lines)
                for line in lines:
                    end = start + line.get("draws", 1)
                    times = epochs * made_by.get("epochs", 1)
                    stack.append((line, blocks, (start, end, total) if fresh else drawn, times))
                    start = end

    def _chain(self, first: str, line: Line) -> None:
        """Compares datasets whose maps are merged: each is read by the next one alone."""
        for name, after in pairwise([*line["through"], line["name"]]):
            if self.made.get(name) != [after] or self.reads.get(name):
                raise Rejected(f"`{first}` is not followed by `{after}` alone in the spec")
        if not line["through"]:
            raise Rejected(f"`{first}` is merged with no other dataset in the spec")

    def _blocks(
        self, lines: list[Line], blocks: Line, drawn: Any, epochs: int
    ) -> Iterator[tuple[Line, Line, Any, int]]:
        """Yields the classes of a partition, each with a block of the spec that is in it."""
        name, line = lines[0]["name"], lines[0]
        entry = self._entry(name)["partition"]
        if len(lines) > 1:
            raise Rejected(f"`{name}` is there several times, and once in the spec")
        known = entry.get("blocks")
        if isinstance(entry.get("kinds"), dict):
            known = [*dict.fromkeys(x for each in entry["kinds"].values() for x in each)]
        room: list[tuple[Line, int]] = []
        alone: set[str] = set()
        for each in (x for x in self.nodes.values() if x.get("partition") == line["id"]):
            base, _, block = str(each["name"]).partition(".")
            size = line["sizes"][each["class"]]
            if base != name or (block != "*" and (size > 1 or block in alone)):
                raise Rejected(f"`{each['name']}` is no block of `{name}` in the spec")
            if block == "*":
                room.append((each, size))
                continue
            if (isinstance(known, list) and block not in known) or (
                _fraction(known) and not (block.isdecimal() and int(block) < F(str(known)))
            ):
                raise Rejected(f"`{name}` has no block {block[:40]!r} in the spec")
            alone.add(block)
            yield each, {**blocks, name: block}, drawn, epochs
        named = self.named.get(name, set()) - alone
        if isinstance(known, list):
            named &= {*map(str, known)}
        elif _fraction(known):
            named = {x for x in named if x.isdecimal() and int(x) < F(str(known))}
        for block in sorted(named):  # those of one class are alike
            why = Rejected(f"block {block!r} of `{name}` is missing")
            for n, (each, size) in enumerate(room):
                try:
                    if size:
                        self._below(each, {**blocks, name: block}, drawn, epochs)
                        room[n] = each, size - 1
                        break
                except Rejected as other:
                    why = other
            else:
                raise why
        for each, size in room:
            if size:  # any other block
                yield each, {**blocks, name: None}, drawn, epochs

    def _mechanisms(
        self, node: Line, sources: list[str], blocks: Line, drawn: Any, epochs: int
    ) -> None:
        """Compares the mechanisms that read a dataset: which, how often, and their guarantees."""
        found = {each["name"]: each for each in node.get("mechanisms", ())}
        written = {x["name"]: x for each in sources for x in self.reads.get(each, ())}
        if len(found) != len(node.get("mechanisms", ())) or found.keys() - written.keys():
            raise Rejected(f"other mechanisms read `{node['name']}` in the spec")
        above: Line | None = node
        cycle = False
        while above is not None:
            made_by = self._entry(above["name"]).get("map")
            cycle = cycle or (isinstance(made_by, dict) and "cycle" in made_by)
            above = self.nodes[above["parent"]] if "parent" in above else None
        for where, each in written.items():
            count = each.get("count", "1")
            count = str(len(count)) if isinstance(count, list) else _fraction(count)
            times = (
                int(F(count))
                * epochs
                * int(
                    each.get("runs", {}).get("fixed", 1)
                    if isinstance(each.get("runs"), dict)
                    else 1
                )
                if count
                else None
            )
            start, end, total = drawn or (0, 1, 1)
            if where not in found:
                if start == 0 or cycle or times is None or times > start:
                    raise Rejected(f"{where} reads `{node['name']}` in the spec")
                continue
            if times is None or cycle:  # an expression, or of one group of rows
                self.left.add(f"{where}.count")
            elif drawn and (times <= start or times > total):
                raise Rejected(f"{where}.count is {times} in the spec, not {total}")
            elif drawn and times < end:  # more copies than there are
                self.left.add(f"{where}.count")
            if drawn or not (times is None or cycle):
                self._field(f"{where}.count", str(1 if drawn else times), found[where]["count"])
            self._statements(where, each, node, found[where]["statements"], blocks)

    def _statements(
        self, where: str, each: Line, node: Line, stated_: list[Line], blocks: Line
    ) -> None:
        """Compares each guarantee of a mechanism in the certificate with one of the spec."""
        if each.get("local") == "true" or "of" in each:  # certified is all of it together
            self.left.add(where)
            return
        if "mechanism" in each:
            for line in stated_:
                self._noise(where, each, node, line)
            return
        several = each.get("guarantees", [each])
        if any(line.get("noise") for line in stated_):
            raise Rejected(f"{where} is no mechanism with noise in the spec")
        free = [*stated_]
        loose = [x for x in several if x.get("notion") not in READS or "points" in x]
        for said in [x for x in several if x not in loose]:
            why = Rejected(f"{where} has another guarantee in the spec")
            for line in free:
                before = self.compared, {*self.left}
                try:
                    self._statement(where, {**each, **said}, node, line, blocks)
                    free.remove(line)
                    break
                except Rejected as other:
                    (self.compared, self.left), why = before, other
            else:
                raise why
        if loose:  # a profile
            self.left.add(where)
        elif free:
            raise Rejected(f"{where} has more guarantees than in the spec")

    def _statement(self, where: str, said: Line, node: Line, line: Line, blocks: Line) -> None:
        self._field(f"{where}.notion", said["notion"], line["notion"])
        block = blocks.get(_base(said["reads"]))
        values = [said[key] for key in ("epsilon", "rho", "mu") if key in said]
        for key, value, given in (
            (said["notion"], values[0] if values else "", line["value"]),
            ("delta", said.get("delta", "0"), line.get("delta", "0")),
        ):
            value = value.get(block, "") if isinstance(value, dict) else value
            self._field(f"{where}.{key}", value, given)
        self._about(where, said, node, line)

    def _about(self, where: str, said: Line, node: Line, line: Line) -> bool:
        """Compares of which changes of which dataset a guarantee is; tells if that is written."""
        home = node
        for _ in range(line["up"]):
            home = self.nodes[home["parent"]]
        if line.get("noise", {}).get("kind") == "ShuffledReports":
            self.left.add(f"{where}.stated_on")
        elif _base(home["name"]) != _base(said.get("stated_on", said["reads"])):
            raise Rejected(f"{where} is stated on another dataset in the spec")
        given, of = line["relation"], said.get("relation")
        self._declared(given)
        goal = self.lines[0]["protect"]
        if of is None:
            by = said.get("sensitivity") if "mechanism" in said else None
            if isinstance(by, dict) and given.keys() == {"kind"} and given["kind"] in by:
                return True
            if given.get("name", given["kind"]) != goal.get("name", goal["kind"]):
                self.left.add(f"{where}.relation")
                return bool(given == {"kind": "unbounded"})
            of = {"relation": goal.get("name", goal["kind"]), **goal}
        of = of if isinstance(of, dict) else {"relation": of}
        name = {"l1": "euclidean"}.get(of["relation"], of["relation"])
        name = "unbounded" if self.nulls and name == "zero-out" else name
        self._field(f"{where}.relation", name, given.get("name", given["kind"]))
        facts = self.facts[home["id"]]
        for key in ("keeps", "changes"):
            if key == "changes" and key in of and key not in given:
                if facts is not None and facts.get("columns") is not None:
                    raise Rejected(f"{where} holds where other columns change in the spec")
            elif key in of or key in given:
                self._field(f"{where}.{key}", of.get(key, []), given.get(key, []))
        return True

    def _in_turn(self, name: str) -> bool:
        """Whether a dataset is made from a sample that draws from groups in turn."""
        for _ in range(len(self.nodes)):
            entry = self._entry(name)
            made_by = entry.get("map")
            if isinstance(made_by, dict) and "cycle" in made_by:
                return True
            if "from" not in entry:
                return False
            name = _base(entry["from"])
        return False

    def _noise(self, where: str, each: Line, node: Line, line: Line) -> None:
        """Compares a concrete mechanism with a guarantee of it, where both say numbers."""
        noise, shift = line.get("noise"), each.get("sensitivity")
        known = self._about(where, each, node, line)
        if not noise or noise["kind"].lower() != str(each["mechanism"]).replace("-", ""):
            self.left.add(f"{where}.mechanism")
        for key, value in (noise or {}).items():
            if key == "participations" and self._in_turn(_base(each["reads"])):
                self.left.add(f"{where}.{key}")  # they are copies
            elif key in each and not isinstance(value, list | dict):
                self._field(f"{where}.{key}", each[key], value)
            elif value is True and key != "by_response":
                raise Rejected(f"{where} has no {key} in the spec")
            elif (
                key != "kind"
                and (key, value) != ("unit", "1")
                and value not in (None, False, 0, "0")
            ):
                self.left.add(f"{where}.{key}")
        if isinstance(shift, dict):  # one in another norm is turned into the noise's own
            in_norms = any(isinstance(value, dict) for value in shift.values())
            shift = None if in_norms else shift.get(line["relation"]["kind"])
        if shift is not None and known:
            self._field(f"{where}.sensitivity", shift, line.get("shift"))
        elif "sensitivity" in each:
            self.left.add(f"{where}.sensitivity")


def _base(name: object) -> str:
    """Returns the name of a dataset without that of its block."""
    return str(name).partition(".")[0]


def _fraction(text: Any) -> str:
    """Returns a number as a certificate writes it, or nothing where it is another expression."""
    try:
        return str(F(str(text)))
    except (ValueError, ZeroDivisionError):
        return ""


def compare(lines: Sequence[str], text: bytes) -> SpecComparison:
    """Returns what was compared of a certificate and its spec, or raises Rejected."""
    try:
        import yaml

        return SpecComparison(lines, text)
    except yaml.YAMLError:
        raise Rejected("the spec is no YAML") from None
    except (
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as why:
        raise Rejected(f"the spec is malformed ({type(why).__name__})") from None


def certificates(text: str) -> list[list[str]]:
    """Returns the lines of each certificate of a file; every one begins with its header."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if found[-1] and re.match(r'\{"line": ?"header"', line):
            found.append([])
        found[-1].append(line)
    return found


def visible(text: object) -> str:
    """Returns a text with signs that cannot be seen as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def digits(x: F) -> str:
    """Returns a number with nine digits, however large or small it is."""
    with decimal.localcontext(prec=12):
        return f"{decimal.Decimal(x.numerator) / x.denominator:.9g}"


def main(arguments: Sequence[str]) -> int:
    """Prints yes or no for a certificate; returns 0, 1 if it is refused, 2 for a wrong call."""
    if len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--spec"]):
        print("usage: checker.py CERTIFICATE [--spec SPEC.yaml]", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            each_one = certificates(file.read())
        spec = b""
        if arguments[1:]:
            with open(arguments[2], "rb") as file_of_spec:
                spec = file_of_spec.read()
        for lines in each_one:
            checker = check(lines)
            if not any(line["line"] == "bound" and line["loss"] for line in map(json.loads, lines)):
                raise Rejected("no bound is claimed")
            comparison = compare(lines, spec) if arguments[1:] else None
            print(f"yes: {checker.checked - checker.left} of {checker.checked} claims follow")
            for reason, places in checker.unchecked.items():
                shown = ", ".join(map(str, places[:9])) + ", …" * (len(places) > 9)
                print(f"not checked: {visible(reason)} (line{'s' * (len(places) > 1)} {shown})")
            for epsilon, delta, within in checker.points:
                shown = f"ε ≤ {digits(epsilon)} at δ = {digits(delta)}"
                print(f"{shown} follows, to {float(100 * within):g} % of ε")
            if comparison is not None:
                part = " that were compared" if comparison.left else ""
                print(f"the spec says the same in {comparison.compared} fields{part}")
                if comparison.left:
                    print(f"not compared: {visible(', '.join(sorted(comparison.left)))}")
    except (OSError, UnicodeDecodeError, ImportError) as why:
        print(f"cannot read: {why}", file=sys.stderr)
        return 2
    except Rejected as why:
        print(f"no: {visible(why)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
