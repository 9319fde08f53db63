"""The reference of the spec language: every word has an entry, and what an entry shows is true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from typer.testing import CliRunner
from volume import thinned

import dpcompose
from dpcompose.cli import app
from dpcompose.commands.explain import LANGUAGE, identifiers
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.notion import Notion
from dpcompose.handbook import Topic, full_spec, printed_examples, topics, topics_of, whole_book
from dpcompose.render.help.code_text import codes
from dpcompose.render.help.language_pages import example_page, language_page, word_page
from dpcompose.render.help.pages import code_page, theorem_page, theorem_table
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import printed
from dpcompose.render.words.theorem_text import matching
from dpcompose.spec import json_schema
from dpcompose.spec.vocabulary import WordSort, vocabulary

EVERY: list[Topic] = [topic for group in topics().values() for topic in group]
#: What an example may be told about besides: nothing is wrong with it.
REMARKS = {"DPC204", "DPC206", "DPC217"}


def explained(*words: str) -> str:
    result = CliRunner().invoke(app, ["explain", *words])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def keys(node: Any) -> Iterator[tuple[str, str]]:
    """Every key of the schema, with its description."""
    for each in [node, *node["$defs"].values()]:
        for key, field in each["properties"].items():
            yield key, field.get("description", "")


def test_every_key_of_the_schema_is_explained_by_its_description() -> None:
    for key, description in keys(json_schema()):
        if key != "dpcompose":
            assert description, key
        said = {each.says for each in vocabulary()[key] if each.sort is WordSort.KEY}
        assert not description or description in said, key


def test_every_kind_notion_family_and_relation_is_explained() -> None:
    known = vocabulary()
    for sort, names in {
        WordSort.MAP: set(MAPS),
        WordSort.PARTITION: set(PARTITIONS),
        WordSort.NOTION: {*map(str, Notion)},
        WordSort.MECHANISM: set(FORMS),
        WordSort.RELATION: {*map(str, RelationKind)} - {"declared"} | {"zero-out", "l1"},
    }.items():
        assert {w for w, found in known.items() for each in found if each.sort is sort} == names


def test_every_word_belongs_to_one_topic_and_every_topic_is_of_words() -> None:
    words = [word for topic in EVERY for word in topic.words]
    assert sorted(words) == sorted(vocabulary())
    for topic in EVERY:
        assert set(topic.see) <= set(words) - set(topic.words)
        assert topics_of(topic.words[-1]) == (topic,)


@pytest.mark.parametrize("topic", thinned(EVERY), ids=lambda topic: topic.words[0])
def test_an_example_of_a_topic_is_sound_and_uses_its_words(topic: Topic) -> None:
    text = full_spec(topic.example)
    report = dpcompose.analyze(text)
    assert report.status == dpcompose.analyze(text, recheck=True).status == "ok"
    assert {each.code for each in report.findings} <= REMARKS
    assert topic.words[0] in text
    assert set(topic.theorems) <= set(whole_book())
    assert max(map(len, text.splitlines())) <= 78
    assert topic.about.endswith(".") and len(topic.about) < 900


@pytest.mark.parametrize("number", printed_examples())
def test_a_printed_example_gives_its_number(number: str) -> None:
    example = printed_examples()[number]
    assert number not in whole_book() and set(example.theorems) <= set(whole_book())
    for spec in example.specs:
        report = dpcompose.analyze(full_spec(spec.lines))
        assert report.bound is not None
        found = {"epsilon": report.bound.value, "delta": report.bound.delta}
        for part in spec.bound.split(", "):
            name, value = part.split()
            assert found[name] == Fraction(value)
        assert max(map(len, spec.lines.split("\n"))) <= 78


def test_a_word_shows_each_of_its_meanings() -> None:
    text = " ".join(explained("value").split())
    for says in ("A kind of map, at `map`", "A kind of partition, at `partition`"):
        assert says in text
    text = " ".join(explained("epsilon").split())
    for says in ("The largest ε allowed.", "The Rényi divergence", "ε = 1, by V.3"):
        assert says in text


def test_a_word_shows_what_stands_there_and_what_it_is_without() -> None:
    text = " ".join(explained("adaptivity").split())
    assert "holds `adaptive`, `independent` or `parameters` left out it is `adaptive`" in text
    text = " ".join(explained("cap").split())
    assert "rows needed The most rows of one unit." in text
    assert "See also rows, keep, first, random, order" in text
    assert "What it gives ε = 3/10 (0.3), by III.6" in text


def test_words_are_known_by_other_spellings() -> None:
    for said in ("stated-on", "STATED_ON", "stated on", "word:stated_on"):
        assert explained(said) == explained("stated_on")
    assert explained("ρ") == explained("rho")
    for said in ("Example IV.14", "example:iv.14"):
        assert explained(said) == explained("IV.14")
    assert explained("Example", "IV.14") == explained("IV.14")
    assert explained("example ii.9") == explained("II.9")


def test_an_unknown_word_gets_the_nearest_one() -> None:
    result = CliRunner().invoke(app, ["explain", "stated_one"])
    assert result.exit_code == 2 and "did you mean stated_on?" in result.stderr


def test_completion_knows_words_and_examples() -> None:
    found = dict(identifiers(""))
    assert {"cap", "stated_on", "IV.14", "IV.13", "DPC101", LANGUAGE} <= set(found)
    assert all(found.values())


def test_the_language_lists_every_word() -> None:
    text = explained(LANGUAGE)
    assert all(f"  {word} " in text for word in vocabulary())


def pages(style: Style) -> Iterator[tuple[str, str]]:
    """Every page, with what it is of."""
    for word in vocabulary():
        yield word, printed(word_page(word, dpcompose.analyze, style), style)
    for number, example in printed_examples().items():
        yield number, printed(example_page(number, example, dpcompose.analyze, style), style)
    for entry in whole_book().values():
        yield entry.id, printed(theorem_page(entry, style), style)
    for code, meaning in codes().items():
        yield code, printed(code_page(code, meaning, style), style)
    yield "language", printed(language_page(style), style)
    yield "theorems", printed(theorem_table([*whole_book().values()], style), style)


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80, 120])
def test_pages_fit_a_terminal_and_carry_no_control_characters(width: int) -> None:
    for name, text in pages(Style(width=width, encoding="ascii")):
        assert text.isascii(), name
        lines = text.split("\n")
        assert all(line.isprintable() for line in lines), name
        assert max(map(len, lines)) <= width, name


@pytest.mark.slow
def test_no_text_of_a_page_is_markup_and_colour_says_nothing_by_itself() -> None:
    for (name, plain), (_, coloured) in zip(pages(Style()), pages(Style(colour=True)), strict=True):
        assert "\x1b[" in coloured and "\x1b" not in plain, name
        stripped = "".join(part.partition("m")[2] for part in ("m" + coloured).split("\x1b["))
        assert stripped.split() == plain.split(), name


def test_theorems_are_filtered_by_words() -> None:
    def found(*words: str) -> list[str]:
        result = CliRunner().invoke(app, ["theorems", *words, "--format", "json"])
        return [each["id"] for each in json.loads(result.stdout)] if result.stdout else []

    assert {"VI.13", "VI.16", "pure-to-zcdp"} <= set(found("zcdp"))
    assert {"IV.6", "IV.13", "VI.16"} <= set(found("DISJOINT"))
    assert found("zcdp", "disjoint") == ["VI.16", "A.15"]
    assert found() == [*whole_book()] == [each.id for each in matching("")]
    assert found("nonsense") == []
    result = CliRunner().invoke(app, ["theorems", "nonsense"])
    assert result.exit_code == 2 and "`nonsense`" in result.stderr
