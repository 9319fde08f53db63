"""Specs made to do harm, through the real command: a clear refusal or a right answer, in time.

Every case runs in a process of its own. What a bound must be is worked out by hand beside each
case: `least` is the truth or below it, `most` is sound but may be twice as large, where a change
has too many forms to be searched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

SECONDS = 20  # for one command, on a slow machine

Text = str | bytes
Body = dict[str, Any]
ROOT: Body = {"t": {}}
FILTER: Body = {"map": "filter"}


# --- writing specs -------------------------------------------------------------------------------


def stated(reads: str = "t", notion: str = "pure", value: Any = 1, **more: Any) -> Body:
    """A mechanism; its name is given by `spec`."""
    key = {"zcdp": "rho", "gdp": "mu"}.get(notion, "epsilon")
    return {"reads": reads, "notion": notion, key: value, **more}


def spec(
    mechanisms: list[Body] | None = None,
    datasets: Body = ROOT,
    protect: Any = "unbounded",
    **more: Any,
) -> str:
    """A spec as JSON, which is YAML."""
    written = [{"name": f"q{n}", **each} for n, each in enumerate(mechanisms or [stated()])]
    head = {"dpcompose": 1, "protect": protect, "datasets": datasets}
    return json.dumps({**head, "mechanisms": written, **more})


def chain(length: int, link: Body | Callable[[int], Body], root: Body | None = None) -> Body:
    """Datasets d0, d1, … each made from the one before, the first from t."""
    datasets: Body = {"t": root or {}}
    for n in range(length):
        body = link(n) if callable(link) else link
        datasets[f"d{n}"] = {"from": f"d{n - 1}" if n else "t", **body}
    return datasets


def nested(depth: int, partition: Body) -> Body:
    """Partitions of every block of the one before."""
    datasets: Body = {"t": {}}
    for n in range(depth):
        datasets[f"d{n}"] = {"from": f"d{n - 1}.*" if n else "t", "partition": partition}
    return datasets


def per_column(kind: str, **more: Any) -> Callable[[int], Body]:
    """A chain's link that groups or limits by a column of its own."""
    column = "by" if kind == "group" else "per"
    return lambda n: {"map": {"kind": kind, column: f"c{n}", **more}}


def flatten(rows: int, **more: Any) -> Body:
    return {"map": {"kind": "flatten", "max_rows": rows, **more}}


def parts(by: str, **more: Any) -> Body:
    return {"by": by, **more}


def primes(count: int) -> list[int]:
    """The first primes."""
    sieve = bytearray([1]) * 60_000
    found: list[int] = []
    for number in range(2, len(sieve)):
        if sieve[number]:
            found.append(number)
            sieve[number * number :: number] = bytes(len(sieve[number * number :: number]))
    return found[:count]


PRIMES = primes(6000)
HEAD = """dpcompose: 1
protect: unbounded
datasets: {t: {}}
mechanisms:
- {name: q, reads: t, notion: pure, epsilon: 1}
"""


# --- running them --------------------------------------------------------------------------------


