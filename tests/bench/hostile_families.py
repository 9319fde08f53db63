"""What is hostile, by name: a command, and the spec that it is run on."""

from __future__ import annotations

from collections.abc import Callable

from hostile_specs import (
    DISCRETE,
    EXPONENTIAL,
    GAUSSIAN,
    GEOMETRIC,
    LAPLACE,
    MANY,
    RANDOMIZED,
    REPORT,
    adversary,
    approx,
    capped,
    chain,
    commented_rows,
    comments,
    constants,
    gaussian,
    gdp,
    groups,
    guarantees,
    huge_counts,
    kinds,
    laplace,
    many_deltas,
    membership,
    mixed,
    nested,
    one_hot,
    pairs_below_samples,
    partitions,
    phases,
    profiles,
    pure,
    rare,
    rdp,
    relations,
    roots,
    sampled_blocks,
    samples,
    spec,
    stated_below_samples,
    uniform,
    zcdp,
)

Family = tuple[tuple[str, ...], Callable[[], str]]
A = ("analyze",)

FAMILIES: dict[str, Family] = {
    "four notions with counts of 10^9": (
        A,
        lambda: huge_counts(
            "notion: pure, epsilon: 0.1",
            "notion: zcdp, rho: 0.1",
            f"{LAPLACE}, scale: 3",
            f"{GAUSSIAN}, sigma: 2",
        ),
    ),
    "four notions with counts of 10^9, pure approx rdp gdp": (
        A,
        lambda: huge_counts(
            "notion: pure, epsilon: 0.1",
            "notion: approx, epsilon: 0.1, delta: 1e-12",
            "notion: rdp, alpha: 3, epsilon: 0.1",
            "notion: gdp, mu: 0.2",
        ),
    ),
    "10^9 of pure": (A, lambda: huge_counts("notion: pure, epsilon: 0.1")),
    "10^9 of pure minute": (A, lambda: huge_counts("notion: pure, epsilon: 1e-9")),
    "10^9 of pure 1e-4": (A, lambda: huge_counts("notion: pure, epsilon: 1e-4")),
    "10^9 of approx": (A, lambda: huge_counts("notion: approx, epsilon: 1e-4, delta: 1e-20")),
    "10^9 of laplace": (A, lambda: huge_counts(f"{LAPLACE}, scale: 3")),
    "10^9 of laplace wide": (A, lambda: huge_counts(f"{LAPLACE}, scale: 1e5")),
    "10^9 of geometric": (A, lambda: huge_counts(f"{GEOMETRIC}, scale: 30000")),
    "10^9 of discrete gaussian": (A, lambda: huge_counts(f"{DISCRETE}, sigma: 30000")),
    "10^9 of discrete gaussian 3": (A, lambda: huge_counts(f"{DISCRETE}, sigma: 3")),
    "10^9 of exponential": (A, lambda: huge_counts(f"{EXPONENTIAL}, epsilon: 1e-4")),
    "10^9 of randomized response": (A, lambda: huge_counts(f"{RANDOMIZED}, epsilon: 1e-4, k: 5")),
    "10^9 of rdp": (A, lambda: huge_counts("notion: rdp, points: [[2, 1e-8], [3, 2e-8]]")),
    "10^9 of profile": (A, lambda: huge_counts("notion: profile, points: [[1e-5, 0], [0, 1e-6]]")),
    "10^9 of profile 2": (
        A,
        lambda: huge_counts("notion: profile, points: [[1, 1e-20], [0.1, 1e-10]]"),
    ),
    "two pure with counts of 10^9": (
        A,
        lambda: huge_counts("notion: pure, epsilon: 1e-5", "notion: pure, epsilon: 1/70001"),
    ),
    "pure and gaussian with counts of 10^9": (
        A,
        lambda: huge_counts("notion: pure, epsilon: 1e-5", f"{GAUSSIAN}, sigma: 20000"),
    ),
    "10^9 of sampled gaussian": (
        A,
        lambda: spec([f"reads: s0, count: {MANY}, {GAUSSIAN}, sigma: 10"], samples(["1e-6"])),
    ),
    "10^9 of sampled laplace": (
        A,
        lambda: spec([f"reads: s0, count: {MANY}, {LAPLACE}, scale: 10"], samples(["1e-6"])),
    ),
    "10^9 of sampled pure, a row replaced": (
        A,
        lambda: spec(
            [f"reads: s0, count: {MANY}, notion: pure, epsilon: 0.1"],
            samples(["1e-6"]),
            "bounded",
        ),
    ),
    "99 deltas, 30 laplace": (A, lambda: many_deltas(99, 30, laplace)),
    "99 deltas, 30 mixed": (A, lambda: many_deltas(99, 30, mixed)),
    "99 deltas, 300 pure": (A, lambda: many_deltas(99, 300, pure)),
    "99 deltas, 1000 gaussian": (A, lambda: many_deltas(99, 1000, gaussian)),
    "99 deltas, 100 zcdp and rdp": (
        A,
        lambda: many_deltas(
            99, 100, lambda i: zcdp(i) if i % 2 else f"notion: rdp, alpha: 3, epsilon: 1/{i + 7}"
        ),
    ),
    "99 deltas, 10 phases": (
        A,
        lambda: phases(10).replace(
            REPORT, f"report: {{delta: [{', '.join(f'1e-{i + 1}' for i in range(99))}]}}\n"
        ),
    ),
    "100 deltas and 100 epsilons, 30 mixed": (
        A,
        lambda: many_deltas(99, 30, mixed).replace(
            "report: {", f"report: {{epsilon: [{', '.join(f'{i + 1}/50' for i in range(100))}], "
        ),
    ),
    "10 000 comments to ignore": (A, lambda: comments(10_000)),
    "20 000 comments to ignore": (A, lambda: comments(20_000)),
    "20 000 comments that are not understood": (A, lambda: comments(30_000, "nothing")),
    "8 000 findings, each with a comment": (A, lambda: commented_rows(8_000)),
    "6 000 distinct approx": (A, lambda: spec(map(approx, range(6_000)))),
    "10 000 distinct approx": (A, lambda: spec(map(approx, range(10_000)))),
    "10 000 distinct approx, no delta": (A, lambda: spec(map(approx, range(10_000)), end="")),
    "12 000 distinct pure": (A, lambda: spec(map(pure, range(12_000)))),
    "2 000 distinct pure over two steps": (
        A,
        lambda: spec((f"{pure(i)}, relation: unbounded" for i in range(2_000)), protect="bounded"),
    ),
    "12 000 distinct gdp": (A, lambda: spec(map(gdp, range(12_000)))),
    "12 000 distinct zcdp": (A, lambda: spec(map(zcdp, range(12_000)))),
    "8 000 distinct gaussian": (A, lambda: spec(map(gaussian, range(8_000)))),
    "8 000 distinct laplace": (A, lambda: spec(map(laplace, range(8_000)))),
    "1 000 distinct geometric": (
        A,
        lambda: spec(f"{GEOMETRIC}, scale: {i + 100}/7" for i in range(1000)),
    ),
    "1 000 distinct discrete gaussian": (
        A,
        lambda: spec(f"{DISCRETE}, sigma: {i + 100}/7" for i in range(1000)),
    ),
    "1 000 distinct exponential": (
        A,
        lambda: spec(f"{EXPONENTIAL}, epsilon: {i + 100}/9999" for i in range(1000)),
    ),
    "1 000 distinct randomized response": (
        A,
        lambda: spec(f"{RANDOMIZED}, epsilon: {i + 100}/9999, k: {i % 9 + 2}" for i in range(1000)),
    ),
    "6 000 mixed": (A, lambda: spec(map(mixed, range(6_000)))),
    "6 000 mixed, bounded": (A, lambda: spec(map(mixed, range(6_000)), protect="bounded")),
    "4 000 approx with long numbers": (
        A,
        lambda: spec(
            f"notion: approx, epsilon: 1/{(2 * i + 10007) ** 5}, delta: 1/{(2 * i + 10007) ** 6}"
            for i in range(4000)
        ),
    ),
    "40 profiles of 600 points": (A, lambda: profiles(40, 600)),
    "60 profiles of 900 points": (A, lambda: profiles(60, 900)),
    "50 rdp of 900 orders": (A, lambda: rdp(50, 900)),
    "100 phases": (A, lambda: phases(100)),
    "1 000 phases": (A, lambda: phases(1_000)),
    "100 phases of laplace": (A, lambda: phases(100, base=LAPLACE)),
    "3 phases with tiny rates at a tiny delta": (
        A,
        lambda: rare([("1e-5", "1/2", 1000), ("2e-6", "0.7", 1000), ("3e-4", "1.1", 1000)]),
    ),
    "1e5 steps with a tiny rate at a tiny delta": (A, lambda: rare([("1e-5", "1/2", 10**5)])),
    "1 000 steps of two rows replaced": (
        A,
        lambda: rare([("0.01", "1.1", 1000)], "{relation: bounded, distance: 2}"),
    ),
    "20 phases, bounded": (A, lambda: phases(20, "bounded")),
    "300 stated below samples": (A, lambda: stated_below_samples(300)),
    "30 stated below samples, bounded": (A, lambda: stated_below_samples(30, "bounded")),
    "10 unlike sampled blocks": (
        A,
        lambda: sampled_blocks((f"{i + 1}/20" for i in range(10)), "by: value"),
    ),
    "30 unlike sampled blocks": (
        A,
        lambda: sampled_blocks((f"{i + 1}/40" for i in range(30)), "by: value"),
    ),
    "3 unlike sampled blocks, a row in two": (
        A,
        lambda: sampled_blocks((".3", ".01", ".8"), "by: membership, max_blocks: 2"),
    ),
    "2 unlike sampled noises, two rows": (
        A,
        lambda: spec(
            (f"reads: s0, {DISCRETE}, sigma: {i + 5}/5" for i in range(2)),
            samples(["1/10"]),
            "{relation: bounded, distance: 2}",
        ),
    ),
    "3 approx below samples, three rows": (
        A,
        lambda: pairs_below_samples(3, "{relation: bounded, distance: 3}"),
    ),
    "6 approx below samples, users of four rows": (
        A,
        lambda: pairs_below_samples(6, "user", 4),
    ),
    "one-hot laplace, three rows": (A, lambda: one_hot("laplace, scale: 2", 3)),
    "one-hot discrete gaussian, three rows": (
        A,
        lambda: one_hot("discrete-gaussian, sigma: 2", 3),
    ),
    "membership 5 000 unlike rho": (
        A,
        lambda: membership(5000, 1000, lambda i: f"{zcdp(i)}, relation: unbounded", "bounded", ""),
    ),
    "membership 5 000 unlike rho at delta": (
        A,
        lambda: membership(
            5000, 1000, lambda i: f"{zcdp(i)}, relation: unbounded", "bounded", REPORT
        ),
    ),
    "membership 5 000 unlike pure": (
        A,
        lambda: membership(5000, 1000, pure, "unbounded", REPORT),
    ),
    "membership 2 000 mixed": (A, lambda: membership(2000, 100, mixed, "unbounded", REPORT)),
    "membership 2 000 approx": (
        A,
        lambda: membership(
            2000, 100, lambda i: f"{approx(i)}, relation: unbounded", "bounded", REPORT
        ),
    ),
    "cap of 1 000 rows, pure": (A, lambda: capped(1000, pure)),
    "cap of 1 000 rows, mixed": (A, lambda: capped(1000, mixed, 8)),
    "cap of 10^9 rows, approx": (A, lambda: capped(MANY, approx)),
    "cap of 1 000 rows, laplace": (A, lambda: capped(1000, laplace, 20)),
    "200 partitions of 10, mixed": (A, lambda: partitions(200, 10, mixed, "unbounded")),
    "200 partitions of 10, mixed, bounded": (A, lambda: partitions(200, 10, mixed, "bounded")),
    "10 partitions of 200, mixed": (A, lambda: partitions(10, 200, mixed, "unbounded")),
    "2 000 partitions of 2, approx": (A, lambda: partitions(2000, 2, approx, "unbounded")),
    "15 000 filters": (A, lambda: chain(15_000, "filter")),
    "15 000 flattens": (A, lambda: chain(15_000, "{kind: flatten, max_rows: 2}")),
    "10 000 flattens of 10^9": (
        A,
        lambda: chain(10_000, f"{{kind: flatten, max_rows: {MANY}}}"),
    ),
    "5 000 groups": (A, lambda: chain(5_000, "{kind: group, by: a}")),
    "5 000 limits": (
        A,
        lambda: chain(5_000, "{kind: limit, per: b, rows: 2, keep: first}"),
    ),
    "5 000 samples in a row": (A, lambda: chain(5_000, "{kind: sample, poisson: 9/10}")),
    "5 000 roots": (A, lambda: roots(5_000, "unbounded")),
    "5 000 disjoint roots": (A, lambda: roots(5_000, "unbounded", "roots: disjoint\n")),
    "5 000 disjoint roots, bounded": (A, lambda: roots(5_000, "bounded", "roots: disjoint\n")),
    "2 000 kinds of 10": (A, lambda: kinds(2_000, 10, "unbounded", mixed)),
    "2 000 kinds of 10, bounded": (
        A,
        lambda: kinds(2_000, 10, "bounded", lambda i: f"{zcdp(i)}, relation: unbounded"),
    ),
    "2 000 kinds of 10, bounded mixed": (
        A,
        lambda: kinds(
            2_000,
            10,
            "bounded",
            lambda i: f"{mixed(i)}, relation: unbounded" if "mech" not in mixed(i) else mixed(i),
        ),
    ),
    "adversary, 300 parts": (A, lambda: adversary(100, 300)),
    "adversary, 30 parts approx": (A, lambda: adversary(30, 30, "1")),
    "adversary uniform 5 000": (A, lambda: uniform(5_000, pure)),
    "adversary uniform 1 000 approx": (A, lambda: uniform(1_000, approx)),
    "adversary exactly": (
        A,
        lambda: uniform(3_000, pure, "[none, {exactly: 1000}]"),
    ),
    "adversary at least": (
        A,
        lambda: uniform(3_000, pure, "[{at_most: 500}, {at_least: 1000}]"),
    ),
    "adversary 400 sizes": (
        A,
        lambda: uniform(
            1_000,
            pure,
            "[none, ["
            + ", ".join(f"{{exactly: {i + 1}, weight: 1/400}}" for i in range(400))
            + "]]",
        ),
    ),
    "8 000 guarantees of one": (A, lambda: guarantees(8_000, approx)),
    "30 mechanisms with 300 guarantees": (A, lambda: guarantees(300, approx, 30)),
    "30 mechanisms with 300 mixed guarantees": (
        A,
        lambda: guarantees(300, lambda i: (pure, approx, zcdp, gdp)[i % 4](i), 30),
    ),
    "groups of 1 000, mixed": (A, lambda: groups(8, 1000, mixed)),
    "groups of 10^9, approx": (A, lambda: groups(30, MANY, approx)),
    "groups of 3, 300 approx": (A, lambda: groups(300, 3, approx)),
    "15 000 constants in a chain": (A, lambda: constants(15_000, "{} + 1")),
    "500 constants squared": (A, lambda: constants(500, "{0} * {0}")),
    "one long sum": (
        A,
        lambda: spec(["notion: pure, epsilon: " + "+".join(f"1/{i + 1}" for i in range(100_000))]),
    ),
    "one deep sum": (
        A,
        lambda: spec([f"notion: pure, epsilon: {'(' * 100_000}1{')' * 100_000}"]),
    ),
    "one long product": (
        A,
        lambda: spec(["notion: pure, epsilon: " + "*".join("1e999" for i in range(100_000))]),
    ),
    "one long quoted number": (A, lambda: spec([f'notion: pure, epsilon: "0.{"1" * 900_000}"'])),
    "1 000 relations": (A, lambda: relations(1_000)),
    "400 nested partitions, mixed": (A, lambda: nested(400, "unbounded")),
    "400 nested partitions, mixed, bounded": (A, lambda: nested(400, "bounded")),
    "a long title": (A, lambda: spec([pure(0)]).replace("\n", f'\ntitle: "{"x" * 900_000}"\n', 1)),
    "15 000 unknown keys": (
        A,
        lambda: spec([pure(0)]) + "".join(f"key{i}: 1\n" for i in range(60_000)),
    ),
    "60 000 duplicate keys": (A, lambda: spec([pure(0)]) + "title: a\n" * 60_000),
    "15 000 unknown datasets": (
        A,
        lambda: spec(f"reads: nowhere{i}, {pure(i)}" for i in range(12_000)),
    ),
    "15 000 alike unknown datasets": (
        A,
        lambda: spec(
            (f"reads: {'d' * 30}{i}x, {pure(i)}" for i in range(5_000)),
            "".join(f"  {'d' * 30}{i}: {{}}\n" for i in range(5_000)),
        ),
    ),
    "12 000 names used twice": (
        A,
        lambda: spec([pure(0)] * 12_000).replace("name: m1", "name: m2"),
    ),
    "12 000 constants that are unknown": (
        A,
        lambda: spec(f"notion: pure, epsilon: c{i}" for i in range(12_000)),
    ),
    "10 000 post-processings": (
        A,
        lambda: (
            spec([pure(0)], end="")
            + "".join(
                f"  - {{name: x{i}, post_processes: [{f'x{i - 1}' if i else 'm0'}]}}\n"
                for i in range(10_000)
            )
        ),
    ),
    "8 000 documents": (A, lambda: "---\n".join([spec([pure(0)])] * 300)),
    **{
        f"fit {name}": (("fit", "--epsilon", "3", "--delta", "1e-6"), text)
        for name, text in {
            "30 laplace": lambda: spec(map(laplace, range(30))),
            "100 mixed": lambda: spec(map(mixed, range(100))),
            "10 phases": lambda: phases(10),
            "one phase": lambda: phases(1),
            "3 000 pure": lambda: spec(map(pure, range(3_000))),
            "1 000 approx": lambda: spec(map(approx, range(1_000))),
            "20 profiles of 100": lambda: profiles(20, 100),
        }.items()
    },
    "fit 3 000 pure without delta": (
        ("fit", "--epsilon", "3"),
        lambda: spec(map(pure, range(3_000)), end=""),
    ),
    **{
        f"sensitivity {name}": (("sensitivity", "--delta", "1e-6"), text)
        for name, text in {
            "100 laplace": lambda: spec(map(laplace, range(100))),
            "100 mixed": lambda: spec(map(mixed, range(100))),
            "100 gaussian": lambda: spec(map(gaussian, range(100))),
            "100 geometric": lambda: spec(f"{GEOMETRIC}, scale: {1000 + i}/70" for i in range(100)),
            "100 discrete gaussian": lambda: spec(
                f"{DISCRETE}, sigma: {1000 + i}/70" for i in range(100)
            ),
            "100 exponential": lambda: spec(
                f"{EXPONENTIAL}, epsilon: {1000 + i}/100003" for i in range(100)
            ),
            "100 randomized response": lambda: spec(
                (f"{RANDOMIZED}, epsilon: {1000 + i}/9999, k: {i % 9 + 2}" for i in range(100)),
                protect="bounded",
            ),
            "100 pure": lambda: spec(
                f"notion: pure, epsilon: {1000 + i}/100003" for i in range(100)
            ),
            "100 pure, a row replaced": lambda: spec(
                (f"{pure(1000 + i)}, relation: unbounded" for i in range(100)), protect="bounded"
            ),
            "100 approx": lambda: spec(approx(1000 + i) for i in range(100)),
            "100 laplace, a row replaced": lambda: spec(
                map(laplace, range(100)), protect="bounded"
            ),
            "100 mixed over partitions": lambda: partitions(10, 10, mixed, "unbounded"),
            "100 laplace over partitions": lambda: partitions(10, 10, laplace, "unbounded"),
            "100 approx over partitions": lambda: partitions(
                10, 10, lambda i: approx(1000 + i), "unbounded"
            ),
            "30 phases": lambda: phases(30),
            "10 phases": lambda: phases(10),
            "3 000 pure": lambda: spec(map(pure, range(3_000))),
            "1 000 approx": lambda: spec(map(approx, range(1_000))),
        }.items()
    },
    "sensitivity 3 000 pure without delta": (
        ("sensitivity",),
        lambda: spec(map(pure, range(3_000)), end=""),
    ),
    "total of 6 000 approx": (
        ("total", "--epsilon", "3", "--delta", "1e-6"),
        lambda: spec(map(approx, range(6_000))).replace("protect", "population: x\nprotect", 1),
    ),
    "total of 300 mixed": (
        ("total", "--epsilon", "3", "--delta", "1e-6"),
        lambda: spec(map(mixed, range(300))).replace("protect", "population: x\nprotect", 1),
    ),
}
