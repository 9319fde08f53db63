"""Pages of `dpcompose explain` on words of the spec language, and on examples in the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.padding import Padding
from rich.text import Text

from dpcompose.handbook import PrintedExample, full_spec, sources, topics, topics_of
from dpcompose.render.help.pages import aligned_rows, page, titles
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Part, Section, Snippet, literal
from dpcompose.render.text.risk_text import in_brief
from dpcompose.render.words.numbers import at_text, bound_text
from dpcompose.report import Report
from dpcompose.spec.synonyms import Word
from dpcompose.spec.vocabulary import Meaning, WordSort, either, vocabulary

#: A function that analyses the text of a spec.
Analyze = Callable[[str], Report]


def field_page(given: str, word: Word, analyze: Analyze, style: Style) -> list[Part]:
    """Returns the help page of a term of differential privacy that is no word of the spec language:
    what to write for it, then the page of that word.

    `given`: the term; `word`: what to write for it; `analyze`: makes the report of the example
    specs.
    """
    if word.write is None:
        return [_page_of_indented(given, literal(sentence(word.says), style), style)]
    lead = literal(f"{given}: write `{word.write}`", style, "weak")
    return [lead, word_page(word.write, analyze, style)]


def word_page(word: str, analyze: Analyze, style: Style) -> Section:
    """Returns the help page of a word of the spec language, with each of its meanings.

    `analyze`: makes the report of the example specs.
    """
    meanings = vocabulary()[word]
    sorts = ", ".join(dict.fromkeys(each.sort for each in meanings))
    sections = [*_meanings(meanings, style), *_topics(word, analyze, style)]
    return page(word, [literal(sorts, style, "weak")], sections, style)


def _meanings(meanings: Sequence[Meaning], style: Style) -> Iterator[tuple[str, list[Part]]]:
    """Yields a section for each meaning of a word; many keys are listed in one section."""
    for each in meanings:
        if each.sort is not WordSort.KEY:
            rows = [(key.word, "needed" if key.needed else "", key.says) for key in each.keys]
            heads, columns = ("key", "", "means"), ("fixed name", "fixed")
            table = aligned_rows(rows, style, heads, columns)
            yield _where(each), [literal(each.says, style), *([Text(), *table] if table else [])]
    keys = [each for each in meanings if each.sort is WordSort.KEY]
    if len(keys) > 2:
        listed = [(either(e.of), f"{e.says}\nholds {either(e.holds)}") for e in keys]
        yield "A key of", aligned_rows(listed, style, (), ("part name",))
        return
    for each in keys:
        facts = [("holds", either(each.holds))]
        if each.needed or each.default:
            never = "never: it must be given"
            facts.append(("left out", never if each.needed else f"it is {each.default}"))
        yield _where(each), [literal(each.says, style), *aligned_rows(facts, style)]


def _where(each: Meaning) -> str:
    """Returns where a word may stand: `A key of a root or a graph`, `A kind of map, at map`."""
    if each.sort is WordSort.KEY:
        return f"A key of {either(each.of)}"
    sort = f"{each.sort[0].upper()}{each.sort[1:]}"
    return f"{sort}, at {either(f'`{key}`' for key in each.of)}"


def _topics(word: str, analyze: Analyze, style: Style) -> Iterator[tuple[str, list[Part]]]:
    """Yields the sections on the topics of a word: text, example spec, its result by `analyze`,
    theorems."""
    for topic in topics_of(word):
        spec = full_spec(topic.example)
        report = analyze(spec)
        yield "What to know", [literal(topic.about, style)]
        yield "Example", [Snippet(spec.splitlines(), style)]
        yield "What it gives", [literal(outcome(report), style, "strong")]
        cited = [report.theorem, *(each.theorem for each in report.chain)]
        identifiers = [*topic.theorems, *(each for each in cited if each is not None)]
        yield "Theorems", aligned_rows(titles(identifiers), style)
        beside = [each for each in dict.fromkeys((*topic.words, *topic.see)) if each != word]
        yield "See also", [literal(", ".join(beside), style)]


def outcome(report: Report) -> str:
    """Returns the result of an example: `ε = 3/10 (0.3), by III.6`, then numbers at points."""
    said = []
    if report.bound is not None:
        by = "as stated" if report.theorem is None else f"by {report.theorem}"
        said = [f"{bound_text(report.bound)}, {by}"]
    for at in (*report.at_delta, *report.at_epsilon):
        said.append(at_text(at))
    if report.risk is not None:
        said.append(in_brief(report))
    if report.adversary is not None and report.adversary.bound is not None:
        said.append(f"{bound_text(report.adversary.bound)} {report.adversary.label}")
    return "; ".join(said)


def example_page(number: str, example: PrintedExample, analyze: Analyze, style: Style) -> Section:
    """Returns the page of an example in the paper, by its number, with specs of it and the results
    that `analyze` gives."""
    sections: list[tuple[str, list[Part]]] = [("", [literal(example.about, style)])]
    for each in example.specs:
        spec = full_spec(each.lines)
        gives = literal(f"gives {outcome(analyze(spec))}", style, "strong")
        sections.append((each.heading, [Snippet(spec.splitlines(), style), Text(), gives]))
    sections.append(("Theorems", aligned_rows(titles(example.theorems), style)))
    sections.append(("To start from it", [Snippet([f"dpcompose init --from {number}"], style)]))
    head = [
        literal(example.title, style, "strong"),
        literal(f"GMPS24: {sources()['GMPS24']}", style, "weak"),
    ]
    return page(f"Example {number}", head, sections, style)


def language_page(style: Style) -> list[Part]:
    """Returns the page of all words of the language by topic, each with its first meaning."""
    parts: list[Part] = []
    for heading, group in topics().items():
        rows = [(word, in_few_words(word)) for topic in group for word in topic.words]
        [table] = aligned_rows(rows, style)
        parts += [*([""] if parts else []), _page_of_indented(heading, table, style)]
    return parts


def _page_of_indented(name: str, part: Part, style: Style) -> Section:
    """Returns a section of one part, which is indented."""
    return Section(name, [Padding(part, (0, 0, 0, 2))], style)


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
