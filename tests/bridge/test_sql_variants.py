# ruff: noqa: E501  (queries stand on one line)
"""SQL of kinds that the cases of the contract do not show, each with the bound that was worked out
by hand; what a count counts; and work that must not double with each query."""

from __future__ import annotations

from fractions import Fraction

import pytest
from command import run

import dpcompose
from dpcompose.bridge.values import Unconvertible

pytest.importorskip("sqlglot")

from dpcompose.bridge.sql_answers import Answers
from dpcompose.bridge.sql_project import RefusedSql, WrittenSpec, read_project, write

CLAUSE = (
    "select with differential_privacy options(epsilon = {}, delta = {}, privacy_unit_column = p{}) "
)
NOISE = "q: {{groups: 5, noise: {{n: {{mechanism: laplace, scale: {}}}}}}}\n"
POLICY = '{\\"differential_privacy_policy\\": {\\"privacy_unit_column\\": \\"p\\", \\"epsilon_budget\\": 2, \\"delta_budget\\": 1e-6, \\"max_groups_contributed\\": 1}}'
HOOKS = f"""name: shop
models:
  shop:
    marts:
      +materialized: view
      +post-hook:
        - "grant select on {{{{ this }}}} to analysts"
        - "alter view {{{{ this }}}} set options (privacy_policy = '{POLICY}')"
"""
INCREMENTAL = (
    "{{ config(materialized='incremental', partition_by={'field': 'day'}, meta={'dpcompose': {'releases': 30, 'groups': 400, 'max_groups': 2}}) }}\n"
    + CLAUSE.format("0.1", "1e-8", ", max_groups_contributed = null")
    + "day, count(*) n from {{ source('a', 't') }} {% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %} group by day"
)


def imported(sql: str | dict[str, str], answers: str = "", dialect: str = "") -> WrittenSpec:
    """What `import` writes of files, whose dialect and answers are given."""
    told = Answers()
    if answers:
        told.add_file(answers.encode(), "a.yaml")
    files = {"q.sql": sql} if isinstance(sql, str) else sql
    return write(read_project(files, None, dialect, told))


#: The dialect, the SQL, the answers, and ε, δ or the words of a refusal.
VARIANTS: list[tuple[str, str | dict[str, str], str, tuple[str, str] | str]] = [
    # 2 sessions times 3 orders of a user: 6 rows, scale 10.
    ("bigquery", "with s as (select * from app.sessions qualify row_number() over (partition by user_id order by rand()) <= 2),\n"
     "o as (select user_id, country from (select *, row_number() over (partition by user_id order by at) as rn from shop.orders) where rn <= 3)\n"
     "select country, count(*) as n from s join o using (user_id) group by country", "unit: user_id\n" + NOISE.format(10), ("3/5", "0")),
    # 1 + 4 rows of at most 50.
    ("snowflake", "select sum(least(greatest(amount, 0), 50)) as n from (select \"USER_ID\" as user_id, amount from web qualify row_number() over (partition by user_id order by at) = 1\n"
     "union all select user_id, amount from app qualify row_number() over (partition by \"USER_ID\" order by at) <= 4)", "unit: user_id\n" + NOISE.format(500), ("1/2", "0")),
    # μ² = (3/12)² + (3 · 30/90)².
    ("presto", "with c as (select *, row_number() over (partition by person order by rand()) rn from visits)\n"
     "select noisy_count_if_gaussian(ok, 12), noisy_sum_gaussian(x, 90, -10, 30) from c where rn between 1 and 3", "unit: person\nq: {never_empty: true}\n", ("1.030776406404415", "0")),
    ("postgres", "select count(*) filter (where city <> '-- (select 1 from x) /*') as n -- union all select\n"
     "from (select distinct on (p) * from visits /* limit 3 */ order by p, at desc) v", "unit: p\n" + NOISE.format(4), ("1/4", "0")),
    ("postgres", "select count(*) n from (select p, sum(x) over (partition by p order by at) as s from t) where s > 3", "unit: p\nt: {max_rows_per_unit: 4}\n" + NOISE.format(8), ("1/2", "0")),
    ("bigquery", CLAUSE.format(1, "1e-6", "") + "count(*) n from (select p from web union all select p from app)", "", ("1", "1e-6")),
    ("bigquery", CLAUSE.format(1, "1e-6", "") + "count(*) n from (select p from web union all select uid as p from app)", "", "the privacy unit is `uid` here and `p` at q.sql:1"),
    ("", "select region, count(*) n from t left join shops s on t.shop = s.id and s.open group by region", "unit: p\nt: {max_rows_per_unit: 4}\nshops: {public: true, unique: [id]}\n" + NOISE.format(4), ("1", "0")),
    ("bigquery", {"dbt_project.yml": HOOKS, "models/marts/m.sql": "select p, k from {{ source('raw', 't') }}"}, "m: {releases: 3}", ("6", "3e-6")),
    ("bigquery", {"dbt_project.yml": "name: p\n", "models/i.sql": INCREMENTAL}, "", ("6", "6e-7")),
    ("", "select count(*) n from ((select p from t union all select p from u limit 3) union all select p from t)", "unit: p", "LIMIT"),
    ("duckdb", "select count(*) n from t using sample 3 rows", "unit: p", "TABLESAMPLE draws blocks"),
    ("duckdb", "select count(*) n from (select p, k from t union all by name select k as p, p as k from t) where p in (select p from u)", "unit: p", "UNION BY NAME"),
    ("postgres", "select count(*) n from (select sum(x) over w as s from t window w as (partition by k))", "unit: p", "WINDOWS"),
    ("bigquery", {"dbt_project.yml": "name: p\n", "models/a.sql": "select * from {{ ref('pack', 'b') }}"}, "", "there is no model `b` here; those of packages are not read"),
    ("bigquery", {"dbt_project.yml": "name: p\n", "models/a.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('b') }}", "models/b.sql": "select * from {{ ref('a') }}"}, "", "models read each other in a circle: a, b, a"),
    ("bigquery", "create view d.v as " + CLAUSE.format(1, "1e-6", "") + "count(*) n from t;\nselect * from d.v;\nselect * from d.v", "v: {releases: 1}", "the view v is read 2 times at least, by q, query 2"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "answers", "due"), VARIANTS)
