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
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction as F
from functools import cache, lru_cache, reduce
from itertools import (
    accumulate,
    chain,
    combinations,
    combinations_with_replacement,
    pairwise,
    product,
)
from typing import Any, NamedTuple, TypeAlias

VERSION, MOST_LINES, MOST_DIGITS, MOST_WAYS = 1, 200_000, 20_000, 5_000
UNKNOWN_RULES = (
    *("joint", "as-pure", "displaced", "sampled-rows", "coupled", "extremes"),
    *("unchanged", "so many rows"),
)
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


def few_digits(x: F) -> F:
    """Returns a number that has not so many digits that arithmetic takes very long."""
    if x.denominator.bit_length() > 1 << 18:
        raise NotChecked("numbers of very many digits")
    return x


def summed(numbers: Iterable[F]) -> F:
    """Returns a sum of few digits."""
    return reduce(lambda x, y: few_digits(x + y), numbers, ZERO)


def sqrt(x: F) -> F:
    """Returns an upper bound of the root of x, exact where it is rational."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return F(top, bottom)
    rounded[0] = True
    size = SCALE << max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return F(math.isqrt(x.numerator * size * size // x.denominator) + 1, size)


# -- shapes: which keys a line has, and what stands there ----------------------------------------

#: The keys of each line and of each kind, and what stands there: a test below or another shape.
#: `?` after a key: it may be missing; after what stands there: it may be null.
SHAPES = """
header: version=once spec=word protect=relation distance=once apart=whole**
root line: id=whole name=word root=root history?=level* mechanisms?=mechanism*
map line: id=whole name=word parent=whole map=map draws?=once one_release?=flag through?=words
    history?=level* mechanisms?=mechanism*
block line: id=whole name=word parent=whole partition=whole class=whole history?=level*
    mechanisms?=mechanism*
partition: id=whole of=whole name=word by=by sizes=once* drops=flag max_blocks_per_unit=once?
    max_rows_per_block=once?
proof: id=whole notion=word multiplied=flag
claim: id=whole dataset=whole change=any pure?=flag loss=any charges=any rules=any premises=whole*
bound: id=whole roots=whole* loss=any
point: proof=whole delta=number epsilon=number order?=number
unit: kind=word ends?=whole* kept?=words size?=number displaced?=whole sign?=whole directed?=whole
root: domain=word unit=word? size=whole? max_degree=whole? columns=words?
    max_rows_per_unit?=once
mechanism: name=word count=once statements=statement*
statement: relation=relation up=whole notion=word value=number noise?=noise shift?=number
    implied?=flag delta?=number points?=any
map filter: drops=flag uses=words?
map row: keeps=words uses=words?
map columns: only=words
map all-rows:
map flatten: max_rows=once exact=flag keeps=words drops=flag uses=words?
map join-public: max_rows=once exact=flag said_by=word drops=flag uses=words?
map group: by=word
map limit: per=word rows=once keep=word
map cap: rows=once keep=word
map sample: rate=above0 size=once? of=once? shared=flag
map stable: stability=whole
map value: unbounded=number? bounded=number? diameter=number? metric=word joint=any
map edges:
map nodes:
map opaque:
by value: uses=words?
by key: column=word
by position:
by membership: max_blocks=once
by kinds: kinds=kinds
noise Laplace: scale=above0
noise Geometric: scale=above0
noise Exponential: range=number
noise RandomizedResponse: odds=number k=once
noise Gaussian: sigma=above0 unit=above0
noise DiscreteGaussian: sigma=above0 unit=above0 norm=word most?=number
noise SparseVector: threshold_epsilon=number answer_epsilon=number value_epsilon=number
    positives=once monotone=flag
noise NoisyMax: range_epsilon=number law=word monotone=flag
noise PermuteAndFlip: range_epsilon=number law=word monotone=flag
noise TopK: range_epsilon=number law=word monotone=flag k=once peeling=flag
noise Matrix: sigma=above0 unit=above0 column_norm=number participations=once
    min_separation=once bands=once?
relation unbounded:
relation bounded: keeps?=words changes?=words
relation user:
relation edge:
relation node:
relation node-rewired:
relation euclidean:
relation free-lunch:
relation declared: name=word distance=once within=relation
"""


def _read_shapes() -> dict[str, Line]:
    found: dict[str, Line] = {}
    for line in re.sub(r"\n +", " ", SHAPES).split("\n"):
        name, _, keys = line.partition(":")
        found[name] = dict(each.split("=") for each in keys.split())
    return found


_SHAPES = _read_shapes()


def require(holds: Any, why: str) -> None:
    """Raises Rejected unless something holds."""
    if not holds:
        raise Rejected(why)


def _words(value: Any) -> None:
    require(isinstance(value, list) and len({*map(str, value)}) == len(value), "names, each once")
    for each in value:
        _TESTS["word"](each)


#: What may stand at a key; each raises Rejected otherwise.
_TESTS: dict[str, Callable[[Any], Any]] = {
    "any": lambda value: None,
    "flag": lambda x: require(isinstance(x, bool), f"{str(x)[:40]!r} is not true or false"),
    "word": lambda x: require(isinstance(x, str), f"{str(x)[:40]!r} is not a name"),
    "words": _words,
    "number": number,
    "above0": lambda value: require(number(value), "a number above 0 is due"),
    "whole": integer,
    "once": lambda value: integer(value, 1),
    "level": lambda value: integer(value, -1),
    "kinds": lambda value: [integer(each) for name in value for each in value[name]],
}


def has_shape(value: Any, shape: str) -> None:
    """Refuses what is not as a test or a shape says: with other keys, or with others' values."""
    if shape.endswith("*"):
        require(isinstance(value, list), "a list is due")
        for each in value:
            has_shape(each, shape[:-1])
    elif shape in _TESTS:
        _TESTS[shape](value)
    elif shape in ("map", "by", "noise", "relation"):
        kind = value["kind"]
        require(isinstance(kind, str), "a kind is a name")
        if f"{shape} {kind}" in _SHAPES:
            has_shape({k: value[k] for k in value if k != "kind"}, f"{shape} {kind}")
        else:  # others' maps and noises are no fault, and not checked
            require(shape in ("map", "noise"), f"there is no {shape} {kind[:40]!r}")
    else:
        keys = _SHAPES[shape]
        needed = {key for key in keys if not key.endswith("?")}
        given = {key if key in keys else f"{key}?" for key in value}
        require(isinstance(value, dict) and needed <= given <= {*keys}, "it has other keys")
        for key in given:
            each, null = value[key.rstrip("?")], keys[key].endswith("?")
            if not (null and each is None):
                has_shape(each, keys[key].rstrip("?"))
        _is_consistent(value, shape)


def _is_consistent(x: Line, shape: str) -> None:
    """Refuses what contradicts itself."""
    match shape:
        case "relation bounded":
            require(len(x) < 2, "a relation keeps some columns, or it changes some alone")
        case "relation declared":
            require(x["within"]["kind"] != "declared", "a declared relation is within another one")
        case "statement":
            with_delta, with_points = ("approx", "rdp", "profile"), ("rdp", "profile")
            require("delta" not in x or x["notion"] in with_delta, "it has other keys")
            require("points" not in x or x["notion"] in with_points, "it has other keys")
            require(("noise" in x) == ("shift" in x), "a noise has a shift")
            require(number(x.get("delta", "0")) <= 1, "a δ is at most 1")
        case "map sample":
            rate, size, of = number(x["rate"]), x["size"], x["of"]
            fits = size is None or (of is not None and size <= of and rate == F(size, of))
            require(
                rate <= 1 and fits, "a rate is at most 1, and that of a fixed size is size / of"
            )
        case "map line":
            kind = x["map"]["kind"]
            known = kind != "sample" and f"map {kind}" in _SHAPES
            require(not known or x.get("draws", 1) == 1, "samples alone are drawn several times")
        case "partition" if "kinds" in x["by"]:
            fed = [each for some in x["by"]["kinds"].values() for each in some]
            single = {*x["sizes"]} <= {1} and max(fed, default=0) < len(x["sizes"])
            require(single, "the kinds of rows name blocks, each of which is there once")


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


def _leaves_of(change: Change) -> Iterator[Unit]:
    for unit, _ in change:
        yield from _leaves_of(unit.below) if unit.below else (unit,)


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
    """Returns a change that no longer says which units of the ancestor at `depth` its units come
    from: the units inside of these take their places."""
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


def one_by_one(change: Change) -> Change:
    """Returns the same change with every unit listed by itself, with count 1, at every level."""
    each_one = [unit._replace(below=one_by_one(unit.below)) for unit, n in change for _ in range(n)]
    return tuple((unit, 1) for unit in each_one)


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
        self.root: Line = line.get("root", {})
        self.map: Line | None = line.get("map")
        self.block: tuple[BlockClasses, int] | None = None
        self.draws, self.one_release = line.get("draws", 1), line.get("one_release", False)
        self.history, self.mechanisms = tuple(line.get("history", ())), line.get("mechanisms", [])
        self.children: list[DataNode] = []
        self.partitions: list[BlockClasses] = []
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
        found = [self]
        for _ in range(steps):
            above = found[0].parent
            if above is None:
                raise Rejected(f"a statement in `{self.name}` is above its root")
            found.insert(0, above)
        return found

    def is_sample(self) -> bool:
        """Whether it is a sample whose outcome is taken as given."""
        return self.map is not None and self.map["kind"] == "sample" and self.above is None


class Conduct(NamedTuple):
    """How a map treats rows: whether it makes one row of one, alone; whether a row may leave no
    trace; whether some row is declared to give nothing; whether it draws."""

    one: bool
    may_drop: bool
    drops: bool
    random: bool


def conduct(made_by: Line) -> Conduct:
    """Returns how a map treats rows."""
    kind = made_by["kind"]
    if f"map {kind}" not in _SHAPES:
        raise NotChecked(f"maps of kind {kind!r}")
    may_drop = kind in ("filter", "flatten", "join-public", "group", "limit", "cap")
    random = kind == "sample" or made_by.get("keep") == "random"
    one = kind in ("filter", "row", "columns", "all-rows")
    return Conduct(one, may_drop, made_by.get("drops", False), random)


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
            require(size is None or f.get("fixed"), "how many rows a sample is of is not known")
            if size is not None and (most := f.get("most")) is not None and made_by["of"] > most:
                raise NotChecked("samples of more rows than are known to be there")
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
            most = f.get("most")
            most = most * made_by["max_rows"] if exact and most is not None else None
            same = {"ordered": f.get("ordered"), "size": size, "fixed": exact, "most": most}
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


def outcomes(made_by: Line, unit: Unit, f: Line) -> list[Outcome]:
    """Returns all that a map may make of one unit; what something else dominates is left out."""
    kind, pair, user = made_by["kind"], unit.kind == "pair", unit.kind == "user"
    every, uses = tuple(range(len(unit.ends))), names(made_by.get("uses"))
    keeps: frozenset[str] = (
        names(made_by.get("only" if kind == "columns" else "keeps")) or frozenset()
    )
    anything = _one(ANY._replace(ends=every))
    if kind == "value":
        if made_by["joint"] is not None:
            raise NotChecked("values under a joint bound")
        u, b, most = (
            made_by[k] and number(made_by[k]) for k in ("unbounded", "bounded", "diameter")
        )
        one = u if unit.size is None else u and u * unit.size
        ways = [x for x in ([b, u and 2 * u] if pair else [one]) if x is not None]
        unknown = unit.kind not in ("single", "pair", "user") or (user and unit.size is None)
        moves = [
            x for x in ([] if unknown else [min(ways, default=None)]) + [most] if x is not None
        ]
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
#: In a notion with numbers undominated pairs of ε (or ρ, or μ²) and δ, of which each holds; in
#: `profile` Multisets. It is empty where no bound is known.
Loss = Any
Parts = Sequence[tuple[Loss, int]]
#: The loss of one mechanism at all δ: its kind, its numbers, and of noise the shift last. They are
#: ("Response", ε), ("Chance", δ), ("Laplace", shift/scale), ("Gaussian", μ²), ("Geometric", scale,
#: shift), ("Poisson", rate, whether the row is added, what it amplifies).
Item = tuple[Any, ...]
Multiset = tuple[tuple[Item, int], ...]


class Multisets(tuple[Multiset, ...]):
    """Losses kept apart, for bounds at a δ: each change loses what some multiset of items does."""

    def __add__(self, other: Any) -> Multisets:
        if not isinstance(other, Multisets):
            return self  # a sum begins with 0
        return Multisets({merged(*pair): None for pair in _product([self, other])})

    __radd__ = __add__

    def __mul__(self, copies: Any) -> Multisets:
        # Each copy may lose another one of them.
        if math.comb(max(0, len(self) + copies - 1), copies) > MOST_WAYS:
            raise NotChecked(f"more than {MOST_WAYS} ways")
        if len(self) == 1 and copies:
            return Multisets([tuple((item, n * copies) for item, n in self[0])])
        ways = combinations_with_replacement(self, copies)
        return Multisets({merged(*way): None for way in ways})


