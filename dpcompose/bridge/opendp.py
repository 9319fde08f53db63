"""Measurements of OpenDP as specs: the JSON of `dp.serialize`, or live objects.

Constructors are matched by name, and an unknown one is refused. A live measurement whose structure
is not known is stated by its own `map(1)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from dpcompose.bridge.dp_events import Leaf
from dpcompose.bridge.values import MOST_NESTED, Item, Unconvertible, exact, from_json
from dpcompose.bridge.writer import SpecText, entry, name
from dpcompose.errors import nearest, quoted

#: The relation that a distance of 1 is of.
_METRICS = {
    "symmetric_distance": "unbounded",
    "insert_delete_distance": "unbounded",
    "change_one_distance": "bounded",
    "hamming_distance": "bounded",
    "discrete_distance": "bounded",
    # Of a number or a vector, which one row is taken to move by 1.
    "absolute_distance": "unbounded",
    "l1_distance": "unbounded",
    "l2_distance": "unbounded",
}
_NUMBERS = ("absolute_distance", "l1_distance", "l2_distance")
#: Conversions of a guarantee, which an analysis of what is drawn does not need.
_CASTS = tuple(
    "make_pureDP_to_zCDP make_zCDP_to_approxDP make_fixed_approxDP_to_approxDP make_fix_delta "
    "make_approximate".split()
)
#: Transformations of each row by itself, by the start of the name, and those that drop rows.
_ROWS = tuple(
    "make_cast make_impute make_clamp make_identity make_find make_index make_is_ make_df_ "
    "make_select_column make_unordered make_ordered_random".split()
)
_DROPS = ("make_drop_null", "make_filter")
_KEEPS_BOUNDS = (*_DROPS, "make_identity", "make_unordered", "make_ordered_random")
#: The constructors of noise: on numbers, on whole numbers, and the key of its amount.
_NOISE = {
    "make_laplace": ("laplace", "geometric", "scale"),
    "make_geometric": ("geometric", "geometric", "scale"),
    "make_gaussian": ("gaussian", "discrete-gaussian", "sigma"),
    "make_laplace_threshold": ("laplace", "geometric", "scale"),
    "make_gaussian_threshold": ("gaussian", "", "sigma"),
    "make_noisy_max": ("noisy-max", "noisy-max", "scale"),
}
#: The mechanisms whose sensitivity is for one row; others are stated for one step of a relation.
_OF_ROWS = ("laplace", "geometric", "gaussian", "discrete-gaussian")
_LIVE = (
    "give the live measurement to `dpcompose.bridge.from_opendp`, which asks its `map(1)`; or "
    "write that as a stated guarantee, with `because: OpenDP map(1)`"
)
_UNITS = {
    "MaxDivergence": "pure",
    "ZeroConcentratedDivergence": "zcdp",
    "Approximate(MaxDivergence)": "approx",
}


class _Space(NamedTuple):
    """The input of a measurement: the neighbouring relation of an input distance of 1, and the
    number of rows where that is public."""

    relation: str
    size: int | None
    numbers: bool = False


class _Moves(NamedTuple):
    """The sensitivity of an aggregate, where that is known: to one row added, and to one replaced.

    `whole`: the aggregate is of whole numbers, None where that is not known. `one_hot`: it is a
    histogram. `keyed`: its keys come from the rows.
    """

    added: Fraction | None = None
    replaced: Fraction | None = None
    whole: bool | None = None
    one_hot: bool = False
    keyed: bool = False


def from_opendp(
    measurement: Any, contributions: int | None = None, deltas: Iterable[object] = ()
) -> str:
    """Returns the spec of a measurement of OpenDP, live or as the JSON of `dp.serialize`.

    `contributions`: how many rows a person has at most; None protects the neighbours of the input
    metric. `deltas`: where to state the ε. Raises Unconvertible for what specs have no word for,
    or for what is not known without the live object.
    """
    asked = [str(each) for each in deltas]
    value = from_json(measurement) if isinstance(measurement, str) else measurement
    reader = _Reader(asked)
    reader.read(Item(value), (), None)
    return reader.text(contributions)


class _Reader:
    """Reads an OpenDP measurement; collects its mechanisms and what they read."""

    def __init__(self, deltas: list[str]) -> None:
        self.deltas = deltas
        self.space: _Space | None = None
        self.found: list[tuple[str, Mapping[str, str] | Leaf, str]] = []
        self.sample: tuple[int, int] | None = None
        self.version = ""
        self.depth = 0

    def read(self, item: Item, prefix: tuple[Item, ...], whole: Item | None) -> None:
        """Reads a measurement that comes after the transformations `prefix`; `whole`: the chain of
        which it is the last part."""
        whole, depth = whole or item, self.depth
        self.depth += 1
        if depth >= MOST_NESTED:
            item.fail(f"constructors are nested deeper than {MOST_NESTED}")
        found, before = len(self.found), (self.space, self.sample)
        try:
            self._read(item, prefix, whole)
        except Unconvertible:
            if whole is not item or not callable(getattr(item.value, "map", None)):
                raise
            del self.found[found:]
            self.space, self.sample = before
            self._stated(item)
        self.depth = depth

    def _read(self, item: Item, prefix: tuple[Item, ...], whole: Item) -> None:
        """Reads a measurement by its constructor; `prefix` and `whole` as in `read`."""
        function, args = _constructor(item)
        given = None if not isinstance(item.value, Mapping) else item.value.get("__version__")
        self.version = self.version or (given if isinstance(given, str) else "")
        match function:
            case "make_chain_mt":
                self.read(args.at("measurement1"), (*prefix, args.at("transformation0")), whole)
            case "make_chain_pm":  # what comes after a release is free
                self.read(args.at("measurement0"), prefix, whole if prefix else None)
            case "make_composition" | "make_basic_composition":
                for each in args.at("measurements").items():
                    self.read(each, prefix, whole if prefix else None)
            case _ if function in _CASTS:
                self.read(args.at("measurement"), prefix, whole if prefix else None)
            case "make_population_amplification":
                if item.path:
                    item.fail("a sample of all data is read by a part of the measurements only")
                self.read(args.at("measurement"), prefix, whole)
                population = args.at("population_size").integer()
                if self.space is None or self.space.size is None:
                    item.fail("the size of the sample is not in the domain of the measurement")
                self.sample = (self.space.size, population)
            case "make_adaptive_composition" | "make_sequential_composition" if not prefix:
                self._budgets(item, args)
            case _:
                self._mechanism(item, function, args, prefix)

    def _enter(self, item: Item, args: Item) -> None:
        """Notes the input of the measurement, from its metric and its domain."""
        metric = _called(args.at("input_metric"))
        if metric not in _METRICS:
            item.fail(
                f"the metric {quoted(metric)} is no change of rows that specs have a word for",
                f"known are {', '.join(_METRICS)}",
            )
        size, relation = _size(args.find("input_domain")), _METRICS[metric]
        # Tables of one public size differ in replaced rows.
        relation = "bounded" if size is not None else relation
        self._of(item, _Space(relation, size, metric in _NUMBERS))

    def _of(self, item: Item, space: _Space) -> None:
        """Notes the input that a mechanism reads; raises Unconvertible if an earlier one reads
        another."""
        if self.space not in (None, space):
            item.fail("the measurements are of different input metrics or sizes", "import each")
        self.space = space

    def _mechanism(self, item: Item, function: str, args: Item, prefix: tuple[Item, ...]) -> None:
        """Reads a noise mechanism with the constructor `function`, which comes after the
        transformations `prefix`."""
        if function in ("make_randomized_response_bool", "make_randomized_response"):
            if prefix:
                item.fail("randomized response is of one row, and here it has transformations")
            self._of(item, _Space("bounded", None))
            truth = exact(args.at("prob").positive("the truth is never told"))
            k = 2
            if function == "make_randomized_response":
                k = len(args.at("categories").items())
            if truth > 1 or k < 2:
                item.fail("a chance of at most 1, and 2 categories, are due")
            truth = max(truth, 1 - truth) if k == 2 else truth
            lie = k * (1 - truth) / (k - 1)
            leaf = Leaf("randomized-response", (("k", str(k)), ("lie", str(lie))))
            self.found.append(("answers", leaf, self._origin(item, [function])))
            return
        steps = [step for each in prefix for step in _steps(each)]
        self._enter(item, steps[0][1] if steps else args)
        assert self.space is not None
        moves = self._moves(item, steps, args)
        leaf = self._leaf(item, function, args, self._checked(item, moves, prefix))
        functions = [*(each for each, _, _ in steps), function]
        self.found.append((_title(functions), leaf, self._origin(item, functions)))

    def _origin(self, item: Item, functions: list[str]) -> str:
        """Returns in words where a mechanism comes from, for a comment."""
        return f"from {item.path or 'the measurement'}: {', '.join(functions)}"

    def _moves(self, item: Item, steps: list[tuple[str, Item, Item]], args: Item) -> _Moves:
        """Returns the sensitivity of the output of OpenDP transformations to one row."""
        if not steps:
            return _Moves(Fraction(1), None, _is_whole(args.find("input_domain")))
        bounds, dropped, resized = _bounds(steps[0][1].find("input_domain")), False, False
        for function, own, _ in steps[:-1]:
            if function == "make_clamp":
                bounds = _pair(own.at("bounds"))
            elif function == "make_resize" and bounds is not None:
                low, high = bounds
                bounds = bounds if low <= own.at("constant").signed() <= high else None
            elif not function.startswith(_KEEPS_BOUNDS):
                bounds = None
            dropped |= function in _DROPS
            resized |= function == "make_resize"
            if not function.startswith((*_ROWS, *_DROPS, "make_resize")):
                return _Moves()
        function, own, _ = steps[-1]
        moves = self._aggregate(function, own, bounds, dropped)
        if not resized:
            return moves
        if moves.one_hot or moves.replaced is None:
            return _Moves()
        # One row more or less replaces one, and one replaced two.
        return moves._replace(added=moves.replaced, replaced=2 * moves.replaced)

    def _aggregate(
        self, function: str, own: Item, bounds: tuple[Fraction, Fraction] | None, dropped: bool
    ) -> _Moves:
        """Returns the sensitivity of the aggregate with the constructor `function`.

        `own`: its arguments; `bounds`: of each row, None where unknown; `dropped`: some row may be
        left out before it.
        """
        one = Fraction(1)
        match function:
            case "make_count" | "make_count_distinct":
                return _Moves(one, one, _whole_type(own.find("TO")))
            case "make_count_by_categories":
                return _Moves(one, one, _whole_type(own.find("TOA")), one_hot=True)
            case "make_count_by":
                return _Moves(one, None, _whole_type(own.find("TV")), keyed=True)
        if not re.fullmatch(r"make_sum|make_(sized_)?bounded_int_\w+_sum", function):
            return _Moves()
        given = own.find("bounds")
        bounds = bounds if given is None or given.value is None else _pair(given)
        whole = "int" in function or _is_whole(own.find("input_domain"))
        if bounds is None or not whole:
            return _Moves()  # sums of floats move by their rounding errors as well
        low, high = bounds
        added = max(abs(low), abs(high))
        return _Moves(added, max(high - low, added if dropped else Fraction(0)), True)

    def _checked(self, item: Item, moves: _Moves, prefix: tuple[Item, ...]) -> _Moves:
        """Returns the sensitivity `moves` of an aggregate, with what the live transformations
        (`prefix`) know where the constructors do not say it."""
        assert self.space is not None
        # Of tables of one public size one row replaced is a symmetric distance of 2.
        sized = self.space.size is not None
        distance: Any = 2 if sized else 1
        for each in prefix:
            if not callable(getattr(each.value, "map", None)) or moves.keyed:
                return moves
            distance = each.value.map(distance)
        if not prefix or not isinstance(distance, int | float):
            return moves
        said = exact(Item(distance, item.path).number())
        bounded = self.space.relation == "bounded"
        own = moves.replaced if bounded else moves.added
        if own is not None and said > own and not sized:
            item.fail(f"map(1) of its transformations is {said}, and {own} was expected")
        if own is not None:
            return moves
        return moves._replace(replaced=said) if bounded else moves._replace(added=said)

    def _leaf(self, item: Item, function: str, args: Item, moves: _Moves) -> Leaf:
        """Returns the entry of a noise mechanism; `function`: its constructor, `moves`: the
        sensitivity of what it releases."""
        assert self.space is not None
        if function not in _NOISE:
            near = nearest(function, _NOISE)
            hint = f"did you mean {near}? Else {_LIVE}" if near else _LIVE
            item.fail(f"the measurement {quoted(function)} has no word in specs", hint)
        granularity = args.find("k")
        if granularity is not None and granularity.value is not None:
            granularity.fail(
                "noise on a coarser grid than numbers have has no word in specs", _LIVE
            )
        floats, wholes, key = _NOISE[function]
        own = moves.replaced if self.space.relation == "bounded" else moves.added
        if own is None:
            item.fail("how far one row moves what is released is not known here", _LIVE)
        whole = moves.whole
        if whole is None:
            whole = _is_whole(args.find("input_domain"))
        if whole is None and floats != wholes:
            item.fail("whether the noise is on whole numbers is not known", _LIVE)
        kind, scale = wholes if whole else floats, args.at("scale").positive("it is no noise")
        if function.endswith("_threshold"):
            if not moves.keyed or not kind:
                item.fail(f"{function} on these keys has no word in specs", _LIVE)
            threshold = args.at("threshold").number()
            keys = {"noise": kind, key: scale, "threshold": threshold}
            keys |= {"max_keys": "1", "max_per_key": "1"}
            return Leaf("noisy-histogram", tuple(keys.items()))
        if moves.keyed:
            item.fail("noise on the counts of unknown keys needs a threshold")
        if moves.one_hot:
            return Leaf(kind, ((key, scale), ("sensitivity", "{one_hot: 1}")))
        if function == "make_noisy_max":
            gumbel = "oncentrated" in str(_called(args.at("output_measure")))
            keys = {"noise": "gumbel" if gumbel else "exponential", key: scale}
            of = (("sensitivity", str(own)), ("relation", self.space.relation))
            return Leaf(kind, (*keys.items(), *of))
        return Leaf(kind, ((key, scale),), (str(moves.added or ""), str(own)))

    def _budgets(self, item: Item, args: Item) -> None:
        """Reads an interactive composition: what each query may cost."""
        self._enter(item, args)
        if args.at("d_in").integer() != 1:
            args.at("d_in").fail(
                "queries are bounded for a distance above 1",
                "write each as a guarantee of a declared relation: "
                "`relations: {near: {within: unbounded, distance: …}}`",
            )
        measure = _called(args.at("output_measure"))
        notion = {"max_divergence": "pure", "zero_concentrated_divergence": "zcdp"}.get(measure)
        if notion is None:
            item.fail(f"queries in {quoted(measure)} have no word in specs", _LIVE)
        for each in args.at("d_mids").items():
            values = {"notion": notion, "rho" if notion == "zcdp" else "epsilon": each.number()}
            self.found.append(("query", values, f"from {each.path}: what a query may cost"))

    def _stated(self, item: Item) -> None:
        """Reads a live measurement by its own map, as a stated guarantee."""
        value = item.value
        metric = _snake(str(value.input_metric))
        relation = _METRICS.get(metric)
        if relation is None:
            item.fail(
                f"the metric {quoted(str(value.input_metric))} has no word in specs",
                "read `from_summary(query.summarize(), contributions=…)` of a query instead",
            )
        sized = re.search(r"\bsize=(\d+)", str(value.input_domain))
        distance = 2 if sized and relation == "unbounded" else 1  # else no two tables are as near
        size = int(sized[1]) if sized else None
        self._of(item, _Space("bounded" if sized else relation, size, metric in _NUMBERS))
        measure = str(value.output_measure)
        values = {"because": name(f"map({distance}) of OpenDP for {measure}")}
        number: Callable[[Any], str] = lambda given: Item(given, item.path).number()  # noqa: E731
        found = value.map(distance)
        if measure == "SmoothedMaxDivergence":
            if not self.deltas:
                item.fail("its guarantee is a profile", "ask for a δ: `deltas=[1e-6]`, or --delta")
            points = [
                f"[{number(found.epsilon(float(exact(each))))}, {each}]" for each in self.deltas
            ]
            values |= {"notion": "profile", "points": f"[{', '.join(points)}]"}
        elif measure not in _UNITS:
            item.fail(f"guarantees in {quoted(measure)} have no word in specs")
        elif _UNITS[measure] == "approx":
            values |= {"notion": "approx", "epsilon": number(found[0]), "delta": number(found[1])}
        else:
            key = "rho" if _UNITS[measure] == "zcdp" else "epsilon"
            values |= {"notion": _UNITS[measure], key: number(found)}
        self.found.append(
            ("measurement", values, f"from {item.path or 'the measurement'}: map({distance})")
        )

    def text(self, contributions: int | None) -> str:
        """Returns the YAML text of a spec for the measurement that was read.

        `contributions`: how many rows a person has at most, so that all rows of one person are
        protected; None protects the neighbours of the input metric. Raises Unconvertible where rows
        cannot be counted so.
        """
        space = self.space or _Space("unbounded", None)
        root: dict[str, str] = {}
        if contributions is not None and (space.relation != "unbounded" or contributions < 1):
            raise Unconvertible("", "contributions are of tables in which rows come and go")
        protect, origin = space.relation, "what a distance of 1 in the input metric is"
        if space.numbers:
            root["because"] = name("the input is a number or a vector, which one row moves by 1")
        if space.relation == "bounded":
            root["domain"] = "fixed-size-table"
        if space.size is not None:
            root["size"] = str(space.size if self.sample is None else self.sample[1])
        title = f"OpenDP {self.version}".strip()
        if contributions is not None:
            protect, origin = "user", "contributions: a person has several rows"
        spec = SpecText(title, protect, origin)
        reads = rows_of(spec, root, contributions)
        if self.sample is not None:
            size, of = map(str, self.sample)
            sample = {"from": reads, "map": entry({"kind": "sample", "size": size, "of": of})}
            reads = spec.dataset("sample", sample, "from make_population_amplification")
        for called, found, where in self.found:
            bounded = space.relation == "bounded"
            values = found.values(space.relation, bounded) if isinstance(found, Leaf) else found
            if contributions is not None and values.get("mechanism") not in _OF_ROWS:
                values = {**values, "relation": "unbounded"}
            spec.mechanism(called, {"reads": reads, **values}, where)
        return spec.text(self.deltas)


def rows_of(spec: SpecText, root: Mapping[str, str], contributions: int | None) -> str:
    """Adds the dataset that the mechanisms read to `spec`, and returns its name; where a person has
    several rows (`contributions`), also a cap on their number.

    `root`: the keys of the dataset.
    """
    if contributions is None:
        return spec.dataset("rows", root, "the input of all measurements")
    rows = spec.dataset("rows", {**root, "unit": "person"}, "the input; a person has several rows")
    cap = {"kind": "cap", "rows": str(contributions), "keep": "first", "order": "any"}
    few = {
        "from": rows,
        "map": entry(cap),
        "because": name(f"a person has {contributions} at most"),
    }
    return spec.dataset("few", few, f"unit_of(contributions={contributions})")


def _constructor(item: Item) -> tuple[str, Item]:
    """Returns the name of the constructor of an object, and its arguments."""
    value = item.value
    if not isinstance(value, Mapping):
        value = getattr(value, "__opendp_dict__", None)
    if not isinstance(value, Mapping) or "__function__" not in value:
        item.fail(
            "an object made by a constructor of OpenDP is due",
            "`dp.serialize` writes one; of a query `query.resolve()` is one",
        )
    function = Item(value["__function__"], item.below("__function__")).text()
    return function, Item(value.get("__kwargs__") or {}, item.path)


def _called(item: Item) -> str:
    """Returns the name of the constructor of a metric or a measure; for a type its text."""
    if isinstance(item.value, str):
        return item.text()
    return _constructor(item)[0]


def _snake(text: str) -> str:
    """Returns the name of the constructor of a metric from its printed form, such as
    `SymmetricDistance()`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text.partition("(")[0]).lower()


