# ruff: noqa: E501  (queries stand on one line)
"""Random queries over random tables in DuckDB: with one person removed, no aggregate moves by more
than the spec that `import` writes allows."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from volume import seeds

import dpcompose
from dpcompose.bridge.relations import Project
from dpcompose.bridge.sql import read_files
from dpcompose.bridge.sql_answers import Answers
from dpcompose.bridge.sql_project import RefusedSql, write

duckdb: Any = pytest.importorskip("duckdb", reason="DuckDB runs the queries: pip install duckdb")

TABLES = ("web", "app", "logs")
PEOPLE = range(4)
ORDER = "id, day, kind, x"  # what ties are left are of equal rows
MOST = 4  # rows of a person in a table


def query_of(dice: random.Random) -> str:
    """A query of the supported kind, in a chain of WITH."""
    parts: list[str] = []
    columns = ["id", "person", "day", "kind", "x"]

    def base() -> str:
        return dice.choice(TABLES)

    def capped(table: str) -> str:
        by = dice.choice(["person", "person", "person", "day"])
        most = dice.randint(1, 3)
        if dice.random() < 0.5:
            return f"select * from {table} qualify row_number() over (partition by {by} order by {ORDER}) <= {most}"
        test = dice.choice([f"rn <= {most}", f"rn < {most + 1}", "rn = 1", f"{most} >= rn"])
        inner = (
            f"select *, row_number() over (partition by {by} order by {ORDER}) as rn from {table}"
        )
        more = dice.choice(["", "", " where x > 0"])
        return f"select {', '.join(columns)} from ({inner}{more}) where {test}"

    def some(table: str) -> str:
        """A query over a table with these columns, which keeps them."""
        other = base()
        way = dice.randint(0, 15)
        names = ", ".join(columns)
        if way <= 2:
            return capped(table)
        if way == 3:
            return f"select * from {table} where {dice.choice(['x > 1', 'kind = 1', 'day in (1, 2)', 'abs(hash(id)) % 2 = 0'])}"
        if way == 4:
            return f"select {', '.join('t.' + each for each in columns)} from {table} t join shops s on t.kind = s.kind"
        if way == 5:
            return f"select {', '.join('t.' + each for each in columns)} from {table} t {dice.choice(['', 'left '])}join many m on t.day = m.day"
        if way == 6:
            on = dice.choice(["t.person = o.person", "t.person = o.person and t.day = o.day"])
            return f"select t.id, t.person, o.day, t.kind, {dice.choice(['t.x', 'o.x'])} as x from {table} t {dice.choice(['', 'left ', 'inner '])}join {other} o on {on}"
        if way == 7:
            return f"select {names} from {table} union all select {names} from {other}"
        if way == 8:
            return (
                f"select * from {table} where person in (select person from {other} where kind = 1)"
            )
        if way == 9:
            return f"select min(id) as id, person, day, max(kind) as kind, sum(x) as x from {table} group by person, day"
        if way == 10:
            return f"select {names.replace('x', 'sum(x) over (partition by person) as x')} from {table}"
        if way == 12:
            side = dice.choice(["full", "right", "inner", "left"])
            shown = "coalesce(t.id, o.id) as id, person, coalesce(o.day, t.day) as day"
            return (
                f"select {shown}, t.kind, t.x from {table} t {side} join {other} o using (person)"
            )
        if way == 13:
            word = dice.choice(["except", "intersect", "union", "except all"])
            shown = "person, day, kind, x, 0 as id"
            return f"select {shown} from {table} {word} select {shown} from {other}"
        if way == 14:
            return f"select distinct 1 as id, person, day, kind, x from {table}"
        if way == 15:
            number = f"row_number() over (partition by person, day order by {ORDER}) as rn"
            inner = f"select *, {number} from {table}"
            return f"select {names} from ({inner}) where rn {dice.choice(['= 2', '<= 1', '> 1'])}"
        return f"select min(id) as id, person, max(day) as day, min(kind) as kind, sum(x) as x from {table} group by 2"

    last = base()
    for number in range(dice.randint(0, 3)):
        parts.append(f"c{number} as ({some(last)})")
        last = f"c{number}"
    aggregates = [
        "count(*) as n", "count(x) as n", "count(distinct person) as n", "count(distinct day) as n",
        "sum(least(greatest(x, -1), 3)) as n", "sum(greatest(least(x, 2), 0)) as n", "countif(x > 0) as n",
        "sum(case when kind = 1 then 2 when kind = 2 then -3 else 0 end) as n",
        "sum(least(greatest(x, 0), 2)) * 3 as n", "count(*) filter (where kind = 1) as n",
        "sum(least(greatest(x, 0), 2)) / 4 as n", "sum(if(x > 1, 1, 0)) as n",
    ]  # fmt: skip
    key = dice.choice(["", "", "kind", "day", "x % 2"])
    shown = f"{key} as k, " if key else ""
    text = f"select {shown}{dice.choice(aggregates)} from {last}"
    if dice.random() < 0.3:
        text += " where day <> 2"
    text += " group by 1" if key else ""
    return f"with {', '.join(parts)} {text}" if parts else text


def allowed(query: str) -> Fraction | None:
    """How far the aggregate may move in all groups together: the ε of noise of scale 1; None where
    there is no bound."""
    answers = Answers()
    told = (
        "unit: person\nshops: {public: true, unique: [kind]}\nmany: {public: true, max_rows: 2}\n"
    )
    told += "".join(f"{each}: {{max_rows_per_unit: {MOST}}}\n" for each in TABLES)
    told += "q: {groups: 9, noise: {n: {mechanism: laplace, scale: 1}}}\n"
    answers.add_file(told.encode(), "answers.yaml")
    project = read_files({"q.sql": query}, "duckdb", Project(answers=answers))
    project.answers.know = lambda relations: None  # type: ignore[method-assign]
    written = write(project)
    assert not written.questions
    report = dpcompose.analyze(written.text)
    assert report.status in ("ok", "no-guarantee"), written.text
    return None if report.bound is None else report.bound.value


def database(dice: random.Random) -> Any:
    """Some small tables, in which a person has a few rows: the schema `all`, and the schemas `less0`
    and so on without one person."""
    found = duckdb.connect(":memory:", config={"threads": 1})
    for schema in ("whole", *(f"less{person}" for person in PEOPLE)):
        found.execute(f"create schema {schema}; set schema = '{schema}'")
        found.execute("create table shops as select 1 as kind")
        found.execute("create table many as select unnest([1, 1, 2]) as day")
    for name in TABLES:
        rows = [
            (
                person,
                dice.randint(1, 3),
                dice.randint(1, 2),
                dice.choice(["-5", "0", "1", "2", "9", "null"]),
            )
            for person in PEOPLE
            for _ in range(dice.randint(0, MOST))
        ]
        dice.shuffle(rows)
        values = ", ".join(f"({at}, {', '.join(map(str, row))})" for at, row in enumerate(rows))
        values = values or "(0, null, null, null, null)"
        made = f"from (values {values}) t(id, person, day, kind, x) where person is not null"
        found.execute(f"create table whole.{name} as select * {made}")
        for person in PEOPLE:
            found.execute(
                f"create table less{person}.{name} as select * {made} and person <> {person}"
            )
    return found


def answer(base: Any, query: str, schema: str) -> dict[Any, Fraction]:
    """What the query gives by group in a schema."""
    base.execute(f"set schema = '{schema}'")
    rows = base.execute(query.replace("countif", "count_if")).fetchall()
    return {row[:-1]: Fraction(str(row[-1] or 0)) for row in rows}


@pytest.mark.parametrize("seed", seeds(6, range(40), quick=2))
def test_no_aggregate_moves_by_more_than_the_spec_says(seed: int) -> None:
    dice, judged, most = random.Random(seed), 0, Fraction(0)
    bases = [database(dice) for _ in range(4)]
    while judged < 30:
        query = query_of(dice)
        try:
            bound = allowed(query)
        except RefusedSql:
            continue
        if bound is None:
            continue
        judged += 1
        for base in bases:
            whole = answer(base, query, "whole")
            for person in PEOPLE:
                less = answer(base, query, f"less{person}")
                keys = whole.keys() | less.keys()
                moved = sum(
                    abs(whole.get(each, Fraction(0)) - less.get(each, Fraction(0))) for each in keys
                )
                assert moved <= bound, (query, float(moved), float(bound))
                most = max(most, moved / bound if bound else Fraction(0))
    assert most > Fraction(1, 2)  # the tables are such that bounds are nearly met
