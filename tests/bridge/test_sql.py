# ruff: noqa: E501  (queries stand on one line)
"""SQL as specs: the cases of the contract, what is asked and what is refused, and `--check`."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command import run

import dpcompose

pytest.importorskip("sqlglot")
pytestmark = pytest.mark.usefixtures("home")
CASES = Path(__file__).parent / "sql_cases"

#: ε and δ of each case with its answers.
BOUNDS = {
    "01": ("1/2", "1e-6"), "02": ("6", "12e-6"), "03": ("2", "1e-5"), "04": ("2", "4e-6"),
    "05": ("10", "2e-5"), "08": ("4/5", "11e-7"), "09": ("1", "0"), "10": ("1/2", "0"),
    "11": ("1/2", "0"), "13": ("1/2", "0"), "14": ("3", "3e-7"), "16": ("1", "1e-6"),
}  # fmt: skip
REFUSED = {
    "06": "06.sql:1: epsilon = 1e20: no noise is added",
    "07": "07.sql:1: AGGREGATION_THRESHOLD gives exact answers",
    "12": "12.sql:2: a join of private rows that is not on `person`",
}


@pytest.fixture
def cases(home: Path) -> Path:
    shutil.copytree(CASES, home, dirs_exist_ok=True)
    return home


def call(name: str) -> list[str]:
    path = name if Path(name).is_dir() else f"{name}.sql"
    answers = f"{name}.answers.yaml"
    return ["import", path, *(["--answers", answers] if Path(answers).exists() else [])]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_case_of_the_contract(cases: Path, name: str) -> None:
    result = run(*call(name), "-o", "x.dp.yaml")
    assert (result.exit_code, result.output) == (0, "")
    checked = run(*call(name), "--check", f"{name}.spec.yaml")
    assert (checked.exit_code, checked.stdout) == (0, f"{name}.spec.yaml is in step with SQL\n")
    for file in ("x.dp.yaml", f"{name}.spec.yaml"):
        bound = dpcompose.analyze_file(file).bound
        assert bound is not None
        found = (bound.value, bound.delta or Fraction(0))
        assert found == tuple(map(Fraction, BOUNDS[name]))
    lines = Path("x.dp.yaml").read_text(encoding="utf-8").splitlines()
    assert all("# from " in line for line in lines if line.startswith(("- ", "  ")))


@pytest.mark.parametrize("name", REFUSED)
def test_a_case_that_is_refused(cases: Path, name: str) -> None:
    result = run(*call(name), "-o", "x.dp.yaml")
    assert result.exit_code == 3 and f"dpcompose: {REFUSED[name]}" in result.stderr
    assert not Path("x.dp.yaml").exists()


def test_cases_without_a_spec_of_their_own(cases: Path) -> None:
    assert run(*call("15"), "-o", "15.dp.yaml").exit_code == 0
    assert run("analyze", "15.dp.yaml", "--quiet").stdout == "mu=0.447213595499958\n"
    at = run("analyze", "15.dp.yaml", "--quiet", "--delta", "1e-6").stdout
    assert at.startswith("epsilon=1.9945")
    assert run(*call("17"), "-o", "17.dp.yaml").exit_code == 0
    assert run("analyze", "17.dp.yaml").exit_code == 1
    result = run(*call("18"), "-o", "18.dp.yaml")
    assert result.exit_code == 1 and result.stderr.count("open: ") == 3
    assert "epsilon: 50" in Path("18.dp.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["02", "04", "09", "10", "11", "13", "14"])
def test_without_answers_it_asks(cases: Path, name: str) -> None:
    unit = {"09": "customer_id", "10": "customer_id", "11": "person", "13": "person"}.get(name)
    result = run(*call(name)[:2], *([] if unit is None else ["--unit", unit]))
    if name == "09":  # a table without the answer `public` is one of people
        assert result.exit_code == 3 and "09.sql:5: a join of private rows" in result.stderr
        return
    assert result.exit_code == 1
    open_lines = [line for line in result.stdout.splitlines() if ": TODO  # TODO " in line]
    assert open_lines and all(line.endswith("?") or "? " in line for line in open_lines)
    assert result.stderr.count("dpcompose: open: ") == len(open_lines)
    refused = run("analyze", "-", stdin=result.stdout)
    assert refused.exit_code == 3
    assert "`TODO` is an open question of `dpcompose import`" in refused.output


def test_a_budget_is_exceeded_by_a_second_reader(cases: Path) -> None:
    Path("both").mkdir()
    shutil.copy("05.sql", "both/05.sql")
    Path("both/more.sql").write_text(
        "select with differential_privacy options (epsilon = 1, delta = 1e-6, "
        "max_groups_contributed = 1, privacy_unit_column = pupil) grade, count(*) n "
        "from school.exams group by grade\n"
    )
    assert run("import", "both", "-o", "x.dp.yaml").exit_code == 0
    assert run("analyze", "x.dp.yaml", "--quiet").stdout == "epsilon=11 delta=2.1e-5\n"
    assert run("check", "x.dp.yaml").exit_code == 1


DP = "select with differential_privacy options (epsilon = 1, delta = 1e-6, max_groups_contributed = 1, privacy_unit_column = p) "
#: A clause of which all columns say of which table they are.
DP_OF_T = DP.replace("= p)", "= t.p)")
#: A count by city with noise, as one item of FROM.
NOISY = f"({DP_OF_T} t.city, count(*) n from t group by t.city) d"
#: The largest salary of a city, exactly.
LARGEST = "(select t.salary from t where t.city = {}.city)"
CITIES = "(values ('x')) as c(city)"
#: SQL, and what is said of it where it is refused.
SAYS: list[tuple[str, str]] = [
    ("select avg(x) as m from t", "AVG: release SUM and COUNT"),
    ("select min(x) as m from t", "is not bounded by one row"),
    ("select k, count(*) as n from t group by k having count(*) > 5", "which groups pass is exact"),
    ("select k, count(*) as n from t group by k order by 2 desc", "the order of the rows is exact"),
    ("select k, count(*) as n from t group by k limit 3", "LIMIT"),
    ("select round(sum(x)) as s from t", "ROUND around an aggregate"),
    ("select sum(x) / count(*) as s from t", "a ratio or a product of aggregates"),
    ("select p, count(*) as n from t group by p", "one group for each unit"),
    ("select * from t", "rows of people are shown as they are"),
    ("select count(*) as n from (select distinct k from t)", "DISTINCT without the unit"),
    ("select count(*) as n from (select k, sum(x) as s from t group by k)", "an aggregate over several units"),
    ("select count(*) as n from (select *, rank() over (partition by p order by x) as r from t)", "RANK has ties"),
    ("select count(*) as n from (select * from t limit 10)", "LIMIT"),
    ("select count(*) as n from t where x > (select avg(x) from t)", "depends on other units"),
    ("select count(*) as n from t where p not in (select p from u)", "a subquery over private rows"),
    ("select count(*) as n from t where exists (select 1 from u where u.p = t.p)", "a subquery over private rows"),
    ("select count(*) as n from t a join t b on a.k = b.k", "a join of private rows that is not on `p`"),
    ("select count(*) as n from t a left join u b on a.p = b.p join w on w.p = b.p", "a join of private rows"),
    ("select count(*) as n from t cross join u", "a join of private rows"),
    ("select count(*) as n from t tablesample (10 percent)", "TABLESAMPLE draws blocks"),
    ("select count(*) as n from (select sum(x) over (partition by k) as s from t)", "a window over several units"),
    ("with recursive r as (select * from t union all select * from r) select count(*) as n from r", "a recursive WITH"),
    ("select count(*) as n from (select k from t except select k from u)", "EXCEPT without the unit"),
    ("select (select count(*) from t) as n", "depends on other units"),
    ("update t set x = 1", "UPDATE is not read here"),
    ("select approx_distinct(k) as n from t", "is not bounded by one row"),
    ("select count(*) filter (where x > (select max(x) from u)) as n from t", "depends on other units"),
    (DP + "count(distinct k) n from t", "COUNT(DISTINCT …) does not run"),
    (DP.replace("1e-6", "1") + "count(*) n from t", "delta = 1 promises nothing"),
    (DP.replace("epsilon = 1, ", "") + "count(*) n from t", "the clause has no epsilon"),
    (DP.replace(" = p)", " = p + 1)") + "count(*) n from t", "the privacy unit is computed"),
    (DP + "(select max(x) from t) as m, count(*) n from t", "depends on other units"),
    (DP + "count(*) n from t a join t b on a.k = b.k", "a join of private rows"),
    (DP.replace("epsilon = 1", "epsilom = 1") + "count(*) n from t", "the option `epsilom` is not known"),
    ("select noisy_sum_gaussian(x, 2.0) as n from t", "has no bound of one row"),
    ("select k, noisy_count_gaussian(x, 2.0) as n from t group by k", "which groups are there is exact"),
    ("select noisy_count_gaussian(x, 2.0) as n from t", "it is NULL, exactly, where there are no rows"),
    # A query in any place of a query is read: its rows may be those of people.
    ("select count(*) n from (select * from t qualify row_number() over (partition by p order by (select u.d from t u where u.city = t.city)) <= 3)", "a subquery over private rows"),
    ("select count(*) n from (select * from t qualify row_number() over (partition by p, (select max(u.d) from t u where u.city = t.city)) <= 3)", "depends on other units"),
    ("select count(*) n from (select * from t order by (select u.d from t u where u.city = t.city))", "a subquery over private rows"),
    ("select k, count(*) n from t group by k order by (select u.x from t u)", "a subquery over private rows"),
    ("select * from (select k, count(*) n from t group by k) offset 1", "which rows are shown is exact"),
    (f"select * from {CITIES} order by {LARGEST.format('c')}", "a subquery over private rows"),
    (f"select * from {CITIES} qualify row_number() over (order by {LARGEST.format('c')}) = 1", "a subquery over private rows"),
    (f"select * from {CITIES} limit (select max(t.x) from t)", "depends on other units"),
    (f"select * from {CITIES} union all select * from {CITIES} order by (select t.x from t)", "a subquery over private rows"),
    (f"(select * from {CITIES}) order by (select t.x from t)", "a subquery over private rows"),
    ("select sum(least(greatest(x, 0), 1e999999999)) n from t", "the exponent of `1`e999999999 is beyond 1000"),
    (f"select sum(least(greatest(x, 0), {'9' * 5000})) n from t", "is longer than 1000 characters"),
    ('select count(*) n from "a\x07b"', "has characters that control a terminal"),
    ("call f(1)", "CALL is not read here"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "says"), SAYS, ids=[sql[:60] for sql, _ in SAYS])
def test_what_has_no_word_is_refused_by_name(sql: str, says: str) -> None:
    Path("q.sql").write_text(f"\n{sql}\n", encoding="utf-8")
    result = run("import", "q.sql", *([] if sql.startswith(DP[:20]) else ["--unit", "p"]))
    assert result.exit_code == 3, result.output
    assert says in result.stderr and result.stderr.startswith("dpcompose: q.sql:2: ")
    assert result.stdout == ""


#: The end of a query on rows of `t` with a unit p, and the datasets and sensitivities that it gives.
GIVES: list[tuple[str, str]] = [
    ("select count(*) as n from t where rand() < 0.1", "map: {kind: sample, poisson: 0.1}"),
    ("select count(*) as n from t where rand() < k", "map: filter"),
    ("select count(*) as n from t where rand(7) < 0.1", "map: filter"),
    ("select count(*) as n from (select distinct p, k from t)", "max_rows_per_unit: 4"),
    ("select count(*) as n from (select distinct p from t)", "map: {kind: group, by: p}"),
    ("select count(*) as n from t a, u b where a.p = b.p and a.x > 1", "max_rows_per_unit: 20"),
    ("select count(*) as n from t full join u using (p)", "max_rows_per_unit: 20"),
    ("select count(*) as n from (select p from t union all select p from u union all select p from t)", "max_rows_per_unit: 13"),
    ("select count(*) as n from (select p, k from t intersect select p, k from u)", "max_rows_per_unit: 4"),
    ("select sum(least(greatest(x, -7), 3)) as n from t", "sensitivity: 7"),
    ("select sum(greatest(least(x, 3), 0)) * -2 as n from t", "sensitivity: 6"),
    ("select sum(case when x > 1 then 5 when x > 0 then -9 end) as n from t", "sensitivity: 9"),
    ("select sum(x) / 3 as n from t", "sensitivity: 4"),
    ("select sum(x) / 3.0 as n from t", "sensitivity: 10/3"),
    ('select count(*) as n from "t" where "p" in (select "p" from "u")', "q_in: {unit: p, max_rows_per_unit: 4}"),
    ("select count(distinct p) as n from t", "map: {kind: cap, rows: 1, keep: first}"),
    ("select count(*) as n from (select *, row_number() over (partition by p order by x) as r from t where k > 1) where r < 3 and x > 1", "map: {kind: cap, rows: 2, keep: first}"),
    ("select count(*) as n from t, lateral flatten(x) f", "") ,
]  # fmt: skip


@pytest.mark.parametrize(("sql", "says"), GIVES[:-1], ids=[sql[:60] for sql, _ in GIVES[:-1]])
def test_what_sql_becomes(sql: str, says: str) -> None:
    Path("a.yaml").write_text(
        "unit: p\nt: {max_rows_per_unit: 4}\nu: {max_rows_per_unit: 5}\n"
        "q: {noise: {n: {mechanism: laplace, scale: 1}}, bounds: {x: [-10, 4]}}\n".replace(
            "u: {max_rows_per_unit: 5}\n",
            "u: {max_rows_per_unit: 5}\n" if " u" in sql or '"u"' in sql else "",
        )
    )
    Path("q.sql").write_text(sql, encoding="utf-8")
    result = run("import", "q.sql", "--answers", "a.yaml", "-o", "x.dp.yaml")
    assert (result.exit_code, result.output) == (0, "")
    assert says in Path("x.dp.yaml").read_text(encoding="utf-8")
    assert dpcompose.analyze_file("x.dp.yaml").bound is not None


#: Queries around one with noise, on a public table of cities; what an engine runs again for each
#: row draws fresh noise each time, and what it sorts by is not noise.
AROUND: list[tuple[str, str]] = [
    (f"select c.city, ({DP_OF_T} count(*) n from t where t.city = c.city) from cities c", "fresh noise for each row: `c.city`"),
    (f"select c.city, ({DP_OF_T} count(*) n from t where t.city = town) from cities c", "fresh noise for each row: `town`"),
    (f"select c.city from cities c where c.x < ({DP_OF_T} count(*) n from t where t.city = c.city)", "fresh noise for each row: `c.city`"),
    (f"select c.city, array({DP_OF_T} count(*) n from t where t.city = c.city) from cities c", "fresh noise for each row: `c.city`"),
    (f"select c.city from cities c where exists ({DP_OF_T} count(*) n from t where t.city = c.city)", "fresh noise for each row: `c.city`"),
    (f"select c.city from cities c where c.n in ({DP_OF_T} count(*) n from t where t.city = c.city)", "fresh noise for each row: `c.city`"),
    (f"select c.city from cities c order by ({DP_OF_T} count(*) n from t where t.city = c.city)", "fresh noise for each row: `c.city`"),
    (f"select c.city, (select i.n from ({DP_OF_T} count(*) n from t where t.city = c.city) i, cities c) from cities c", "fresh noise for each row: `c.city`"),
    (f"with d as (select * from {NOISY}) select c.city, (select d.n from d where d.city = c.city) from cities c", "fresh noise for each row: `c.city`"),
    (f"select * from {NOISY} order by {LARGEST.format('d')} limit 1", "a subquery over private rows"),
    (f"select * from {NOISY} qualify row_number() over (order by {LARGEST.format('d')}) = 1", "a subquery over private rows"),
    (f"{DP_OF_T} t.city, count(*) n from t group by t.city order by n limit (select max(t.x) from t)", "depends on other units"),
    (f"select c.city, ({DP_OF_T} count(*) n from t where t.city = 'x') from cities c", ""),
    (f"select c.city, d.n from cities c join {NOISY} on c.city = d.city order by d.n", ""),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "says"), AROUND, ids=[str(at) for at in range(len(AROUND))])
def test_queries_around_one_with_noise(home: Path, sql: str, says: str) -> None:
    Path("a.yaml").write_text("cities: {public: true}\n")
    Path("q.sql").write_text(f"\n{sql}\n", encoding="utf-8")
    result = run("import", "q.sql", *(["--answers", "a.yaml"] if "cities" in sql else []))
    assert result.exit_code == (3 if says else 0), result.output
    assert says in result.stderr and (not says or result.stderr.startswith("dpcompose: q.sql:2: "))


def test_one_bound_of_two_is_no_bound_of_groups(home: Path) -> None:
    """With `max_rows_contributed = NULL` the claim is for the rows of a unit in one group."""
    clause = DP.replace(
        "max_groups_contributed = 1", "max_rows_contributed = null, max_groups_contributed = 2"
    )
    Path("q.sql").write_text(f"{clause} k, count(*) n from t group by k")
    result = run("import", "q.sql")
    assert result.exit_code == 1 and "reads: q_groups.*" in result.stdout
    assert "max_blocks_per_unit: TODO" in result.stdout


def test_all_refusals_of_a_script(home: Path) -> None:
    Path("q.sql").write_text("call f(1);\nupdate t set x = 1;\nselect avg(x) as m from t")
    lines = run("import", "q.sql", "--unit", "p").stderr.splitlines()
    assert [line[:19] for line in lines if "q.sql" in line] == [
        f"dpcompose: q.sql:{at}:" for at in (1, 2, 3)
    ]
    assert not any("sqlglot" in line or "fallback" in line.lower() for line in lines)


# --- files ---------------------------------------------------------------------------------------


def test_line_ends_and_a_byte_order_mark_are_read() -> None:
    text = (CASES / "01.sql").read_text(encoding="utf-8")
    Path("01.sql").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    result = run("import", "01.sql")
    assert result.exit_code == 0 and "# from 01.sql:4" in result.stdout
    shutil.copy(CASES / "01.spec.yaml", "s.yaml")
    assert run("import", "01.sql", "--check", "s.yaml").exit_code == 0


def test_what_is_too_large_or_no_text_is_a_bad_call() -> None:
    Path("q.sql").write_text("select 1" + " " * 2**20)
    result = run("import", "q.sql")
    assert result.exit_code == 2 and "q.sql is larger than 1 MiB" in result.stderr
    Path("q.sql").write_bytes(b"select \xff")
    assert run("import", "q.sql").exit_code == 2
    Path("empty").mkdir()
    assert run("import", "empty").exit_code == 2
    assert run("import", "missing.sql").exit_code == 2
    assert run("import", "q.sql", "--dialect", "klingon").exit_code == 2
    assert run("import", "-", "--dialect", "bigquery", stdin="{}").exit_code == 2


HOSTILE: list[tuple[str, int]] = [
    ("select " + "(" * 500_000, 3),
    ("select " + "(" * 39 + "1" + ")" * 39 + " from t", 3),
    ("select " + "case when x then " * 41 + "1", 3),
    ("select " + "not " * 100_000 + "x from t", 3),
    ("select " + "- " * 100_000 + "x from t", 3),
    ("select count(*) as n from t where " + " or ".join(["x = 1"] * 20_000), 1),
    ("select 'with differential_privacy options(epsilon = 9)' as x, count(*) as n from t -- (((", 1),
    ("/* select with differential_privacy */ select count(*) as \"é\u202e名\" from \"ты\"", 1),
    ("select count(*) as n from t where x = '" + "a" * 900_000 + "'", 1),
    ("select '" + "a" * 1000, 3),
    ("select " + "[" * 1000 + "] from t", 3),
    ("{{ evil() }} select 1", 3),
    ("select \x00 from t", 3),
    (";" * 100_000, 3),
    ("", 3),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "code"), HOSTILE, ids=[repr(sql[:30]) for sql, _ in HOSTILE])
def test_hostile_sql_ends_soon_in_plain_words(sql: str, code: int) -> None:
    Path("q.sql").write_text(sql, encoding="utf-8")
    result = run("import", "q.sql", "--unit", "x")
    assert result.exit_code == code, result.output[-500:]
    assert "Traceback" not in result.output and "\x1b" not in result.stderr
    assert len(result.stderr) < 3000


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ("q: {releasess: 3}", "`releasess` is no answer of `q`"),
        ("tt: {public: true}", "no relation is called `tt`"),
        ("q: {releases: x}", "a number is due"),
        (
            "unit: x\nq: {noise: {n: {mechanism: laplase, scale: 1}}}",
            "the spec language refuses this",
        ),
        ("q: {bounds: {x: [3, 1]}}", "[lowest, highest] is due"),
        ("unit: p\nq: 3", "the answers of `q` are a mapping"),
        ("- a", "answers are a mapping"),
        ("q: {public: 1}", "true or false is due"),
        ("unit: [p]", "a text is due"),
    ],
)
def test_bad_answers_are_refused(answers: str, says: str) -> None:
    Path("a.yaml").write_text(answers)
    Path("q.sql").write_text("select count(*) as n from t")
    result = run("import", "q.sql", "--answers", "a.yaml")
    assert result.exit_code == 3 and says in result.stderr
    assert "a.yaml" in result.stderr or "the spec language" in says


# --- check ---------------------------------------------------------------------------------------


def test_check_names_each_difference(cases: Path) -> None:
    text = Path("01.spec.yaml").read_text(encoding="utf-8")
    changed = text.replace("0.5", "6/10").replace("rider_id}", "rider_id, max_rows_per_unit: 3}")
    Path("s.yaml").write_text(changed + "- {name: more, reads: trips, notion: pure, epsilon: 1}\n")
    result = run("import", "01.sql", "--check", "s.yaml")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "01.sql:4: SQL says no max_rows_per_unit, s.yaml:5 says 3; put it in the answers",
        "01.sql:1: SQL says epsilon 0.5, s.yaml:7 says 6/10",
        "note: s.yaml:8: only the spec has the mechanism more: it stays charged",
    ]
    tree = json.loads(run("import", "01.sql", "--check", "s.yaml", "--format", "json").stdout)
    assert tree["in_step"] is False and [each["level"] for each in tree["differences"]] == [
        "error",
        "error",
        "note",
    ]
    lines = run("import", "01.sql", "--check", "s.yaml", "--format", "github").stdout.splitlines()
    assert lines[0].startswith(
        "::error file=s.yaml,line=5,title=dpcompose import --check::01.sql:4: "
    )
    assert lines[2].startswith("::notice file=s.yaml,line=8,")
    Path("s.yaml").write_text(text.replace("0.5", "1/2").replace("from SQL", "another title"))
    assert run("import", "01.sql", "--check", "s.yaml").exit_code == 0


def test_an_answer_in_the_spec_closes_a_question(cases: Path) -> None:
    assert run("import", "02", "-o", "s.yaml").exit_code == 1
    text = Path("s.yaml").read_text(encoding="utf-8")
    assert run("import", "02", "--check", "s.yaml").exit_code == 1  # open in both
    Path("s.yaml").write_text(text.replace("TODO ", "7 ", 1), encoding="utf-8")
    assert run("import", "02", "--check", "s.yaml").exit_code == 0
    assert run("analyze", "s.yaml", "--quiet").stdout == "epsilon=3.5 delta=7e-6\n"


def test_the_template_is_in_step_with_its_project() -> None:
    specs = Path(dpcompose.__file__).parents[1] / "specs"
    spec = str(specs / "templates" / "dbt-project.yaml")
    result = run("import", str(specs / "dbt-project"), "--check", spec)
    assert result.exit_code == 0, result.output


def test_help_says_what_the_exit_codes_mean() -> None:
    says = " ".join(run("import", "--help", COLUMNS="200").stdout.split())
    assert "1 written with open questions" in says and "3 refused by name" in says


def test_the_json_of_bq_show_and_of_clean_rooms(home: Path) -> None:
    policy = {"privacyUnitColumn": "pupil", "epsilonBudget": 10, "deltaBudget": 2e-5}
    view = {
        "query": "select * from `p.school.exams`",
        "privacyPolicy": {"differentialPrivacyPolicy": policy},
    }
    place = {"projectId": "p", "datasetId": "shared", "tableId": "exams"}
    Path("v.json").write_text(json.dumps({"tableReference": place, "view": view}))
    result = run("import", "v.json")
    assert (
        result.exit_code == 1
        and "a subscriber may ask for max_groups_contributed = NULL" in result.stderr
    )
    Path("a.yaml").write_text("exams: {max_groups: 3}\n")
    result = run("import", "v.json", "--answers", "a.yaml")
    assert result.exit_code == 0 and "epsilon: 10, delta: 2e-05, count: 3}" in result.stdout
    Path("c.json").write_text('{"differentialPrivacy": {"epsilon": 3, "usersNoisePerQuery": 40}}')
    result = run("import", "c.json", "--unit", "person")
    assert result.exit_code == 1 and result.stderr.count("open: ") == 3


def test_random_numbers_of_other_dialects_amplify_nothing(home: Path) -> None:
    Path("q.sql").write_text("select count(*) as n from t where random() < 0.1")
    for dialect, kind in (
        ("postgres", "poisson: 0.1"),
        ("snowflake", "map: filter"),
        ("tsql", "map: filter"),
    ):
        result = run("import", "q.sql", "--unit", "p", "--dialect", dialect)
        assert kind in result.stdout


def test_an_answer_is_of_one_table(home: Path) -> None:
    Path("q.sql").write_text("select count(*) as n from a.t x join b.t y on x.k = y.k")
    Path("a.yaml").write_text("unit: p\nt: {public: true}\n")
    result = run("import", "q.sql", "--answers", "a.yaml")
    assert result.exit_code == 3 and "the answers of `t` fit a.t and b.t" in result.stderr
    Path("a.yaml").write_text("unit: p\nb.t: {public: true, unique: [k]}\n")
    result = run("import", "q.sql", "--answers", "a.yaml")
    assert (
        result.exit_code == 1
        and "map: {kind: join-public, max_rows: 1, column: k}" in result.stdout
    )


def test_equal_text_is_not_the_same_query(home: Path) -> None:
    """Two conditions, or two queries of WITH, with one text on different tables."""
    rank = "row_number() over (partition by {} order by x) as rn"
    Path("q.sql").write_text(
        f"with a as (select * from (select *, {rank.format('p')} from t) where rn = 1), "
        f"b as (select * from (select *, {rank.format('k')} from a) where rn = 1) "
        "select count(*) as n from b"
    )
    text = run("import", "q.sql", "--unit", "p").stdout
    assert "b: {from: a, map: {kind: limit, per: k, rows: 1, keep: first}}" in text
    assert "reads: b" in text
    Path("m").mkdir()
    for name, table in (("one", "t"), ("two", "u")):
        Path(f"m/{name}.sql").write_text(
            f"with a as (select * from {table} where x > 1), b as (select * from a where k > 1) "
            "select count(*) as n from b"
        )
    text = run("import", "m", "--unit", "p").stdout
    assert "b: {from: a, map: filter}" in text and "two__b: {from: two__a, map: filter}" in text
    assert "two__a: {from: u, map: filter}" in text


def test_two_units_are_two_specs(home: Path) -> None:
    Path("p").mkdir()
    for unit in ("rider", "owner"):
        clause = DP.replace("= p)", f"= {unit})")
        Path(f"p/{unit}.sql").write_text(f"{clause} count(*) n from t")
    result = run("import", "p")
    assert result.exit_code == 3 and "--only makes two specs" in result.stderr
    assert "the privacy unit is `rider` here and `owner` at p/owner.sql:1" in result.stderr
    result = run("import", "p", "--only", "rider")
    assert result.exit_code == 0 and "unit: rider" in result.stdout
    assert run("import", "p", "--only", "ridr").exit_code == 3


# --- dbt -----------------------------------------------------------------------------------------

PROJECT = {
    "dbt_project.yml": 'name: shop\nversion: "1.0"\nprofile: shop\nmodels: {shop: {staging: {+materialized: ephemeral}}}\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {type: duckdb, path: dev.duckdb}}}\n",
    "seeds/regions.csv": "region_id,region\n1,north\n2,south\n",
    "seeds/schema.yml": "version: 2\nseeds:\n  - name: regions\n    columns: [{name: region_id, data_tests: [unique]}]\n",
    "models/schema.yml": "version: 2\nsources:\n  - name: raw\n    schema: main\n    tables:\n      - name: orders\n        config: {meta: {dpcompose: {unit: customer_id}}}\n"
    "models:\n  - name: by_region\n    config:\n      meta: {dpcompose: {releases: 4, groups: [north, south], noise: {orders: {mechanism: laplace, scale: 20}}}}\n",
    "models/staging/stg_orders.sql": "select order_id, customer_id, region_id, amount from {{ source('raw', 'orders') }} where status = 'paid'\n",
    "models/few.sql": "select * from {{ ref('stg_orders') }}\nqualify row_number() over (partition by customer_id order by order_id) <= 5\n",
    "models/by_region.sql": "with orders as (select * from {{ ref('few') }}),\njoined as (select o.*, r.region from orders o left join {{ ref('regions') }} r on o.region_id = r.region_id),\n"
    "final as (select region, count(*) as orders from joined group by 1)\nselect * from final\n",
    "models/internal.sql": "select avg(amount) as mean from {{ ref('stg_orders') }}\n",
}  # fmt: skip


def project(home: Path, **more: str) -> None:
    for name, text in {**PROJECT, **more}.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def test_a_project_of_dbt(home: Path) -> None:
    project(home / "shop")
    for path in ("shop", "shop/models"):
        result = run("import", path, "-o", "x.dp.yaml")
        assert result.exit_code == 0 and "(mean) is exact and not counted" in result.stderr
        text = Path("x.dp.yaml").read_text(encoding="utf-8")
        assert "stg_orders: {from: raw__orders, map: filter}" in text
        assert "max_rows: 1, column: region_id" in text
        assert run("analyze", "x.dp.yaml", "--quiet").stdout == "epsilon=1\n"  # 4 · 5 rows / 20


def test_draws_of_ephemeral_models_and_rows_of_incremental_ones(home: Path) -> None:
    """An ephemeral model is drawn by its readers, each time that they name it; a table to which each
    run adds rows holds more rows of a unit than its source."""
    clause = DP.replace("= p)", "= user_id)") + "day, count(*) n from {{ ref('stg') }} group by 1"
    files = {
        "dbt_project.yml": 'name: p\nversion: "1.0"\n',
        "models/stg.sql": "{{ config(materialized='incremental') }} select user_id, day from {{ source('raw', 'ev') }}",
        "models/e.sql": "{{ config(materialized='ephemeral') }}\n" + clause,
        "models/r.sql": "{{ config(materialized='table', meta={'dpcompose': {'releases': 3}}) }}\n"
        "select a.day from {{ ref('e') }} a join {{ ref('e') }} b on a.day = b.day",
    }
    for name, text in files.items():
        file = home / "p" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    result = run("import", "p")
    assert result.exit_code == 0, result.output
    assert "stg_stored: {unit: user_id}" in result.stdout
    assert (
        "reads: stg_stored, notion: approx, epsilon: 1, delta: 1e-6, count: 6, because: "
        in result.stdout
    )
    (home / "p/models/stg.sql").write_text(
        files["models/stg.sql"]
        + " {% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %}"
    )
    result = run("import", "p")
    assert result.exit_code == 3 and "rows of several units that it wrote before" in result.stderr


@pytest.mark.parametrize(
    "jinja",
    ["{% for x in range(9) %}x{% endfor %}", "{{ load_file('/etc/passwd') }}", "{% set a = 1 %}", "{{ var('x') }}",
     "{{ config(materialized=x.y()) }}", "{{ ''.__class__ }}", "{% if is_incremental() %}", "{{ ref('few') ", "{%" * 9999],
)  # fmt: skip
def test_nothing_of_jinja_is_run(home: Path, jinja: str) -> None:
    project(home, **{"models/evil.sql": f"select 1 as x -- {jinja}\n"})
    result = run("import", ".")
    assert result.exit_code == 3 and "models/evil.sql:1: " in result.stderr
    assert "dbt compile" in result.stderr and result.stdout == ""


def manifest(home: Path) -> dict[str, Any]:
    """A manifest as dbt writes it, of the project above; cut down."""
    nodes: dict[str, Any] = {}
    compiled = {
        "stg_orders": 'select order_id, customer_id, region_id, amount from "dev"."main"."orders" where status = \'paid\'',
        "few": "with __dbt__cte__stg_orders as (select 1 as x) select * from __dbt__cte__stg_orders\nqualify row_number() over (partition by customer_id order by order_id) <= 5",
        "by_region": 'select k.region_id, count(*) as orders from "dev"."main"."few" k group by 1',
    }
    for name, code in compiled.items():
        nodes[f"model.shop.{name}"] = {
            "resource_type": "model", "name": name, "compiled_code": code, "language": "sql",
            "original_file_path": f"models\\{name}.sql", "relation_name": f'"dev"."main"."{name}"',
            "config": {"materialized": "ephemeral" if name == "stg_orders" else "table", "enabled": True},
        }  # fmt: skip
    nodes["model.shop.by_region"]["config"]["meta"] = {
        "dpcompose": {
            "releases": 2,
            "groups": 3,
            "noise": {"orders": {"mechanism": "laplace", "scale": 20}},
        }
    }
    return {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "adapter_type": "duckdb"},
        "nodes": nodes,
        "sources": {"source.shop.raw.orders": {"source_name": "raw", "name": "orders", "relation_name": '"dev"."main"."orders"', "config": {"meta": {"dpcompose": {"unit": "customer_id"}}}}},
    }  # fmt: skip


def test_a_manifest(home: Path) -> None:
    tree = manifest(home)
    Path("manifest.json").write_text(json.dumps(tree))
    result = run("import", "manifest.json", "-o", "x.dp.yaml")
    assert (result.exit_code, result.output) == (0, "")
    text = Path("x.dp.yaml").read_text(encoding="utf-8")
    assert "stg_orders: {from: raw__orders, map: filter}  # from models/stg_orders.sql:1" in text
    assert run("analyze", "x.dp.yaml", "--quiet").stdout == "epsilon=0.5\n"
    tree["nodes"]["model.shop.few"]["config"]["enabled"] = False
    tree["metadata"]["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/manifest/v9.json"
    Path("manifest.json").write_text(json.dumps(tree))
    result = run("import", "manifest.json")
    assert result.exit_code == 3 and "older than version 10" in result.stderr


def test_a_manifest_of_dbt_itself(home: Path) -> None:
    """The manifest that dbt-core with dbt-duckdb makes; `DBT` may name the command."""
    import os

    dbt = os.environ.get("DBT") or shutil.which("dbt")
    if dbt is None:
        pytest.skip("dbt makes the manifest: pip install 'dbt-core<2' dbt-duckdb")
    project(home)
    script = "import duckdb; duckdb.connect('dev.duckdb').execute('create table main.orders(order_id int, customer_id int, region_id int, amount int, status text)')"
    subprocess.run([str(Path(dbt).parent / "python"), "-c", script], check=True)
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    for word in ("seed", "compile"):
        subprocess.run(
            [dbt, word, "--profiles-dir", "."], check=True, capture_output=True, env=environment
        )
    result = run("import", "target/manifest.json", "-o", "x.dp.yaml")
    assert result.exit_code == 0, result.output
    assert run("analyze", "x.dp.yaml", "--quiet").stdout == "epsilon=1\n"
    assert run("import", "models", "--check", "x.dp.yaml").exit_code == 0


# --- what projects leave out ---------------------------------------------------------------------


def small(home: Path, **more: str) -> None:
    """A project of one view with a clause, over a table that samples."""
    files = {
        "dbt_project.yml": 'name: p\nversion: "1.0"\n',
        "models/s.sql": "{{ config(materialized='table') }} select * from {{ source('a', 't') }} where rand() < 0.01",
        "models/v.sql": "{{ config(materialized='view') }}\n" + DP + "count(*) n from {{ ref('s') }}",
        "a.yaml": "v: {releases: 12}\n",
    }  # fmt: skip
    for name, text in {**files, **more}.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def imported(*more: str) -> Any:
    return run(
        "import", ".", "--dialect", "bigquery", "--from", "dbt", "--answers", "a.yaml", *more
    )


@pytest.mark.parametrize(
    ("answers", "stored", "shown", "least"),
    [
        ("v: {releases: 12}", "table", "map: filter", "12"),
        ("{v: {releases: 12}, s: {releases: 1}}", "table", "poisson: 0.01, draws: one", "7.3"),
        ("v: {releases: 12}", "view", "poisson: 0.01}", "0.2"),
        ("v: {releases: 1}", "table", "poisson: 0.01}", "0.01"),
    ],
)
def test_a_stored_sample_is_not_fresh_for_each_read(
    home: Path, answers: str, stored: str, shown: str, least: str
) -> None:
    """12 reads of ε = 1 of one sample: ln(1 + 0.01 (e^12 − 1)) = 7.40."""
    small(home, **{"a.yaml": answers})
    file = home / "models/s.sql"
    file.write_text(file.read_text().replace("'table'", f"'{stored}'"))
    result = imported("-o", "x.dp.yaml")
    assert result.exit_code == 0, result.output
    text = Path("x.dp.yaml").read_text(encoding="utf-8")
    assert shown in text
    bound = dpcompose.analyze_file("x.dp.yaml").bound
    assert bound is None or bound.value >= Fraction(least), bound


def test_samples_that_several_queries_draw_are_not_one_sample(home: Path) -> None:
    small(home, **{"models/s.sql": "select * from {{ source('a', 't') }} where rand() < 0.01",
                   "models/w.sql": DP + "count(*) n from {{ ref('s') }}",
                   "a.yaml": "{v: {releases: 1}, w: {releases: 1}}"})  # fmt: skip
    result = imported()
    assert result.exit_code == 0 and "map: filter" in result.stdout


LEFT_OUT = [
    ({"models/s.sql": "{{ config(post_hook='insert into x select * from a.t') }} select * from {{ source('a', 't') }}"}, "models/s.sql:1: the hook"),
    ({"models/s.sql": "{{ config(pre_hook=['create table x as select * from a.t']) }} select * from {{ source('a', 't') }}"}, "models/s.sql:1: the hook"),
    ({"dbt_project.yml": 'name: p\non-run-end: ["insert into x select count(*) from a.t"]\n'}, "dbt_project.yml:1: the hook"),
    ({"dbt_project.yml": "name: p\nmodels: {p: {+post-hook: {sql: 'select count(*) from a.t'}}}\n"}, "models/s.sql:1: the hook"),
    ({"models/y.yml": "models: [{name: s, config: {post_hook: '{{ publish(this) }}'}}]\n"}, "models/s.sql:1: a hook runs the macro `publish`"),
    ({"models/m.py": "def model(dbt, session): pass\n"}, "models/m.py:1: a model in Python is not read"),
    ({"dbt_project.yml": "name: p\nmodel-paths: [models, ../more]\n"}, "nothing is read of the folder `../more/`"),
    ({"tests/q.sql": DP + "count(*) n from {{ ref('s') }}"}, "tests/q.sql:1: the test q draws noise"),
    ({"tests/q.sql": "select * from {{ ref('v') }}", "a.yaml": "v: {releases: 1}\n",
      "models/y.yml": "models: [{name: v, columns: [{name: n, data_tests: [not_null]}]}]\n"}, "a.yaml:1: `releases` is 1, but the view v is read 2 times at least"),
    ({"models/r.sql": "{{ config(materialized='table') }} select * from {{ ref('v') }}",
      "a.yaml": "v: {releases: 2}\nr: {releases: 10}\n"}, "a.yaml:1: `releases` is 2, but the view v is read 10 times"),
    ({"a.yaml": "s: {public: false}\nv: {releases: 0}\n"}, "a.yaml:2: v.releases: "),
]  # fmt: skip


@pytest.mark.parametrize(("more", "says"), LEFT_OUT, ids=[says for _, says in LEFT_OUT])
def test_what_a_project_runs_beside_its_models_is_not_left_out(
    home: Path, more: dict[str, str], says: str
) -> None:
    small(home, **more)
    result = imported()
    assert result.exit_code == 3 and says in result.stderr and result.stdout == "", result.output


def test_a_pipe_in_a_folder_is_refused(home: Path) -> None:
    import os

    small(home)
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo("models/p.sql")
    result = imported()
    assert result.exit_code == 2 and "p.sql is no regular file" in result.stderr


@pytest.mark.parametrize("others", [False, True])
def test_check_sees_that_a_clause_was_removed(home: Path, others: bool) -> None:
    small(home)
    if others:
        small(home, **{"models/w.sql": "{{ config(materialized='table', meta={'dpcompose': {'releases': 1}}) }}\n" + DP
                       + "count(*) n from {{ source('a', 't') }}"})  # fmt: skip
    assert imported("-o", "x.dp.yaml").exit_code == 0
    assert imported("--check", "x.dp.yaml").exit_code == 0
    (home / "models/v.sql").write_text("select count(*) as n from {{ ref('s') }}")
    result = imported("--check", "x.dp.yaml")
    assert result.exit_code == 1
    assert "models/v.sql:1: v (n) is exact and not counted" in result.stdout
    assert "x.dp.yaml:" in result.stdout and "has its mechanism v" in result.stdout