def merged(*several: Multiset) -> Multiset:
    """Returns all items of several multisets, equal ones counted together."""
    found: dict[Item, int] = {}
    for item, count in (each for some in several for each in some):
        found[item] = found.get(item, 0) + count
    return tuple(sorted(((item, n) for item, n in found.items() if n), key=repr))


def response(item: Item) -> Item:
    """Returns the randomized response that loses no less than an item, where there is one."""
    if item[0] == "Geometric":
        return "Response", item[2] / item[1]
    return ("Response", item[1]) if item[0] == "Laplace" else item


def is_no_worse(less: Multiset, more: Multiset) -> bool:
    """Whether each loss of a multiset has one of its own kind in another one, and no smaller; noise
    in pure DP is no more than the response of its ε, pure DP over k steps no less than k of them.
    """
    counts = dict(more)
    common = tuple((item, -min(n, counts.get(item, 0))) for item, n in less)
    less, more = merged(less, common), merged(more, common)
    above = merged(tuple((response(item), n) for item, n in less))
    below = merged(tuple(_steps_of(item, n) for item, n in more))
    return any(_no_larger(a, b) for a, b in product((less, above), (more, below)))


def _steps_of(item: Item, count: int) -> tuple[Item, int]:
    one = item[0] == "Geometric"
    return (("Response", 1 / item[1]), count * int(item[2])) if one else (item, count)


def _no_larger(less: Multiset, more: Multiset) -> bool:
    def as_large(items: Multiset, as_item: Item) -> int:
        if as_item[0] == "Poisson":
            return sum(n for item, n in items if item == as_item)
        same_kind = ((item, n) for item, n in items if item[:-1] == as_item[:-1])
        return sum(n for item, n in same_kind if item[-1] >= as_item[-1])

    return all(as_large(less, item) <= as_large(more, item) for item, _ in less)


def _guess(loss: Multisets) -> F:
    """Returns about how large a loss is: of several that hold any may be taken."""

    def size(item: Item) -> F:
        kind, *_, last = response(item)
        if kind == "Poisson":
            return F(item[1]) * sum((size(inner) * n for inner, n in last), ZERO)
        if kind == "DiscreteGaussian":
            return F(last**2 / item[1])
        return F(last * min(last, ONE) if kind == "Response" else last)

    return max(sum((size(item) * n for item, n in each), ZERO) for each in loss)


def top(losses: Iterable[Any]) -> Any:
    """Returns the largest number; of losses that are kept apart all."""
    known = list(losses)
    if not any(isinstance(each, Multisets) for each in known):
        return max(known, default=ZERO)
    if () in known:
        return Multisets()
    sets = (loss if isinstance(loss, Multisets) else [()] for loss in known)
    return Multisets({each: None for loss in sets for each in loss})


class LossArithmetic:
    """How losses of a notion add up."""

    def __init__(self, notion: str, multiplied: bool = False) -> None:
        self.notion, self.multiplied = notion, multiplied and notion == "approx"
        self.apart = notion == "profile"
        self.zero: Loss = Multisets([()]) if self.apart else ((ZERO, ZERO),)
        self.none: Loss = Multisets() if self.apart else ()

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least of several bounds, all of which hold."""
        if self.apart:
            return min(filter(None, losses), key=_guess, default=self.none)
        kept: list[tuple[F, F]] = []
        for epsilon, delta in sorted(pair for loss in losses for pair in loss):
            if not kept or delta < kept[-1][1]:
                kept.append((epsilon, delta))
        if len(kept) > 400:
            raise NotChecked("more than 400 undominated pairs")
        return tuple(kept)

    def add(self, losses: Sequence[Loss]) -> Loss:
        """Returns the loss of all together; δ as 1-Π(1-δ) where the proof says `multiplied`."""
        if self.apart:
            return sum(losses, self.zero)
        found, lost = self.zero, self.multiplied
        for loss in losses:
            for each in chain(*found):
                few_digits(each)
            ways = [(a + c, b + d - b * d * lost) for a, b in found for c, d in loss]
            found = self.best([ways])
        return found

    def times(self, loss: Loss, copies: int) -> Loss:
        """Returns the loss of so many copies."""
        if self.apart:
            return loss * copies
        found = self.zero
        for bit in bin(copies)[2:]:
            found = self.add([found, found, loss] if bit == "1" else [found, found])
        return found

    def cover(self, losses: Sequence[Loss]) -> Loss:
        """Returns a loss that covers each of several."""
        if self.apart:
            return top(losses) if losses else self.zero
        found: Loss = self.zero
        for loss in losses:
            found = self.best([[(max(a, c), max(b, d)) for a, b in found for c, d in loss]])
        return found

    def chain(self, parts: Parts, free: bool = False) -> Loss:
        """Returns the loss along a path of tables: so many steps of each loss."""
        parts = [(loss, count) for loss, count in parts if count and loss != self.zero]
        counts = [count for _, count in parts]
        if not parts or not all(loss for loss, _ in parts):
            return self.none if parts else self.zero
        if self.apart:
            return parts[0][0] if counts == [1] else Multisets([((_over_steps(parts), 1),)])
        ways = _product([loss for loss, _ in parts])
        walks = [self._walk([*zip(way, counts, strict=True)], free) for way in ways]
        return self.best([[pair for pair in walks if pair is not None]])

    def _walk(self, steps: list[tuple[tuple[F, F], int]], free: bool) -> tuple[F, F] | None:
        merged_: dict[tuple[F, F], int] = {}
        for pair, count in steps:
            merged_[pair] = merged_.get(pair, 0) + count
        if self.notion == "approx":
            return chain_pairs(merged_, free)
        if self.notion == "pure":
            return summed(x * n for (x, _), n in merged_.items()), ZERO
        if len(merged_) == 1:
            ((x, _), n), *_ = merged_.items()
            return x * n**2, ZERO
        return summed(sqrt(x) * n for (x, _), n in merged_.items()) ** 2, ZERO


def _over_steps(parts: Parts) -> Item:
    """Returns the loss of one mechanism over several steps: the shifts of Gaussian noise add up;
    of pure DP that of geometric noise over as many steps (Dong, Roth and Su 2022, Theorem 2.14).
    """
    found: dict[Item, int] = {}
    for loss, count in parts:
        if len(loss) > 1 or len(loss[0]) > 1 or loss[0][0][1] > 1:
            raise NotChecked("several steps at a δ")
        found[loss[0][0][0]] = found.get(loss[0][0][0], 0) + count
    if all(item[0] == "Gaussian" for item in found):
        return "Gaussian", sum((sqrt(item[1]) * n for item, n in found.items()), ZERO) ** 2
    ((item, count), *more) = found.items()
    if more or item[0] != "Response":
        raise NotChecked("several steps at a δ")
    return "Geometric", 1 / item[1], F(count)


def _product(options: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields the tuples of the Cartesian product of `options`; NotChecked is raised if there are
    more than `MOST_WAYS`."""
    if math.prod(map(len, options)) > MOST_WAYS:
        raise NotChecked(f"more than {MOST_WAYS} ways")
    return product(*options)


def chain_pairs(steps: dict[tuple[F, F], int], free: bool) -> tuple[F, F] | None:
    """Returns (ε, δ) along a path (VI.3), in the best order of steps if it is `free`, else in the
    worst one; None if δ reaches 1."""
    epsilon = summed(e * n for (e, _), n in steps.items())
    if epsilon > 4_000 and any(d for _, d in steps):
        return None

    def ratio(pair: tuple[F, F]) -> tuple[bool, F]:
        e, d = pair
        return (bool(d), ZERO) if not (e and d) else (False, d / (exp(e)[1] - 1))

    delta, before = ZERO, ZERO
    for e, d in sorted(steps, key=ratio, reverse=free) if len(steps) > 1 else steps:
        count = steps[e, d]
        if d:
            grown = F(count) if not e or count == 1 else (exp(e * count)[1] - 1) / (exp(e)[0] - 1)
            delta = few_digits(delta + (exp(before)[1] if before else ONE) * d * grown)
        before += e * count
    return None if delta >= 1 else (epsilon, delta)


def read_as(loss: Loss, source: str, target: str) -> Loss:
    """Returns the least loss known in `target` of what has this one, of numbers, in `source`."""
    if target == "profile":
        kinds = ("Gaussian", "Chance") if source == "gdp" else ("Response", "Chance")
        pairs = [[*zip(kinds, pair, strict=True)] for pair in loss]
        return Multisets(tuple((item, 1) for item in each if item[1]) for each in pairs)
    if source == target or target == "approx" or loss in ((), ((ZERO, ZERO),)):
        return loss
    ((x, _),) = loss
    if (source, target) == ("pure", "zcdp"):
        return ((x * (1 - 2 / (exp(x)[1] + 1)), ZERO),)  # ε·tanh(ε/2)
    if (source, target) == ("gdp", "zcdp"):
        return ((x / 2, ZERO),)
    raise NotChecked(f"{source} read as {target}")


# -- what a mechanism loses (section 4) ----------------------------------------------------------


class View(NamedTuple):
    """A statement as seen from the dataset read: the level of its dataset `home` in a change, and
    what holds on the way down: the padding lemma; no random choice; that each of the two rows of
    a replacement acts by itself, and the table without both is one that the statement is about."""

    said: Line
    level: int
    home: DataNode
    padded: bool
    plain: bool
    apart: bool = False


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
        apart = of == "unbounded" and plain and not home.facts.get("fixed")
        apart = apart and all(map(_treats_keys_apart, edges))
        return View(said, index[home.depth], home, padded(edges), plain, apart)
    fixed = home.facts.get("fixed")  # no two tables of one size are such neighbours
    if of == "unbounded" and not fixed and all(map(_keeps_rows, edges)):
        return View(said, len(node.history), node, False, True)
    return None


def _keeps_rows(edge: DataNode) -> bool:
    """Whether a row that is added above is at most one added row below."""
    if edge.block is not None:
        return edge.block[0].kind != "position"
    return edge.map is not None and conduct(edge.map).one


def _treats_keys_apart(edge: DataNode) -> bool:
    """Whether what is made of a row, or of the rows of one key, depends on these alone."""
    if edge.block is not None:
        return edge.block[0].kind in ("value", "key", "membership", "kinds")
    kinds = "filter row columns all-rows flatten join-public group".split()
    made_by = edge.map or {"kind": ""}
    first = made_by["kind"] in ("limit", "cap") and made_by.get("keep") == "first"
    return made_by["kind"] in kinds or first


def padded(edges: Sequence[DataNode]) -> bool:
    """Whether some row gives nothing along the edges, as the padding lemma needs it."""
    for edge in edges:
        if edge.block is None:
            found = conduct(edge.map or {})
            if not found.one or found.drops:
                return found.drops
            continue
        part, place = edge.block
        if part.kind in ("key", "position"):
            return False
        several = part.kind == "value" and sum(part.sizes) > 1
        if part.line["drops"] or several or any(place not in each for each in part.fed):
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


def noise_loss(noise: Line, notion: str, shift: F) -> F | None:
    """Returns the ε of pure DP, ρ, or μ² of noise at a shift; None where it has none by itself."""

    def value(key: str) -> F:
        return number(noise[key])

    kind, steps, places = noise["kind"], math.ceil(shift), int(noise.get("k", 1))
    match notion, kind:
        case "pure", "Laplace" | "Geometric":
            return shift / value("scale")
        case "pure", "Exponential":
            return value("range") * shift
        case "pure", "RandomizedResponse":
            return value("odds") * steps
        case "pure", "SparseVector":
            threshold, answers = value("threshold_epsilon"), value("answer_epsilon")
            return (threshold + answers + value("value_epsilon")) * steps
        case "pure", "NoisyMax" | "PermuteAndFlip":
            return value("range_epsilon") * steps
        case "pure", "TopK":
            return value("range_epsilon") * places * steps
        case ("gdp", "Gaussian" | "Matrix") | ("zcdp", "Gaussian" | "Matrix" | "DiscreteGaussian"):
            square = (shift / value("sigma")) ** 2 * value("unit")
            if kind == "Matrix":  # vectors of norm 1 in all steps of a row move C·x as far as this
                times, bands = int(noise["participations"]), noise["bands"]
                apart = bands is not None and bands <= noise["min_separation"]
                square *= (times if apart else times**2) * value("column_norm") ** 2
            return square / 2 if notion == "zcdp" else square
    return None