def _steps(item: Item, depth: int = 0) -> list[tuple[str, Item, Item]]:
    """Returns the transformations of a chain, the first one first."""
    if depth > MOST_NESTED:
        item.fail(f"transformations are nested deeper than {MOST_NESTED}")
    function, args = _constructor(item)
    if function != "make_chain_tt":
        return [(function, args, item)]
    first, then = args.at("transformation0"), args.at("transformation1")
    return [*_steps(first, depth + 1), *_steps(then, depth + 1)]


def _domain(item: Item | None) -> tuple[str, Item] | None:
    """Returns the name of the constructor of a domain, and its arguments; None where it is not
    known."""
    if item is None or item.value is None or isinstance(item.value, str):
        return None
    if not isinstance(item.value, Mapping) and not hasattr(item.value, "__opendp_dict__"):
        return None
    return _constructor(item)


def _size(item: Item | None) -> int | None:
    """Returns the public number of rows of a domain of vectors; None where it is not public."""
    found = _domain(item)
    size = None if found is None else found[1].find("size")
    return None if size is None or size.value is None else size.integer()


def _atoms(item: Item | None) -> Item | None:
    """Returns the arguments of the domain of the atoms (single values) of a domain; None where it
    is not known."""
    for _ in range(MOST_NESTED):
        found = _domain(item)
        if found is None or found[0] == "atom_domain":
            return None if found is None else found[1]
        function, args = found
        item = args.find("atom_domain") or args.find("element_domain")
        if function == "transformation_output_domain":
            _, made = _steps(args.at("this"))[-1][:2]
            item = made.find("input_domain")
    return None


