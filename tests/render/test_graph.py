"""Drawings of pipelines: golden ones, what is marked, and names that want to be something else."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from conftest import LIBRARY, Golden
from handmade import CHOSEN, REPORTS, span

import dpcompose
from dpcompose.errors import printable
from dpcompose.errors import width as cells
from dpcompose.render.layout import Style
from dpcompose.render.pictures.graph_svg import graph_svg
from dpcompose.render.pictures.graph_text import graph_dot, graph_mermaid, graph_tree
from dpcompose.render.pictures.svg import text_width, wrapped
from dpcompose.render.words.pipeline_words import children_of, costs
from dpcompose.report import PipelineNode, Report

SVG = "{http://www.w3.org/2000/svg}"
SHOP = """\
dpcompose: 1
title: Weekly figures of a shop
protect: user
datasets:
  orders: {unit: customer_id}
  capped: {from: orders, map: {kind: cap, rows: 10, keep: random}}
  country:
    from: capped
    partition: {by: value, blocks: 240, max_blocks_per_unit: 2}
mechanisms:
  - {name: revenue, reads: capped, mechanism: gaussian, sigma: 4000, sensitivity: 200}
  - {name: orders by country, reads: country.*, mechanism: gaussian, sigma: 20, sensitivity: 1}
budget: {epsilon: 5, delta: 1e-6}
"""
#: Names that want to end a text, to be markup, or to be a line of their own.
NASTY = (
    'x"]; click n0 "javascript:alert(1)" --> y',
    "</text><script>alert(1)</script>",
    "]]> --> <!-- &lt; &amp;quot; #quot; #35;",
    "line\nend\r\n  n9[evil]",
    "\\N\\G\\n\\",
    "`code` %%{init: {}}%% | {a} ((b)) [/c/]",
    "\x00\x1b[31m\u202etxet\ufffe\ud800",
    "##[error]x ::error::y",
    "W" * 300,
    "a b " * 200,
    "日本語のとても長い名前" * 9,
    "",
    " ",
)
EXAMPLES = (
    "ambulances-districts-bounded",
    "noisy-sums",
    "parallel-trap",
    "smoothed-counts",
    "software-features",
)
ALL = {**REPORTS, **CHOSEN}
FORMS: dict[str, Callable[[Report], str]] = {
    "tree.txt": lambda report: graph_tree(report, Style(width=80)),
    "svg": graph_svg,
    "mmd": graph_mermaid,
    "dot": graph_dot,
}


@cache
def example(name: str) -> Report:
    if name == "shop":
        return dpcompose.analyze(SHOP, "shop.dp.yaml")
    return dpcompose.analyze(LIBRARY[name].read_bytes(), f"specs/{name}.yaml")


def named(text: str) -> Report:
    """A report in which everything that comes from a spec is `text`."""
    nodes = (
        PipelineNode("dataset", text, None, "", text, True, text, span=span(3)),
        PipelineNode("dataset", text, 0, text, text, True, text, span=span(4)),
        PipelineNode("partition", text, 1, "", text, True, text),
        PipelineNode("block", text, 2, "", text, False),
        PipelineNode("mechanism", text, 1, "", text, True, "", ALL["rides"].bound),
        PipelineNode("result", text, 4, "", text, inputs=(4,)),
        PipelineNode("more", text, 2),
    )
    return replace(ALL["rides"], file=text, title=text, protects=text, pipeline=nodes)


def texts(svg: str) -> list[str]:
    """The text of every element of a picture, which is well-formed XML."""
    return [each.text or "" for each in ElementTree.fromstring(svg).iter()]


# --- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["shop", *EXAMPLES])
def test_drawings_of_examples_are_golden(name: str, form: str, golden: Golden) -> None:
    golden(f"graphs/{name}.{form}", FORMS[form](example(name)))


def test_every_golden_drawing_is_of_an_example() -> None:
    kept = {path.name for path in (Path(__file__).parents[1] / "golden" / "graphs").glob("*")}
    assert kept == {f"{name}.{form}" for name in ("shop", *EXAMPLES) for form in FORMS}


# --- what is drawn and marked --------------------------------------------------------------------


def test_the_path_of_the_worst_change_says_what_it_becomes() -> None:
    nodes = {each.name: each for each in example("shop").pipeline}
    assert nodes["orders"].change == "all rows of one unit added or removed"
    assert nodes["capped"].change == "at most 10 rows added or removed"
    assert nodes["country"].change == "at most 10 rows in any one of 240 blocks"
    assert nodes["240 alike"].change == "at most 10 rows added or removed in 1 of 240"
    assert all(each.reached for each in nodes.values())
    told = costs(example("shop"))
    assert list(told.values()) == ["μ = 0.5, 50 %", "μ = 0.5, 50 %"]


def test_what_the_change_does_not_reach_is_not_marked() -> None:
    report = example("ambulances-districts-bounded")
    marked = {each.name: each.reached for each in report.pipeline}
    assert [name for name, reached in marked.items() if not reached] == ["north", "count north"]
    root = ElementTree.fromstring(graph_svg(report))
    edges = [each.get("class") for each in root.iter(f"{SVG}path") if "d" in each.attrib]
    assert edges.count("edge lit") == 5 and edges.count("edge") == 2
    assert graph_mermaid(report).count(" ==>") == 5
    assert graph_dot(report).count("penwidth") == 5 + 6
    assert "┠─ north" in graph_tree(report, Style())


def test_without_a_finite_bound_there_is_no_path_and_no_number() -> None:
    report = example("parallel-trap")
    assert not any(each.reached for each in report.pipeline)
    for form, draw in FORMS.items():
        text = draw(report)
        assert "no finite guarantee" in text, form
        assert not re.search(r"\blit\b|==>|penwidth|[┣┗┃]", text.partition("</style>")[2]), form
        if form != "svg":
            assert not re.search(r"\blit\b|==>|penwidth|[┣┗┃]", text), form
    assert any("Nothing is marked" in each for each in texts(graph_svg(report)))


@pytest.mark.parametrize("form", FORMS)
def test_a_report_without_a_pipeline_is_drawn_too(form: str) -> None:
    for report in (*ALL.values(), dpcompose.analyze("a: [", "x.yaml")):
        text = FORMS[form](report)
        assert text.endswith("\n")
        if form == "svg":
            ElementTree.fromstring(text)


def test_many_blocks_and_mechanisms_are_counted_not_drawn() -> None:
    blocks = [f"b{number}" for number in range(1000)]
    mechanisms: list[dict[str, object]] = [
        {"name": f"m{n}", "reads": f"part.b{n}", "notion": "pure", "epsilon": f"{n + 1}/1000"}
        for n in range(1000)
    ]
    mechanisms += [
        {"name": f"t{n}", "reads": "people", "notion": "pure", "epsilon": 1} for n in range(40)
    ]
    spec: dict[str, object] = {
        "dpcompose": 1,
        "protect": "unbounded",
        "datasets": {
            "people": {},
            "part": {"from": "people", "partition": {"by": "value", "blocks": blocks}},
        },
        "mechanisms": mechanisms,
    }
    report = dpcompose.analyze(json.dumps(spec), "many.json")
    names = [each.name for each in report.pipeline]
    assert {"988 more blocks", "28 more mechanisms"} <= set(names)
    assert "b999" in names and "m999" in names  # the worst block
    assert len(names) < 60
    assert all(text.count("\n") < 2000 for text in (draw(report) for draw in FORMS.values()))


def test_a_long_chain_of_maps_ends_somewhere() -> None:
    lines = ["dpcompose: 1", "protect: unbounded", "datasets:", "  t0: {}"]
    lines += [f"  t{n}: {{from: t{n - 1}, map: filter}}" for n in range(1, 1100)]
    lines += ["mechanisms:", "  - {name: m, reads: t1099, notion: pure, epsilon: 1}"]
    report = dpcompose.analyze("\n".join(lines), "deep.yaml")
    assert 100 < len(report.pipeline) <= 502
    for draw in FORMS.values():
        draw(report)


def test_a_number_in_a_drawing_is_that_of_the_headline() -> None:
    for name in ("shop", "noisy-sums"):
        assert "ε ≤ " in graph_tree(example(name), Style())
    assert "3.30761 at δ = 1e-6" in graph_tree(example("shop"), Style())
    assert any("3.30761 at δ = 1e-6" in each for each in texts(graph_svg(example("shop"))))


# --- the layout ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shop", *EXAMPLES, "census-2020-redistricting-persons"])
def test_boxes_hold_their_text_and_do_not_overlap(name: str) -> None:
    root = ElementTree.fromstring(graph_svg(example(name)))
    across, down = float(root.get("width", 0)), float(root.get("height", 0))
    boxes = []
    for group in root.iter(f"{SVG}g"):
        (box,) = group.iter(f"{SVG}rect")
        x, y, wide, high = (float(box.get(key, 0)) for key in ("x", "y", "width", "height"))
        assert min(x, y) >= 0 and x + wide <= across and y + high <= down
        boxes.append((x, y, x + wide, y + high))
        for text in group.iter(f"{SVG}text"):
            name_like = text.get("class") == "name"
            taken = text_width(text.text or "", 13 if name_like else 11, bold=name_like)
            assert float(text.get("x", 0)) + taken <= x + wide + 0.2
            assert y < float(text.get("y", 0)) < y + high
    assert len(boxes) == len(example(name).pipeline)
    for (left, top, right, bottom), other in combinations(boxes, 2):
        apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
        assert apart, (name, left, top, other)


def test_text_is_wrapped_within_its_room_and_cut_with_a_sign() -> None:
    for text in (*NASTY, "one two three", "x"):
        for most in (1, 2, 4):
            lines = wrapped(text, 11, 120, most)
            assert 1 <= len(lines) <= most
            assert all(text_width(line, 11) <= 120 for line in lines)
            whole = " ".join(lines).replace(" ", "")
            if whole != printable(text).replace(" ", ""):
                assert lines[-1].endswith("…")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_tree_fits_the_page_unless_a_name_is_longer(width: int) -> None:
    for name in ("shop", "software-features", "smoothed-counts"):
        title, *lines = graph_tree(example(name), Style(width=width)).splitlines()
        assert title and all(cells(line) <= width for line in lines)


def test_a_tree_is_the_same_in_colour_and_in_poor_encodings() -> None:
    plain = graph_tree(example("shop"), Style())
    coloured = graph_tree(example("shop"), Style(colour=True))
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    assert (
        "\\u" not in graph_tree(example("shop"), Style(encoding="ascii")).encode("ascii").decode()
    )


# --- texts from strangers ------------------------------------------------------------------------


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_in_svg(name: str) -> None:
    svg = graph_svg(named(name))
    assert svg.isascii() and "##" not in svg
    root = ElementTree.fromstring(svg)
    kinds = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert kinds <= {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
    attributes = {key for each in root.iter() for key in each.attrib}
    assert not [key for key in attributes if key.startswith("on") or "href" in key or key == "id"]
    assert printable(name) in "".join(root.itertext())  # the full name is in some title
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


_MERMAID_LINE = re.compile(
    r"flowchart LR|%% [^\n]*"
    r'|  n\d+(\(\["[^"\n]*"\]\)|\("[^"\n]*"\)|\["[^"\n]*"\])'
    r'|  n\d+ (==>|-->|-\.->)(\|"[^"\n]*"\|)? n\d+'
    r"|  classDef lit [\w:,#-]+|  class [n\d,]+ lit|  linkStyle [\d,]+ [\w:,#-]+"
)


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_in_mermaid(name: str) -> None:
    text = graph_mermaid(named(name))
    for line in text.splitlines():
        assert _MERMAID_LINE.fullmatch(line), line
        assert not re.search("<(?!br/>)|[`{}\\\\]|%%(?!^)", line.removeprefix("%% ")), line
    label = re.search(r'n0\["([^"]*)"\]', text)
    assert label is not None
    shown = re.sub("#(\\d+);", lambda found: chr(int(found[1])), label[1].split("<br/>")[0])
    assert shown.strip("\xa0") == printable(name)


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_in_dot(name: str) -> None:
    text = graph_dot(named(name))
    quoted = r'"(?:[^"\\\n]|\\\\|\\"|\\n)*"'
    assert text.splitlines()[0] == "digraph pipeline {" and text.splitlines()[-1] == "}"
    for line in text.splitlines()[1:-1]:
        bare = re.sub(quoted, "Q", line)
        assert re.fullmatch(r"  [\w ,;=.>\[\]-]+;", bare), line
        assert not set('"<&\\') & set(bare)
    found = re.search(rf"n0 \[label=({quoted})", text)
    assert found is not None
    inside = re.sub(r"\\n.*", "", re.sub(r"\\\\", "\x01", found[1][1:-1]))
    assert html.unescape(inside.replace('\\"', '"').replace("\x01", "\\")) == html.unescape(
        printable(name).replace("&", "&amp;")
    )


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_in_a_tree(name: str) -> None:
    lines = graph_tree(named(name), Style(width=100)).splitlines()
    assert all(printable(line) == line for line in lines)


def test_parents_come_first_and_every_node_is_below_one_parent() -> None:
    for name in EXAMPLES:
        report = example(name)
        assert all(each.above is None or each.above < n for n, each in enumerate(report.pipeline))
        below = children_of(report)
        assert sorted(n for each in below.values() for n in each) == [*range(len(report.pipeline))]