def stated(said: Line) -> Loss:
    """Returns the loss (ε, ρ, μ², with its δ) that a statement says for one step."""
    value, noise, notion = number(said["value"]), said.get("noise"), said["notion"]
    amount, delta = value * value if notion == "gdp" else value, number(said.get("delta", "0"))
    if noise is None:
        return ((amount, delta),)
    least = noise_loss(noise, notion, number(said["shift"]))
    if least is None:
        raise NotChecked(f"noise of kind {noise['kind'][:40]!r} in {notion}")
    if amount < least:
        raise Rejected(f"a statement says {said['value']}, which its noise does not give")
    return ((least, delta),)


def check_implied(node: DataNode, said: Line, several: Sequence[Line]) -> None:
    """Refuses a statement that is no point of a profile, and does not follow along a path where a
    row is replaced in some columns first and in others then, as others of the mechanism say."""
    rounded[0], home = False, node.up(said["up"])[0]
    ((value, delta),) = claimed = stated(said)
    algebra, paths = LossArithmetic(said["notion"]), list[Loss]()
    steps_: list[tuple[frozenset[str], Loss]] = []
    for each in several:
        kind, same = each["relation"]["kind"], each["up"] == said["up"]
        if each["notion"] == "profile" and each["relation"] == said["relation"] and same:
            pairs = {(number(e), number(d)) for e, d in each["points"]}
            if (value, delta) in pairs and said["notion"] == ("approx" if delta else "pure"):
                return
        plain = not each.get("implied") and "noise" not in each and kind == "bounded"
        if plain and same and each["notion"] == said["notion"]:
            kept = required(each["relation"], home.facts) or frozenset()
            steps_.append((kept, stated(each)))
    if home.parent is None and home.facts["unit"] is None and said["relation"]["kind"] == "bounded":
        kept = required(said["relation"], home.facts) or frozenset()
        for count in range(2, min(4, len(steps_)) + 1):
            for some in combinations(steps_[:4], count):
                if frozenset.intersection(*(each for each, _ in some)) <= kept:
                    paths.append(algebra.chain([(loss, 1) for _, loss in some], True))
    _hold(algebra, claimed, algebra.best(paths), "what a statement implies")


def mechanism_loss(views: Sequence[View], change: Change, algebra: LossArithmetic) -> Loss:
    """Returns the least loss of one copy of a mechanism that its statements give for a change."""
    found, target = [algebra.none], algebra.notion
    noisy = [v for v in views if v.said.get("noise")] if algebra.apart else []
    if noisy:  # its own loss is below everything else that is stated
        told = [v for v in noisy if v.said["noise"]["kind"] != "OneHot"] or noisy
        return algebra.best(_loss_of_noise(v, change) for v in told)
    sources = {v.said["notion"] for v in views if target in READS.get(v.said["notion"], "").split()}
    # Steps may add up in the notion of the statements, and what follows be read in the other one.
    groups = [({n}, n) for n in sources if target not in ("approx", "profile")]
    for group, notion in [*groups, (sources, target)] if sources else ():
        inner, chosen = LossArithmetic(notion), [v for v in views if v.said["notion"] in group]
        losses = {id(v.said): read_as(stated(v.said), v.said["notion"], notion) for v in chosen}
        ends = [losses[id(v.said)] for v in chosen if v.said["relation"]["kind"] == "free-lunch"]
        for v in chosen:
            if v.said["relation"]["kind"] != "euclidean":
                continue
            if algebra.apart:
                raise NotChecked("a distance at a δ")
            moved = _distance(_flat(change, v.level), v.home.facts.get("diameter"))
            if moved is not None and v.said["notion"] == "pure":
                ((epsilon, _),) = stated(v.said)
                ends.append(read_as(((epsilon * moved, ZERO),), "pure", notion))
        for some, rows in _ways(chosen, change):
            options: list[list[Any]] = []
            for unit, count in rows:
                both = [_covers(some, each, count) for each in halves(some, unit)]
                mixed = (
                    [(a, b) for a, b in _product(both) if a[0].level != b[0].level] if both else []
                )
                options.append([(each,) for each in _covers(some, unit, count)] + mixed)
            for ways in _product(options):
                way = [each for several in ways for each in several]
                levels = {v.level for v, _ in way}
                free = len(levels) == 1 and only_rows(_flat(rows, *levels))
                parts = [(losses[id(v.said)], k * n) for v, ks in way for k, n in ks]
                ends.append(inner.chain(parts, free))
                # Each step may be one of any statement for the same relation of the same dataset.
                taken = [(v, sum(k * n for k, n in ks)) for v, ks in way]
                if target != "approx" or sum(n for _, n in taken) > 6:
                    continue
                like = [([u for u in some if _same_steps(u, v)], n) for v, n in taken]
                if math.prod(len(us) ** n for us, n in like) <= 1_000:
                    each = [(inner.best(losses[id(u.said)] for u in us), n) for us, n in like]
                    ends.append(inner.chain([(x, 1) for x, n in each for _ in range(n)], free))
        found += [read_as(each, notion, target) if notion != target else each for each in ends]
    for v in views:  # the shifts of noise add along a path
        noise = v.said.get("noise") or {"kind": ""}
        if target in ("zcdp", "gdp") and noise_loss(noise, target, ONE) is not None:
            moved = _shift(v, change)
            found.append(tuple((noise_loss(noise, target, x), ZERO) for x, _ in moved))
    return algebra.best(found)


def _covers(views: Sequence[View], unit: Unit, count: int) -> list[Any]:
    """Returns the statements that cover so many equal units, each with how many steps cover each
    of the units at its level, and how many of these there are."""
    covers = [(v, [(steps(v, u), n * count) for u, n in at_level(unit, v.level)]) for v in views]
    return [(v, ks) for v, ks in covers if all(k is not None for k, _ in ks)]


def halves(views: Sequence[View], unit: Unit) -> list[Unit]:
    """Returns a replaced row as a removed and an added one, each with what it became; nothing
    where some of that is due to both. Between the two lies the table with neither."""
    known = any(v.apart and v.level == 0 for v in views)
    if unit.kind != "pair" or not known or not unit.below:
        return []
    of: tuple[list[Any], list[Any]] = ([], [])
    for below, count in unit.below:
        if {*below.ends} not in ({0}, {1}):
            return []
        of[below.ends[0]].append((below._replace(ends=(0,) * len(below.ends)), count))
    one, other = (Unit("single", sign=n, below=gather(each)) for n, each in enumerate(of))
    return [one, other] if one.below and other.below else []


def _same_steps(one: View, other: View) -> bool:
    """Returns whether two statements are for the same relation of the same dataset."""
    return (one.level, one.said["relation"]) == (other.level, other.said["relation"])


def _shift(v: View, change: Change) -> Loss:
    """Returns how far a change moves a mechanism with noise, as an ε; of no pairs: not known."""
    said = {**v.said, "value": v.said["shift"], "notion": "pure", "noise": None}
    return mechanism_loss([v._replace(said=said)], change, LossArithmetic("pure"))


def _loss_of_noise(v: View, change: Change) -> Multisets:
    """Returns what concrete noise loses at all δ, where a change shifts it along a path."""
    noise, moved = v.said["noise"], _shift(v, change)
    if not moved or not moved[0][0]:
        return Multisets([()] if moved else [])
    ((shift, _),) = moved
    kind, whole = noise["kind"], shift.denominator == 1
    if kind == "Laplace":
        item: Item = (kind, shift / number(noise["scale"]))
    elif kind == "Gaussian":
        item = (kind, noise_loss(noise, "gdp", shift))
    elif kind == "Geometric" and whole:
        item = (kind, number(noise["scale"]), shift)
    elif kind == "DiscreteGaussian" and noise["norm"] == "L1" and noise["unit"] == "1" and whole:
        item = (kind, number(noise["sigma"]) ** 2, shift)
    elif kind == "DiscreteGaussian" and noise["norm"] == "L2":
        square = math.floor(shift**2 * number(noise["unit"]))
        most = number(noise.get("most", "0"))  # steps for each unit of the shift
        vector = _worst_vector(min(square, math.floor(shift * most)) if most else square, square)
        items = ((kind, number(noise["sigma"]) ** 2, F(x)) for x in vector)
        return Multisets([merged(*(((each, 1),) for each in items))])
    else:
        raise NotChecked(f"noise of kind {kind[:30]!r} at a δ")
    return Multisets([((item, 1),)])


@cache
def _worst_vector(steps: int, square: int) -> tuple[int, ...]:
    """Returns the vector of whole numbers of an L1 norm of at most `steps`, and of L2 with at most
    this square, that loses more than any other.

    More is lost with a coordinate more or moved further, or with one moved by the sum of two.
    """
    if steps > 9:
        raise NotChecked("vectors of many steps at a δ")
    ends, seen = list[tuple[int, ...]](), set[tuple[int, ...]]()
    rest: list[tuple[int, ...]] = [()]
    while rest:
        vector = rest.pop()
        ways = [[*vector, 1]]
        for n, x in enumerate(vector):
            others = [*vector[:n], *vector[n + 1 :]]
            ways.append([*others, x + 1])
            ways += [[*others[:m], *others[m + 1 :], x + y] for m, y in enumerate(others)]
        fits = [w for w in ways if sum(w) <= steps and sum(x * x for x in w) <= square]
        ends += [] if fits else [vector]
        new = {tuple(sorted(w)) for w in fits} - seen
        seen |= new
        rest += new
    if len(ends) > 1:
        raise NotChecked("several vectors of which any may be the worst")
    return ends[0]


def sharper(views: Sequence[View], change: Change, notion: str) -> str:
    """Returns why less may be known of a loss than this file knows, or nothing."""
    rows = leaves(change)
    once = sum(n for _, n in rows) == 1 and all(
        steps(v, u) in (None, 0, 1) for v in views for u, _ in rows
    )
    if len(views) > 1 and not once:
        return "statements that take turns along a path"
    pure = [v.said for v in views if v.said.get("noise") or v.said["notion"] == "pure"]
    known = ("Gaussian", "Matrix")
    if any(
        not (x["noise"]["kind"] in known if x.get("noise") else once) for x in pure
    ) and notion in ("zcdp", "gdp"):
        return f"the {notion} of noise or of pure statements over several steps"
    if any((v.said.get("noise") or {}).get("kind") == "OneHot" for v in views):
        return "noise on a histogram"
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

#: A map, by the dataset that it makes; or a partition.
Edge: TypeAlias = "DataNode | BlockClasses"


