"""The pages of `explain --site`: all are there, all links lead somewhere, all text is escaped."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dpcompose.cli import app
from dpcompose.handbook import code_entries, full_spec, printed_examples, whole_book
from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.exports import sarif
from dpcompose.render.help.code_text import snippets
from dpcompose.render.help.pages import aligned_rows
from dpcompose.render.help.pages import page as page_of_parts
from dpcompose.render.html import site_pages
from dpcompose.render.layout import Style, page_address
from dpcompose.render.parts.console import Part, Section, Snippet, leading_to, literal, printed
from dpcompose.spec.vocabulary import vocabulary

NAMES = {
    "words": list(vocabulary()),
    "theorems": list(whole_book()),
    "codes": list(code_entries()),
    "examples": list(printed_examples()),
}
HOSTILE = "<script>alert(1)</script>\"'`<b>`&amp;\x1b[31m\u202e"


class Read(HTMLParser):
    """What a page has: its elements, the ids and addresses in it, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key] for key in ("href", "action") if key in given and tag != "link"]
        self.loads += [given["href"]] if tag == "link" else []
        self.loads += [given["src"]] if "src" in given else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    return dict(site_pages.site_files(analyze))


@pytest.fixture(scope="module")
def pages(site: dict[str, str]) -> dict[str, Read]:
    return {name: Read(text) for name, text in site.items() if name.endswith(".html")}


def explain(*words: str) -> Result:
    return CliRunner().invoke(app, ["explain", *words])


def test_every_word_theorem_code_and_example_has_a_page(pages: dict[str, Read]) -> None:
    wanted = {page_address(folder, name) for folder in NAMES for name in NAMES[folder]}
    assert pages.keys() == wanted | {"index.html"}
    assert all(re.fullmatch(r"[A-Za-z]+/[A-Za-z0-9_.-]+\.html", each) for each in wanted)
    assert len({each.casefold() for each in wanted}) == len(wanted)
    assert {"codes/DPC101.html", "theorems/VI.13.html", "words/sigma.html"} <= wanted
    assert wanted <= set(pages["index.html"].links)


def test_every_link_leads_to_a_page_and_nothing_is_loaded_from_elsewhere(
    pages: dict[str, Read], site: dict[str, str]
) -> None:
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids))
        for each in page.links + [each for each in page.loads if each != "data:,"]:
            path, _, part = each.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            assert target in site, f"{name}: {each}"
            assert not part or part in pages[target].ids, f"{name}: {each}"
    assert not re.search(r"@import|url\(|https?:", site["style.css"])


def test_a_page_has_landmarks_one_title_and_what_the_terminal_says(pages: dict[str, Read]) -> None:
    for page in pages.values():
        assert all(page.tags.count(tag) == 1 for tag in ("header", "nav", "main", "footer", "h1"))
        assert "script" not in page.tags or page is pages["index.html"]
    for code, entry in code_entries().items():
        said = pages[f"codes/{code}.html"].text.replace("`", "")
        shown = [line for _, lines in snippets(entry) for line in lines]
        assert all(Style().plain(each).replace("`", "") in said for each in (entry.why, *shown)), (
            code
        )
    for name, theorem in whole_book().items():
        said = pages[f"theorems/{name}.html"].text.replace("\n", " ").replace("`", "")
        for hypothesis in theorem.hypotheses:
            assert hypothesis.says.replace("`", "") in said


def test_pages_lead_to_each_other(pages: dict[str, Read]) -> None:
    assert "../words/map.html" in pages["words/sample.html"].links
    assert "../theorems/VI.12.html" in pages["theorems/VI.13.html"].links
    assert "../words/zcdp.html" in pages["theorems/VI.13.html"].links
    assert "../theorems/V.2.html" in pages["codes/DPC204.html"].links
    assert "../codes/DPC204.html" in pages["theorems/V.2.html"].links


def test_hostile_text_is_escaped_everywhere() -> None:
    def hostile(style: Style) -> Section:
        content: list[Part] = [literal(HOSTILE, style), Snippet([HOSTILE], style)]
        content += aligned_rows([(HOSTILE, HOSTILE)], style, (HOSTILE, ""))
        return page_of_parts(HOSTILE, [literal(HOSTILE, style)], [(HOSTILE, content)], style)

    _, text = site_pages.made_page("codes", "DPC101", hostile, [(HOSTILE, HOSTILE)])
    read = Read(text)
    assert "script" not in read.tags and "b" not in read.tags
    assert read.text.count("<script>alert(1)</script>") >= 10
    assert "\x1b" not in text and "\u202e" not in text and "&amp;amp;" in text


