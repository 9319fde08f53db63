"""Random specs of nasty shapes: randomness above, below and between maps, shared and nested.

`draft(seed)` is any such spec; `draft(seed, wanted)` one that uses certain features, if there is
one.  Universes stay small: few blocks, few copies, few rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from .features import MAPS, NOTIONS, PARTITIONS, RANDOM, RELATIONS, used

#: How many copies of mechanisms there may be.
MOST_COPIES = 4
GRAPHS = ("edge", "node", "node-rewired")
#: Kinds of steps, with how often they are taken.
STEPS = {
    "filter": 4,
    "row": 2,
    "flatten": 2,
    "group": 1,
    "limit": 1,
    "cap": 1,
    "random limit": 2,
    "random cap": 1,
    "stable": 1,
    "value": 1,
    "opaque": 0.5,
    "by value": 3,
    "by key": 1,
    "by position": 1,
    "by membership": 2,
    "by kinds": 2,
    "poisson": 6,
    "without replacement": 3,
}
CROWDED = ("group", "limit", "cap", "stable")
RATES = ["1/2", "1/4", "0.1", "1/2"]


class Stuck(Exception):
    """The features asked for do not go together here."""


class _Place:
    """A dataset that can be read: what is above it, and what is known of its rows."""

    def __init__(self, reference: str, above: list[_Place], **known: Any) -> None:
        self.reference = reference
        self.above = above
        self.domain = known.get("domain", "table")
        self.size: int | None = known.get("size")
        self.ordered: bool = known.get("ordered", False)
        self.unit: bool = known.get("unit", False)
        self.copies: int = known.get("copies", 1)
        #: How many maps above let the effect of a row depend on the rows beside it.
        self.crowded: int = known.get("crowded", 0)

    @property
    def fixed(self) -> bool:
        return self.size is not None

    def below(self, reference: str, **known: Any) -> _Place:
        """A place derived from this one."""
        mine = {
            "domain": self.domain,
            "size": self.size,
            "ordered": self.ordered,
            "unit": self.unit,
            "copies": self.copies,
            "crowded": self.crowded,
        }
        return _Place(reference, [self, *self.above], **{**mine, **known})


class _Draft:
    """One spec in the making."""

    def __init__(self, rng: Random, wanted: frozenset[str]) -> None:
        self.rng = rng
        self.wanted = wanted
        self.datasets: dict[str, Any] = {}
        self.places: list[_Place] = []
        self.leaves: list[_Place] = []
        self.graph, self.degree = False, 1
        self.relation = self._relation()
        self.distance = 2 if "distance" in wanted or rng.random() < 0.12 else 1
        if rng.random() < 0.1 and self.distance == 2 and self.relation == "unbounded":
            self.distance = rng.choice([2, 3, 4])
        self.within = rng.choice(["unbounded", "unbounded", "bounded"])
        asked = [notion for notion in NOTIONS if notion in wanted]
        self.notions = asked or [rng.choices(NOTIONS, [6, 3, 1, 1])[0]]

    def _relation(self) -> str:
        asked = [r for r in RELATIONS if f"protect {r}" in self.wanted]
        if len(asked) > 1:
            raise Stuck
        graph = bool({"edges", "nodes"} & self.wanted)
        if asked:
            return asked[0]
        if graph:
            return self.rng.choice([*GRAPHS, "declared", "free-lunch"])
        return self.rng.choices(RELATIONS, [6, 5, 2, 1, 1, 1, 1, 3])[0]

    def spec(self) -> dict[str, Any]:
        """A complete spec; may be refused, or have no bound."""
        rng, wanted = self.rng, self.wanted
        several = {"joint roots", "disjoint roots"} & wanted
        if len(several) > 1:
            raise Stuck
        graph = self.relation in GRAPHS or bool({"edges", "nodes"} & wanted)
        if not graph and self.relation in ("declared", "free-lunch"):
            graph = rng.random() < 0.1
        if graph and self.relation == "declared":
            self.within = rng.choice(GRAPHS)
        self.graph = graph
        steps = self._steps()
        easy = self.distance == 1 and not any(step.split()[-1] in CROWDED for step in steps)
        self.degree = rng.choice([1, 2]) if easy else 1
        roots = 2 if several or (len(steps) < 3 and rng.random() < 0.1) else 1
        chains = roots if roots > 1 or len(steps) < 2 or rng.random() < 0.6 else 2
        paths: list[list[str]] = [[] for _ in range(chains)]
        for step in steps:
            rng.choice(paths).append(step)
        if graph:
            for path in paths:
                self._from_graph(path)
        tops = [self._root(f"r{n}" if roots > 1 else "rows", graph) for n in range(roots)]
        self.leaves = [
            self._chain(tops[n % roots], sorted(path, key=lambda step: step == "value"))
            for n, path in enumerate(paths)
        ]
        made: dict[str, Any] = {"dpcompose": 1, "protect": self._protect()}
        if roots > 1 and ("disjoint roots" in wanted or (not several and rng.random() < 0.4)):
            made["roots"] = "disjoint"
        if self.relation == "declared":
            steps_apart = rng.choice([1, 2, 2, 3])
            made["relations"] = {"house": {"within": self.within, "distance": steps_apart}}
        made["datasets"] = self.datasets
        return made | self.released()

    def released(self) -> dict[str, Any]:
        """Mechanisms on the datasets, and where to state ε."""
        rng, wanted = self.rng, self.wanted
        mechanisms: list[dict[str, Any]] = []
        for leaf in self.leaves:
            mechanisms.append(self._mechanism(leaf, len(mechanisms)))
        while rng.random() < 0.35 and len(mechanisms) < 3:
            read = rng.choice([each for leaf in self.leaves for each in (leaf, *leaf.above)])
            mechanisms.append(self._mechanism(read, len(mechanisms)))
        if {"count", "fresh copies"} & wanted or rng.random() < 0.15:
            rng.choice(mechanisms)["count"] = 2 if rng.random() < 0.8 else 3
        made: dict[str, Any] = {"mechanisms": mechanisms}
        if "at δ" in wanted or rng.random() < (0.7 if {"zcdp", "gdp"} & {*self.notions} else 0.2):
            made["report"] = {"delta": [rng.choice(["0.1", "0.01", "1e-3"])]}
        return made

    def _from_graph(self, path: list[str]) -> None:
        """Let a path start with what makes a table of a graph."""
        first = [step for step in path if step in ("edges", "nodes")]
        if len(first) > 1:
            raise Stuck
        if not first and (path or self.rng.random() < 0.5):
            first = [self.rng.choice(["edges", "nodes"])]
        path[:] = first + [step for step in path if step not in first]

    def _protect(self) -> Any:
        """What is protected, as it is written."""
        name = "house" if self.relation == "declared" else self.relation
        return {"relation": name, "distance": self.distance} if self.distance > 1 else name

    # Datasets.

    def _root(self, name: str, graph: bool) -> _Place:
        rng, wanted = self.rng, self.wanted
        if graph:
            self.datasets[name] = {"domain": "graph", "max_degree": self.degree}
            return self._add(_Place(name, [], domain="graph"))
        unit = self.relation == "user" or bool({"cap", "random cap"} & wanted)
        unit = unit or rng.random() < 0.1
        body: dict[str, Any] = {"unit": "user"} if unit else {}
        fixed = self.relation in ("bounded", "free-lunch") or (
            self.relation == "declared" and self.within == "bounded"
        )
        needs = "without replacement" in wanted
        ordered = "by position" in wanted or rng.random() < 0.1
        if ordered:
            body["domain"] = "ordered-table"
        if fixed and (needs or rng.random() < 0.4):
            size = rng.choice([2, 3])
            body |= {"domain": body.get("domain", "fixed-size-table"), "size": size}
            self.datasets[name] = body
            return self._add(_Place(name, [], size=size, ordered=ordered, unit=unit))
        self.datasets[name] = body
        return self._add(_Place(name, [], ordered=ordered, unit=unit))

    def _add(self, place: _Place) -> _Place:
        self.places.append(place)
        return place

    def _steps(self) -> list[str]:
        """The maps and partitions, from the root down."""
        rng = self.rng
        asked = [
            step
            for step in (*MAPS, *RANDOM, *PARTITIONS, "poisson", "without replacement")
            if step in self.wanted
        ]
        chance = ["poisson", "without replacement", *RANDOM]
        if {"draws: one", "fresh copies"} & self.wanted and not {*chance[:2]} & {*asked}:
            asked.append(rng.choice(["poisson", "poisson", "without replacement"]))
        if {"draws: one", "fresh copies"} <= self.wanted:
            asked.append("poisson")
        if "above random maps" in self.wanted and not {*chance} & {*asked}:
            asked.append(rng.choice(["poisson", "poisson", *chance]))
        rng.shuffle(asked)
        kinds = {k: w for k, w in STEPS.items() if k not in ("value", "cap", "random cap")}
        if "poisson" in asked and rng.random() < 0.3:
            asked.insert(rng.randrange(len(asked) + 1), "poisson")
        more = rng.choices([0, 1, 2], [4, 4, 2])[0] if asked else rng.choice([1, 2, 2, 3])
        for _ in range(more if len(asked) < 3 else 0):
            step = rng.choices(list(kinds), list(kinds.values()))[0]
            asked.insert(rng.randrange(len(asked) + 1), step)
        return asked

    def _chain(self, place: _Place, steps: Iterable[str]) -> _Place:
        for step in steps:
            place = self._derive(place, step)
        return place

    def _derive(self, parent: _Place, step: str) -> _Place:
        rng = self.rng
        crowded = parent.crowded + (step.split()[-1] in CROWDED)
        if crowded * self.distance > (1 if self.graph else 2):
            raise Stuck
        name = f"d{len(self.datasets)}"
        body: dict[str, Any] = {"from": parent.reference}
        lost: dict[str, Any] = {"size": None, "crowded": crowded}
        if step.startswith("by "):
            return self._partition(parent, name, step[3:])
        if step == "poisson":
            how: Any = {"kind": "sample", "poisson": rng.choice(RATES)}
        elif step == "without replacement":
            if parent.size is None:
                raise Stuck
            size = rng.randint(1, parent.size)
            how = {"kind": "sample", "size": size, "of": parent.size}
            lost |= {"size": size}
        elif step == "row":
            keeps = [column for column in ("c", "d") if rng.random() < 0.5]
            keeps += ["user"] if parent.unit else []
            how = {"kind": "row", "keeps": keeps} if keeps else "row"
            del lost["size"]
        elif step == "flatten":
            sure = rng.random() < 0.4
            how = {"kind": "flatten", "max_rows": 2, "exact": sure}
            lost["size"] = 2 * parent.size if sure and parent.size else None
            if (lost["size"] or 0) > 4:
                raise Stuck
            if not sure and rng.random() < 0.3:
                how["drops"] = True
        elif step == "group":
            how = {"kind": "group", "by": "user" if parent.unit and rng.random() < 0.7 else "c"}
            lost |= {"ordered": False, "unit": how["by"] == "user" and parent.unit}
        elif step.endswith("limit"):
            how = {"kind": "limit", "per": rng.choice("cd"), "rows": rng.choice([1, 1, 2])}
            how["keep"] = "random" if step.startswith("random") else "first"
            lost |= {"ordered": False}
        elif step.endswith("cap"):
            if not parent.unit:
                raise Stuck
            how = {"kind": "cap", "rows": rng.choice([1, 1, 2])}
            how["keep"] = "random" if step.startswith("random") else "first"
            lost |= {"ordered": False}
        elif step == "stable":
            how = {"kind": "stable", "stability": 2}
            lost |= {"ordered": False, "unit": False}
        elif step == "value":
            how = {"kind": "value", "sensitivity": 1}
            if parent.fixed:
                how["sensitivity"] = {"bounded": 1}
            if rng.random() < 0.3:
                how["diameter"] = 2
            lost |= {"domain": "point", "ordered": False}
        elif step in ("edges", "nodes"):
            if parent.domain != "graph":
                raise Stuck
            how = step
            lost |= {"domain": "table", "size": 3 if step == "nodes" else None}
        elif step == "opaque":
            how = "opaque"
            lost |= {"ordered": False, "unit": False}
        else:
            assert step == "filter"
            how = {"kind": "filter", "drops": True} if rng.random() < 0.3 else "filter"
        if parent.domain != "table" and step not in ("edges", "nodes"):
            raise Stuck
        if "poisson" in step or "without" in step:
            once = "draws: one" in self.wanted and rng.random() < 0.8
            if once or rng.random() < 0.15:
                how["draws"] = "one"
        body["map"] = how
        self.datasets[name] = body
        return self._add(parent.below(name, **lost))

    def _partition(self, parent: _Place, name: str, by: str) -> _Place:
        rng = self.rng
        if parent.domain != "table":
            raise Stuck
        made: dict[str, Any] = {"by": by, "blocks": ["p", "q"]}
        size = None
        if by == "kinds":
            feeds = rng.choice([[["p", "q"], ["q"]], [["p"], ["q"]], [["p", "q"], []]])
            made = {"by": by, "kinds": dict(zip(("k", "other"), feeds, strict=True))}
        elif by == "key":
            made["column"] = rng.choice("cd")
        elif by == "membership":
            made["max_blocks"] = rng.choice([1, 2])
        elif by == "position":
            if not parent.ordered:
                raise Stuck
            size = parent.size // 2 if parent.size and parent.size % 2 == 0 else None
        if by in ("value", "membership") and rng.random() < 0.25:
            made["drops"] = True
        self.datasets[name] = {"from": parent.reference, "partition": made}
        for block in "pq":
            self._add(parent.below(f"{name}.{block}", size=size))
        every = rng.random() < 0.35 and parent.copies == 1
        if every:
            return parent.below(f"{name}.*", size=size, copies=2)
        return self.places[-rng.choice([1, 2])]

    # Mechanisms.

    def _mechanism(self, place: _Place, number: int) -> dict[str, Any]:
        rng, wanted = self.rng, self.wanted
        body: dict[str, Any] = {"name": f"m{number}", "reads": place.reference}
        said = [self._statement(place, number)]
        if ("several statements" in wanted and not number) or rng.random() < 0.2:
            said.append(self._statement(place, 1))
        if len(said) == 1:
            body.update(said[0])
        else:
            body["guarantees"] = said
        return body

    def _statement(self, place: _Place, number: int) -> dict[str, Any]:
        rng, wanted = self.rng, self.wanted
        above = [each for each in place.above if not each.reference.endswith("*")]
        where = place
        high = {"above fixed maps", "above random maps"} & wanted
        if above and rng.random() < (0.7 if high and not number else 0.4):
            where = rng.choice([*above, above[-1]])
        notion = self.notions[number % len(self.notions)]
        made: dict[str, Any] = {"notion": notion}
        if where is not place:
            made["stated_on"] = where.reference
        relation = self._said_of(where)
        made["relation"] = relation
        value = rng.choice(["0.1", "0.5", "1", "2"])
        if relation == "euclidean":
            made["notion"] = notion = "pure"
        made[{"zcdp": "rho", "gdp": "mu"}.get(notion, "epsilon")] = value
        if notion == "approx":
            made["delta"] = rng.choice(["0.1", "0.01", "1e-3"])
        return made

    def _said_of(self, where: _Place) -> str:
        """A relation that means something on a dataset."""
        rng = self.rng
        if where.domain == "point":
            return "euclidean"
        if self.relation == "free-lunch":
            return "free-lunch"
        root = not where.above
        if root and self.relation == "declared" and rng.random() < 0.75:
            return "house"
        if where.domain == "graph":
            mine = self.within if self.relation == "declared" else self.relation
            return rng.choice([mine, mine, *GRAPHS])
        if where.fixed:
            return "bounded"
        if self.relation == "user" and where.unit and rng.random() < 0.7:
            return "user"
        return rng.choices(["unbounded", "bounded"], [4, 2 if self.relation != "user" else 0])[0]


def copies(spec: dict[str, Any]) -> int:
    """How many copies of mechanisms there are."""
    total = 0
    for mechanism in spec["mechanisms"]:
        path, name = 1, str(mechanism["reads"])
        while True:
            base, _, block = name.partition(".")
            body = spec["datasets"][base]
            path *= 2 if block == "*" else 1
            if "from" not in body:
                break
            name = str(body["from"])
        total += path * int(mechanism.get("count", 1))
    return total


def draft(seed: int | str, wanted: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The spec of one seed, with all features that are wanted; none if none was found.

    With the feature `total` these are two specs of one population.
    """
    asked = frozenset(wanted)
    rng = Random(f"{seed} {sorted(asked)}")
    for _ in range(60):
        try:
            made = _Draft(rng, asked)
            specs = [made.spec()]
            if "total" in asked:
                specs.append(_second(rng, made, specs[0]))
        except Stuck:
            continue
        if sum(map(copies, specs)) <= MOST_COPIES and used(specs) >= asked:
            return specs
    return []


def _second(rng: Random, first: _Draft, spec: dict[str, Any]) -> dict[str, Any]:
    """Another spec about the same people: other mechanisms on the same datasets, or other ones."""
    if rng.random() < 0.6:
        other = {**spec, **first.released()}
        if rng.random() < 0.2 and "roots" in other:
            del other["roots"]
    else:
        other = _Draft(rng, first.wanted).spec()
        for key in ("protect", "relations"):
            other.pop(key, None)
            if key in spec:
                other[key] = spec[key]
    for each in (spec, other):
        each["population"] = "people"
    return other