class ClaimRules:
    """A claim that is checked. Its rules bound all that is made by one map (`child`) or one
    partition (`part`) of a dataset, from losses that premises give."""

    def __init__(self, algebra: LossArithmetic, pure: bool, premises: dict[Any, Loss]) -> None:
        self.algebra, self.pure, self.premises = algebra, pure, premises
        self.used: set[Any] = set()
        self.known: dict[Any, Loss] = {}

    def ask(self, node: DataNode, change: Change) -> Loss:
        """Returns what a premise says of a change of a dataset."""
        key = node.id, change, self.pure
        if key not in self.premises:
            raise Missing(f"nothing is claimed of a change in `{node.name}` that may happen")
        self.used.add(key)
        return self.premises[key]

    def bound(self, node: DataNode, edge: Edge, how: Any, change: Change) -> Loss:
        """Returns the bound that a rule, or a combination of rules, gives."""
        key = id(edge), json.dumps(how), change
        if key not in self.known:
            self.known[key] = self._bound(node, edge, how, change)
        return self.known[key]

    def _bound(self, node: DataNode, edge: Edge, how: Any, change: Change) -> Loss:
        name, of = (how, []) if isinstance(how, str) else (how[0], how[1:])
        of = [*{json.dumps(each): each for each in of}.values()]
        if name == "best":
            return self.algebra.best([self.bound(node, edge, each, change) for each in of])
        if name in ("units", "outermost"):
            parts = parts_of(change, name == "outermost")
            free = only_rows(change) and node.up(node.depth)[0].facts.get("unit") is None
            losses = [(self._bound_of_unit(node, edge, of, each), n) for each, n in parts]
            return self.algebra.chain(losses, free)
        kind = "map_" if isinstance(edge, DataNode) else "split_"
        rule = getattr(self, kind + re.sub(r"\W", "_", name), None)
        if rule is None:
            require(name in UNKNOWN_RULES, f"there is no rule {str(name)[:40]!r}")
            raise NotChecked(f"rule {name!r}")
        return rule(node, edge, change, *([of] if of else []))

    def _bound_of_unit(
        self, node: DataNode, edge: Edge, rules: Sequence[Any], change: Change
    ) -> Loss:
        """Returns the least bound of those rules that apply to one unit."""
        found, why = [], Rejected("no rule is named for a unit")
        for rule in rules:
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
        require(not child.read, f"`{child.name}` is read")
        return self.algebra.zero

    def map_release(
        self, node: DataNode, child: DataNode, change: Change, of: Sequence[Any]
    ) -> Loss:
        """One release alone depends on what a random map draws: what is stated above covers it."""
        inside = [*node.children, child][node.children.index(child) + 1]
        alone = inside.one_release and inside.map == child.map and releases(inside) == 1
        require(alone, "more than one release depends on what is drawn")
        return self.algebra.times(self.bound(node, inside, of[0], change), child.draws)

    def map_listed(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        """The worst of everything that a map may make of the change."""
        require(not child.is_sample(), "a sample is no map whose outcomes are listed")
        made_by, trace = child.map or {}, node.depth in child.history
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
                        here = unit
                        if column and trace:
                            here = unit._replace(displaced=1, kept=(column,))
                        each.append(tuple(placed(here, made, trace)))
                each = list(dict.fromkeys(each))
                if len(each) == 1:
                    each, count = [tuple((u, n * count) for u, n in each[0])], 1
                if math.comb(len(each) + count - 1, count) > MOST_WAYS:
                    raise NotChecked(f"more than {MOST_WAYS} ways")
                several = map(Counter, combinations_with_replacement(each, count))
                options.append(
                    [tuple((u, n * k) for made, k in x.items() for u, n in made) for x in several]
                )
            return (gather(sum(way, ())) for way in _product(options))

        found = {fit(way, node, child) for way in ways(change)}
        once = self.algebra.cover([self.ask(child, each) for each in found])
        # Of a map that is part of one release `map_release` counts the draws.
        return once if child.one_release else self.algebra.times(once, child.draws)

    def map_sample(self, node: DataNode, child: DataNode, change: Change) -> Loss:
        """All that reads one sample is composed, and amplified once, draw by draw."""
        algebra, ((unit, count), *more) = self.algebra, leaves(change)
        in_epsilon = algebra.notion not in ("zcdp", "gdp")
        alone = child.is_sample() and in_epsilon and count == 1 and not more
        require(alone, "it is for one unit of change and a sample, in ε")
        made_by = child.map or {}
        rate, fixed = number(made_by["rate"]), made_by["size"] is not None

        def inside(unit: Unit) -> Loss:
            return self.ask(child, down(change, node, child, lambda _: [(unit, 1)]))

        if algebra.apart:
            if fixed or unit.kind != "single" or not unit.directed:
                raise NotChecked("samples at a δ but Poisson ones of a row that is there or not")
            within = inside(_as_it_is(unit))
            if any(item[0] == "Poisson" for each in within for item, _ in each):
                raise NotChecked("samples of samples at a δ")
            poisson = ("Poisson", rate, F(unit.sign))
            drawn = [(((*poisson, each), 1),) if each else () for each in within]
            return Multisets(drawn) * child.draws
        if fixed and unit.kind != "pair":
            return algebra.none
        loss = inside(_as_it_is(unit))
        found, rows = [loss], int(unit.size or 0)
        if fixed:
            found.append(tuple((e, rate * d) for e, d in loss))
        if fixed and not child.facts.get("ordered"):
            other = inside(PAIR)
            found.append(amplified(other, rate))
            if other != loss:
                found.append(exchanged(algebra, other, loss, rate))
        elif not fixed and unit.kind == "single":
            found.append(amplified(loss, rate, bool(unit.directed and unit.sign)))
        elif not fixed and unit.kind == "pair":
            found.append(exchanged(algebra, inside(OLD), loss, rate))
        elif unit.kind == "any" and unit.size is not None and loss != algebra.zero:
            row = exchanged(algebra, inside(OLD), inside(PAIR), rate)
            found.append(algebra.chain([(row, rows)]))
        elif unit.kind == "user" and rows and loss != algebra.zero:
            found.append(algebra.chain([(amplified(inside(SINGLE), rate), rows)]))
        return algebra.times(algebra.best(found), child.draws)

    # -- rules: partitions (section 5)

    def _blocks(
        self, node: DataNode, part: BlockClasses, change: Change, become: Callable[[Unit], Unit]
    ) -> list[Loss]:
        """Returns for each class of blocks the loss of one block where units become that."""
        return [self.ask(b, down(change, node, b, lambda u: [(become(u), 1)])) for b in part.blocks]

    def _total(self, rule: Callable[..., Any], *losses: Sequence[Loss]) -> Loss:
        """Returns the worst total by a rule in numbers; of pairs for ε and for δ apart."""
        if self.algebra.apart:
            return rule(*losses)
        if self.algebra.multiplied:
            raise NotChecked("multiplied chances over blocks")
        if rule(*([ZERO if loss else INF for loss in each] for each in losses)) == INF:
            return self.algebra.none
        flat, size = [loss or self.algebra.zero for each in losses for loss in each], len(losses[0])
        few = math.prod(map(len, flat)) <= MOST_WAYS
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
        return self.algebra.add([*map(self.algebra.times, losses, part.sizes)])

    def split_one_row(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """One row in the blocks where it can be; a replaced one leaves some and enters others."""
        unit, lean = part.followed(change, one=True), int(node.leans)
        require(unit.kind != "user", "it is for a row")
        if unit.kind != "pair":
            return self._total(
                part.worst_row, self._blocks(node, part, change, lambda _: _row(unit))
            )
        stays, kept = Unit("pair", (0, 1), unit.kept), unit.kept
        become = OLD._replace(directed=lean), NEW._replace(directed=lean) if lean else OLD, stays
        losses = [self._blocks(node, part, change, lambda _: each) for each in become]  # noqa: B023
        return self._total(lambda u, v, b: part.worst_pair(u, v, b, kept), *losses)

    def split_one_unit_s_rows(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """All rows of one unit, as many as it has at most, over the blocks."""
        unit, blocks = part.followed(change, one=True), part.line["max_blocks_per_unit"]
        require(unit.kind == "user", "it is for the rows of a unit")
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
        if self.algebra.notion == "approx":
            return self.algebra.chain([(self._total(top, holding(1)), hits)])
        if hits * cap * most * sum(min(n, most, hits) for n in part.sizes) > 300_000:
            raise NotChecked("many rows of a unit over many blocks")
        of_rows = [[x[0][0] if x else INF for x in holding(n)] for n in range(1, cap + 1)]
        columns = [*zip([ZERO] * len(part.sizes), *of_rows, strict=True)]
        best = [[ZERO] * (hits + 1) for _ in range(most + 1)]
        for column, many in zip(columns, part.sizes, strict=True):
            for used in [u for _ in range(min(many, most, hits)) for u in range(most, 0, -1)]:
                for n in range(hits, 0, -1):
                    ways = (best[used - 1][n - t] + column[t] for t in range(min(n, cap) + 1))
                    best[used][n] = max(best[used][n], *ways)
        worst = max(row[hits] for row in best)
        return self.algebra.none if worst == INF else ((worst, ZERO),)

    def split_all_in_each_block(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """At most so many blocks are hit, each as if all units hit it."""
        part.followed(change)
        rows = leaves(change)
        hits = sum(len(u.ends) * n for u, n in rows) * part.copies
        full = self._blocks(node, part, change, _as_it_is)
        if rows[0][0].kind == "pair" or len({(u.kind, u.sign) for u, _ in rows}) > 1:
            once = self._blocks(node, part, change, lambda _: OLD)
            full = [self.algebra.chain([(a, 1), (b, 1)]) for a, b in zip(full, once, strict=True)]
        return self._total(lambda u: largest(u, part.sizes, hits), full)

    def split_every_way(self, node: DataNode, part: BlockClasses, change: Change) -> Loss:
        """Every way of assigning every end to blocks; of equal blocks as many as may be hit."""
        part.followed(change)
        rows = leaves(change)
        hits = sum(len(u.ends) * n for u, n in rows) * part.copies
        read = [part.kind == "kinds" or b.read for b in part.blocks]
        few = sum(n for _, n in rows) <= 8 and hits <= 1_000
        require(few, "there are too many ways")
        places = [i for i, n in enumerate(part.sizes) if read[i] for _ in range(min(n, hits))]
        few = len(places) <= 12
        require(few, "there are too many ways")
        directed = node.leans and not self.algebra.apart
        directed = directed and all(u.directed or u.kind != "single" for u, _ in rows)

        single = one_by_one(change)
        units = [*_leaves_of(single)]

        @cache
        def loss(index: int, here: tuple[Unit | None, ...]) -> Loss:
            block, rest = part.blocks[index], iter(here)
            become = lambda _: [(made, 1)] if (made := next(rest)) is not None else []  # noqa: E731
            return self.ask(block, down(single, node, block, become))

        found = set()
        for way in _product([part.placements(u, places, directed) for u in units]):
            here = [(i, tuple(each[n] for each in way)) for n, i in enumerate(places)]
            found.add(self.algebra.add([loss(i, what) for i, what in here if any(what)]))
        return self.algebra.cover([*found])


def _content(node: DataNode) -> Any:
    """Returns what a dataset is and what is made of it, without what is part of one release."""
    made = [_content(each) for each in node.children if not each.one_release]
    parts = [
        ({**part.line, "id": 0, "of": 0}, [*map(_content, part.blocks)]) for part in node.partitions
    ]
    return node.name, node.map, node.draws, node.mechanisms, made, parts


def releases(node: DataNode) -> int:
    """Returns how many releases there are at and below a dataset."""
    found: int = sum(each["count"] for each in node.mechanisms)
    found += sum(releases(each) * each.draws for each in node.children if not each.one_release)
    for part in node.partitions:
        found += sum(n * releases(block) for block, n in zip(part.blocks, part.sizes, strict=True))
    return found


def amplified(loss: Loss, rate: F, added: bool = False) -> Loss:
    """Returns a loss through a sample: ln(1+q(e^ε-1)) with qδ; of a row that is only added
    -ln(1-q+q·e^-ε) with δ·q·e^-ε/(1-q+q·e^-ε)."""

    def grown(epsilon: F) -> F:
        up = 1 + rate * (exp(epsilon)[1] - 1)
        up = 1 / (1 - rate + rate / exp(epsilon)[1]) if added else up
        return min(epsilon, log(up)) if rate < 1 else epsilon

    shares = [rate / exp(e)[0] for e, _ in loss]
    return tuple(
        (grown(e), d * (s / (1 - rate + s) if added else rate))
        for (e, d), s in zip(loss, shares, strict=True)
    )


def exchanged(algebra: LossArithmetic, once: Loss, both: Loss, rate: F) -> Loss:
    """Returns the loss of a row replaced above a sample; `once` of one that is there or not."""

    def grown(u: F, b: F) -> F:
        return max(ONE, (1 - rate + rate * exp(u)[1]) / (1 - rate + rate * exp(u - b)[0]))

    found = [(e, rate * d) for e, d in both]
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
        found, most = few_digits(found + (loss * used if loss and used else ZERO)), most - used
    return found


class BlockClasses:
    """A partition with its blocks, one for each class of equal ones."""

    def __init__(self, line: Line) -> None:
        self.line, self.name = line, line["name"]
        self.sizes: list[int] = line["sizes"]
        self.blocks: list[Any] = [None] * len(self.sizes)
        self.by: Line = line["by"]
        self.kind: str = self.by["kind"]
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
        uses: Any = [self.by["column"]] if self.kind == "key" else self.by.get("uses")
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
        self.parts: list[BlockClasses] = []
        self.algebra: LossArithmetic | None = None
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
        require(len(lines) <= MOST_LINES, f"more than {MOST_LINES} lines")
        what: Any = None
        for n, text in enumerate(lines, 1):
            line: Any = None
            try:
                line = json.loads(
                    text, parse_float=number, parse_constant=number, object_pairs_hook=mapping
                )
                before, what = what, line["line"]
                due = (before is None) == (what == "header")
                require(due and what in LINES, f"no line {str(what)[:40]!r} is due here")
                if what == "dataset":
                    kind = next((k for k in ("root", "map") if k in line), "block")
                    shape = f"{kind} line"
                has_shape(
                    {k: line[k] for k in line if k != "line"}, shape if what == "dataset" else what
                )
                getattr(self, f"_{what}")(line)
            except NotChecked as why:
                self.unchecked.setdefault(str(why), []).append(n)
                self.left += what == "claim"
                self.partly.add(self.proofs)
            except Rejected as why:
                raise Rejected(f"{_where(n, line)}: {why}") from None
            except MALFORMED as why:
                raise Rejected(f"{_where(n, line)}: malformed ({type(why).__name__})") from None
        require(what is not None and not self.claims, "it ends without a bound")

    def _header(self, line: Line) -> None:
        version = line["version"]
        require(version == VERSION, f"its version is {version!r}, and this checker reads {VERSION}")
        self.header = line
        self._declare(line["protect"])

    def _declare(self, relation: Line) -> None:
        """Stores a declared relation by its name; fails if that name was declared with another
        meaning. One without a name is not stored."""
        name = relation.get("name")
        same = name is None or self.declared.setdefault(name, relation) == relation
        require(same, f"`{str(name)[:40]}` is declared in two ways")

    def _dataset(self, line: Line) -> None:
        in_order = line["id"] == len(self.nodes) and self.algebra is None
        require(in_order, "datasets are numbered in order, before the first proof")
        parent = self.nodes[line["parent"]] if "parent" in line else None
        node = DataNode(line, parent)
        self.nodes.append(node)
        for said in [each for m in node.mechanisms for each in m["statements"]]:
            self._declare(said["relation"])
        if parent is None:
            node.facts = root_facts(line["root"])
        elif node.map is not None:
            parent.children.append(node)
            try:
                node.facts = facts_after(node.map, parent.facts)
            except NotChecked:
                node.known = False
            random = node.known and conduct(node.map).random and parent.above is None
            may = random or not node.one_release
            require(may, "a map that draws nothing is part of every release")
            if random and node.one_release:
                node.above = parent.depth
            elif random:
                node.given = node.depth
        else:
            part = self.parts[line["partition"]]
            node.block = part, line["class"]
            new = part.line["of"] == parent.id and part.blocks[line["class"]] is None
            require(new, "a block is of another dataset, or there twice")
            part.blocks[line["class"]] = node
            by_position = part.kind == "position"
            fixed = by_position and parent.facts.get("fixed")
            node.facts = {**parent.facts, "fixed": fixed}
            if (many := sum(part.sizes)) > 1 or not by_position:
                most = parent.facts.get("most")
                node.facts |= {"size": None, "most": None if most is None else most // many}
        for several in (each["statements"] for each in node.mechanisms):
            for said in several:
                if said.get("implied") and "noise" not in said:
                    check_implied(node, said, several)
        above = {*parent.history, parent.depth} if parent else {-1}
        rising = [*node.history] == sorted({*node.history})
        require(rising and {*node.history} <= above, "its history is not one that its parent has")

    def _partition(self, line: Line) -> None:
        in_order = line["id"] == len(self.parts) and self.algebra is None
        require(in_order, "partitions are numbered in order, before the first proof")
        node = self.nodes[line["of"]]
        placed_ = line["by"]["kind"] != "position" or not node.known or node.facts.get("ordered")
        require(placed_, f"rows of `{node.name}` have no positions")
        self.parts.append(BlockClasses(line))
        node.partitions.append(self.parts[-1])

    def _proof(self, line: Line) -> None:
        if self.algebra is None:
            for node in reversed(self.nodes):
                self._close(node)
            require(self.nodes, "there is no dataset")
        require(not self.claims, "the proof before has no bound")
        require(line["id"] == self.proofs, "proofs are numbered in order")
        require(line["notion"] in READS, f"there is no notion {line['notion'][:40]!r}")
        self.proofs += 1
        self.algebra = LossArithmetic(line["notion"], line["multiplied"])

    def _close(self, node: DataNode) -> None:
        """Refuses a dataset of which something below is missing, and says what reads it."""
        blocks = [b for part in node.partitions for b in part.blocks]
        require(None not in blocks, f"a block of `{node.name}` is missing")
        for before, child in zip([node, *node.children], node.children, strict=False):
            if child.one_release:
                given = before is not node and not before.one_release
                same = given and _content(before) == _content(child)
                require(same, f"`{child.name}` is not also there as a map that is given")
        below = [*node.children, *blocks]
        node.read = bool(node.mechanisms) or any(each.read for each in below)
        poisson = [b.is_sample() and b.map["size"] is None and b.read for b in below]
        node.leans = any(poisson) or any(each.leans for each in below)

    def _claim(self, line: Line) -> None:
        in_order = self.algebra is not None and line["id"] == len(self.claims)
        require(in_order, "claims are numbered in order, in a proof")
        assert self.algebra is not None
        node, pure = self.nodes[line["dataset"]], line.get("pure", False)
        algebra = LossArithmetic("pure") if pure else self.algebra
        change, loss = parse_change(line["change"]), parse_loss(line["loss"], algebra)
        self.claims.append((node.id, change, pure, loss))
        self.checked += 1
        premises: dict[Any, Loss] = {}
        for before, each in pairwise([-1, *line["premises"]]):
            rising = before < each < line["id"]
            require(rising, "premises are earlier claims, in rising order, each once")
            *key, known = self.claims[each]
            premises[tuple(key)] = known
        if loss == algebra.none or not change:
            return  # nothing is claimed, or nothing changes
        if not all(each.known for each in (node, *node.children)):
            raise NotChecked("maps of a kind that this checker does not know")
        rounded[0], step = False, ClaimRules(algebra, pure, premises)
        parts = [*self._charges(line["charges"], node, change, algebra)]
        edges: list[Edge] = [c for c in node.children if not c.one_release]
        edges += node.partitions
        each_one = len(edges) == len(line["rules"])
        require(each_one, f"there is not one rule for each thing made from `{node.name}`")
        rules = zip(edges, line["rules"], strict=True)
        parts += [step.bound(node, edge, how, change) for edge, how in rules]
        _claim_holds(algebra, loss, algebra.add(parts), "the change")
        require(not premises.keys() - step.used, "a premise is not needed")

    def _charges(
        self, claimed: Sequence[Any], node: DataNode, change: Change, algebra: LossArithmetic
    ) -> Iterator[Loss]:
        """Yields what the mechanisms of a dataset are charged, each at least what it loses; raises
        NotChecked at the end where it has no rule for some."""
        unknown: NotChecked | None = None
        all_ = len(claimed) == len(node.mechanisms)
        require(all_, f"not every mechanism that reads `{node.name}` is charged")
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
            try:
                least = algebra.times(mechanism_loss(views, change, algebra), mechanism["count"])
                _hold(algebra, charge, least, f"`{mechanism['name'][:60]}`")
            except NotChecked as why:
                unknown = unknown or why
            except Rejected:
                if not (reason := sharper(views, change, algebra.notion)):
                    raise
                unknown = unknown or NotChecked(reason)
        if unknown is not None:
            raise unknown

    def _bound(self, line: Line) -> None:
        if self.algebra is None or line["id"] != self.proofs - 1:
            raise Rejected("a bound has the number of its proof")
        claims = {self.claims[each][:3]: self.claims[each][3] for each in line["roots"]}
        self.claims, algebra, goal = [], self.algebra, self.header["protect"]
        one_way = goal["kind"] in ("unbounded", "user") and self.header["distance"] == 1
        roots = [node for node in self.nodes if node.parent is None]
        groups = [{*each} for each in self.header["apart"] if len(each) > 1]
        once = sum(map(len, groups)) == len({n for each in groups for n in each})
        require(once, "a root is in two sets of roots that are apart")
        if goal["kind"] == "free-lunch":
            groups = []
        if groups and (goal["kind"] == "declared" or self.header["distance"] > 1):
            raise NotChecked("several steps shared out among roots that are apart")
        changes = [[protected(root, goal, self.header["distance"])] for root in roots]
        leaning = [n for n, root in enumerate(roots) if root.leans and algebra.apart and one_way]
        if leaning and groups:
            raise NotChecked("Poisson samples at a δ below roots that are apart")
        for n in leaning:  # the two tables may be exchanged: the row leaves the first such root
            signs = (0,) if n == leaning[0] else (0, 1)
            turn = [lambda u, sign=sign: u._replace(directed=1, sign=sign) for sign in signs]
            changes[n] = [_over(changes[n][0], each) for each in turn]
        groups += [{n} for n in {*range(len(roots))}.difference(*groups)]
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
        if line["proof"] + 1 in self.partly:
            raise NotChecked("a number that rests on claims that were not checked")
        notion, bound = self.bounds[line["proof"]]
        delta, epsilon, within = number(line["delta"]), number(line["epsilon"]), F(1, 10**6)
        require(bound, "no loss is claimed")
        if notion == "profile":
            within = max(tolerance_of(each, epsilon, delta) for each in bound)
        else:
            near = epsilon * (1 + within)
            if notion == "zcdp":
                least = _delta_of_rho(bound[0][0], near, number(line["order"]))
            elif notion == "gdp":
                least = _delta_of_mu(bound[0][0], near)
            else:
                least = min((d for e, d in bound if e <= near), default=ONE)
            if least > delta:
                raise Rejected(f"at ε = {float(epsilon):.9g} δ may be {float(least):.6g}")
        self.points.append((epsilon, delta, within))


LINES = ("header", "dataset", "partition", "proof", "claim", "bound", "point")
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def _claim_holds(algebra: LossArithmetic, claimed: Loss, least: Loss, what: str) -> None:
    """As `_hold`; at a δ equal sums say nothing, since more may be known of what is worse."""
    try:
        _hold(algebra, claimed, least, what)
    except Rejected:
        if algebra.apart and claimed:
            raise NotChecked("losses at a δ that others cover in other ways") from None
        raise


def _hold(algebra: LossArithmetic, claimed: Loss, least: Loss, what: str) -> None:
    """Raises Rejected where a claimed loss is smaller than what follows."""
    near = 1 + F(1, 10**12) if rounded[0] else ONE
    if algebra.apart:
        covered = (any(is_no_worse(a, b) for b in claimed) for a in least)
        holds = bool(least) and all(covered)
    else:
        holds = all(any(a <= e * near and b <= d * near for a, b in least) for e, d in claimed)
    if not holds:
        numbers = 2 if algebra.notion == "approx" else 1
        shown = [each[:numbers] for each in least[:3]] if not algebra.apart else []
        known = " or ".join(", ".join(f"{float(x):.9g}" for x in each) for each in shown)
        raise Rejected(f"{what} loses more than is claimed: {known or 'there is no bound'}")


def protected(root: DataNode, goal: Line, distance: int) -> Change:
    """Returns the protected change in a root."""
    declared, facts = goal["kind"] == "declared", root.facts
    relation, inside = (goal["within"], goal["distance"]) if declared else (goal, 1)
    kind, keeps = relation["kind"], required(relation, facts) or frozenset()
    if relation.get("changes") is not None and keeps == facts["columns"]:
        return ()
    table = facts["shape"] == "table"
    unit = ANY._replace(size=None if facts["size"] is None else F(facts["size"]))
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
        has_shape(line, "unit")
        kept, size = tuple(map(str, line.get("kept", ()))), line.get("size")
        ends = tuple(line.get("ends", (0,)))
        flags = [line.get(name, 0) for name in ("displaced", "sign", "directed")]
        unit = Unit(line["kind"], ends, kept, None if size is None else number(size), *flags)
        if unit.kind not in KINDS or not 1 <= len(ends) <= 2 or max(ends) > 2 or depth > 12:
            raise Rejected("there is no such unit of change")
        inner = parse_change(below[0], depth + 1) if below else ()
        found.append((around(unit, inner), integer(count, 1)))
    return gather(found) if depth else canonical(gather(found))


def parse_loss(value: Any, algebra: LossArithmetic) -> Loss:
    """Returns a loss as a certificate writes it; null: no finite bound is claimed."""
    if algebra.apart:
        return Multisets(parse_multiset(each) for each in value or ())
    if algebra.notion != "approx":
        return () if value is None else ((number(value), ZERO),)
    pairs = [(number(e), number(d)) for e, d in value]
    require(all(d <= 1 for _, d in pairs), "a δ is at most 1")
    return algebra.best([pairs])


#: How many numbers each kind of item has after its name.
_NUMBERS = {"Laplace": 1, "Gaussian": 1, "Geometric": 2, "DiscreteGaussian": 2, "Poisson": 2}


def parse_multiset(value: Any) -> Multiset:
    """Returns a multiset of losses as a certificate writes it, each with its count."""
    found: list[tuple[Item, int]] = []
    for *item, count in value:
        name, times = item[0], integer(count, 1)
        if name not in _NUMBERS:  # ε and δ
            epsilon, delta = map(number, item)
            require(delta <= 1, "a δ is at most 1")
            pair = ("Response", epsilon), ("Chance", delta)
            found += [(each, times) for each in pair if each[1]]
            continue
        inner = [parse_multiset(item.pop())] if name == "Poisson" else []
        numbers = tuple(map(number, item[1:]))
        given = len(numbers) == _NUMBERS[name] and all(numbers[: 1 + (name != "Poisson")])
        require(given, f"{name} has other numbers")
        whole = name not in ("Geometric", "DiscreteGaussian") or numbers[1].denominator == 1
        require(whole, "noise in whole numbers hides whole steps")
        if inner != [()]:  # nothing is read
            found.append(((name, *numbers, *inner), times))
    return merged(tuple(found))


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
    kind, first, *more = item
    if kind == "Response":
        return LossCurve(cache(lambda e: _of_response(first, e)), -first, first)
    if kind == "Chance":
        return LossCurve(lambda e: first + (1 - first) * max(ZERO, 1 - exp(e)[0]), ZERO, ZERO)
    if kind == "Laplace":
        return LossCurve(cache(lambda e: 1 - exp((e - first) / 2)[0]), -first, first)
    if kind == "Gaussian":
        reach = _REACH * sqrt(first) + first / 2
        return LossCurve(cache(lambda e: _delta_of_mu(first, e)), -reach, reach)
    if kind == "Geometric":
        high = more[0] / first
        return LossCurve(cache(lambda e: _of_geometric(first, more[0], e)), -high, high)
    if kind == "DiscreteGaussian":
        reach = _REACH * sqrt(more[0] ** 2 / first) + more[0] ** 2 / (2 * first)
        return LossCurve(cache(lambda e: _of_discrete(first, int(more[0]), e)), -reach, reach)
    if kind != "Poisson":
        raise NotChecked(f"noise of kind {kind!r} at a δ")
    sign, inner = more
    if first == 1:
        raise NotChecked("a sample of rate 1 at a δ")
    one = _inside(inner)
    low, high = F(math.log1p(-float(first))), log(1 + first * (exp(one.high)[1] - 1))
    if bool(sign) == added:
        return LossCurve(cache(lambda e: _of_poisson(one, first, e)), low, high)
    # With the tables exchanged δ(ε) is 1 - e^ε + e^ε·δ(-ε).
    removed = curve_of(("Poisson", first, F(added), inner), added)
    return LossCurve(cache(lambda e: 1 + exp(e)[1] * (removed.delta(-e) - 1)), -high, -low)


def _of_response(stated: F, epsilon: F) -> F:
    """Returns δ at ε of a randomized response."""
    high = exp(stated)[1]
    return max(ZERO, (high - exp(epsilon)[0]) / (1 + high))


def _of_geometric(scale: F, shift: F, epsilon: F) -> F:
    """Returns δ at ε of noise of mass proportional to e^(-|n|/scale), by the outcomes n ≥ least."""
    least = min(max(1, math.floor((epsilon * scale + shift) / 2) + 1), int(shift) + 1)
    both = 1 + exp(-1 / scale)[1]
    first = 1 - exp((least - shift - 1) / scale)[0] / both
    return first - exp(epsilon)[0] * exp(-least / scale)[0] / both


def _of_discrete(variance: F, shift: int, epsilon: F) -> F:
    """Returns δ at ε of discrete Gaussian noise, by the outcomes n ≤ last: the loss at n is
    (s²-2sn)/(2·variance), s the shift."""
    last = math.ceil((shift - 2 * variance * epsilon / shift) / 2) - 1
    return (
        _discrete_below(variance, last)[1]
        - exp(epsilon)[0] * (_discrete_below(variance, last - shift)[0])
    )


def _discrete_below(variance: F, last: int) -> tuple[F, F]:
    """Returns a lower and an upper bound of the chance that discrete Gaussian noise is at most
    `last`."""
    sums, far, beyond = _discrete_sums(variance)
    at = sums[max(-far - 1, min(far, last)) + far + 1]
    return at / (sums[-1] + 2 * beyond), (at + beyond) / sums[-1]


@cache
def _discrete_sums(variance: F) -> tuple[list[F], int, F]:
    """Returns the sums of e^(-n²/(2·variance)), rounded down, over no n, over n = -far, over -far
    and its next, …, over all up to `far`; `far`; and at most how much is missing: by the rounding,
    or of all n beyond on one side."""
    far = math.ceil(14 * sqrt(variance)) + 1
    if far > 4 * MOST_CELLS:
        raise NotChecked("discrete noise of a large σ at a δ")
    each = (math.floor(exp(-n * n / (2 * variance))[0] / _UNIT) for n in range(far + 1))
    weights = [_UNIT * n for n in each]
    # w(far + j) ≤ w(far)·e^(-far·j/variance) for j ≥ 1.
    beyond = exp(-far * far / (2 * variance))[1] * variance / far + 3 * far * _UNIT
    return [ZERO, *accumulate([*weights[:0:-1], *weights])], far, beyond


def _of_poisson(inner: LossCurve, rate: F, epsilon: F) -> F:
    """Returns δ at ε of (1-q)Q+qP against Q: q·δ of P against Q at ln((e^ε-1+q)/q)."""
    x = exp(epsilon)[0]
    y = (x - 1 + rate) / rate
    if y <= F(1, 10**30):
        return 1 - x + rate * max(ZERO, y)
    near = F(math.log(y.numerator) - math.log(y.denominator))
    return rate * inner.delta(near + 1 - exp(near)[1] / y)  # ln z ≥ 1 - 1/z


#: Weights of discrete noise are multiples of this.
_UNIT = F(1, 1 << 200)
#: Masses of loss distributions are whole numbers of 10^-45, rounded up; tails of a sum of at most
#: 10^-20 move up.
DIGITS, WHOLE, SPARE = 45, 10**45, 10**25
#: To which part of ε numbers are confirmed, by the second where they are exact.
TOLERANCES = F(1, 20_000), F(1, 10**6), F(1, 1_000), F(1, 100)
#: Of how many cells one loss has at most, a sum, and all unlike losses.
MOST_CELLS, MOST_SUMS, MOST_WORK = 4_096, 40_000, 32_768


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
    if not places[0]:
        raise NotChecked("losses of more than 200 at a δ")
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
    square = sum((item[1] * n for item, n in items if item[0] == "Gaussian"), ZERO)
    found = [law_of(("Gaussian", square), added, step)] if square else []
    rest = [(item, n) for item, n in items if item[0] != "Gaussian"]
    found += [_repeated(law_of(item, added, step), n) for item, n in rest]
    while len(found) > 1:  # short ones first
        found.sort(key=lambda law: len(law.masses), reverse=True)
        found.append(convolved(found.pop(), found.pop()))
    return found[0] if found else LossLaw(0, [WHOLE], 0)


def _delta_of_law(law: LossLaw, step: F, epsilon: F) -> F:
    """Returns δ at ε: the sum of mass·(1 - e^(ε - loss)) over all larger losses."""
    first = max(law.start, math.floor(epsilon / step) + 1)
    rest, down_by = (int(exp(each)[0] * SCALE) for each in (epsilon - first * step, -step))
    found = 0
    for mass in law.masses[first - law.start :]:
        found += mass * (SCALE - rest)
        rest = rest * down_by // SCALE
    return F(found, SCALE * WHOLE) + F(law.lost, WHOLE)


def _inside(items: Multiset) -> LossCurve:
    """Returns the curve of what one sample is read by."""
    square = sum((item[1] * n for item, n in items if item[0] == "Gaussian"), ZERO)
    if all(item[0] == "Gaussian" for item, _ in items):
        return curve_of(("Gaussian", square), False)
    if len(items) > 1 or items[0][1] > 1 or items[0][0][0] in ("Poisson", "DiscreteGaussian"):
        raise NotChecked("samples that several mechanisms or samples read at a δ")
    return curve_of(items[0][0], False)


#: The step of a grid that holds all losses, for each kind of loss that has one.
_ON_GRIDS: dict[str, Callable[..., F]] = {
    "Response": lambda epsilon: epsilon,
    "Chance": lambda _: ZERO,
    "Geometric": lambda scale, _: 1 / scale,
    "DiscreteGaussian": lambda variance, shift: shift / (2 * variance),
}


def _grids(items: Multiset) -> tuple[bool, list[F]]:
    """Returns the steps of finer and finer grids; or, with True, one that holds all losses."""
    discrete = any(item[0] == "DiscreteGaussian" for item, _ in items)
    if all(item[0] in _ON_GRIDS for item, _ in items):
        units = [_ON_GRIDS[item[0]](*item[1:]) for item, _ in items]
        sizes = [*filter(None, units)] or [ONE]
        bottom = math.lcm(*(size.denominator for size in sizes))
        step = F(math.gcd(*(int(size * bottom) for size in sizes)), bottom)
        if sum(curve_of(item, False).high * n for item, n in items) / step < MOST_SUMS / 2:
            return True, [step]
    if discrete:  # on other grids its δ falls in leaps, however fine they are
        raise NotChecked("discrete noise whose losses no grid holds")
    widest = max((curve_of(item, False).high for item, _ in items), default=ONE)
    most = min(MOST_CELLS, MOST_WORK // max(1, len(items)))
    cells = [16 << k for k in range((most // 16).bit_length())]
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

#: What a key stands for that a spec or a certificate leaves out; of others nothing.
_DEFAULTS: Line = {
    **{"keeps": [], "delta": "0", "distance": "1", "drops": False, "exact": False, "count": "1"},
    **{"domain": "table", "metric": "euclidean", "keep": "random", "draws": "each"},
    **{"k": "2", "participations": "1", "min_separation": "1", "value_epsilon": "0"},
    **{"monotone": False, "peeling": False},
}
#: Keys of a spec that change no claim; keys that are compared elsewhere.
_FREE = "title population because dpcompose constants budget report filter adversary".split()
_TOP = [*_FREE, *"protect adaptivity roots relations datasets mechanisms".split()]
_NOISES = {name[6:].lower(): name[6:] for name in _SHAPES if name.startswith("noise ")}
_LAWS = {"NoisyMax": "laplace", "PermuteAndFlip": "exponential", "TopK": "gumbel"}
_NORMS = {"l1", "l2", "l2_squared", "one_hot", "dimension"}
MOST_PLACES = 20_000
_AMOUNTS = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}


def _keys_of(*tests: str) -> set[str]:
    """Returns the keys at which a certificate has what one of some tests is about."""
    each = ((key, what) for keys in _SHAPES.values() for key, what in keys.items())
    return {key.rstrip("?") for key, what in each if what.rstrip("?") in tests}


_NUMERIC = _keys_of("number", "above0", "whole", "once") - {"unit", "draws"}
_NUMERIC |= {*_AMOUNTS.values(), "blocks"}
_FLAGS, _LISTS = _keys_of("flag"), _keys_of("words")

_TOKEN = re.compile(
    r"[ \t\n]*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?|[A-Za-z_]\w*|[-+*/()])", re.A
)
_OPERATIONS: dict[str, Callable[[F, F], F]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}
_FUNCTIONS: dict[str, Callable[[F], F]] = {
    "ln": lambda x: log(x) if x >= 1 else -log(1 / x),
    "exp": lambda x: exp(x)[1] if x else ONE,
    "sqrt": sqrt,
}


def evaluate(text: str, constants: dict[str, tuple[F, bool]]) -> F:
    """Returns the value of a decimal, a fraction or an expression with + - * / ( ), ln, exp, sqrt
    and constants, each with whether it was rounded."""
    few = len(text) <= 1_000 and text.count("(") <= 50
    require(few, "an expression of the spec has more than 1000 signs, or 50 parentheses")
    rest, at = list[str](), 0
    while found := _TOKEN.match(text, at):
        rest, at = [found[1], *rest], found.end()
    require(rest and not text[at:].strip(), f"{text[:40]!r} in the spec is not a number")

    def chain(signs: str, part: Callable[[], F]) -> F:
        value = part()
        while rest and rest[-1] in signs:
            value = _OPERATIONS[rest.pop()](value, part())
            size = max(value.numerator.bit_length(), value.denominator.bit_length())
            require(size <= 20_000, "a number of the spec has very many digits")
        return value

    def total() -> F:
        return chain("+-", lambda: chain("*/", operand))

    def operand() -> F:
        token, sign = rest.pop(), 1
        while token in "+-":
            token, sign = rest.pop(), sign if token == "+" else -sign
        return sign * positive(token)

    def positive(token: str) -> F:
        if token == "(":
            value = total()
            require(rest.pop() == ")", f"{text[:40]!r} in the spec is not a number")
            return value
        if token in _FUNCTIONS:
            fits = rest[-1] == "(" and ((value := operand()) <= 1_000 or token != "exp")
            require(fits, f"{text[:40]!r} in the spec is not a number")
            return _FUNCTIONS[token](value)
        if token in constants:
            rounded[0] |= constants[token][1]
            return constants[token][0]
        power = token.lower().partition("e")[2]
        require(abs(int(power or 0)) <= 1_000, "a number of the spec has very many digits")
        return F(token)

    value = total()
    require(not rest, f"{text[:40]!r} in the spec is not a number")
    return value


def _base(name: str) -> str:
    """Returns the name of a dataset without that of its block."""
    return name.partition(".")[0]


def _at(value: Any, block: str | None) -> Any:
    """Returns what a mapping by block says of a block, or what is said of all."""
    if not isinstance(value, dict):
        return value
    if block not in value:
        raise NotChecked("a mapping by block")
    return value[block]


class SpecComparison:
    """A certificate against the text of its spec, dataset by dataset and key by key."""

    def __init__(self) -> None:
        #: How many values were compared, and the names of those that were not.
        self.compared, self.left, self.places = 0, set[str](), 0

    def run(self, lines: Sequence[str], text: bytes) -> None:
        """Compares all; raises Rejected, or NotChecked."""
        told = [json.loads(line) for line in lines]
        first_proof = next((n for n, x in enumerate(told) if x["line"] == "proof"), len(told))
        tree = check(lines[:first_proof])
        require(tree.header["spec"] == _sha256(text), "the certificate is about another text")
        self.spec, self.goal = _load(text), tree.header["protect"]
        for key in self.spec.keys() - {*_TOP}:
            raise NotChecked(f"specs with the key {key[:40]!r}")
        self.constants: dict[str, tuple[F, bool]] = {}
        for name, value in self.spec.get("constants", {}).items():
            rounded[0] = False
            self.constants[name] = evaluate(value, self.constants), rounded[0]
        if self.spec.get("adaptivity") == "parameters":
            fixed = any(x["line"] == "point" or x.get("notion") == "profile" for x in told)
            require(not fixed, "the spec chooses parameters on the way: no number at a δ holds")
            self.left.add("adaptivity")
        self._protect(tree)
        self._index()
        roots = [node for node in tree.nodes if node.parent is None]
        self._made_of(roots, [""], "a root", {}, None)

    def number(self, text: Any) -> F:
        """Returns the value of a number or an expression of the spec."""
        return evaluate(text, self.constants)

    def same(self, where: str, written: Line, told: Line) -> None:
        """Compares the values of all keys of two mappings, of which each may leave out defaults."""
        for key in sorted({*written, *told}):
            both = written.get(key), told.get(key)
            says, here = (_DEFAULTS.get(key) if x is None else x for x in both)
            rounded[0] = False
            if key in _NUMERIC and isinstance(says, str):
                says = self.number(says)
            says, here = self._value(key, says), self._value(key, here)
            near = rounded[0] and here is not None and abs(says - here) <= here / 10**12
            if not near and says != here:
                says, here = ("nothing" if x is None else str(x)[:40] for x in (says, here))
                raise Rejected(f"{where}.{key} is {says} in the spec, {here} here")
            self.compared += key in written

    def _value(self, key: str, value: Any) -> Any:
        """Returns a value at a key in a form that is equal for equal ones."""
        if value is None or isinstance(value, F):
            return value
        if isinstance(value, list) or key in _LISTS:
            names_ = value if isinstance(value, list) else [value]
            require(
                all(isinstance(each, str) for each in names_),
                f"names are due at `{key}` in the spec",
            )
            return sorted(names_)
        require(isinstance(value, str | int), f"the spec has a mapping at `{key}`")
        if key in _NUMERIC:
            return F(value)
        text = str(value)
        if key in ("relation", "within"):
            return self.same_relations.get(text, text)
        return text.lower() if key in _FLAGS else text

    def _protect(self, tree: Checker) -> None:
        written, names = self.spec["protect"], self.spec.get("relations", {})
        written = written if isinstance(written, dict) else {"relation": written}
        self.same_relations = {"l1": "euclidean"}
        within = names.get(written["relation"], {}).get("within")
        self.nulls = "zero-out" in (written["relation"], within)
        if self.nulls:  # where nulls are as if absent, this is one row more or less
            self.same_relations["zero-out"] = "unbounded"
            require(written["relation"] != "unbounded", "rows come and go, and may be nulls")
        told = {"distance": tree.header["distance"], **self._relation(self.goal)}
        self.same("protect", written, told)
        roots = sum(node.parent is None for node in tree.nodes)
        disjoint = self.spec.get("roots") == "disjoint"
        groups = [n for each in tree.header["apart"] for n in each]
        require(disjoint or not groups, "the roots are not disjoint in the spec")
        require(all(n < roots for n in groups), "there are not as many roots")

    def _relation(self, relation: Line) -> Line:
        """Returns a relation of the certificate by its keys in a spec; what it is declared as is
        compared."""
        kind, name = relation["kind"], relation.get("name")
        if name is None:
            return {**relation, "relation": kind, "kind": None}
        within = {**relation["within"], "within": relation["within"]["kind"], "kind": None}
        within["distance"] = relation["distance"]
        self.same(f"relations.{name}", self.spec["relations"][name], within)
        return {"relation": name}

    def _index(self) -> None:
        """Stores what reads each dataset or block, and what is made of it, as they are written."""
        self.reads, self.made = dict[str, list[Line]](), dict[str, list[str]]()
        #: Datasets with a mechanism below, and the blocks that something is said of by name.
        self.needed, self.named = set[str](), dict[str, set[str]]()
        datasets, names = self.spec["datasets"], set[str]()
        for name, entry in datasets.items():
            source = entry.get("from", "") if isinstance(entry, dict) else ""
            self.made.setdefault(source, []).append(name)
            self.named.setdefault(_base(source), set()).add(source.partition(".")[2])
        for each in self.spec["mechanisms"]:
            require(each["name"] not in names, "a mechanism is there twice in the spec")
            names.add(each["name"])
            if "post_processes" in each:
                require("reads" not in each, "what post-processes reads nothing in the spec")
                continue
            source = each["reads"]
            if "uses" in each:  # as if it read a map to these columns
                columns = {"kind": "columns", "only": each["uses"]}
                above = source
                source = f"{source} ({', '.join(sorted(each['uses']))})"
                datasets.setdefault(source, {"from": above, "map": columns})
                self.made.setdefault(above, []).append(source)
            self.reads.setdefault(source, []).append(each)
            self.named.setdefault(_base(source), set()).add(source.partition(".")[2])
            blocks = self.named.setdefault(self._split_above(source), set())
            for some in (each, *each.get("guarantees", ())):
                blocks.update(*(each for each in some.values() if isinstance(each, dict)))
            while (source := _base(source)) not in self.needed and source in datasets:
                self.needed.add(source)
                source = self._entry(source).get("from", "")

    def _split_above(self, source: str) -> str:
        """Returns the partition of which each block has a copy of a dataset, or nothing."""
        for _ in range(len(self.spec["datasets"]) + 1):
            if source.endswith(".*"):
                return _base(source)
            source = self._entry(_base(source)).get("from", "")
        return ""

    def _made_of(
        self, children: Iterable[DataNode], sources: list[str], where: str, blocks: Line, drawn: Any
    ) -> None:
        """Compares all datasets that are made of one: each is there once."""
        found: dict[str, list[DataNode]] = {}
        for child in children:
            if not child.one_release:  # what is part of one release is there as given as well
                found.setdefault(child.name, []).append(child)
        due = {name for each in sources for name in self.made.get(each, ())}
        due = {x for x in due if "partition" not in self._entry(x)}
        unknown = {name for name, (first, *_) in found.items() if not first.known}
        for name in ({*found} - due) | (self.needed & due - {*found}):
            # Maps that this checker does not know may be several maps of the spec in one.
            require(unknown, f"the spec says otherwise whether `{name}` is {where}")
            self.left.add(name)
        for name, several in found.items():
            made_by, total = several[0].map or {}, sum(each.draws for each in several)
            fresh = made_by.get("kind") == "sample" and drawn is None and not made_by["shared"]
            once = (
                total == 1
                or name in unknown
                or (fresh and all(each.map == made_by for each in several))
            )
            require(once, f"`{name}` is there several times, and once in the spec")
            start, written = 0, self._entry(name).get("map")
            cycle = self.number(written.get("cycle", "1")) if isinstance(written, dict) else ONE
            for node in several:
                self._is_as_written(node, self._entry(name))
                end = start + node.draws
                self._below(node, [name], blocks, (start, end, total, cycle) if fresh else drawn)
                start = end

    def _entry(self, name: str) -> Line:
        entry = self.spec["datasets"].get(name)
        return entry if isinstance(entry, dict) else {}

    def _is_as_written(self, node: DataNode, entry: Line) -> None:
        """Compares a root, or a map, with what is written of it."""
        written, told = {**entry}, node.map
        if node.parent is None:
            public: tuple[str, ...] = ("drops", "domain", "size") if self.nulls else ("drops",)
            public += ("joint",)  # it is said of the values
            written = {key: each for key, each in written.items() if key not in public}
            self.same(node.name, written, node.root)
            return
        others = written.keys() - {"from", "map", "because"}
        self.left |= {f"{node.name}.{key[:40]}" for key in others}
        assert told is not None
        written = entry.get("map", {})
        written = {"kind": written} if isinstance(written, str) else {"kind": "row", **written}
        if f"map {told['kind']}" not in _SHAPES:
            kind = written["kind"]
            same = told["kind"] in (kind, f"{kind}-cut", f"{kind}-again", "at-one-key")
            require(same, f"`{node.name}` is of another kind in the spec")
            self.left.add(f"{node.name}.map")
            return
        if told["kind"] == "all-rows":  # a sample of rate 1, drawn once or anew
            told = {"kind": "sample", "rate": "1", "shared": written.get("draws") == "one"}
        told = {**told}
        if told["kind"] == "sample":
            told["draws"] = "one" if told.pop("shared") else "each"
            if told.get("size") is not None:  # the rate is size / of
                del told["rate"]
            written.pop("cycle", None)  # it is said of the counts
            if "poisson" in written:
                written["rate"] = written.pop("poisson")
        if told["kind"] == "join-public":
            del told["said_by"]
            if "column" in written:
                written["uses"] = [written.pop("column")]
        written.pop("order", None)  # by which rows come first
        if told["kind"] == "value" and told.pop("joint") is not None:
            assert node.parent is not None
            require("joint" in self._entry(node.parent.name), "there are no joint bounds")
            self.left.add(f"{node.name}.map.joint")
        if told["kind"] == "value" and "sensitivity" in written:
            by = written.pop("sensitivity")
            written |= by if isinstance(by, dict) else {"unbounded": by}
        self.same(f"{node.name}.map", written, told)

    def _below(self, node: DataNode, sources: list[str], blocks: Line, drawn: Any) -> None:
        """Compares all that reads a dataset and is made of it. `blocks`: which block of each
        partition it is in; `drawn`: which of the fresh samples above it, and of how many."""
        self.places += 1
        if self.places > MOST_PLACES:
            raise NotChecked("very many blocks with names")
        self._mechanisms(node, sources, blocks, drawn)
        self._made_of(node.children, sources, f"made of `{node.name}`", blocks, drawn)
        found = [part.name for part in node.partitions]
        due = {name for each in sources for name in self.made.get(each, ())}
        due = {x for x in due if "partition" in self._entry(x)}
        there = {*found} <= due and self.needed & due <= {*found} and len(found) == len({*found})
        require(there, f"`{node.name}` is split in other ways in the spec")
        for part in node.partitions:
            self._blocks(part, self._entry(part.name)["partition"], blocks, drawn)

    def _blocks(self, part: BlockClasses, written: Line, blocks: Line, drawn: Any) -> None:
        """Compares a partition, and its blocks: of equal ones one is compared for all."""
        name, by, sizes = part.name, part.by, [*part.sizes]
        keys = ("drops", "max_blocks_per_unit", "max_rows_per_block")
        told = {**by, "by": by["kind"], "kind": None, **{key: part.line[key] for key in keys}}
        of_class = [block.name.partition(".")[2] for block in part.blocks]
        known = written.get("blocks", ())
        written, told["blocks"] = {**written}, sum(sizes)
        if by["kind"] == "kinds":
            kinds, told["kinds"] = written.pop("kinds"), None
            if not isinstance(kinds, dict) or not all(isinstance(x, list) for x in kinds.values()):
                raise NotChecked("kinds that are written in another way")
            named = {key: [of_class[n] for n in by["kinds"][key]] for key in by["kinds"]}
            require(kinds.keys() == named.keys(), f"`{name}` has other kinds in the spec")
            self.same(f"{name}.kinds", kinds, named)
            known = [*{x: 0 for each in kinds.values() for x in each}]
        count = len(known) if isinstance(known, list) else self.number(known)
        self.same(name, {**written, "blocks": F(count)}, told)
        bases = {block.name.partition(".")[0] for block in part.blocks}
        require(bases == {name}, f"a block of `{name}` has another name in the spec")
        for label, size in zip(of_class, sizes, strict=True):
            alone = size == 1 and of_class.count(label) == 1
            require(label == "*" or alone, f"`{name}.{label}` is one block in the spec")
        there = self.named.get(name, set()) | {*of_class}
        for label in sorted(there - {"", "*"}):
            numbered = not isinstance(known, list) and label.isdecimal() and len(label) < 20
            if not (int(label) < count if numbered else label in known):
                require(label not in of_class, f"`{name}` has no block {label[:40]!r} in the spec")
                continue
            fits = [n for n, each in enumerate(of_class) if each == label]
            fits = fits or [n for n, each in enumerate(of_class) if each == "*" and sizes[n]]
            why = Rejected(f"block {label!r} of `{name}` is missing")
            for n in fits:
                try:
                    here = [f"{name}.*", f"{name}.{label}"]
                    self._below(part.blocks[n], here, {**blocks, name: label}, drawn)
                    sizes[n] -= 1
                    break
                except Rejected as other:
                    why = other
            else:
                raise why
        for block, size in zip(part.blocks, sizes, strict=True):
            if size:  # others, without a name
                self._below(block, [f"{name}.*"], {**blocks, name: None}, drawn)

    def _mechanisms(self, node: DataNode, sources: list[str], blocks: Line, drawn: Any) -> None:
        """Compares the mechanisms that read a dataset: which, how often, and their guarantees."""
        found = {each["name"]: each for each in node.mechanisms}
        due = {x["name"]: x for each in sources for x in self.reads.get(each, ())}
        same = len(found) == len(node.mechanisms) and {*found} <= {*due}
        require(same, f"other mechanisms read `{node.name}` in the spec")
        start, end, total, cycle = drawn or (0, 1, 1, ONE)
        for name, each in due.items():
            runs = each.get("runs")
            times = self.number(each.get("count", "1"))
            if isinstance(runs, dict) and "fixed" in runs and isinstance(each["of"], dict):
                times *= self.number(runs["fixed"])
            if cycle > 1 and each.get("mechanism") in ("matrix", "tree"):  # once in each round
                times *= self.number(each.get("participations", "1"))
                each = {**each, "participations": "1"}
            elif cycle > 1:  # a row meets one of so many copies
                times = F(math.ceil(times / cycle))
            if name not in found:
                require(start and times <= start, f"{name} reads `{node.name}` in the spec")
                continue
            if not node.known:  # how often is said by the map
                self.left.add(f"{name}.count")
                times = F(found[name]["count"])
            elif drawn:
                fits = end <= times <= total
                require(fits, f"{name}.count is {times} in the spec, not {total}")
            self.same(
                name,
                {"count": ONE if drawn and node.known else times},
                {"count": found[name]["count"]},
            )
            block = blocks.get(self._split_above(each["reads"]))
            try:
                self._statements(name, each, node, found[name]["statements"], block)
            except (NotChecked, Rejected) as why:
                if isinstance(why, Rejected) and node.known:
                    raise
                self.left.add(name)

    def _statements(
        self, name: str, each: Line, node: DataNode, stated: list[Line], block: str | None
    ) -> None:
        """Compares each guarantee of a mechanism in the certificate with one of the spec."""
        if "fixed" in (each.get("runs") or ()) and isinstance(each["of"], dict):
            each = {"reads": each["reads"], **each["of"]}
        local = str(each.get("local")).lower() == "true"
        if "mechanism" in each or local:
            for said in stated:
                require("noise" in said, f"{name} has noise in the spec")
                if local or not self._noise(name, each, node, said, block):
                    require(said["noise"]["kind"].lower() not in _NOISES, f"{name} is other noise")
                    self.left.add(name)
            return
        # What is implied by others of them was seen to follow.
        rest = [said for said in stated if not said.get("implied")]
        for own in each.get("guarantees", [each]):
            why = Rejected(f"{name} has another guarantee in the spec")
            for said in rest:
                before = self.compared
                try:
                    require("noise" not in said, f"{name} is no mechanism with noise in the spec")
                    self._about(name, each | own, node, said)
                    self._amounts(name, own, said, block)
                    rest.remove(said)
                    break
                except Rejected as other:
                    self.compared, why = before, other
            else:
                raise why
        require(not rest, f"{name} has more guarantees than in the spec")

    def _amounts(self, name: str, own: Line, said: Line, block: str | None) -> None:
        """Compares the numbers of a guarantee."""
        written, told = {"notion": own["notion"]}, {"notion": said["notion"]}
        if own["notion"] in _AMOUNTS:
            key = _AMOUNTS[own["notion"]]
            written |= {each: _at(own.get(each), block) for each in (key, "delta")}
            told |= {key: said["value"], "delta": said.get("delta")}
        self.same(name, written, told)
        if own["notion"] not in _AMOUNTS:  # those that are no better than others may be left out
            pairs = own.get("points", [own])
            pairs = pairs.items() if isinstance(pairs, dict) else pairs
            keys = ("alpha", "epsilon") if own["notion"] == "rdp" else ("epsilon", "delta")
            known = set()
            for pair in pairs:
                x, y = (pair[key] for key in keys) if isinstance(pair, dict) else pair
                known.add((self.number(x), self.number(y)))
            fits = {(number(x), number(y)) for x, y in said["points"]} <= known
            require(fits, f"{name} has other points in the spec")

    def _about(self, name: str, each: Line, node: DataNode, said: Line, of: Any = None) -> None:
        """Compares of which changes of which dataset a guarantee is; `of`: the relation where none
        is written, or else it is the protected one."""
        home = node.up(said["up"])[0]
        told = {"stated_on": _base(home.name), **self._relation(said["relation"])}
        of = each.get("relation", of or self._relation(self.goal))
        of = {**of} if isinstance(of, dict) else {"relation": of}
        plain = not self.nulls or "relation" not in each or of["relation"] != "unbounded"
        require(plain, "the spec is about rows that may be nulls")
        if home.facts.get("columns") is None:  # it is about all columns
            of.pop("changes", None)
        home_ = each["stated_on"] if "stated_on" in each else each["reads"]
        written = {"stated_on": _base(home_), **of}
        self.same(name, written, told)

    def _noise(self, name: str, each: Line, node: DataNode, said: Line, block: str | None) -> bool:
        """Compares a concrete mechanism with a guarantee of it; returns whether it is of a kind
        that this checker knows, and nothing is confirmed of others."""
        noise, kind = said["noise"], said["relation"]["kind"]
        own, found = each["mechanism"].replace("-", ""), noise["kind"].lower()
        by, of, all_ = each.get("sensitivity", "1"), None, list[Any]()
        rows = isinstance(by, dict) and ("one_hot" in by or not {*by} <= _NORMS)
        chosen = own in _NOISES and "range_epsilon" in _SHAPES[f"noise {_NOISES[own]}"]
        moved = own in _NOISES and (not chosen or "sensitivity" in each)
        if own == "randomizedresponse":
            of = "bounded"
        elif rows and "one_hot" not in by:
            require(kind in by, f"{name} has no sensitivity for {kind} neighbours in the spec")
            of, normed = kind, [isinstance(x, dict) and {*x} <= _NORMS for x in by.values()]
            all_ = [x if n else _at(x, block) for x, n in zip(by.values(), normed, strict=True)]
            by = all_[[*by].index(kind)]
        elif rows:
            of = "bounded" if kind == "bounded" else "unbounded"
        elif moved and own != "sparsevector" and node.facts.get("shape") != "graph":
            of = "unbounded"  # a plain sensitivity is for one row that comes or goes
        if own == "noisyhistogram" and kind == "bounded" and each.get("relation") == "unbounded":
            each = {**each, "relation": "bounded"}  # a row goes and another one comes
        if own in _NOISES or "relation" in each:
            self._about(name, each, node, said, of)
        hot = found == "onehot" and isinstance(by, dict) and "one_hot" in by
        other = own not in _NOISES or hot or (found == "twoanswers" and "p" in each)
        if other and found not in _NOISES:
            return False
        require(found == own, f"{name} is {own} in the spec")
        left = {"unit", "norm", "most"}
        written = {key: _at(each.get(key), block) for key in noise.keys() - left}
        told = {key: noise[key] for key in written}
        told["kind"] = None
        if "law" in noise:
            written["law"] = each.get("noise", _LAWS[noise["kind"]])
        for key in {"range", "range_epsilon", "odds"} & {*noise}:
            written[key] = self._epsilon(key, each, noise, block)
        self.same(name, written, told)
        if own in ("randomizedresponse", "sparsevector") or "range_epsilon" in noise:
            require(said["shift"] == "1", f"{name} is stated for one step in the spec")
            return True
        rounded[0], shift = False, number(said["shift"]) ** 2 * number(noise.get("unit", "1"))
        if noise["kind"] == "Exponential":  # relative to the smallest one
            all_ = [self.number(x) for x in all_] if rows else [ONE]
            least = (self.number(by) / min(all_) if rows else ONE) ** 2
        else:
            least = self._least_square(by, noise, kind == "bounded")
        shift *= 1 + F(1, 10**12) if rounded[0] else ONE
        require(shift >= least, f"{name} has a larger sensitivity in the spec")
        if (steps_ := number(said["shift"]) * number(noise.get("most", "0"))) > 0:
            least = self._least_square(by, {**noise, "norm": "L1"}, kind == "bounded")
            require(steps_**2 >= least, f"{name} takes more steps in the spec")
        self.compared += 1
        return True

    def _epsilon(self, key: str, each: Line, noise: Line, block: str | None) -> str:
        """Returns the ε of a choice or an answer as an expression: as written, or as follows."""
        if "epsilon" in each:
            return str(_at(each["epsilon"], block))
        if key != "odds":
            times = 1 if noise["monotone"] else 2
            moved, scale = (_at(each[key], block) for key in ("sensitivity", "scale"))
            return f"{times} * ({moved}) / ({scale})"
        if "lie" in each:
            lie = self.number(_at(each["lie"], block))
            return f"ln({1 + noise['k'] * (1 - lie) / lie})"
        low, high = sorted(self.number(_at(each[key], block)) for key in ("p", "q"))
        return f"ln({max(high / low, (1 - low) / (1 - high))})"

    def _least_square(self, by: Any, noise: Line, replaced: bool) -> F:
        """Returns the square of the least sensitivity that is known in the norm of a noise."""
        kind = noise["kind"]
        in_one = kind in ("Laplace", "Geometric")
        whole = kind in ("Geometric", "DiscreteGaussian")
        by = by if isinstance(by, dict) else {"l1" if in_one else "l2": by}
        known = {key: self.number(value) for key, value in by.items()}
        if (hot := known.get("one_hot")) is not None:  # one coordinate is left, another entered
            times = 2 if replaced else 1
            known |= {"l1": times * hot, "l2_squared": times * hot**2}
        squares = [known[key] ** 2 for key in ("l1", "l2") if key in known]
        squares += [known["l2_squared"]] if "l2_squared" in known else []
        least = F(math.floor(min(squares))) if whole else min(squares)
        if not in_one and noise.get("norm") != "L1":
            return least
        ones = [known["l1"] ** 2] if "l1" in known else []
        ones += [least**2] if whole else []
        if "dimension" in known:
            both = least * known["dimension"]
            ones.append(F(math.isqrt(int(both)) ** 2) if whole else both)
        return min(ones)


def _sha256(text: bytes) -> str:
    import hashlib

    return hashlib.sha256(text).hexdigest()


def _load(text: bytes) -> Any:
    """Returns the mapping of a spec, with all values as they are written, and no key twice."""
    import yaml

    class Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            plain = len({*map(str, keys)}) == len(keys) and "<<" not in keys
            require(plain, "a key is there twice in the spec")
            return super().construct_mapping(node, deep)

        def construct_scalar(self, node: Any) -> Any:
            null = node.style is None and node.value in ("", "~", "null", "Null", "NULL")
            return None if null else super().construct_scalar(node)

    try:
        return yaml.load(text, Loader=Loader)
    except (yaml.YAMLError, RecursionError):
        raise Rejected("the spec is no YAML, or nested very deep") from None


def compare(lines: Sequence[str], text: bytes) -> SpecComparison:
    """Returns what was compared of a certificate and its spec, or raises Rejected."""
    found = SpecComparison()
    try:
        found.run(lines, text)
    except (NotChecked, RecursionError) as why:
        found.left.add(f"everything else, because of {str(why)[:200]}")
    except MALFORMED as why:
        raise Rejected(f"the spec is malformed ({type(why).__name__})") from None
    return found


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
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
            verdict = "partly" if checker.unchecked else "yes"
            follow = f"{checker.checked - checker.left} of {checker.checked} claims follow"
            print(f"{verdict}: {follow}")
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
    except (OSError, UnicodeError, ImportError) as why:
        print(f"cannot read: {why}", file=sys.stderr)
        return 2
    except Rejected as why:
        print(f"no: {visible(why)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
