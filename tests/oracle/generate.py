"""Small random specs with the features that are easy to get wrong."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from .exact import exact
from .truth import effort

__all__ = ["exact", "random_spec", "random_user_spec"]

MOST_EFFORT = 60_000
BLOCKS = "pqrst"
MAPS = {"filter": 5, "row": 3, "flatten": 3, "group": 2, "limit": 2, "stable": 1}
PARTS = {"value": 6, "key": 4, "membership": 4, "kinds": 3, "position": 6}
HEAVY = ("flatten", "group", "limit", "stable")


@dataclass(frozen=True)
class _Place:
    """A dataset, or some blocks of one, that can be read or derived from."""

    reference: str
    depth: int
    ordered: bool
    fixed: bool
    columns: frozenset[str]
    above: tuple[_Place, ...] = ()
    blocks: tuple[str, ...] = ()
    named: bool = True

    def below(self, reference: str, **changes: Any) -> _Place:
        """A place derived from this one."""
        return replace(
            self,
            reference=reference,
            depth=self.depth + 1,
            above=(self, *self.above),
            **{"blocks": (), "named": True, **changes},
        )


class _Draft:
    """One spec in the making."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.notion = rng.choice(["pure", "pure", "zcdp", "gdp"])
        domain = rng.choices(["table", "ordered-table", "fixed-size-table"], [70, 20, 10])[0]
        fixed = domain == "fixed-size-table"
        self.relation = "bounded" if fixed else rng.choice(["bounded", "bounded", "unbounded"])
        self.keeps = self.relation == "bounded" and rng.random() < 0.25
        self.datasets: dict[str, Any] = {"root": {} if domain == "table" else {"domain": domain}}
        root = _Place("root", 0, domain == "ordered-table", fixed, frozenset("cd"))
        self.places = [root]
        self.heavy = 0
        self.refused: frozenset[str] = frozenset()
        self.relations = ["bounded", "unbounded"]
        self.most_steps = 2
        self.names: tuple[str, ...] = ("c", "d")

    def spec(self) -> dict[str, Any]:
        """A complete spec."""
        for _ in range(self.rng.randint(1, 4)):
            self.derive()
        protect: Any = self.relation
        distance = self.most_steps if self.rng.random() < 0.06 else 1
        if self.keeps or distance > 1:
            protect = {"relation": self.relation}
            if self.keeps:
                protect["keeps"] = ["c"]
            if distance > 1:
                protect["distance"] = distance
        mechanisms = [self.mechanism(n) for n in range(self.rng.randint(1, 4))]
        return {
            "dpcompose": 1,
            "title": "A random spec",
            "protect": protect,
            "datasets": self.datasets,
            "mechanisms": mechanisms,
        }

    # Datasets.

    def derive(self) -> None:
        """Add a dataset below a random place, the later ones being likelier."""
        open_places = [place for place in self.places if place.depth < 3]
        weights = [1 + 2 * n for n in range(len(open_places))]
        parent = self.rng.choices(open_places, weights)[0]
        name = f"d{len(self.datasets)}"
        kinds = {**MAPS, **PARTS}
        if not parent.ordered:
            del kinds["position"]
        if self.heavy:
            for kind in HEAVY:
                kinds[kind] = int(self.rng.random() < 0.1)
        if not self.keeps:
            kinds["key"] = 2
        kinds = {kind: weight for kind, weight in kinds.items() if kind not in self.refused}
        kind = self.rng.choices(list(kinds), list(kinds.values()))[0]
        self.heavy += kind in HEAVY
        body: dict[str, Any] = {"from": parent.reference}
        self.datasets[name] = body
        if kind in MAPS:
            body["map"] = self.mapped(kind, parent, name)
        else:
            body["partition"] = self.partitioned(kind, parent, name)

    def mapped(self, kind: str, parent: _Place, name: str) -> Any:
        """A map, and the place it makes."""
        rng = self.rng
        if kind == "filter":
            self.places.append(parent.below(name, fixed=False))
            return {"kind": kind, "drops": True} if rng.random() < 0.3 else kind
        if kind == "row":
            keeps = [column for column in self.names if rng.random() < 0.5]
            columns = parent.columns & set(keeps)
            self.places.append(parent.below(name, columns=columns))
            return {"kind": kind, "keeps": keeps} if keeps else kind
        none: frozenset[str] = frozenset()
        if kind == "flatten":
            exact = rng.random() < 0.4
            fixed = parent.fixed and exact
            self.places.append(parent.below(name, fixed=fixed, columns=none))
            made: dict[str, Any] = {"kind": kind, "max_rows": 2, "exact": exact}
            if not exact and rng.random() < 0.3:
                made["drops"] = True
            return made
        self.places.append(parent.below(name, ordered=False, fixed=False, columns=none))
        if kind == "group":
            return {"kind": kind, "by": rng.choice("cd")}
        if kind == "limit":
            rows = 2 if rng.random() < 0.2 else 1
            return {"kind": kind, "per": rng.choice("cd"), "rows": rows, "keep": "first"}
        return {"kind": kind, "stability": 2}

    def partitioned(self, kind: str, parent: _Place, name: str) -> dict[str, Any]:
        """A partition, and the places it makes."""
        rng = self.rng
        made: dict[str, Any] = {"by": kind}
        count = rng.choices([1, 2, 3, 4], [2, 4, 3, 1])[0]
        if kind == "kinds":
            count = rng.randint(2, 3)
            blocks = list(BLOCKS[:count])
            feeds = [rng.sample(blocks, rng.randint(1, count)) for _ in range(rng.randint(2, 3))]
            feeds[0] = sorted(set(feeds[0]) | set(blocks) - {b for fed in feeds for b in fed})
            made["kinds"] = {f"k{n}": sorted(fed) for n, fed in enumerate(feeds)}
            if rng.random() < 0.4:
                made["kinds"]["other"] = []
            names = list(dict.fromkeys(b for fed in made["kinds"].values() for b in fed))
        else:
            if kind == "key":
                made["column"] = "c" if self.keeps and rng.random() < 0.8 else rng.choice("cd")
            named = rng.random() < 0.7
            names = list(BLOCKS[:count]) if named else [str(n) for n in range(count)]
            made["blocks"] = names if named else count
            if kind == "membership":
                made["max_blocks"] = rng.randint(1, count)
            if kind != "position" and rng.random() < 0.25:
                made["drops"] = True
            self.narrow(made, count, parent)
        fixed = parent.fixed and kind == "position"
        for block in names:
            self.places.append(parent.below(f"{name}.{block}", fixed=fixed))
        named = names[0] in BLOCKS
        every = parent.below(f"{name}.*", fixed=fixed, blocks=tuple(names), named=named)
        self.places += [every] * 2
        return made

    def narrow(self, made: dict[str, Any], count: int, parent: _Place) -> None:
        """Declare that one user touches only a part of a partition."""

    # Mechanisms.

    def mechanism(self, number: int) -> dict[str, Any]:
        """One mechanism with one or two statements."""
        rng = self.rng
        weights = [1 + 2 * place.depth for place in self.places]
        place = rng.choices(self.places, weights)[0]
        body: dict[str, Any] = {"name": f"m{number}", "reads": place.reference}
        said = [self.statement(place, None)]
        if rng.random() < 0.45:
            relation = "bounded" if said[0][1] == "unbounded" else "unbounded"
            said.append(self.statement(place, relation))
        if len(said) == 1 or said[0][0] == said[1][0]:
            body.update(said[0][0])
        else:
            body["guarantees"] = [each for each, _ in said]
        if rng.random() < 0.08:
            body["count"] = 2
        return body

    def statement(self, place: _Place, relation: str | None) -> tuple[dict[str, Any], str]:
        """One statement, and its relation."""
        rng = self.rng
        where = place
        body: dict[str, Any] = {"notion": self.notion}
        ancestors = [above for above in place.above if not above.reference.endswith("*")]
        if ancestors and rng.random() < 0.5:
            where = rng.choice(ancestors)
            body["stated_on"] = where.reference
        default = relation in (None, self.relation) and rng.random() < 0.6
        if self.relation == "user" or (self.keeps and "c" not in where.columns):
            default = False
        relation = self.relation if default else relation or rng.choice(self.relations)
        if where.fixed:
            relation = "bounded"
            default = default and self.relation == "bounded"
        if not default:
            body["relation"] = relation
        parameter = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu"}[self.notion]
        if place.blocks and place.named and rng.random() < 0.6:
            body[parameter] = {block: self.number() for block in place.blocks}
        else:
            body[parameter] = self.number()
        return body, relation

    def number(self) -> Any:
        """A parameter."""
        value = self.rng.choices([0, 1, 2, "1/3", None], [2, 1, 1, 1, 20])[0]
        return self.rng.randint(1, 15) / 10 if value is None else value


