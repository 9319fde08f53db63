"""What is known of the rows that SQL gives, of the queries of a project, and of the spec they make.

A query that looks at one row alone is a map; one that looks at several rows of one unit is a root
of its own; one that mixes units is refused. Nothing is run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy

from dpcompose.bridge.open_spec import OpenSpec, Value
from dpcompose.bridge.sql_answers import Answers
from dpcompose.bridge.values import Unconvertible
from dpcompose.spec.reading import OPEN as TODO

T = TypeVar("T")
#: A query has so many columns at most where their order matters.
MOST_COLUMNS = 10_000
#: Seconds of a processor that a project may take.
MOST_SECONDS = 60
#: The schemas by which models and sources of dbt are named in its queries.
DBT, SOURCE = "dbt", "dbt_source"
#: How readers are called that are tests.
TEST = "the test "


class Origin(NamedTuple):
    """A column of a table outside of the project."""

    table: str
    column: str


class Rank(NamedTuple):
    """The number of a row among those with the same values of some columns, as ROW_NUMBER has it.

    `by`: these columns; `on`: the dataset that was numbered; `keep`: which rows are first.
    """

    by: tuple[Column, ...]
    on: str
    keep: str


Lineage: TypeAlias = "Origin | Rank | None"


class Column(NamedTuple):
    """A column of a query by its name, and where it comes from."""

    name: str
    lineage: Lineage


class Star(NamedTuple):
    """All columns of a relation but those of some names."""

    rows: SqlRows
    less: frozenset[str]

    def find(self, name: str) -> tuple[bool, Lineage]:
        """Returns whether a column of this name is among them, and where that comes from."""
        return (False, None) if name in self.less else self.rows.find(name)


@dataclass(frozen=True)
class SqlRows:
    """Rows that a query gives. `dataset`: their name in the spec, empty where they are public.

    `open`: any name that is no other column is one of the table `open`. `most`: the rows of one
    unit, None where not known. `one_by`: sets of columns that no two rows share. `tables`: the
    private tables that it reads. `policies`: the views whose policies charge for it. `nullable`:
    whether a join may have left out its columns. `mixed`: whether rows of one unit push out those
    of another.
    """

    dataset: str = ""
    columns: tuple[Column | Star, ...] = ()
    open: str = ""
    most: int | None = None
    one_by: tuple[frozenset[str], ...] = ()
    tables: frozenset[str] = frozenset()
    nullable: bool = False
    policies: frozenset[str] = frozenset()
    mixed: bool = False
    _found: dict[str, tuple[bool, Lineage]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def private(self) -> bool:
        """Returns whether the rows are those of people."""
        return bool(self.dataset)

    @property
    def stars(self) -> list[Star]:
        """Returns the columns that are all those of a relation."""
        return [each for each in self.columns if isinstance(each, Star)]

    @cached_property
    def is_open(self) -> bool:
        """Returns whether a `*` of a table without a known schema adds columns of unknown names."""
        return bool(self.open) or any(each.rows.is_open for each in self.stars)

    def named(self, name: str) -> Lineage:
        """Returns where the column that a SELECT itself names so comes from, None without one."""
        named = (each for each in self.columns if isinstance(each, Column) and each.name == name)
        return next((each.lineage for each in named), None)

    def find(self, name: str) -> tuple[bool, Lineage]:
        """Returns whether the relation surely has a column, and where that comes from."""
        if name not in self._found:
            there, found = self._find(name)
            self._found[name] = there, None if self.nullable else found
        return self._found[name]

    def _find(self, name: str) -> tuple[bool, Lineage]:
        """Returns what `find` does, before columns that a join merged are taken out."""
        if self.open:
            return True, Origin(self.open, name)
        above: list[Star] = []  # a * before a column may have one of its name as well
        for each in self.columns:
            if isinstance(each, Star):
                above += [each] if name not in each.less else []
            elif each.name == name:
                unlike = [
                    one for one in above
                    if one.rows.is_open and one.find(name)[1] != each.lineage
                ]  # fmt: skip
                sure = isinstance(each.lineage, Rank) or not unlike
                return True, each.lineage if sure else None
        for at, star in enumerate(above):
            there, lineage = star.find(name)
            if there:
                hidden = any(one.rows.is_open for one in above[:at])
                return True, None if hidden else lineage
        return False, None

    def listed(self) -> list[Column] | None:
        """Returns all columns in their order, None where they are not known, or too many."""
        return None if self.is_open else self._listed

    @cached_property
    def _listed(self) -> list[Column] | None:
        """All columns in their order, of rows whose columns are known."""
        found: list[Column] = []
        for each in self.columns:
            within = each.rows.listed() if isinstance(each, Star) else [each]
            less = each.less if isinstance(each, Star) else ()
            if within is None or len(found) + len(within) > MOST_COLUMNS:
                return None
            found += [one for one in within if one.name not in less]
        return [Column(each.name, None) for each in found] if self.nullable else found


@dataclass(eq=False)
class SqlModel:
    """One query of a project, and how it is stored.

    `kind`: how it is stored, in dbt's words; `query` where it is run by itself. `clauses`: what was
    cut out of it, by the name of its marker column. `key`: how others refer to it. `first`: the
    line of the file on which the text of the query begins. `readers`: the names of what reads it;
    `read_by`: how often other models name it; `reads`: how often it is read at least.
    `draws_noise`: whether it holds a query with a clause, its own or that of an ephemeral model
    that it reads. `own_output`: whether it reads what it wrote before.
    """

    name: str
    query: exp.Query | None
    file: str
    kind: str = "query"
    dialect: str = ""
    clauses: Mapping[str, Any] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    schema: str = ""
    first: int = 1
    released: bool | None = None
    public: bool = False
    dbt: bool = False
    tests: Mapping[str, list[str]] = field(default_factory=dict)
    error: Unconvertible | None = None
    inserted: bool = False
    readers: list[str] = field(default_factory=list)
    read_by: Counter[SqlModel] = field(default_factory=Counter)
    reads: int = 0
    draws_noise: bool = False
    own_output: bool = False

    def where(self, node: exp.Expr | None = None) -> str:
        """Returns the file and the line of a part of the query."""
        lines = [] if node is None else [
            int(each.meta["line"]) for each in node.walk() if "line" in each.meta
        ]  # fmt: skip
        return f"{self.file}:{self.first + min(lines, default=1) - 1}"

    def clause_of(self, query: exp.Select) -> Any:
        """Returns what was cut out of a SELECT, None where that is nothing."""
        return self.clauses.get(query.expressions[0].name) if query.expressions else None

    def tables(self) -> list[exp.Table]:
        """Returns the tables that the query names, in any place."""
        return [] if self.query is None else list(self.query.find_all(exp.Table))


@dataclass
class Project:
    """All that a format finds in its files.

    `budgets`: limits of engines that document neither notion nor δ; `notes`: what was not read.
    """

    models: list[SqlModel] = field(default_factory=list)
    policies: list[Any] = field(default_factory=list)
    budgets: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answers: Answers = field(default_factory=Answers)
    refusals: list[Unconvertible] = field(default_factory=list)
    macros: dict[str, str] = field(default_factory=dict)
    dialect: str = ""
    _end: float = field(default_factory=lambda: time.process_time() + MOST_SECONDS)

    def within_time(self) -> None:
        """Raises TimeoutError where the project has taken more than `MOST_SECONDS`."""
        if time.process_time() > self._end:
            raise TimeoutError(f"the project takes more than {MOST_SECONDS} seconds")


class Draw(NamedTuple):
    """A mechanism of a query: its name, its keys, its comment, its place and its questions."""

    name: str
    values: Mapping[str, Value]
    says: str
    where: str
    asks: Mapping[str, str]


def parts_of(table: exp.Table) -> tuple[str, ...]:
    """Returns the parts of a table's name."""
    return tuple(each.name for each in table.parts)


