"""Pages of `dpcompose explain` on words of the spec language, and on examples in the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType

from dpcompose.handbook import PrintedExample, full_spec, sources, topics, topics_of
from dpcompose.render.help.pages import (
    Chapter,
    Page,
    PagePart,
    Paragraph,
    Rows,
    Snippet,
    aligned_rows,
    printed_page,
    rendered,
    titles,
)
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Section, literal, printed
from dpcompose.render.text.risk_text import in_brief
from dpcompose.render.words.numbers import at_text, bound_text
from dpcompose.report import Report
from dpcompose.spec.synonyms import Word
from dpcompose.spec.vocabulary import Meaning, WordSort, either, vocabulary

#: A function that analyses the text of a spec.
Analyze = Callable[[str], Report]


def field_page(given: str, word: Word, analyze: Analyze, style: Style) -> str:
    """Returns the help page, as text, of a term of differential privacy that is no word of the spec
    language: what to write for it, then the page of that word.

    `given`: the term; `word`: what to write for it; `analyze`: makes the report of the example
    specs.
    """
    if word.write is None:
        return printed_page(given, style, [Paragraph(sentence(word.says))], [])
    lead = literal(f"{given}: write `{word.write}`", style, "weak")
    return printed([lead, ""], style) + word_page(word.write, analyze, style)


def word_page(word: str, analyze: Analyze, style: Style, page: Page = printed_page) -> str:
    """Returns the help page of a word of the spec language, with each of its meanings.

    `analyze`: makes the report of the example specs; `page`: makes the page from its parts.
    """
    meanings = vocabulary()[word]
    sorts = ", ".join(dict.fromkeys(each.sort for each in meanings))
    sections = [*_meanings(meanings), *_topics(word, analyze)]
    return page(word, style, [Paragraph(sorts, "weak", 0)], sections)


def _meanings(meanings: Sequence[Meaning]) -> Iterator[Chapter]:
    """Yields a section for each meaning of a word; many keys are listed in one section."""
    for each in meanings:
        if each.sort is not WordSort.KEY:
            rows = [(key.word, "needed" if key.needed else "", key.says) for key in each.keys]
            table: list[PagePart] = (
                [Paragraph(""), Rows(rows, ("key", "", "means"), 2)] if rows else []
            )
            yield _where(each), [Paragraph(each.says), *table]
    keys = [each for each in meanings if each.sort is WordSort.KEY]
    if len(keys) > 2:
        listed = [(either(e.of), f"{e.says}\nholds {either(e.holds)}") for e in keys]
        yield "A key of", [Rows(listed, fixed=0)]
        return
    for each in keys:
        facts = [("holds", either(each.holds))]
        if each.needed or each.default:
            never = "never: it must be given"
            facts.append(("left out", never if each.needed else f"it is {each.default}"))
        yield _where(each), [Paragraph(each.says), Rows(facts)]


def _where(each: Meaning) -> str:
    """Returns where a word may stand: `A key of a root or a graph`, `A kind of map, at map`."""
    if each.sort is WordSort.KEY:
        return f"A key of {either(each.of)}"
    sort = f"{each.sort[0].upper()}{each.sort[1:]}"
    return f"{sort}, at {either(f'`{key}`' for key in each.of)}"


def _topics(word: str, analyze: Analyze) -> Iterator[Chapter]:
    """Yields the sections on the topics of a word: text, example spec, its result by `analyze`,
    theorems."""
    for topic in topics_of(word):
        spec = full_spec(topic.example)
        report = analyze(spec)
        yield "What to know", [Paragraph(topic.about)]
        yield "Example", [Snippet(spec.splitlines())]
        yield "What it gives", [Paragraph(outcome(report), "strong")]
        cited = [report.theorem, *(each.theorem for each in report.chain)]
        identifiers = [*topic.theorems, *(each for each in cited if each is not None)]
        yield "Theorems", aligned_rows(titles(identifiers))
        beside = [each for each in dict.fromkeys((*topic.words, *topic.see)) if each != word]
        yield "See also", [Paragraph(", ".join(beside))]


def outcome(report: Report) -> str:
    """Returns the result of an example: `ε = 3/10 (0.3), by III.6`, then numbers at points."""
    said = [] if report.bound is None else [f"{bound_text(report.bound)}, by {report.theorem}"]
    for at in (*report.at_delta, *report.at_epsilon):
        said.append(at_text(at))
    if report.risk is not None:
        said.append(in_brief(report))
    if report.adversary is not None and report.adversary.bound is not None:
        said.append(f"{bound_text(report.adversary.bound)} {report.adversary.label}")
    return "; ".join(said)


def example_page(
    number: str,
    example: PrintedExample,
    analyze: Analyze,
    style: Style,
    page: Page = printed_page,
) -> str:
    """Returns the page of an example in the paper, by its number, with specs of it and the results
    that `analyze` gives."""
    sections: list[Chapter] = []
    for each in example.specs:
        spec = full_spec(each.lines)
        gives = Paragraph(f"gives {outcome(analyze(spec))}", "strong")
        sections.append((each.heading, [Snippet(spec.splitlines()), Paragraph(""), gives]))
    sections.append(("Theorems", aligned_rows(titles(example.theorems))))
    copied = Snippet([f"dpcompose init --from {number}"])
    sections.append(("To start from it", [copied]))
    head = [
        Paragraph(example.title, "strong", 0),
        Paragraph(f"GMPS24: {sources()['GMPS24']}", "weak", 0),
        Paragraph(""),
        Paragraph(example.about),
    ]
    return page(f"Example {number}", style, head, sections)


def language_page(style: Style) -> str:
    """Returns the page of all words of the language by topic, each with its first meaning."""
    parts: list[RenderableType] = []
    for heading, group in topics().items():
        rows = [(word, in_few_words(word)) for topic in group for word in topic.words]
        below = [rendered(Rows(rows), style)]
        parts += [*([""] if parts else []), Section(heading, below, style)]
    return printed(parts, style)


def in_few_words(word: str) -> str:
    """Returns the first meaning of a word, in a line or two."""
    meanings = vocabulary()[word]
    kinds = [each for each in meanings if each.sort not in (WordSort.KEY, WordSort.VALUE)]
    first, *more = [*kinds, *(each for each in meanings if each not in kinds)]
    if first.sort is WordSort.VALUE:
        return f"A value of {either(f'`{key}`' for key in first.of)}."
    says = first.says if len(first.says) <= _SHORT else f"{first.says.partition(':')[0]}."
    return f"{says} (And {len(more)} more.)" if more else says


_SHORT = 120
