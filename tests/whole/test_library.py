"""The library of specs: what each says of itself, its index, and real budgets by another way."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LIBRARY
from mpmath import mp, mpf
from reference import curves
from reference.lattice import exact
from tables import tables
from volume import thinned

from dpcompose.curves.rounding.exact import decimal_up
from dpcompose.pipeline import analyze
from dpcompose.places import FOLDERS, examples

INDEX = Path(__file__).parents[2] / "specs" / "README.md"
REAL = [name for name, path in LIBRARY.items() if path.parent.name in ("deployments", "audits")]
CHECKED = tables(__file__)["real budgets"]

#: The last line of a spec: what `analyze` says. `<=`: rounded up to the digits that are there.
EXPECT = re.compile(
    r"# expect: (?:(?P<none>no-guarantee)"
    r"|epsilon (?P<at>[0-9.]+) at delta (?P<chosen>[0-9./e-]+)"
    r"|(?P<symbol>epsilon|rho|mu) (?P<up><= )?(?P<value>[0-9./]+)(?:, delta (?P<delta>[0-9./e-]+))?"
    r", (?P<theorem>[IVA]+\.[0-9]+|[a-z0-9-]+|as stated)(?:; adversary (?P<adversary>[0-9.]+))?"
    r"(?:; hits (?P<hits>[0-9.]+) at (?P<alarms>[0-9.]+) false alarms)?(?P<over>; over budget)?)"
)
ABOUT = """
What each spec of this folder is about, and the bound that `dpcompose analyze` gives. `dpcompose
examples NAME` prints one, and `dpcompose init --from NAME` writes a copy to start from. Of real
releases there are also what was published, and where; the comment of each spec says where the two
differ, and why. [ledger-2026](ledger-2026) is a ledger of three releases.

