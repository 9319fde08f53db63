"""The format `html`: one page that loads and runs nothing, for people who decide about budgets."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import axe_core_python
import pytest
from command import run
from conftest import LIBRARY
from rich.text import Text
from volume import thinned

from dpcompose import analyze
from dpcompose.render.html.page import page
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Frame, Part, Section, TextTable
from dpcompose.render.text import terminal
from dpcompose.render.text.proof_table import ProofTree
from dpcompose.report import Report

SPECS = Path(__file__).parents[2] / "specs"
_VOID = {"meta", "br", "path", "rect"}


class Parsed(HTMLParser):
    """What a page consists of: ids, links, texts by tag, attributes; refuses unbalanced tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def text(self) -> str:
        """All that is read, without the style sheet and what is for machines."""
        return " ".join(each for tag, each in self.texts if tag not in ("style", "script"))


@cache
def report_of(name: str) -> Report:
    path = LIBRARY[name.removesuffix(".yaml")]
    return analyze(path, path.name, drawn=True)


@pytest.mark.parametrize(
    "names",
    thinned(
        [
            ["adults-filter.yaml", "parallel-trap.yaml", "visits-cap-and-places.yaml"],
            ["dp-sgd.yaml"],
            ["census-2020-who-learns-what.yaml"],
            ["parallel-trap.yaml"],
            ["ledger-year.yaml"],
        ]
    ),
    ids=lambda names: str(names[0]),
)
def test_anchors_are_there_once_and_links_lead_to_them(names: list[str]) -> None:
    text = page([report_of(each) for each in names])
    found = Parsed(text)
    assert max(Counter(found.ids).values()) == 1
    assert {each[1:] for each in found.links} <= {*found.ids}
    assert all(each.startswith("#") for each in found.links)
    for _, name, value in found.attributes:
        if name in ("aria-labelledby", "aria-describedby"):
            assert {*value.split()} <= {*found.ids}


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = page([report_of("visits-cap-and-places.yaml")])
    found = Parsed(text)
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src &#39;none&#39;; style-src &#39;sha256-{digest}&#39;" in text
    assert "url(" not in style[1]
    for tag, name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "style", "action")
        assert (tag, name, value) == ("script", "type", "application/json") or tag != "script"
    assert not {"link", "img", "iframe", "object", "form", "base"} & {*found.tags}


HOSTILE = """\
dpcompose: 1
title: '</title><script>alert(1)</script>\\u202e{{ 7*7 }}'
protect: user
datasets:
  'a"><img src=x onerror=alert(1)>': {unit: "u'><b>"}
  '`<i>`': {from: 'a"><img src=x onerror=alert(1)>', map: {kind: cap, rows: 2, keep: random}}
mechanisms:
  - {name: '</script><script>alert(2)</script>', reads: '`<i>`', notion: pure, epsilon: 1,
     relation: unbounded}
  - {name: '<!-- {% raw %} &amp;', reads: '`<i>`', notion: pure, epsilon: 2, relation: unbounded}
budget: {epsilon: 5}
"""


@pytest.mark.parametrize("broken", [False, True])
def test_hostile_words_of_a_spec_stay_text(broken: bool) -> None:
    spec = HOSTILE.replace("notion: pure", "notion: '<s>'") if broken else HOSTILE
    report = analyze(spec, "<u>.yaml", drawn=True)
    assert report.status == ("invalid" if broken else "ok")
    text = page([report, report_of("parallel-trap.yaml")])
    found = Parsed(text)
    assert not {"img", "b", "i", "s", "u"} & {*found.tags}
    assert found.tags["script"] == 2
    assert "onerror" not in {name for _, name, _ in found.attributes}
    assert "\u202e" not in text
    assert "{{ 7*7 }}" in found.text
    scripts = [json.loads(each) for tag, each in found.texts if tag == "script"]
    assert {"<u>.yaml", "parallel-trap.yaml"} == {each["file"] for each in scripts}