class _UserDraft(_Draft):
    """A spec that protects users: a cap, or a row for each user, and only what is below it."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.relation, self.keeps, self.most_steps = "user", False, 1
        self.relations = ["unbounded"]
        self.refused = frozenset({"key", "group", "limit", "stable"})
        self.datasets = {"root": {"unit": "user_id"}}
        self.names = ("user_id",)
        place = _Place("root", 0, False, False, frozenset(self.names))
        if rng.random() < 0.25:
            self.datasets["d1"] = {"from": "root", "map": "filter"}
            place = place.below("d1")
        name = f"d{len(self.datasets)}"
        self.capped = rng.random() < 0.85
        self.datasets[name] = {
            "from": place.reference,
            "map": {"kind": "cap", "rows": rng.randint(1, 4), "keep": "first"}
            if self.capped
            else {"kind": "group", "by": "user_id"},
        }
        self.places = [replace(place.below(name), depth=0)]

    def narrow(self, made: dict[str, Any], count: int, parent: _Place) -> None:
        """Declare that one user touches only a part of a partition."""
        known = self.capped and "user_id" in parent.columns
        if known and self.rng.random() < 0.4:
            made["max_blocks_per_unit"] = self.rng.randint(1, count)
        if known and self.rng.random() < 0.4:
            made["max_rows_per_block"] = self.rng.randint(1, 2)


def random_spec(seed: int) -> dict[str, Any]:
    """The spec of one seed: always the same, and small enough to enumerate."""
    return deepcopy(_first_small(seed, _Draft))


def random_user_spec(seed: int) -> dict[str, Any]:
    """The same for specs that protect users, with statements about rows."""
    return deepcopy(_first_small(seed, _UserDraft))


@cache
def _first_small(seed: int, draft: type[_Draft]) -> dict[str, Any]:
    rng = Random(seed)
    while True:
        spec = draft(rng).spec()
        if effort(spec) <= MOST_EFFORT:
            return spec
