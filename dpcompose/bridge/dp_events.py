"""Trees of DpEvents (dp_accounting, jax_privacy, TensorFlow Privacy) as specs.

The classes are matched by name, so that nothing of these libraries is imported. A tree is first
brought to a normal form: how often each mechanism is released, and what is released on one sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from dpcompose.bridge.values import MOST_NESTED, MOST_PARTS, Item, Unconvertible, exact, kind
from dpcompose.bridge.writer import SpecText, entry, known_relation, name, places
from dpcompose.errors import nearest, quoted

#: The relations of dp_accounting by the name or the number of `NeighboringRelation`.
RELATIONS = {
    "ADD_OR_REMOVE_ONE": "unbounded",
    "REPLACE_ONE": "bounded",
    "REPLACE_SPECIAL": "zero-out",
}
#: The fields of each class, in their order: a named tuple becomes a list in JSON.
FIELDS = {
    "NoOpDpEvent": (),
    "NonPrivateDpEvent": (),
    "UnsupportedDpEvent": (),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "DiscreteLaplaceDpEvent": ("noise_parameter", "sensitivity"),
    "DiscreteGaussianDpEvent": ("sigma", "sensitivity", "dimension"),
    "RandomizedResponseDpEvent": ("noise_parameter", "num_buckets"),
    "EpsilonDeltaDpEvent": ("epsilon", "delta"),
    "ZCDpEvent": ("rho", "xi"),
    "ExponentialMechanismDpEvent": ("epsilon",),
    "PermuteAndFlipDpEvent": ("epsilon",),
    "SingleEpochTreeAggregationDpEvent": ("noise_multiplier", "step_counts"),
    "SelfComposedDpEvent": ("event", "count"),
    "ComposedDpEvent": ("events",),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "SampledWithoutReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SampledWithReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "RepeatAndSelectDpEvent": ("event", "mean", "shape"),
    "MixtureOfGaussiansDpEvent": ("standard_deviation", "sensitivities", "sampling_probs"),
    "TruncatedSubsampledGaussianDpEvent": (
        "dataset_size",
        "sampling_probability",
        "truncated_batch_size",
        "noise_multiplier",
    ),
}
#: What a file has beside the fields.
_OF_CLASSES = ("module_name", "class_name")
_NO_NOISE = "without noise nothing is private"
_STATE = (
    "write what your accountant proves of it as a stated guarantee: `notion: approx` with its ε "
    "and δ, or `notion: profile` with several"
)
#: Why an event is refused, and what to write instead.
_REFUSED = {
    "NonPrivateDpEvent": (
        "the release has no privacy: nothing bounds its loss",
        "release it with noise, or leave it out of the release",
    ),
    "UnsupportedDpEvent": ("the accounting does not know what is released here", _STATE),
    "MixtureOfGaussiansDpEvent": ("specs have no word for a mixture of Gaussians", _STATE),
}
#: The most copies of a mechanism on one sample that is drawn several times, each a line.
_MOST_LINES = 100
#: The notions of the guarantees that events state.
_STATED = ("pure", "approx", "zcdp")


class Leaf(NamedTuple):
    """One noise mechanism of an event tree: its kind and its other keys in a spec.

    `moved`: its sensitivities to one row added (empty: not known) and to one replaced; none for a
    mechanism without a sensitivity. `runs`: the mechanisms of one run of a selection.
    """

    kind: str
    keys: tuple[tuple[str, str], ...]
    moved: tuple[str, str] | None = None
    runs: tuple[Leaf, ...] = ()

    def values(self, relation: str, fixed: bool) -> dict[str, str]:
        """Returns the keys and values of its entry in a spec that protects `relation`; `fixed`:
        whether the size of the table is public."""
        found = {"notion" if self.kind in _STATED else "mechanism": self.kind}
        if self.runs:
            runs = [entry(each.values(relation, fixed)) for each in self.runs]
            found["of"] = runs[0] if len(runs) == 1 else f"[{', '.join(runs)}]"
        found |= self.keys
        if self.moved is not None:
            added, replaced = self.moved
            if relation != "bounded":
                found["sensitivity"] = added or replaced
            else:
                also = f"unbounded: {added}, " if added and not fixed else ""
                found["sensitivity"] = f"{{{also}bounded: {replaced}}}"
        return found


class Drawn(NamedTuple):
    """What is released on one random sample of the rows: the map that samples, and each part with
    its count.

    `of`: the number of rows drawn from, for a sample without replacement.
    """

    keys: tuple[tuple[str, str], ...]
    of: int | None
    parts: tuple[tuple[Part, int], ...]

    @property
    def repeats(self) -> bool:
        """Returns whether something is released more than once on one draw, or on a part of it."""
        return any(
            count > 1 or (isinstance(part, Drawn) and part.repeats) for part, count in self.parts
        )


Part: TypeAlias = "Leaf | Drawn"
#: How often each part is released.
Counts = dict[Part, int]


class EventReader:
    """Reads the events of one tree."""

    def __init__(self) -> None:
        self.origins: dict[Part, list[str]] = {}
        self.wants: dict[str, str] = {}  # relations that events need, with a place of each
        self._seen = 0
        self._open: set[int] = set()

    def counts(self, item: Item) -> Counts:
        """Returns the parts of an event (mechanisms and samples), each with how often it is
        released."""
        own = id(item.value)
        self._seen += 1
        if own in self._open:
            item.fail("the event contains itself")
        if len(self._open) >= MOST_NESTED:
            item.fail(f"events are nested deeper than {MOST_NESTED}")
        if self._seen > MOST_PARTS:
            item.fail(f"there are more than {MOST_PARTS} events")
        self._open.add(own)
        found = self._read(_as_fields(item))
        self._open.discard(own)
        return found

    def _read(self, item: Item) -> Counts:
        """Returns the counts of an event that was not read before."""
        called = class_of(item)
        if called in _REFUSED:
            says, hint = _REFUSED[called]
            item.fail(f"{called} cannot be converted: {says}", hint)
        if more := sorted(_names(item) - {*FIELDS.get(called, _names(item)), *_OF_CLASSES}):
            item.fail(f"{called} has {quoted(more[0])}, which is not known here", _STATE)
        keys: tuple[tuple[str, str], ...]
        match called:
            case "NoOpDpEvent":
                return {}
            case "ComposedDpEvent":
                found: Counts = {}
                for each in item.at("events").items():
                    for part, count in self.counts(each).items():
                        found[part] = found.get(part, 0) + count
                return found
            case "SelfComposedDpEvent":
                times = item.at("count").integer()
                inner = self.counts(item.at("event"))
                return {part: times * count for part, count in inner.items() if times}
            case "PoissonSampledDpEvent":
                rate, inner = item.at("sampling_probability"), self.counts(item.at("event"))
                text = rate.number()
                if exact(text) > 1:
                    rate.fail(f"a chance of at most 1 is due, not {quoted(text)}")
                if exact(text) in (0, 1):
                    return inner if exact(text) else {}
                keys = (("kind", "sample"), ("poisson", text))
                return self._one(item, _below_sample(keys, None, inner))
            case "SampledWithoutReplacementDpEvent" | "SampledWithReplacementDpEvent":
                of, size = (
                    item.at("source_dataset_size").integer(),
                    item.at("sample_size").integer(),
                )
                again = called == "SampledWithReplacementDpEvent"
                if size > of and not again:
                    item.fail(f"the sample has {size} rows, more than the {of} drawn from")
                inner = self.counts(item.at("event"))
                self._want("bounded", item)
                keys = (("kind", "sample"), ("size", str(size)), ("of", str(of)))
                keys += (("replacement", "true"),) * again
                return self._one(item, _below_sample(keys, of, inner)) if size else {}
            case "TruncatedSubsampledGaussianDpEvent":
                of, size = (
                    item.at("dataset_size").integer(),
                    item.at("truncated_batch_size").integer(),
                )
                text = item.at("sampling_probability").positive("no row is ever drawn")
                self._want("zero-out", item)
                keys = (("kind", "sample"), ("poisson", text), ("at_most", str(size)))
                sigma = item.at("noise_multiplier").positive(_NO_NOISE)
                gaussian = Leaf("gaussian", (("sigma", sigma),), ("1", "2"))
                keys += (("of", str(of)),)
                return self._one(item, _below_sample(keys, of, self._one(item, gaussian)))
        return self._one(item, self._leaf(called, item))

    def _want(self, relation: str, item: Item) -> None:
        """Notes that an event is meant for a neighbouring relation."""
        self.wants.setdefault(relation, _origin(item))

    def _one(self, item: Item, part: Part | None) -> Counts:
        """Returns a part once, and notes which event it comes from; nothing for None."""
        if part is None:
            return {}
        self.origins.setdefault(part, []).append(_origin(item))
        return {part: 1}

    def _leaf(self, called: str, item: Item) -> Leaf | None:
        """Returns the mechanism of an event; None for an event that releases nothing. `called`: its
        class."""

        def noise(field: str) -> str:
            """Returns the amount of noise."""
            return item.at(field).positive(_NO_NOISE)

        keys: tuple[tuple[str, str], ...]
        match called:
            case "GaussianDpEvent":
                return Leaf("gaussian", (("sigma", noise("noise_multiplier")),), ("1", "2"))
            case "LaplaceDpEvent":
                return Leaf("laplace", (("scale", noise("noise_multiplier")),), ("1", "2"))
            case "DiscreteLaplaceDpEvent":
                moved = item.at("sensitivity").integer()
                keys = (("scale", f"1/{noise('noise_parameter')}"),)
                return Leaf("geometric", keys, (str(moved), str(2 * moved)))
            case "DiscreteGaussianDpEvent":
                return Leaf(
                    "discrete-gaussian", (("sigma", noise("sigma")),), self._discrete_moves(item)
                )
            case "RandomizedResponseDpEvent":
                self._want("bounded", item)
                values, lie = item.at("num_buckets").integer(), noise("noise_parameter")
                if values < 2:
                    return None  # one value tells nothing
                return Leaf("randomized-response", (("k", str(values)), ("lie", lie)))
            case "EpsilonDeltaDpEvent":
                keys = (("epsilon", item.at("epsilon").number()),)
                delta = item.at("delta").number()
                if exact(delta) == 0:
                    return Leaf("pure", keys)
                return Leaf("approx", (*keys, ("delta", delta)))
            case "ZCDpEvent":
                xi, rho = item.find("xi"), item.at("rho").number()
                if xi is not None and exact(xi.number()):
                    xi.fail(
                        f"ξ = {xi.number()} is not 0: (ξ, ρ)-zCDP is no notion of specs",
                        "write `notion: rdp` with `points: [[α, ξ + ρα], …]` at orders of use",
                    )
                return Leaf("zcdp", (("rho", rho),))
            case "ExponentialMechanismDpEvent":
                # Its range for the neighbours of the accounting: whatever the sensitivity is.
                return Leaf("exponential", (("epsilon", item.at("epsilon").number()),), ("", "1"))
            case "PermuteAndFlipDpEvent":
                return Leaf("permute-and-flip", (("epsilon", item.at("epsilon").number()),))
            case "SingleEpochTreeAggregationDpEvent":
                self._want("zero-out", item)
                steps = item.at("step_counts")
                several = isinstance(steps.value, list | tuple)
                # A row is in one of the trees: the largest is the worst.
                trees = steps.items() if several else [steps]
                most = max((each.integer() for each in trees), default=0)
                keys = (("steps", str(most)), ("sigma", noise("noise_multiplier")))
                return Leaf("tree", keys, ("1", "2")) if most else None
            case "RepeatAndSelectDpEvent":
                return self._selection(item)
        near = nearest(called, FIELDS)
        hint = f"did you mean {near}? " if near else ""
        item.fail(f"the event {quoted(called)} is not known", f"{hint}Else {_STATE}")

    def _discrete_moves(self, item: Item) -> tuple[str, str]:
        """Returns the sensitivities of discrete Gaussian noise, to one row added and to one
        replaced."""
        moved, dimension = item.at("sensitivity").number(), item.find("dimension")
        known = dimension is not None and dimension.value is not None
        more = f", dimension: {dimension.integer()}" if dimension is not None and known else ""
        twice = 2 * exact(moved)
        return f"{{l2: {moved}{more}}}", f"{{l2: {twice}{more}}}"

    def _selection(self, item: Item) -> Leaf | None:
        """Returns the selection of the best of a random number of runs."""
        inner, mean, shape = self.counts(item.at("event")), item.at("mean"), item.at("shape")
        if not inner:
            return None
        if any(isinstance(part, Drawn) for part in inner):
            item.fail(
                "RepeatAndSelectDpEvent cannot be converted: a run reads samples of its own, which "
                "`mechanism: select` has no word for",
                "write `of: {notion: approx, …}` with what your accountant proves of one run",
            )
        if sum(inner.values()) > _MOST_LINES:
            item.fail(f"a run is of more than {_MOST_LINES} mechanisms", _STATE)
        infinite = str(shape.value).lower() in ("infinity", "inf")
        form = None if infinite else exact(shape.number())
        runs = "poisson" if form is None else {0: "logarithmic", 1: "geometric"}.get(int(form))
        runs = runs if form in (None, 0, 1) else None
        law = f"{runs}: {mean.number()}"
        if runs is None:
            law = f"negative_binomial: {{shape: {shape.number()}, mean: {mean.number()}}}"
        one_run = tuple(part for part, count in inner.items() for _ in range(count))
        return Leaf("select", (("runs", f"{{{law}}}"),), runs=one_run)  # type: ignore[arg-type]


def _below_sample(keys: tuple[tuple[str, str], ...], of: int | None, inner: Counts) -> Drawn | None:
    """Returns what is released on a sample, `inner`, with the keys of the map that samples; None
    where nothing is released."""
    return Drawn(keys, of, tuple(inner.items())) if inner else None


def is_event(item: Item) -> bool:
    """Returns whether plain data is an event, or has one beside its relation."""
    value = item.value
    if isinstance(value, list):
        return len(value) > 1 and isinstance(value[1], str) and value[1].endswith("DpEvent")
    return isinstance(value, Mapping) and bool({"class_name", "dp_event"} & value.keys())


def _origin(item: Item) -> str:
    """Returns the path of an event and its class, for a comment."""
    return f"{item.path}: {class_of(item)}" if item.path else class_of(item)


def class_of(item: Item) -> str:
    """Returns the name of the class of an event; in a file it is known by its fields."""
    found = item.find("class_name")
    if found is None and not isinstance(item.value, Mapping):
        return type(item.value).__name__
    given = item.at("class_name") if found is None else found
    return given.value.decode() if isinstance(given.value, bytes) else given.text()


def _as_fields(item: Item) -> Item:
    """Returns an event as a mapping or an object; in JSON a named tuple is the list of its
    values."""
    value = item.value
    if isinstance(value, Mapping) or not isinstance(value, str | list | int | float | None):
        return item
    if not isinstance(value, list) or len(value) < 2 or value[1] not in FIELDS:
        item.fail(f"an event is due, not {kind(value)}", "it has a `class_name` and its fields")
    names = ("module_name", "class_name", *FIELDS[value[1]])
    if len(value) > len(names):
        item.fail(f"{value[1]} has {len(names) - 2} fields, and here are {len(value) - 2}")
    return item._replace(value=dict(zip(names, value, strict=False)))


def _names(item: Item) -> set[str]:
    """Returns the names of the fields of an event, as far as it lists them."""
    value = item.value
    if isinstance(value, Mapping):
        return {str(each) for each in value}
    attributes = [each.name for each in getattr(value, "__attrs_attrs__", ())]
    return {*getattr(value, "_fields", ()), *attributes}


def _relation(reader: EventReader, top: Item, given: str | None) -> tuple[str, str]:
    """Returns the relation to protect, and who says so: the call (`given`), the file, or what the
    events are for."""
    said = top.find("neighboring_relation")
    found = None
    if said is not None and said.value is not None:
        text = str(getattr(said.value, "name", said.value))
        found = known_relation(
            {"1": "ADD_OR_REMOVE_ONE", "2": "REPLACE_ONE", "3": "REPLACE_SPECIAL"}.get(text, text),
            RELATIONS,
            said.path,
        )
    if given is not None:
        given = known_relation(given, RELATIONS)
        if found not in (None, given):
            top.fail(f"the file protects {found} neighbours, and the call {given} ones")
    relation = given or found
    if relation is None:
        if len(reader.wants) > 1:
            where = " and ".join(reader.wants.values())
            top.fail(f"{where} are for different relations", "--relation says which is protected")
        relation, where = next(iter(reader.wants.items()), ("unbounded", ""))
        return relation, f"{where} is for these neighbours" if where else ""
    if relation != "bounded" and "bounded" in reader.wants:
        top.fail(
            f"{reader.wants['bounded']} is for one row replaced, and {relation} is protected",
            "--relation bounded protects one row replaced",
        )
    return relation, "as the call says" if given else f"from {said.path if said else ''}"


def from_event(event: object, relation: str | None = None, deltas: Iterable[object] = ()) -> str:
    """Returns the spec of a tree of DpEvents: a live object, or the plain data of a file.

    `event` may have a relation beside it, as a `DPExecutionPlan` of jax_privacy has: an attribute
    or a key `dp_event` and `neighboring_relation`. `relation`: what to protect, in the words of
    specs or of dp_accounting; None for that of the event. `deltas`: where to state the ε. Raises
    Unconvertible for what has no word in specs, and never drops an event.
    """
    top, reader = Item(event), EventReader()
    plan = top.find("dp_event")
    counts = reader.counts(top if plan is None else plan)
    protect, origin = _relation(reader, top, relation)
    spec = SpecText(
        "DpEvents", protect, origin or "the default of dp_accounting: the events say none"
    )
    sizes = {part.of for part in counts if isinstance(part, Drawn) and part.of is not None}
    if len(sizes) > 1:
        top.fail(f"samples are drawn from tables of {' and '.join(map(str, sorted(sizes)))} rows")
    root: dict[str, str] = {}
    if sizes or protect == "zero-out":
        root["domain"] = "fixed-size-table"
    if sizes:
        root["size"] = str(sizes.pop())
    if not origin:
        root["because"] = name("the events name no relation; dp_accounting takes this one then")
    writer = _EventWriter(spec, reader.origins, protect)
    fixed = bool(root.get("size"))
    writer.write(counts, spec.dataset("rows", root, "the data that all events read"), fixed)
    return spec.text(deltas)


class _EventWriter(NamedTuple):
    """Writes the parts of an event tree (mechanisms and samples) into a spec."""

    spec: SpecText
    origins: dict[Part, list[str]]
    relation: str

    def write(
        self, counts: Mapping[Part, int], reads: str, fixed: bool, times: int = 0, inside: str = ""
    ) -> None:
        """Writes the parts that read the dataset `reads`, each as often as counted; `fixed`:
        whether the size of that dataset is public.

        `times`: how often it was drawn if it is a sample, else 0; `inside`: the path of its event.
        """
        for part, count in counts.items():
            # Copy i of what reads a sample reads the i-th draw: more copies of one draw are lines.
            lines, each = (count, times) if times > 1 else (1, count)
            origins = self.origins[part]
            origins = [each for each in origins if each.startswith(inside)] or origins
            if lines > _MOST_LINES:
                raise Unconvertible(
                    origins[0],
                    f"{lines} copies on each of {times} samples: at most {_MOST_LINES} are written",
                    "compose these copies to one event: of Gaussian noise n are one of noise/√n",
                )
            for line in range(lines):
                copy = f", copy {line + 1} of {lines} on one sample" if lines > 1 else ""
                self._one(part, each, reads, fixed, origins, copy)

    def _one(
        self, part: Part, count: int, reads: str, fixed: bool, origins: list[str], copy: str
    ) -> None:
        """Writes `count` copies of one part that reads the dataset `reads`; `fixed` as in `write`,
        `copy`: words for the comment."""
        origin = f"from {places(origins)}{copy}"
        if isinstance(part, Drawn):
            shared = count == 1 and part.repeats
            keys = dict(part.keys) | ({"draws": "one"} if shared else {})
            sample = self.spec.dataset("sample", {"from": reads, "map": entry(keys)}, origin)
            inside = origins[0].rpartition(": ")[0]
            self.write(dict(part.parts), sample, part.of is not None, count, inside)
            return
        values = {"reads": reads, **part.values(self.relation, fixed)}
        if count > 1:
            values["count"] = str(count)
        self.spec.mechanism(part.kind, values, origin)