def test_numbers_are_those_of_the_report_and_exact_for_machines() -> None:
    report = report_of("visits-cap-and-places.yaml")
    assert report.bound is not None
    found = Parsed(page([report]))
    (text,) = [each for tag, each in found.texts if tag == "script"]
    machine = json.loads(text)
    assert machine["guarantee"]["exact"] == {"epsilon": str(report.bound.value)}
    assert "ε = 3/2 (1.5)" in found.text
    for share in report.shares:
        assert share.mechanism in found.text
    for node in report.tree:
        assert not node.name or node.name in found.text


def flat(text: str) -> str:
    """A text without blanks, backquotes and the characters of bars."""
    return re.sub("[\\s`━─]", "", text)


def texts_in(part: Part) -> Iterator[str]:
    """The names and texts of a part of a result, without places in the spec."""
    match part:
        case Frame(rows=rows):
            yield from (str(each) for row in rows for each in row)
        case Section(name, parts, _, says):
            yield from (name, says)
            yield from (text for each in parts for text in texts_in(each))
        case TextTable(rows, _, columns, heads):
            yield from map(str, heads)
            words = [*columns, *[""] * 9]
            yield from (str(c) for row in rows for c, w in zip(row, words) if w != "line")  # noqa: B905
        case ProofTree(lines):
            yield from (each.more or each.node.says for each in lines)
        case Text() | str():
            yield str(part)


@pytest.mark.parametrize(
    "name",
    thinned(
        [
            "census-2020-who-learns-what",
            "documents-words",
            "ledger-year",
            "subsidiaries",
            "dp-sgd",
            "parallel-trap",
        ]
    ),
)
def test_all_that_a_terminal_shows_stands_on_the_page(name: str) -> None:
    report = replace(report_of(name), drawn=None)
    shown = flat(Parsed(page([report])).text).casefold()
    parts = [*terminal.parts(report, Style(width=120))]
    assert len(parts) >= 3
    for each in parts:
        for text in texts_in(each):
            assert flat(text).casefold() in shown or "--full" in text


def test_lines_of_assumptions_and_of_costs_lead_to_the_spec() -> None:
    text = page([report_of("visits-cap-and-places")])
    for each in report_of("visits-cap-and-places").assumptions:
        if each.span is not None:
            assert f'href="#L{each.span.line}"' in text
    assert re.search('id="assumed".*<a href="#L[0-9]+">line', text, re.DOTALL)


def test_a_hundred_mechanisms_take_at_most_150_kilobytes() -> None:
    lines = [
        f"  - {{name: query number {n}, reads: rows, notion: zcdp, rho: {n + 1}/1000}}"
        for n in range(100)
    ]
    spec = "dpcompose: 1\nprotect: bounded\ndatasets:\n  rows: {}\nmechanisms:\n"
    report = analyze(spec + "\n".join(lines) + "\nreport: {delta: [1e-6]}\n", "s.yaml", drawn=True)
    text = page([report])
    assert 20_000 < len(text.encode()) <= 150_000
    assert Parsed(text).text.count("query number 57") < 6


def test_several_specs_have_an_overview_with_trouble_first() -> None:
    names = ["adults-filter.yaml", "parallel-trap.yaml", "visits-cap-and-places.yaml"]
    text = page([report_of(each) for each in names])
    places = [text.index(f">{each}</a>") for each in (names[1], names[0], names[2])]
    assert places == sorted(places)
    assert "1 without a finite bound, 2 within budget" in text


def test_figures_are_counts_rounded_up() -> None:
    report = report_of("helpdesk-hundred-counts.yaml")
    assert report.drawn is not None
    success = dict(report.drawn.success)
    text = page([report])
    for before, after in list(success.items())[:2]:
        assert f"with it, at most: {-(-100 * after // 1)} of 100" in text
        assert f"without the release: {before * 100} of 100" in text


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = LIBRARY["adults-filter"]
    shutil.copy(spec, tmp_path)
    result = run("report", "adults-filter.yaml", "-o", "report.html")
    assert (result.exit_code, result.stdout) == (0, "")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    both = run("check", "adults-filter.yaml", "-o", "html=check.html")
    assert both.exit_code == 0
    assert "adults-filter.yaml" in both.stdout
    assert "Within budget" in (tmp_path / "check.html").read_text(encoding="utf-8")