Written by `pytest tests/whole/test_library.py --rewrite-golden`.
"""
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}

specs = pytest.mark.parametrize("path", LIBRARY.values(), ids=LIBRARY)


def expected_of(path: Path) -> re.Match[str]:
    found = EXPECT.fullmatch(path.read_text(encoding="utf-8").splitlines()[-1])
    assert found is not None, f"{path.name} does not end with what to expect"
    return found


def rounded(found: Fraction, like: str) -> str:
    """A number in as many significant digits as another has, rounded up."""
    digits = re.sub(r"e.*", "", like).replace(".", "").lstrip("0")
    return decimal_up(found, len(digits))


# --- what a spec says of itself ------------------------------------------------------------------


@specs
def test_spec_explains_itself(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# yaml-language-server: $schema=../spec.schema.json"
    comment = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    assert len(comment) >= 5
    assert expected_of(path)
    assert max(map(len, lines)) <= 100


@pytest.mark.slow
@specs
def test_spec_gets_what_it_expects(path: Path) -> None:
    expected = expected_of(path)
    report = analyze(path.read_text(encoding="utf-8"), path.name)
    if expected["none"]:
        assert report.status == "no-guarantee"
        return
    assert report.verdict is not None and report.verdict.ok != bool(expected["over"])
    if expected["at"]:
        at = next(at for at in report.at_delta if at.given == Fraction(expected["chosen"]))
        assert at.value is not None and rounded(at.value, expected["at"]) == expected["at"]
        return
    assert report.status in ("ok", "over-budget") and report.bound is not None
    assert report.bound.notion.facts.symbol == expected["symbol"]
    if report.record is not None:
        assert report.theorem == expected["theorem"]
    else:
        assert report.proof is not None
        assert next(iter(report.proof.of_bound), "as stated") == expected["theorem"]
    delta = report.bound.delta or Fraction(0)
    if expected["up"]:
        assert rounded(report.bound.value, expected["value"]) == expected["value"]
        assert rounded(delta, expected["delta"] or "0") == (expected["delta"] or "0")
    else:
        assert report.bound.value == Fraction(expected["value"])
        assert report.bound.exact
        assert delta == Fraction(expected["delta"] or 0)
    if expected["adversary"]:
        assert report.adversary is not None and report.adversary.bound is not None
        assert decimal_up(report.adversary.bound.value, 6) == expected["adversary"]
    if expected["hits"]:
        assert report.risk is not None
        hits = dict(report.risk.hits)[Fraction(expected["alarms"])]
        assert decimal_up(hits, 9) == expected["hits"]


# --- the index -----------------------------------------------------------------------------------


def fact(name: str, word: str) -> str:
    """What the comment of a spec says after `word:`, in one line."""
    text = LIBRARY[name].read_text(encoding="utf-8")
    found = re.search(rf"^# {word}: (.*\n(?:#   .*\n)*)", text, re.MULTILINE)
    return " ".join(found[1].replace("\n#", " ").split()) if found else ""


def ours(name: str) -> str:
    """The bound that a spec expects, as people write it."""
    expected = expected_of(LIBRARY[name])
    if expected["none"]:
        return "none"
    if expected["at"]:
        return f"ε ≤ {expected['at']} at δ = {expected['chosen']}"
    value = Fraction(expected["value"])
    if expected["up"]:
        shown = f"{SYMBOLS[expected['symbol']]} ≤ {expected['value']}"
    else:
        decimal = decimal_up(value, 9)
        equal = Fraction(decimal) == value
        shown = SYMBOLS[expected["symbol"]]
        shown += f" = {decimal}" if equal else f" ≤ {decimal_up(value, 7)}"
    delta = expected["delta"]
    return shown + (f", δ = {decimal_up(Fraction(delta), 6)}" if delta else "")


def linked(source: str) -> str:
    source = re.sub(
        r"github\.com/([\w.-]+/[\w.-]+) @(\w+)", r"[\1](https://github.com/\1/tree/\2)", source
    )
    return re.sub(r"arXiv (\d+\.\d+)", r"[arXiv \1](https://arxiv.org/abs/\1)", source)


def index() -> str:
    lines = ["# Specs", "", *ABOUT.strip().splitlines()]
    for folder, about in FOLDERS.items():
        names = [name for name, path in LIBRARY.items() if path.parent.name == folder]
        real = names[0] in REAL
        heads = ["spec", "what", *(["protects", "published"] if real else []), "bound"]
        heads += ["source"] if real else []
        heads += ["what is wrong"] if folder == "audits" else []
        lines += ["", f"## {folder.capitalize()}", "", f"{about[0].upper()}{about[1:]}.", ""]
        lines += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for name in names:
            text = LIBRARY[name].read_text(encoding="utf-8")
            title = re.search("^title: (.*)$", text, re.MULTILINE)
            assert title is not None
            row = [f"[{name}]({folder}/{name}.yaml)", title[1].strip('"')]
            if real:
                row += [fact(name, "Protects"), fact(name, "Published"), ours(name)]
                row.append(linked(fact(name, "Source")))
                row += [fact(name, "Wrong")] if folder == "audits" else []
            else:
                row.append(ours(name))
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def test_the_index_is_made_from_the_specs(rewriting: bool) -> None:
    if rewriting:
        INDEX.write_text(index(), encoding="utf-8", newline="\n")
    assert INDEX.read_text(encoding="utf-8") == index()


def test_real_budgets_have_a_source_and_what_was_published() -> None:
    assert len(REAL) >= 25
    for name in REAL:
        source = fact(name, "Source")
        assert re.search(r"github\.com/\S+ @[0-9a-f]{7}|arXiv \d{4}\.\d{5}|doi:|\.com", source), (
            name
        )
        assert fact(name, "Protects") and fact(name, "Published"), name
        assert bool(fact(name, "Wrong")) == (LIBRARY[name].parent.name == "audits"), name


def test_every_spec_is_in_a_folder_under_a_name_of_its_own() -> None:
    files = [path for path in INDEX.parent.rglob("*.yaml") if path.parent.name != "ledger-2026"]
    assert sorted(files) == sorted(LIBRARY.values())
    assert sorted(name for folder in examples().values() for name in folder) == [*LIBRARY]


# --- real budgets by another way -----------------------------------------------------------------


def gaussian(mu_squared: Any, delta: Any) -> Any:
    return curves.epsilon_of(curves.gaussian(Fraction(mu_squared)), Fraction(delta))


def zcdp(rho: Any, delta: Any) -> Any:
    return curves.zcdp(Fraction(rho))(Fraction(delta))


def trained(rate: Any, sigma: Any, steps: int, delta: Any, step: float = 1e-4) -> Any:
    """ε of DP-SGD where one row is removed, which costs more than one added: losses on a grid,
    each shared by the two points around it so that the mean is kept, composed by a transform."""
    q, s, size = float(Fraction(rate)), float(Fraction(sigma)), 1 << 20
    x = np.linspace(-14 * s, 1 + 14 * s, 500_001)
    mass = (1 - q) * np.exp(-(x**2) / (2 * s * s)) + q * np.exp(-((x - 1) ** 2) / (2 * s * s))
    mass /= mass.sum()
    loss = np.log1p(q * np.expm1((2 * x - 1) / (2 * s * s)))
    low = np.floor(loss / step).astype(int)
    part = loss / step - low
    counts = np.bincount(low % size, mass * (1 - part), size)
    counts += np.bincount((low + 1) % size, mass * part, size)
    total = np.fft.irfft(np.fft.rfft(counts) ** steps, size)
    # The circle of the transform, cut open opposite to the mean of the sum.
    mean = float(mass @ loss) / step * steps
    losses = step * (np.arange(size) + size * np.round((mean - np.arange(size)) / size))
    least, most = 0.0, float(losses.max())
    for _ in range(50):
        epsilon = (least + most) / 2
        above = losses > epsilon
        over = total[above] @ -np.expm1(epsilon - losses[above]) > float(Fraction(delta))
        least, most = (epsilon, most) if over else (least, epsilon)
    return mpf(least)


NAMES: dict[str, Any] = {
    "F": Fraction, "ln": mp.log, "exp": mp.exp, "sqrt": mp.sqrt, "gaussian": gaussian, "zcdp": zcdp,
    "trained": trained, "ratio": lambda text: exact(Fraction(text)),
}  # fmt: skip


def test_every_real_budget_is_computed_another_way() -> None:
    assert set(CHECKED) == set(REAL)


@pytest.mark.parametrize("name", thinned(REAL))
def test_a_real_budget_by_another_way(name: str) -> None:
    row = CHECKED[name]
    expected = expected_of(LIBRARY[name])
    stated = Fraction(expected["at"] or expected["value"])
    with mp.workdps(40):
        found = eval(str(row["by"]), dict(NAMES))
        if isinstance(found, Fraction) and not expected["up"]:
            assert found == stated
        else:
            found = exact(found) if isinstance(found, Fraction) else found
            share = exact(stated) / found - 1
            within = mpf(str(row.get("within", "1e-5")))
            assert -within * ("within" in row) <= share <= within