def command(folder: Path, texts: list[Text], *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run `dpcompose analyze` on files with these texts; nothing may look like a fault of its."""
    files = []
    for number, text in enumerate(texts):
        file = folder / f"{number}.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append(str(file))
    plain = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    ran = subprocess.run(
        [sys.executable, "-m", "dpcompose", "analyze", *options, *files],
        capture_output=True,
        timeout=SECONDS,
        env={**plain, "PYTHONUTF8": "1"},
    )
    assert b"Traceback" not in ran.stderr, ran.stderr[-2000:].decode(errors="replace")
    assert b"fault of dpcompose" not in ran.stderr
    assert ran.returncode in (0, 1, 3), ran.stderr[-2000:]
    return ran


def results(ran: subprocess.CompletedProcess[bytes]) -> list[Body]:
    """The results of a run with `--format jsonl`."""
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.fixture
def analyzed(tmp_path: Path) -> Callable[[Text], Body]:
    """The one result for a text."""

    def analyze(text: Text) -> Body:
        ran = command(tmp_path, [text], "--format", "jsonl")
        (found,) = results(ran)
        assert ran.returncode == {"ok": 0, "no-guarantee": 1, "invalid": 3}[found["status"]]
        assert found["status"] != "invalid" or found["findings"]
        return found

    return analyze


# --- files that are no specs ---------------------------------------------------------------------

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefghijklmnopqrst", "bcdefghijklmnopqrstu", strict=True)
)
MB = 10**6
PRINTABLE = "".join(map(chr, range(32, 127))) + "\n"

REFUSED: dict[str, Callable[[], Text]] = {
    "nested lists": lambda: "[" * 200_000,
    "nested mappings": lambda: "{a: " * 100_000,
    "nested items": lambda: "- " * 100_000,
    "nested keys": lambda: "? " * 100_000,
    "nested in a spec": lambda: HEAD.replace("1}", "[" * 1000 + "]" * 1000 + "}"),
    "billion laughs": lambda: LAUGHS,
    "aliased datasets": lambda: HEAD.replace(
        "{t: {}}", "{t: {}, u: &u {from: t, map: filter}" + ", v: *u" * 50_000 + "}"
    ),
    "aliased mechanisms": lambda: HEAD.replace("- {", "- &m {") + "- *m\n" * 90_000,
    "an alias in itself": lambda: "a: &a [*a]\n",
    "many anchors": lambda: "".join(f"a{n}: &a{n} x\n" for n in range(100_000)),
    "random bytes": lambda: Random(1).randbytes(10 * MB),
    "random characters": lambda: "".join(Random(2).choices(PRINTABLE, k=10 * MB)),
    "one long word": lambda: "a" * (10 * MB),
    "blank lines": lambda: "\n" * (10 * MB),
    "comments": lambda: "# hi\n" * (2 * MB),
    "empty items": lambda: "- \n" * (3 * MB),
    "duplicate keys": lambda: "a: b\n" * (2 * MB),
    "quotation marks": lambda: '"' * (10 * MB),
    "percent signs": lambda: "%" * (10 * MB),
    "exclamation marks": lambda: "!" * (10 * MB),
    "anchors on nothing": lambda: "&a " * (3 * MB),
    "colons": lambda: ":" * (10 * MB),
    "closing brackets": lambda: "]" * (10 * MB),
    "commas": lambda: "[" + "a," * (5 * MB) + "]",
    "many documents": lambda: "--- \n" * (2 * MB),
    "zeros": lambda: bytes(10 * MB),
    "tabs": lambda: "\t" * (10 * MB),
    "reordering characters": lambda: "\u202eé\U0001f600" * MB,
    "many keys": lambda: "{" + ",".join(f"k{n}: 1" for n in range(MB)) + "}",
    "unknown keys": lambda: HEAD + "".join(f"u{n}: 1\n" for n in range(500_000)),
    "unfinished mechanisms": lambda: HEAD + "- {name: q, reads: t}\n" * 400_000,
    "mechanisms of all types": lambda: HEAD + "- [[]]\n- 1\n- null\n- {}\n" * 200_000,
    "misspelled mechanisms": lambda: (
        HEAD + "- {name: q, read: t, notoin: pure, epsilom: 1}\n" * 150_000
    ),
    "mechanisms on nothing": lambda: (
        HEAD
        + "".join(
            f"- {{name: {n}, reads: u{n}, notion: pure, epsilon: 1}}\n" for n in range(MB // 8)
        )
    ),
    "datasets from nothing": lambda: spec(
        datasets={f"d{n}": {"from": f"e{n}", "map": "filter"} for n in range(MB // 10)}
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_spec_is_refused(name: str, analyzed: Callable[[Text], Body]) -> None:
    assert analyzed(REFUSED[name]())["status"] == "invalid"


# --- numbers -------------------------------------------------------------------------------------

NUMBERS = [
    "1e99999999", "-1e99999999", "1e-99999999", "1e99999999*0", "1e+99999999", "1e1001", ".5e1001",
    "1e" + "9" * 9000, "9" * 9000, "'" + "9" * 900_000 + "'", "0x" + "f" * 5000, "'1**9**9**9'",
    "'" + "(" * 5000 + ")" * 5000 + "'", "'1" + "*1e900" * 150 + "'", "'1" + "/1e900" * 150 + "'",
    "'" + "-" * 5000 + "1'", "'1/0'", "'0/0'", "nan", ".inf", "-.inf", "1:30:00", "010", "1_000",
    "true", "~", "''", "e1", "1e", "'__import__(\"os\")'", "[1]", "{a: 1}",
]  # fmt: skip
WHOLE = ["1e99999999", "1e1000", "9" * 5000, "1.5", "0", "-1", "true", "1e30", "10000000000"]
PLACES = {
    "count": HEAD.replace("epsilon: 1", "epsilon: 1, count: %s"),
    "distance": HEAD.replace(": unbounded", ": {relation: unbounded, distance: %s}", 1),
    "blocks": HEAD.replace("{t: {}}", "{t: {}, p: {from: t, partition: {by: value, blocks: %s}}}"),
    "max_rows": HEAD.replace(
        "{t: {}}", "{t: {}, p: {from: t, map: {kind: flatten, max_rows: %s}}}"
    ),
    "size": HEAD.replace("{t: {}}", "{t: {domain: fixed-size-table, size: %s}}"),
}


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    places = [HEAD.replace("epsilon: 1", "epsilon: %s"), HEAD + "budget: {epsilon: %s}\n"]
    texts: list[Text] = [place % number for place in places for number in NUMBERS]
    texts += [HEAD + f"constants: {{a: {number}}}\n" for number in NUMBERS]
    texts += [place % number for place in PLACES.values() for number in WHOLE]
    found = results(command(tmp_path, texts, "--format", "jsonl"))
    assert [each["status"] for each in found] == ["invalid"] * len(texts)


# --- valid specs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A valid spec and its answer.

    `least`: no bound may be below it, None where there is no finite bound (or none need be found:
    `maybe`). `most`: where a sound bound may be larger. `delta`: the same for δ of a pair.
    """

    text: Callable[[], str]
    least: Fraction | int | None
    most: Fraction | int | None = None
    key: str = "epsilon"
    maybe: bool = False
    delta: Fraction | None = None


def power(base: int, exponent: int) -> Fraction:
    return Fraction(base) ** exponent


def both(notion: str, once: Any, twice: Any, **more: Any) -> Body:
    """Guarantees for an added and for a replaced row."""
    key = {"zcdp": "rho", "gdp": "mu"}.get(notion, "epsilon")
    return {
        "guarantees": [
            {"notion": notion, key: once, "relation": "unbounded", **more},
            {"notion": notion, key: twice, "relation": "bounded", **more},
        ]
    }


def reading(where: str, body: Body) -> Body:
    return {"reads": where, **body}


def deep() -> Iterator[tuple[str, Case]]:
    """Chains and nests. A filter passes a change on; a flatten multiplies it."""
    last = "d9999"
    yield "10 000 filters", Case(lambda: spec([stated(last)], chain(10_000, FILTER)), 1)
    yield (
        "10 000 filters, stated above",
        Case(lambda: spec([stated(last, stated_on="t")], chain(10_000, FILTER), "bounded"), 1),
    )
    yield (
        "10 000 filters, all read",
        Case(lambda: spec([stated(f"d{n}") for n in range(10_000)], chain(10_000, FILTER)), 10_000),
    )
    yield (
        "2 000 filters, stated half way up",
        Case(
            lambda: spec(
                [stated(f"d{n}", stated_on=f"d{n // 2}") for n in range(1, 2000)],
                chain(2000, FILTER),
            ),
            1999,
        ),
    )
    yield (
        "10 000 filters backwards",
        Case(
            lambda: spec(
                [stated("d0")],
                {
                    f"d{n}": {"from": f"d{n + 1}" if n < 9999 else "t", **FILTER}
                    for n in range(10_000)
                }
                | ROOT,
            ),
            1,
        ),
    )
    yield (
        "10 000 opaque maps",
        Case(lambda: spec([stated(last)], chain(10_000, {"map": "opaque"})), None),
    )
    yield (
        "1 000 flattens",
        Case(lambda: spec([stated("d999")], chain(1000, flatten(2))), power(2, 1000)),
    )
    yield (
        "1 000 flattens of a replaced row",
        Case(
            lambda: spec(
                [stated("d999", relation="unbounded")], chain(1000, flatten(2)), "bounded"
            ),
            power(2, 1001),
        ),
    )
    yield (
        "40 flattens of a replaced row, two guarantees",
        Case(
            lambda: spec([reading("d39", both("pure", 1, 1))], chain(40, flatten(2)), "bounded"),
            power(2, 40),
            power(2, 42),
        ),
    )
    yield (
        "3 000 flattens, gdp",
        Case(
            lambda: spec(
                [stated("d2999", "gdp", relation="unbounded")], chain(3000, flatten(2)), "bounded"
            ),
            power(2, 3001),
            key="mu",
        ),
    )
    yield (
        "flattens to more rows than can be printed",
        Case(lambda: spec([stated("d999")], chain(1000, flatten(10**9))), power(10, 9000)),
    )
    yield (
        "blocks of more rows than can be printed",
        Case(
            lambda: spec(
                [stated("v.*", "zcdp")],
                chain(600, flatten(10**9))
                | {"v": {"from": "d599", "partition": parts("value", blocks=9)}},
            ),
            power(10, 10_800),
            key="rho",
        ),
    )
    # Grouping turns one changed row into two replaced rows of other columns, and so on.
    for length in (5, 12, 40, 2000):
        yield (
            f"{length} groups",
            Case(
                lambda length=length: spec(  # type: ignore[misc]
                    [reading(f"d{length - 1}", both("pure", 1, "3/2"))],
                    chain(length, per_column("group")),
                ),
                Fraction(3, 2) * power(2, length - 1),
                4 * power(2, length),
            ),
        )
        yield (
            f"{length} limits of a replaced row",
            Case(
                lambda length=length: spec(  # type: ignore[misc]
                    [reading(f"d{length - 1}", both("zcdp", 1, "3/2"))],
                    chain(length, per_column("limit", rows=2, keep="first")),
                    "bounded",
                ),
                Fraction(3, 2) * power(4, length),
                16 * power(4, length),
                key="rho",
            ),
        )
    yield (
        "few maps, every form of a change",
        Case(
            lambda: spec(
                [stated("d2", "zcdp", "1/5", relation="free-lunch")],
                chain(
                    4,
                    lambda n: [
                        {"map": "nodes"},
                        FILTER,
                        {"map": {"kind": "limit", "per": "u", "rows": 2, "keep": "first"}},
                        flatten(2),
                    ][n],
                    {"domain": "graph", "max_degree": 4},
                ),
                {"relation": "node", "distance": 2},
            ),
            Fraction(1, 5),
            key="rho",
        ),
    )
    for by, more in (
        ("value", {"blocks": 2}),
        ("key", {"column": "c", "blocks": 2}),
        ("membership", {"blocks": 3, "max_blocks": 1}),
    ):
        yield (
            f"2 000 nested partitions by {by}",
            Case(
                lambda by=by, more=more: spec(  # type: ignore[misc]
                    [stated("d1999.*", relation="unbounded")],
                    nested(2000, parts(by, **more)),
                    "bounded",
                ),
                2,
            ),
        )
    yield (
        "2 000 nested partitions, two blocks for each row",
        Case(
            lambda: spec(
                [stated("d1999.*", relation="unbounded")],
                nested(2000, parts("membership", blocks=3, max_blocks=2)),
                "bounded",
            ),
            power(2, 2001),
        ),
    )
    yield (
        "more blocks than can be printed",
        Case(
            lambda: spec(
                [stated("d599.*")],
                nested(600, parts("membership", blocks=10**9, max_blocks=10**9)),
            ),
            power(10, 5400),
        ),
    )


def wide() -> Iterator[tuple[str, Case]]:
    """Huge counts, and long lists."""
    billion = 10**9
    yield "count 10^9", Case(lambda: spec([stated(count=billion)]), billion)
    yield (
        "distance 10^9",
        Case(lambda: spec(protect={"relation": "unbounded", "distance": billion}), billion),
    )
    ordered = {"t": {"domain": "ordered-table"}}
    kinds = {"a": ["x", "y"], "b": ["y", "z"]}
    for by, more, reached in (
        ("value", {"blocks": billion}, 1),
        ("key", {"column": "c", "blocks": billion}, 1),
        ("membership", {"blocks": billion, "max_blocks": billion}, billion),
        ("kinds", {"kinds": kinds}, 2),
    ):
        yield (
            f"10^9 blocks by {by}",
            Case(
                lambda by=by, more=more: spec(  # type: ignore[misc]
                    [stated("p.*")], {**ROOT, "p": {"from": "t", "partition": parts(by, **more)}}
                ),
                reached,
            ),
        )
        yield (
            f"10^9 rows into blocks by {by}",
            Case(
                lambda by=by, more=more: spec(  # type: ignore[misc]
                    [stated("p.*")],
                    {
                        **ROOT,
                        "f": {"from": "t", **flatten(billion)},
                        "p": {"from": "f", "partition": parts(by, **more)},
                    },
                ),
                billion * reached,
            ),
        )
    yield (
        "10^9 rows into blocks by position",
        Case(
            lambda: spec(
                [stated("p.*")],
                {
                    **ordered,
                    "f": {"from": "t", **flatten(billion, exact=True)},
                    "p": {"from": "f", "partition": parts("position", blocks=billion)},
                },
                "bounded",
            ),
            billion,
        ),
    )
    yield (
        "5 000 blocks for each row, out of 5 000 by membership of 10^9",
        Case(
            lambda: spec(
                [stated("p.*")],
                {
                    **ROOT,
                    "p": {
                        "from": "t",
                        "partition": parts("membership", blocks=5000, max_blocks=billion),
                    },
                },
            ),
            5000,
        ),
    )
    yield (
        "a degree of 10^9",
        Case(
            lambda: spec(
                [
                    stated("e", relation="unbounded"),
                    stated("n", relation="bounded"),
                    stated("t", relation="edge"),
                ],
                {
                    "t": {"domain": "graph", "max_degree": billion},
                    "e": {"from": "t", "map": "edges"},
                    "n": {"from": "t", "map": "nodes"},
                },
                "node-rewired",
            ),
            2 * billion + 2 * billion + 1 + 2 * billion,
        ),
    )
    yield (
        "10 000 kinds",
        Case(
            lambda: spec(
                [stated("p.*", relation="unbounded")],
                {
                    **ROOT,
                    "p": {
                        "from": "t",
                        "partition": parts(
                            "kinds",
                            kinds={f"k{n}": [f"b{n}", f"b{n + 1}"] for n in range(10_000)},
                        ),
                    },
                },
                "bounded",
            ),
            4,
        ),
    )
    yield (
        "2 000 guarantees",
        Case(
            lambda: spec(
                [
                    reading(
                        "t",
                        {
                            "guarantees": [
                                {"notion": "approx", "epsilon": f"{n}/2000", "delta": f"1/{n + 1}"}
                                for n in range(1, 2001)
                            ]
                        },
                    )
                ]
            ),
            Fraction(1, 2000),
        ),
    )
    # One bounded step on t covers each replaced row: three of (2/2000, δ) are 3/1000.
    yield (
        "2 000 guarantees for groups",
        Case(
            lambda: spec(
                [
                    reading(
                        "d0",
                        {
                            "guarantees": [
                                {
                                    "notion": "approx",
                                    "epsilon": f"{n + 1}/2000",
                                    "delta": f"1/{1000 * (n + 2)}",
                                    "relation": ("unbounded", "bounded")[n % 2],
                                    "stated_on": ("t", "d0")[n // 2 % 2],
                                }
                                for n in range(2000)
                            ]
                        },
                    )
                ],
                chain(1, flatten(3)),
                {"relation": "bounded", "distance": 3},
            ),
            Fraction(3, 1000),
        ),
    )
    yield (
        "300 guarantees on different ancestors",
        Case(
            lambda: spec(
                [
                    reading(
                        "d299",
                        {
                            "guarantees": [
                                {
                                    "notion": "pure",
                                    "epsilon": f"{n + 1}/2",
                                    "relation": "bounded",
                                    "stated_on": f"d{n}",
                                }
                                for n in range(299)
                            ]
                            + [{"notion": "pure", "epsilon": 5, "relation": "unbounded"}]
                        },
                    )
                ],
                chain(300, FILTER),
                "bounded",
            ),
            5,
            10,
        ),
    )
    yield (
        "300 mechanisms stated on different ancestors",
        Case(
            lambda: spec(
                [stated("d299", relation="unbounded", stated_on=f"d{n}") for n in range(299)],
                chain(300, FILTER),
                "bounded",
            ),
            2 * 299,
        ),
    )
    for length in (10, 300):
        yield (
            f"statements on {length} flattened ancestors",
            Case(
                lambda length=length: spec(  # type: ignore[misc]
                    [
                        stated(f"d{length - 1}", relation="unbounded", stated_on=f"d{n}")
                        for n in range(length - 1)
                    ],
                    chain(length, flatten(2)),
                    "bounded",
                ),
                2 * (power(2, length) - 2),
                # Statements above the 40 levels that are followed may be counted further down.
                length * power(2, length + 1),
            ),
        )
    # Every limit doubles the replaced rows.
    for length in (20, 300):
        yield (
            f"statements on {length} limited ancestors",
            Case(
                lambda length=length: spec(  # type: ignore[misc]
                    [
                        stated(f"d{length - 1}", relation="unbounded", stated_on=f"d{n}")
                        for n in range(length - 1)
                    ],
                    chain(length, per_column("limit", rows=2, keep="first")),
                ),
                power(2, length - 2),
                length * power(2, length + 2),
            ),
        )


def numeric() -> Iterator[tuple[str, Case]]:
    """Long, huge and tiny numbers, whose sums stay at or just above the truth."""
    near = 1 + Fraction(1, 10**12)
    first, second = PRIMES[:3000], PRIMES[3000:6000]
    total = sum((Fraction(1, p) for p in first), Fraction(0))
    deltas = [Fraction(1, 10**12 * p + 1) for p in second]
    yield (
        "denominators of 3 000 primes",
        Case(lambda: spec([stated(value=f"1/{p}") for p in first]), total, total * near),
    )
    yield (
        "denominators of 3 000 primes, zcdp in groups",
        Case(
            lambda: spec(
                [stated("d0", "zcdp", f"1/{p}", relation="unbounded") for p in first],
                chain(1, flatten(5)),
                "bounded",
            ),
            100 * total,
            100 * total * near,
            key="rho",
        ),
    )
    yield (
        "denominators of 6 000 primes, pairs",
        Case(
            lambda: spec(
                [
                    stated(notion="approx", value=f"1/{p}", delta=str(delta))
                    for p, delta in zip(first, deltas, strict=True)
                ]
            ),
            total,
            total * near,
            delta=sum(deltas, Fraction(0)),
        ),
    )
    yield (
        "denominators of 3 000 primes on blocks",
        Case(
            lambda: spec(
                [
                    stated(f"p.{n}", "zcdp", f"1/{p}", relation="unbounded")
                    for n, p in enumerate(first)
                ],
                {
                    **ROOT,
                    "p": {
                        "from": "t",
                        "partition": parts("membership", blocks=3000, max_blocks=1500),
                    },
                },
                "bounded",
            ),
            4 * sum(Fraction(1, p) for p in first[:1500]),
            4 * sum(Fraction(1, p) for p in first[:1500]) * near,
            key="rho",
        ),
    )
    long = [Fraction(1, 10**400 + n) for n in range(3000)]
    yield (
        "3 000 denominators of 400 digits",
        Case(
            lambda: spec([stated(notion="approx", value=str(x), delta=str(x)) for x in long]),
            3000 * long[-1],
            3000 * long[0] * near,
            delta=3000 * long[-1],
        ),
    )
    yield (
        "constants squared too often",
        Case(
            lambda: spec(
                [stated(value="c12/c12")],
                constants={"c0": 3, **{f"c{n}": f"c{n - 1}*c{n - 1}" for n in range(1, 13)}},
            ),
            1,
        ),
    )
    yield (
        "ε 10^300 in a group",
        Case(
            lambda: spec(
                [stated(notion="approx", value="1e300", delta="1e-9")],
                protect={"relation": "unbounded", "distance": 3},
            ),
            None,
        ),
    )
    yield (
        "ε 10^300",
        Case(lambda: spec([stated(notion="approx", value="1e300", delta="1e-9")]), power(10, 300)),
    )
    yield (
        "δ 10^-900 in a group",
        Case(
            lambda: spec(
                [stated(notion="approx", value="1e-900", delta="1e-900")],
                protect={"relation": "unbounded", "distance": 30},
            ),
            Fraction(30, 10**900),
            delta=Fraction(30, 10**900),
        ),
    )
    yield (
        "tiny and huge together",
        Case(
            lambda: spec([stated(value="1e-1000"), stated(value="1e1000")]),
            power(10, 1000) + power(10, -1000),
        ),
    )
    yield (
        "δ next to 1",
        Case(lambda: spec([stated(notion="approx", delta="1-1e-900")]), 1),
    )
    yield (
        "10^6 times δ 0.6",
        Case(lambda: spec([stated(notion="approx", delta="0.6", count=10**6)]), 10**6, maybe=True),
    )
    yield (
        "10^54 copies of a pair",
        Case(
            lambda: spec(
                [stated("d5.*", "approx", delta="1e-9")],
                nested(6, parts("membership", blocks=10**9, max_blocks=10**9)),
            ),
            power(10, 54),
            maybe=True,
        ),
    )
    # μ of an ε: at least √(2ε), and for ε = 1000 close to it.
    yield (
        "pure to gdp, ε 1000",
        Case(lambda: spec([stated(value=1000), stated(notion="gdp", value=0)]), 88, 90, key="mu"),
    )
    yield (
        "pure to gdp, ε 10^900",
        Case(
            lambda: spec([stated(value="1e900"), stated(notion="gdp", value=0)]),
            power(10, 450),
            2 * power(10, 450),
            key="mu",
        ),
    )
    yield (
        "pure to zcdp, ε 10^900",
        Case(
            lambda: spec([stated(value="1e900"), stated(notion="zcdp", value=0)]),
            power(10, 900),
            key="rho",
        ),
    )


CASES = {**dict(deep()), **dict(wide()), **dict(numeric())}


@pytest.mark.parametrize("name", CASES)
def test_a_valid_spec_gets_a_right_answer(name: str, analyzed: Callable[[Text], Body]) -> None:
    case = CASES[name]
    found = analyzed(case.text())
    if found["status"] == "no-guarantee":
        assert case.least is None or case.maybe
        assert found["reasons"]
        return
    assert found["status"] == "ok", found["findings"]
    assert case.least is not None
    least, most = Fraction(case.least), Fraction(case.least if case.most is None else case.most)
    value = found["guarantee"][case.key]
    if value is None:  # beyond what a double can hold
        assert most > Fraction(sys.float_info.max)
    else:
        assert value >= least
        assert value <= float(most) * (1 + 1e-9) + 5e-324
    exact = found["guarantee"]["exact"].get(case.key)
    if exact is not None:
        assert least <= fraction(exact) <= most
    if case.delta is not None:
        assert case.delta <= found["guarantee"]["delta"] <= float(case.delta) * 1.001 + 5e-324


def fraction(text: str) -> Fraction:
    """A fraction of any length."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return Fraction(text)
    finally:
        sys.set_int_max_str_digits(limit)


# --- names ---------------------------------------------------------------------------------------

ODD = [
    "\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\x08\x7f", "\r", "\n", "\t", "\u202e", "\u200b",
    "\u2028", "\x85", "\ufeff", "[bold]x[/bold]", "[/]", "<b>&amp;", "::error::x", "%s{0}{{",
    "`$(x)`", "\\", "'\"", "#: - ? | > *a &b !c", "é" * 5, "*", " ", "name\u0000end",
]  # fmt: skip


def oddly_named(odd: str) -> str:
    """A spec in which every name starts with a text."""

    def name(text: str) -> str:
        return odd + text

    table, blocks, kinds = name("t"), name("d"), name("k")
    datasets = {
        table: {"unit": name("u")},
        blocks: {"from": table, "partition": parts("value", blocks=[name("b"), name("c")])},
        kinds: {
            "from": table,
            "partition": parts(
                "kinds", kinds={name("k"): [name("b"), name("c")], name("l"): [name("b")]}
            ),
        },
        name("g"): {"from": table, "map": {"kind": "group", "by": name("column")}},
    }
    reads = [f"{blocks}.*", f"{blocks}.{name('b')}", f"{kinds}.*", name("g")]
    mechanisms = [
        stated(each, relation="unbounded", name=name(str(n))) for n, each in enumerate(reads)
    ]
    mechanisms.append({"name": name("after"), "post_processes": [name("0")]})
    relations = {name("near"): {"within": "unbounded", "distance": 2}}
    return spec(mechanisms, datasets, name("near"), relations=relations, title=name("title"))


def test_names_are_text_and_never_reach_a_terminal_as_they_are(tmp_path: Path) -> None:
    texts: list[Text] = [oddly_named(odd) for odd in ODD]
    found = results(command(tmp_path, texts, "--format", "jsonl"))
    assert [each["guarantee"] and each["guarantee"]["epsilon"] for each in found] == [12] * len(ODD)
    for options in ((), ("--quiet",)):
        ran = command(tmp_path, texts, *options)
        shown = (ran.stdout + ran.stderr).decode()
        assert all(char == "\n" or char.isprintable() for char in shown)


def test_names_in_refusals_are_text(tmp_path: Path) -> None:
    texts: list[Text] = [
        spec([stated(reads=f"{odd}nowhere", name=odd, notion=f"{odd}pure")], {f"{odd}t": {odd: 1}})
        for odd in ODD
    ]
    for options in ((), ("--quiet",)):
        ran = command(tmp_path, texts, *options)
        assert ran.returncode == 3
        shown = (ran.stdout + ran.stderr).decode()
        assert all(char == "\n" or char.isprintable() for char in shown)


def test_very_long_names(tmp_path: Path) -> None:
    long = "n" * 9000
    texts: list[Text] = [
        spec([stated("t", name=f"{long}{n}") for n in range(1000)], title=long * 100),
        spec([stated(f"{long}{n}", name=f"{long}{n}") for n in range(1000)]),
        spec([stated(long * 2)], {long * 2: {}}),
    ]
    found = results(command(tmp_path, texts, "--format", "jsonl"))
    assert [each["status"] for each in found] == ["ok", "invalid", "invalid"]