def test_a_variant(dialect: str, sql: str, answers: str, due: tuple[str, str] | str) -> None:
    if isinstance(due, str):
        with pytest.raises((RefusedSql, Unconvertible)) as error:
            imported(sql, answers, dialect)
        assert due in str(error.value)
        return
    written = imported(sql, answers, dialect)
    assert not written.questions
    bound = dpcompose.analyze(written.text).bound
    assert bound is not None and (bound.delta or 0) == Fraction(due[1])
    assert abs(bound.value - Fraction(due[0])) < 1e-12


def test_null_for_any_bound_is_a_claim_for_groups() -> None:
    """GoogleSQL: NULL disables bounding across groups; `kappa` is the older name of the option."""
    for word in ("kappa", "max_groups_contributed", "max_rows_contributed"):
        sql = CLAUSE.format(1, "1e-6", f", {word} = null") + "k, count(*) n from t group by k"
        written = imported(sql, "q: {groups: 9, max_groups: 3}", "bigquery")
        bound = dpcompose.analyze(written.text).bound
        assert bound is not None and bound.value == 3


def test_all_that_is_refused_in_a_statement() -> None:
    sql = "select avg(x) a,\nmin(x) b,\nsum(x) / count(*) c from t"
    with pytest.raises(RefusedSql) as error:
        imported(sql, "unit: p")
    assert [each.where for each in error.value.refusals] == ["q.sql:1", "q.sql:2", "q.sql:3"]
    sql = "select count(*) n from (select distinct k from t\nwhere x > (select max(x) from t)\nqualify rank() over (partition by p order by x) = 1)"
    with pytest.raises(RefusedSql) as error:
        imported(sql, "unit: p")
    assert len(error.value.refusals) == 3


def test_ties_are_an_assumption_wherever_rows_are_numbered() -> None:
    for sql in (
        "select count(*) n from (select * from t qualify row_number() over (partition by p order by x) <= 3)",
        "select count(*) n from (select * from t qualify row_number() over (partition by k order by x) <= 3)",
        "select count(*) n from (select distinct on (p) * from t order by p, x)",
    ):
        text = imported(sql, "unit: p").text
        assert " tie of the order" in text or "assumed: ties of the order" in text


def test_what_is_not_released_is_not_counted() -> None:
    sql = "select count(*) n from t"
    assert "exact and not counted" in imported(
        sql + ";" + sql, "unit: p\nq: {released: false}"
    ).notes[0]  # fmt: skip


def test_check_sees_that_a_table_became_a_view(home) -> None:  # type: ignore[no-untyped-def]
    """One run of a table and one read of a view have the same count."""
    (home / "p/models").mkdir(parents=True)
    (home / "p/dbt_project.yml").write_text("name: p\n")
    model = home / "p/models/m.sql"
    text = "{{ config(materialized='table', meta={'dpcompose': {'releases': 12}}) }}\n"
    text += CLAUSE.format(1, "1e-6", "") + "count(*) n from {{ source('a', 't') }}"
    model.write_text(text)
    assert run("import", "p", "--dialect", "bigquery", "-o", "s.yaml").exit_code == 0
    assert run("import", "p", "--dialect", "bigquery", "--check", "s.yaml").exit_code == 0
    model.write_text(text.replace("'table'", "'view'"))
    result = run("import", "p", "--dialect", "bigquery", "--check", "s.yaml")
    assert result.exit_code == 1
    assert "SQL says because counted are reads of the view m" in result.stdout
    assert "says counted are runs of the table m" in result.stdout
    spec = home / "s.yaml"
    spec.write_text(spec.read_text().replace("counted are runs of the table m", "monthly"))
    assert run("import", "p", "--dialect", "bigquery", "--check", "s.yaml").exit_code == 0


TWICE = "c{0} as (select * from c{1} a join c{1} b using (p))"
CHAINS = [
    "with c0 as (select * from t), " + ", ".join(TWICE.format(at, at - 1) for at in range(1, 40)) + " {}c39",
    "with c0 as (select p, k from t), " + ", ".join(TWICE.format(at, at - 1) for at in range(1, 40)) + " {}(select * from c39 union all select * from c39)",
    "{}(" + " union all ".join(["select p from t"] * 300) + ")",
    "".join(f"create view s.a{at} as select * from {f's.a{at - 1} x join s.b{at - 1} y using (p)' if at else 't'};\n"
            f"create view s.b{at} as select * from {f's.a{at - 1} x join s.b{at - 1} y using (p)' if at else 't'};\n" for at in range(30)) + "{}s.a29",
]  # fmt: skip


@pytest.mark.parametrize("chain", CHAINS, ids=["stars", "columns", "unions", "views"])
def test_work_does_not_double_with_each_query(chain: str) -> None:
    """2^39 paths lead from the last query to the first one."""
    written = imported(
        chain.format(CLAUSE.format(1, "1e-6", "") + "count(*) n from "), "", "bigquery"
    )
    assert "epsilon: 1" in written.text


def test_too_many_queries_in_one_with_are_refused() -> None:
    many = ", ".join(f"c{at} as (select p from t)" for at in range(501))
    with pytest.raises(RefusedSql, match="WITH has more than 500 queries"):
        imported(f"with {many} select count(*) n from c0", "unit: p")
