"""Hostile specs under 1 MB, as text: a name says what grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MANY = 1_000_000_000
REPORT = "report: {delta: 1e-6}\n"
BOTH = "sensitivity: {unbounded: 1, bounded: 1}"
LAPLACE, GAUSSIAN = f"mechanism: laplace, {BOTH}", f"mechanism: gaussian, {BOTH}"
GEOMETRIC, DISCRETE = f"mechanism: geometric, {BOTH}", f"mechanism: discrete-gaussian, {BOTH}"
EXPONENTIAL, RANDOMIZED = f"mechanism: exponential, {BOTH}", "mechanism: randomized-response"


def spec(
    rows: Iterable[str], datasets: str = "  r: {}\n", protect: str = "unbounded", end: str = REPORT
) -> str:
    """Mechanisms, which read the root `r` where they say nothing, after datasets."""
    written = "".join(
        f"  - {{name: m{i}, {'' if 'reads:' in row else 'reads: r, '}{row}}}\n"
        for i, row in enumerate(rows)
    )
    return f"dpcompose: 1\nprotect: {protect}\ndatasets:\n{datasets}mechanisms:\n{written}{end}"


def samples(rates: Iterable[str]) -> str:
    """Poisson samples `s0`, `s1`, … of a root."""
    return "  r: {}\n" + "".join(
        f"  s{i}: {{from: r, map: {{kind: sample, poisson: {rate}}}}}\n"
        for i, rate in enumerate(rates)
    )


def huge_counts(*mechanisms: str, protect: str = "unbounded") -> str:
    """Each of these 10⁹ times, at a δ."""
    return spec([f"count: {MANY}, {each}" for each in mechanisms], protect=protect)


def many_deltas(number: int, mechanisms: int, kind: Callable[[int], str]) -> str:
    """As many δ's and mechanisms as that."""
    deltas = ", ".join(f"1e-{i + 1}" for i in range(number))
    return spec(map(kind, range(mechanisms)), end=f"report: {{delta: [{deltas}]}}\n")


def laplace(i: int) -> str:
    return f"{LAPLACE}, scale: {10 + i}/7"


def gaussian(i: int) -> str:
    return f"{GAUSSIAN}, sigma: {100 + i}/7"


def mixed(i: int) -> str:
    """One of eight notions and mechanisms, each with a number of its own."""
    n = 1000 + i
    return (
        f"notion: pure, epsilon: {n}/100003",
        laplace(i),
        gaussian(i),
        f"notion: zcdp, rho: {n}/1000003",
        f"{GEOMETRIC}, scale: {n}/70",
        f"notion: approx, epsilon: {n}/100003, delta: 1e-{9 + i % 5}",
        f"{DISCRETE}, sigma: {n}/70",
        f"{EXPONENTIAL}, epsilon: {n}/100003",
    )[i % 8]


def comments(number: int, text: str = "ignore[DPC204] known") -> str:
    """So many comments to ignore findings."""
    rows = (f"notion: pure, epsilon: 0.00{i + 1}" for i in range(9))
    return spec(rows) + f"# dpcompose: {text}\n" * number


def commented_rows(number: int) -> str:
    """So many findings, each ignored by a comment of its own."""
    text = spec(
        ["notion: pure, epsilon: 0"] * number,
        end="",
    )
    return text.replace("epsilon: 0}", "epsilon: 0} # dpcompose: ignore[DPC204, DPC207] known")


def profiles(number: int, points: int, report: str = REPORT) -> str:
    """So many profiles of so many points, no two alike."""
    rows = []
    for i in range(number):
        listed = ", ".join(f"[{k}/{100 + i}, 1/{10**6 + k**4 + i}]" for k in range(1, points + 1))
        rows.append(f"notion: profile, points: [{listed}]")
    return spec(rows, end=report)


def rdp(number: int, orders: int) -> str:
    """So many Rényi curves of so many orders, no two alike."""
    rows = []
    for i in range(number):
        listed = ", ".join(f"[{k + 1}.{i:03}, {k + 1}/{1000 + i}]" for k in range(1, orders + 1))
        rows.append(f"notion: rdp, points: [{listed}]")
    return spec(rows)


def phases(number: int, protect: str = "unbounded", base: str = GAUSSIAN) -> str:
    """Unlike Poisson-sampled noisy phases, as in training."""
    rows = [
        f"reads: s{i}, count: {100 + i}, {base}, "
        f"{'sigma' if 'gauss' in base else 'scale'}: {10 + i}/9"
        for i in range(number)
    ]
    return spec(rows, samples(f"{i + 1}/{10 * number}" for i in range(number)), protect)


def rare(steps: Iterable[tuple[str, str, int]], protect: str = "unbounded") -> str:
    """Poisson-sampled Gaussians, by rate, σ and count, at a δ of 1e-30."""
    each = list(steps)
    rows = [
        f"reads: s{i}, count: {count}, {GAUSSIAN}, sigma: {sigma}"
        for i, (_, sigma, count) in enumerate(each)
    ]
    return spec(rows, samples(q for q, _, _ in each), protect, "report: {delta: 1e-30}\n")