def test_texts_between_commas_are_names_only_where_all_are() -> None:
    assert [each[1] for each in site_pages.pieces("unit, rows", "words/rows.html")] == [
        "words/unit.html", "", "",
    ]  # fmt: skip
    assert not any(each[1] for each in site_pages.pieces("unit, and more rows", ""))
    found = [*site_pages.pieces("by VI.13 and `unit`, not `x` or DPC999, see DPC101", "")]
    assert [each for each in found if each[1] or each[2]] == [
        ("VI.13", "theorems/VI.13.html", False), ("unit", "words/unit.html", True),
        ("x", "", True), ("DPC101", "codes/DPC101.html", False),
    ]  # fmt: skip


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_each_time(tmp_path: Path, site: dict[str, str]) -> None:
    (tmp_path / "s" / "codes").mkdir(parents=True)
    (tmp_path / "s" / "codes" / "DPC101.html").write_text("old")
    for folder in ("s", "deep/er"):
        result = explain("--site", str(tmp_path / folder))
        assert result.exit_code == 0 and "index.html" in result.stderr and not result.stdout
        written = {
            str(each.relative_to(tmp_path / folder)): each.read_text(encoding="utf-8")
            for each in (tmp_path / folder).rglob("*") if each.is_file()
        }  # fmt: skip
        assert written == site


@pytest.mark.parametrize("link", ["s", "s/codes", "s/codes/DPC101.html", "s/index.html"])
def test_nothing_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out.html").write_text("mine")
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / ("out.html" if link.endswith("html") else "out"))
    result = explain("--site", str(tmp_path / "s"))
    assert result.exit_code == 2 and "symbolic link" in result.stderr
    assert not [*(tmp_path / "out").iterdir()] and (tmp_path / "out.html").read_text() == "mine"


@pytest.mark.parametrize("call", [(), ("--site", "s", "IV.13"), ("--site", "")])
def test_a_site_takes_a_folder_and_no_words(call: tuple[str, ...]) -> None:
    assert explain(*call).exit_code == 2


# --- addresses of the site in other output --------------------------------------------------------


EXAMPLE = full_spec(code_entries()["DPC204"].example)
SITED = Style(site="https://example.org/d/", colour=True, hyperlinks=True)


def test_rules_of_sarif_lead_to_the_pages(site: dict[str, str]) -> None:
    report = analyze(EXAMPLE)
    for style, start in ((SITED, "https://example.org/d/"), (Style(), "")):
        log = json.loads("".join(sarif.render([report], style, False)))
        rules = log["runs"][0]["tool"]["driver"]["rules"]
        assert {"DPC204", "V.4"} <= {each["id"] for each in rules}
        for each in rules:
            assert each.get("helpUri", "").removeprefix(start) in (site if start else {""})


def test_a_report_in_a_coloured_terminal_leads_to_the_pages(site: dict[str, str]) -> None:
    report = analyze(EXAMPLE)
    text = "".join(renderer("text")([report], SITED))
    found = re.findall(r"\x1b\]8;;https://example.org/d/([^\x1b]+)\x1b", text)
    assert {"codes/DPC204.html", "theorems/V.4.html"} <= set(found) <= site.keys()
    bare = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\", "", text)
    plain = "".join(renderer("text")([report], Style()))
    assert [each.rstrip() for each in bare.splitlines()] == plain.splitlines()


def test_a_hyperlink_is_there_only_in_a_coloured_terminal_and_is_the_same_each_time() -> None:
    def shown(style: Style) -> str:
        return printed(leading_to("VI.13", literal("by VI.13", style), style, 3), style)

    start = "\x1b]8;;https://example.org/d/theorems/VI.13.html\x1b\\"
    assert shown(SITED) == shown(SITED) == f"by {start}VI.13\x1b]8;;\x1b\\\n"
    for style in (SITED._replace(hyperlinks=False), SITED._replace(site="")):
        assert "\x1b]8" not in shown(style)