def key_of(name: exp.Identifier | str, dialect: str) -> str:
    """Returns a name as its engine compares it: in lower case, unless it tells cases apart."""
    name = exp.to_identifier(name) if isinstance(name, str) else name
    strategy, text = Dialect.get_or_raise(dialect or None).normalization_strategy, name.name
    if strategy is NormalizationStrategy.CASE_SENSITIVE:
        return text
    upper = strategy is NormalizationStrategy.UPPERCASE
    quotes_matter = upper or strategy is NormalizationStrategy.LOWERCASE
    if not (quotes_matter and name.args.get("quoted")):
        return text.lower()
    return text.lower() if upper and text.isupper() else f'"{text}"' if upper else text


@dataclass
class World:
    """All relations of a project, and the spec that is made of them.

    `policies`: the views whose policies charge for what is asked of them. `read`: what reads a
    query with its `QueryReader`; `claim`: one that an engine answers with noise, as a mechanism.
    `unit`: the column of the privacy unit, as engines compare names; `shown_unit`: as it is
    written. `draws`: the mechanisms; `drawn`: how often each is drawn by what is being read;
    `notes`: what is not counted; `people`: the tables of people by their datasets; `samples`: the
    models that draw the rows of datasets; `exact`: the notes on models whose exact aggregates are
    not counted; `seen`: the numbers of queries that were read; `origins`: the names that columns of
    queries have in tables outside of the project; `refusals`: what was refused beside what is
    raised.
    """

    spec: OpenSpec
    answers: Answers
    models: Mapping[tuple[str, ...], SqlModel]
    policies: Mapping[tuple[str, ...], Any]
    read: Callable[..., SqlRows]
    claim: Callable[..., SqlRows]
    unit: str | None = None
    shown_unit: str = TODO
    draws: list[Draw] = field(default_factory=list)
    drawn: Counter[int] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    people: dict[str, str] = field(default_factory=dict)
    samples: dict[str, SqlModel] = field(default_factory=dict)
    exact: dict[str, str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    origins: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    refusals: list[Unconvertible] = field(default_factory=list)
    _parts: dict[int, exp.Expr] = field(default_factory=dict)
    _names: dict[object, str] = field(default_factory=dict)
    _known: dict[object, tuple[SqlRows, Counter[int]] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._owners = {each.name: each for each in self.models.values()}
        self._taken: set[str] = set()
        self._by_end: dict[str, list[tuple[tuple[str, ...], SqlModel]]] = {}
        for key, model in self.models.items():
            self._by_end.setdefault(key[-1], []).append((key, model))

    def called(self, thing: object, name: str, front: str, owner: SqlModel | None = None) -> str:
        """Returns the name of a dataset: a second one of a name gets `front` in front of it, and
        so does one that has the name of a model other than `owner`."""
        if thing not in self._names:
            tries = [name, *([f"{front}__{name}"] if front else [])]
            tries += [f"{name}_{number}" for number in range(2, len(self._taken) + 3)]
            self._names[thing] = next(
                each for each in tries
                if each not in self._taken and self._owners.get(each, owner) in (owner, None)
            )  # fmt: skip
            self._taken.add(self._names[thing])
        return self._names[thing]

    def number(self, part: exp.Expr) -> int:
        """Returns a number of one part of a query alone: sqlglot's parts are equal where their text
        is, which says nothing of the tables around them."""
        self._parts[id(part)] = part  # as long as it is kept no other part has its number
        return id(part)

    def all_of(self, actions: Iterable[Callable[[], T]]) -> list[T]:
        """Returns the results of all actions. Raises Unconvertible if one of them does, after it
        has noted the refusals of all."""
        found, refused = list[T](), list[Unconvertible]()
        for each in actions:
            try:
                found.append(each())
            except Unconvertible as error:
                refused.append(error)
        if refused:
            self.refusals += refused
            raise refused[0]
        return found

    def draw(self, found: Draw) -> None:
        """Notes a mechanism that the query which is being read draws."""
        self.drawn[len(self.draws)] += 1
        self.draws.append(found)

    def is_unit(self, lineage: Lineage) -> bool:
        """Returns whether a column is the privacy unit."""
        if not isinstance(lineage, Origin):
            return False
        return lineage.table in self.people and lineage.column == self.unit

    def shows_unit(self, rows: SqlRows) -> bool:
        """Returns whether the unit is among the columns of a query."""
        return any(
            self.is_unit(
                each.lineage if isinstance(each, Column) else each.find(self.unit or "")[1]
            )
            for each in rows.columns
        )

    def remembered(
        self, thing: object, make: Callable[[], SqlRows], again: Callable[[], SqlRows]
    ) -> SqlRows:
        """Returns a relation that is made once; its draws are counted each time that it is read.
        `again`: called where it reads itself."""
        if thing not in self._known:
            before = self.drawn.copy()
            self._known[thing] = None
            try:
                made = make()
            except Unconvertible:
                del self._known[thing]
                raise
            self._known[thing] = (made, self.drawn - before)
            return made
        known = self._known[thing]
        if known is None:
            return again()
        self.drawn = self.drawn + known[1]
        return known[0]

    def draws_of(self, model: SqlModel) -> Counter[int]:
        """Returns how often each mechanism is drawn when a model, which was read, is run."""
        known = self._known.get(model)
        return Counter() if known is None else known[1]

    def model_of(self, parts: tuple[str, ...]) -> SqlModel | None:
        """Returns the model that a name means: all of its name, or a qualified end of it."""
        if parts in self.models:
            return self.models[parts]
        fits = [
            each for key, each in self._by_end.get(parts[-1], ())
            if min(len(key), len(parts)) > 1
            and (key[-len(parts) :] == parts or parts[-len(key) :] == key)
        ]  # fmt: skip
        return fits[0] if len(fits) == 1 else None

    def charged(self, found: SqlRows, parts: tuple[str, ...]) -> SqlRows:
        """Returns a relation, which the policy of its view charges for if there is one."""
        if parts not in self.policies:
            return found
        view = frozenset({".".join(parts)})
        return replace(found, tables=view, policies=view)