def stated_below_samples(number: int, protect: str = "unbounded") -> str:
    """As many unlike samples of pure mechanisms."""
    rows = [
        f"reads: s{i}, count: {100 + i}, notion: pure, epsilon: {10 + i}/99" for i in range(number)
    ]
    return spec(rows, samples(f"{i + 1}/{10 * number}" for i in range(number)), protect)


def sampled_blocks(rates: Iterable[str], how: str, protect: str = "bounded") -> str:
    """A partition, and below each block a Poisson sample of its own and another sort of noise."""
    each = list(rates)
    noises = (
        f"{LAPLACE}, scale",
        f"{GAUSSIAN}, sigma",
        f"{GEOMETRIC}, scale",
        f"{DISCRETE}, sigma",
        "relation: unbounded, notion: pure, epsilon",
    )
    datasets = f"  r: {{}}\n  p: {{from: r, partition: {{{how}, blocks: {len(each)}}}}}\n"
    datasets += "".join(
        f"  s{i}: {{from: p.{i}, map: {{kind: sample, poisson: {rate}}}}}\n"
        for i, rate in enumerate(each)
    )
    rows = (f"reads: s{i}, {noises[i % len(noises)]}: {i + 5}/9" for i in range(len(each)))
    return spec(rows, datasets, protect)


def pairs_below_samples(number: int, protect: str, capped: int = 0) -> str:
    """(ε, δ) statements in turn below two samples and a filter; of a capped unit, if that is so."""
    root = f"{{unit: u}}\n  c: {{from: r, map: {{kind: cap, rows: {capped}, keep: first}}}}"
    above = "c" if capped else "r"
    datasets = (
        f"  r: {root if capped else '{}'}\n  f: {{from: {above}, map: filter}}\n"
        "  s: {from: f, map: {kind: sample, poisson: 0.3}}\n"
        f"  t: {{from: {above}, map: {{kind: sample, poisson: 0.1}}}}\n"
    )
    rows = (
        f"reads: {'stf'[i % 3]}, notion: approx, epsilon: {i + 2}/10, delta: {i + 1}e-10, "
        "relation: unbounded"
        for i in range(number)
    )
    return spec(rows, datasets, protect)


def one_hot(noise: str, steps: int) -> str:
    """A histogram of what an inexact flatten makes of rows that are replaced."""
    datasets = "  r: {}\n  f: {from: r, map: {kind: flatten, max_rows: 2, exact: false}}\n"
    rows = [f"reads: f, mechanism: {noise}, sensitivity: {{one_hot: 1}}"]
    return spec(rows, datasets, f"{{relation: bounded, distance: {steps}}}")


def membership(blocks: int, most: int, each: Callable[[int], str], protect: str, end: str) -> str:
    """A mechanism of its own on each block of a partition by membership."""
    datasets = (
        f"  r: {{}}\n  p: {{from: r, partition: {{by: membership, blocks: {blocks}, "
        f"max_blocks: {most}}}}}\n"
    )
    return spec((f"reads: p.{i}, {each(i)}" for i in range(blocks)), datasets, protect, end)


def capped(rows: int, each: Callable[[int], str], number: int = 3, protect: str = "user") -> str:
    """A cap of so many rows per unit, and mechanisms below it stated for one row, at a δ."""
    datasets = (
        f"  r: {{unit: u}}\n  c: {{from: r, map: {{kind: cap, rows: {rows}, keep: first}}}}\n"
    )
    said = map(each, range(number))
    stated = (row if "sensitivity" in row else f"relation: unbounded, {row}" for row in said)
    return spec((f"reads: c, {row}" for row in stated), datasets, protect)


def partitions(number: int, blocks: int, each: Callable[[int], str], protect: str) -> str:
    """So many partitions of one table with mechanisms of mixed notions on each block."""
    datasets = "  r: {}\n" + "".join(
        f"  p{j}: {{from: r, partition: {{by: value, blocks: {blocks}}}}}\n" for j in range(number)
    )
    rows = (
        f"reads: p{j}.{b}, {each(j * blocks + b)}" for j in range(number) for b in range(blocks)
    )
    return spec(rows, datasets, protect)