def _bounds(item: Item | None) -> tuple[Fraction, Fraction] | None:
    """Returns the bounds of the atoms of a domain; None where there are none."""
    atoms = _atoms(item)
    bounds = None if atoms is None else atoms.find("bounds")
    return None if bounds is None or bounds.value is None else _pair(bounds)


def _pair(item: Item) -> tuple[Fraction, Fraction]:
    """Returns two bounds, the lower one first."""
    inner = item.at("__tuple__") if isinstance(item.value, Mapping) else item
    found = [each.signed() for each in inner.items()]
    if len(found) != 2 or found[0] > found[1]:
        item.fail("two bounds are due, the lower one first")
    return found[0], found[1]


def _is_whole(item: Item | None) -> bool | None:
    """Returns whether the atoms (single values) of a domain are whole numbers; None where that is
    not known."""
    atoms = _atoms(item)
    if atoms is not None:
        return _whole_type(atoms.find("T"))
    text = "" if item is None or isinstance(item.value, Mapping) else str(item.value)
    found = re.search(r"\bT=(\w+)", text)
    return None if found is None else _whole_type(Item(found[1]))


def _whole_type(item: Item | None) -> bool | None:
    """Returns whether a type of OpenDP is one of whole numbers; None where that is not known."""
    text = "" if item is None else str(item.value)
    return None if not text or text == "None" else bool(re.fullmatch(r"[iu]\d+|[iu]size|int", text))


def _title(functions: list[str]) -> str:
    """Returns a name for a mechanism, by what the constructors `functions` aggregate."""
    made = functions[-2] if len(functions) > 1 else functions[-1]
    return made.removeprefix("make_").replace("_", " ")