def test_a_folder_is_reported_on_one_page_and_an_invalid_spec_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(LIBRARY["adults-filter"], tmp_path)
    (tmp_path / "bad.yaml").write_text("dpcompose: 1\nprotekt: bounded\n", encoding="utf-8")
    result = run("report", ".", "-o", "report.html")
    assert result.exit_code == 3
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.index("bad.yaml") < text.index("adults-filter.yaml")
    assert "DPC101" in text


def test_a_ledger_has_a_picture_of_what_was_spent(tmp_path: Path) -> None:
    page_ = tmp_path / "total.html"
    folder = str(SPECS / "ledger-2026")
    result = run("total", "--over-time", "--format", "html", folder, "-o", str(page_))
    assert result.exit_code == 0, result.stderr
    text = page_.read_text(encoding="utf-8")
    found = Parsed(text)
    assert "Within budget: ε = 2, δ = 1e-6" in found.text
    assert "Spent after each release: 91 % of the budget" in found.text
    assert max(Counter(found.ids).values()) == 1
    assert found.tags["script"] == 0
    heights = [
        float(each)
        for each in re.findall(r"V([0-9.]+)H", text.partition('"line"')[2].partition('"axis"')[0])
    ]
    assert heights == sorted(heights, reverse=True)
    assert len(heights) == 3


_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: A page that shows another one in frames of two widths, and prints how wide what it shows is.
_FRAMES = """<body><script>
let out = [], done = 0;
for (const width of [360, 1280]) {{
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 800; frame.style.border = 0; frame.src = "{page}";
  frame.onload = () => {{
    out.push(width + ":" + frame.contentDocument.documentElement.scrollWidth);
    if (++done == 2) document.body.textContent = "WIDTHS " + out.join(" ") + " END";
  }};
  document.body.append(frame);
}}
</script>"""


_PAGES = ["census-2020-redistricting-persons.yaml", "dp-sgd.yaml", "parallel-trap.yaml"]
#: A script that checks a page with axe-core and prints what it finds.
_AXE = """<script>{axe}</script><script>
axe.run().then(found => {{
  const says = found.violations.flatMap(rule => rule.nodes.map(
    node => rule.id + " at " + node.html.slice(0, 200) + " " + node.failureSummary));
  document.body.textContent =
    "RULES " + found.passes.length + " FOUND [" + says.join("; ") + "] END";
}});
</script>"""


def browsed(file: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Opens a file in Chromium; prints its elements, and on stderr the messages of its console."""
    each = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-web-security"]
    each += ["--allow-file-access-from-files", f"--user-data-dir={file.parent / 'profile'}"]
    each += ["--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom", *flags]
    return subprocess.run(
        [str(_CHROMIUM), *each, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(_CHROMIUM is None, reason="Chromium is not installed: .ci/browser")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("names", [*([each] for each in _PAGES), _PAGES])
def test_axe_finds_nothing_that_keeps_a_reader_out(
    names: list[str], dark: bool, tmp_path: Path
) -> None:
    rules = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    text = page([report_of(each) for each in names])
    text = re.sub("<meta http-equiv=[^>]*>", "", text)
    shown = tmp_path / "page.html"
    shown.write_text(text.replace("</body>", f"{_AXE.format(axe=rules)}</body>"), encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    found = re.search(r"RULES (\d+) FOUND \[(.*)\] END", browsed(shown, *scheme).stdout, re.DOTALL)
    assert found is not None
    assert int(found[1]) > 20
    assert not found[2]


@pytest.mark.slow
@pytest.mark.skipif(_CHROMIUM is None, reason="Chromium is not installed: .ci/browser")
@pytest.mark.parametrize("name", _PAGES)
def test_a_browser_shows_it_without_messages_or_scrolling(name: str, tmp_path: Path) -> None:
    shown, frames = tmp_path / "page.html", tmp_path / "frames.html"
    shown.write_text(page([report_of(name)]), encoding="utf-8")
    frames.write_text(_FRAMES.format(page=shown.as_uri()), encoding="utf-8")
    found = browsed(frames)
    widths = re.search("WIDTHS (.*) END", found.stdout)
    assert widths is not None
    for each in widths[1].split():
        wanted, real = map(int, each.split(":"))
        assert real <= wanted
    assert "CONSOLE" not in found.stderr