def chain(length: int, kind: str, protect: str = "bounded", end: str = REPORT) -> str:
    """A chain of maps, mechanisms at both ends and in the middle."""
    datasets = "  d0: {}\n" + "".join(
        f"  d{i}: {{from: d{i - 1}, map: {kind}}}\n" for i in range(1, length + 1)
    )
    rows = [
        f"reads: d{place}, notion: pure, epsilon: 1, relation: unbounded"
        for place in (0, length // 2, length)
    ]
    return spec(rows, datasets, protect, end)


def roots(number: int, protect: str, disjoint: str = "", each: Callable[[int], str] = mixed) -> str:
    """So many roots, with a mechanism on each."""
    text = spec(
        (f"reads: r{i}, {each(i)}" for i in range(number)),
        "".join(f"  r{i}: {{}}\n" for i in range(number)),
        protect,
    )
    return text.replace("datasets:", f"{disjoint}datasets:", 1)


def kinds(number: int, each: int, protect: str, row: Callable[[int], str]) -> str:
    """A partition by so many kinds, each in some of as many blocks."""
    written = "; ".join(
        f"k{i}: [" + ", ".join(f"b{(i * 7 + j * j) % number}" for j in range(each)) + "]"
        for i in range(number)
    ).replace(";", ",")
    datasets = f"  r: {{}}\n  p: {{from: r, partition: {{by: kinds, kinds: {{{written}}}}}}}\n"
    return spec((f"reads: p.b{i}, {row(i)}" for i in range(number)), datasets, protect)


def adversary(blocks: int, parts: int, delta: str = "0") -> str:
    """Two hypotheses of so many parts about who is in which of so many blocks."""

    def side(shift: int) -> str:
        listed = ", ".join(
            f"{{blocks: [{', '.join(str((i * 3 + j * j + shift) % blocks) for j in range(5))}], "
            f"weight: 1/{parts}}}"
            for i in range(parts)
        )
        return f"[{listed}]"

    datasets = (
        f"  r: {{}}\n  p: {{from: r, partition: {{by: membership, blocks: {blocks}, "
        f"max_blocks: {blocks}}}}}\n"
    )
    notion = "approx, delta: 1e-9" if delta != "0" else "pure"
    rows = (f"reads: p.{i}, notion: {notion}, epsilon: {i + 1}/1000" for i in range(blocks))
    end = f"adversary: {{hypotheses: [{side(0)}, {side(1)}]}}\n"
    return spec(rows, datasets, end=end)


def uniform(blocks: int, each: Callable[[int], str], hypotheses: str = "none-vs-uniform") -> str:
    """An adversary whose person is in some blocks, all equally likely."""
    datasets = (
        f"  r: {{}}\n  p: {{from: r, partition: {{by: membership, blocks: {blocks}, "
        f"max_blocks: {blocks}}}}}\n"
    )
    rows = (f"reads: p.{i}, {each(i)}" for i in range(blocks))
    return spec(rows, datasets, end=f"adversary: {{hypotheses: {hypotheses}}}\n")


def guarantees(number: int, each: Callable[[int], str], mechanisms: int = 1) -> str:
    """So many guarantees of one mechanism, at a δ."""
    said = "".join(f"      - {{{each(i)}}}\n" for i in range(number))
    rows = "".join(
        f"  - name: m{i}\n    reads: r\n    guarantees:\n{said}" for i in range(mechanisms)
    )
    return f"dpcompose: 1\nprotect: unbounded\ndatasets: {{r: {{}}}}\nmechanisms:\n{rows}{REPORT}"


def pure(i: int) -> str:
    return f"notion: pure, epsilon: {i + 1}/100003"


def approx(i: int) -> str:
    return f"notion: approx, epsilon: {i + 1}/100003, delta: 1/{10**9 + 7 * i}"


def zcdp(i: int) -> str:
    return f"notion: zcdp, rho: {i + 1}/1000003"


def gdp(i: int) -> str:
    return f"notion: gdp, mu: {i + 1}/100003"


def constants(number: int, form: str) -> str:
    """A chain of constants, each made of the one before."""
    listed = "".join(f"  c{i}: {form.format(f'c{i - 1}') if i else '1/3'}\n" for i in range(number))
    return spec([f"notion: pure, epsilon: c{number - 1}/c{number - 1}"]).replace(
        "datasets:", f"constants:\n{listed}datasets:", 1
    )


def relations(number: int) -> str:
    """Declared relations, each with mechanisms of its own."""
    listed = "".join(
        f"  x{i}: {{within: {'unbounded' if i % 2 else 'bounded'}, distance: {i + 1}}}\n"
        for i in range(number)
    )
    rows = (f"relation: x{i}, {mixed(0)}" for i in range(number))
    return spec(rows, protect=f"{{relation: x{number - 1}, distance: 3}}").replace(
        "datasets:", f"relations:\n{listed}datasets:", 1
    )


def groups(number: int, steps: int, each: Callable[[int], str]) -> str:
    """Mechanisms at a group distance, at a δ."""
    return spec(map(each, range(number)), protect=f"{{relation: unbounded, distance: {steps}}}")


def nested(depth: int, protect: str) -> str:
    """Partitions within partitions, a mechanism on each level."""
    datasets = "  p0: {}\n  p1: {from: p0, partition: {by: value, blocks: [a, b]}}\n" + "".join(
        f"  p{i}: {{from: p{i - 1}.a, partition: {{by: value, blocks: [a, b]}}}}\n"
        for i in range(2, depth + 1)
    )
    return spec((f"reads: p{i}.b, {mixed(i)}" for i in range(1, depth + 1)), datasets, protect)
