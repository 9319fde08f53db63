"""The pages of `dpcompose explain` as a site of static HTML, each at a stable address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from dpcompose.errors import printable
from dpcompose.handbook import code_entries, printed_examples, topics, whole_book
from dpcompose.places import version
from dpcompose.render.help.code_text import KINDS, codes
from dpcompose.render.help.language_pages import Analyze, example_page, in_few_words, word_page
from dpcompose.render.help.pages import aligned_rows, code_page, theorem_page
from dpcompose.render.html.markup import Where, html_of
from dpcompose.render.html.templates import environment
from dpcompose.render.layout import Style, page_address
from dpcompose.render.parts.console import Section
from dpcompose.render.words.theorem_text import GROUPS, group_of, searchable_text
from dpcompose.spec.synonyms import synonyms

#: The folders of pages, each with its heading on the index.
FOLDERS = {"words": "Words", "theorems": "Theorems", "codes": "Codes", "examples": "Examples"}
_STYLE = Style()


class IndexRow(NamedTuple):
    """A page as the index lists it: its name, what it says, and further words that find it."""

    name: str
    says: str
    address: str
    words: str = ""


#: The pages of each folder, by the headings below which the index lists them.
Listed = Mapping[str, Mapping[str, Sequence[IndexRow]]]
#: A piece of a text: what it says, the address of the page that it names, and whether it is code.
Piece = tuple[str, str, bool]


def site_files(analyze: Analyze) -> Iterator[tuple[str, str]]:
    """Yields every file of the site: its path below the folder of the site, and its text."""
    made, found = _templates(), index_of_pages()
    yield "style.css", made.get_template("style.css").render()
    given = {"root": "", "here": "", "command": "WORD"}
    yield (
        "index.html",
        made.get_template("index.html").render(given, title="dpcompose explain", listed=found),
    )
    analyzed, resting = cache(analyze), _resting()
    for name in code_entries():
        yield made_page("codes", name, partial(code_page, name, codes()[name]))
    for name, entry in whole_book().items():
        yield made_page("theorems", name, partial(theorem_page, entry), resting.get(name, ()))
    for name, example in printed_examples().items():
        yield made_page("examples", name, partial(example_page, name, example, analyzed))
    for rows in found["words"].values():
        for each in rows:
            yield made_page("words", each.name, partial(word_page, each.name, analyzed))


def index_of_pages() -> Listed:
    """Returns every page as the index lists it."""
    said: dict[str, list[str]] = {}
    for synonym, word in synonyms():
        said.setdefault(word, []).append(synonym)
    words = {
        heading: [
            _entry("words", word, in_few_words(word), said.get(word, ()))
            for topic in group
            for word in topic.words
        ]
        for heading, group in topics().items()
    }
    theorems: dict[str, list[IndexRow]] = {name: [] for name in GROUPS}
    for name, entry in whole_book().items():
        further = (searchable_text(entry), *entry.routes, *entry.words)
        theorems[group_of(entry)].append(_entry("theorems", name, entry.title, further))
    kinds: dict[str, list[IndexRow]] = {}
    for name in code_entries():
        heading = f"On a {KINDS[name[:4]]}".replace("a remark", "valid specs: remarks")
        kinds.setdefault(heading, []).append(_entry("codes", name, codes()[name]))
    printed = [_entry("examples", name, each.title) for name, each in printed_examples().items()]
    return {"words": words, "theorems": theorems, "codes": kinds, "examples": {"": printed}}


def _entry(folder: str, name: str, says: str, words: Iterable[str] = ()) -> IndexRow:
    """Returns a page as the index lists it."""
    return IndexRow(name, says, page_address(folder, name), " ".join(words))


def _resting() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Returns the words and codes that rest on each theorem, each with what it says."""
    found: dict[str, list[tuple[str, str]]] = {}
    for rows in topics().values():
        for topic in rows:
            for name in topic.theorems:
                found.setdefault(name, []).append((topic.words[0], in_few_words(topic.words[0])))
    for code, entry in code_entries().items():
        for name in entry.theorems:
            found.setdefault(name, []).append((code, codes()[code]))
    return found


def made_page(
    folder: str,
    name: str,
    page: Callable[[Style], Section],
    resting: Sequence[tuple[str, str]] = (),
) -> tuple[str, str]:
    """Returns the path and the HTML of a page that a function of `explain` makes.

    `resting`: rows that a section at its end lists.
    """
    address, made = page_address(folder, name), page(_STYLE)
    rows = aligned_rows(resting, _STYLE)
    at_end = [Section("What rests on it", rows, _STYLE, inner=True)] if rows else []
    shown = (
        _templates()
        .get_template("page.html")
        .render(
            title=f"{made.name} - dpcompose",
            name=made.name,
            here=folder,
            root="../",
            command=name,
            content=html_of([*made.parts, *at_end], Where(linked=partial(linked, here=address))),
        )
    )
    return address, shown


def linked(text: str, here: str) -> Markup:
    """Returns a text as HTML, in which what names a page of the site leads there, except on the
    page `here`."""
    shown = Markup()
    root = "../" if here else ""
    for said, address, is_code in pieces(text, here):
        piece = Markup("<code>{}</code>" if is_code else "{}").format(printable(said))
        link = Markup('<a href="{}{}">{}</a>')
        shown += link.format(root, address, piece) if address else piece
    return shown


@cache
def _addresses() -> Mapping[str, str]:
    """Returns the address of each name; a theorem comes before a word, and this before an
    example."""
    order = ("examples", "words", "codes", "theorems")
    found = index_of_pages()
    return {
        each.name: each.address
        for folder in order
        for entries in found[folder].values()
        for each in entries
    }


#: What may name a page in a text: code, the id of a finding, and the number of a theorem.
_NAMED = re.compile(r"`([^`]+)`|\b(?:DPC\d{3}|(?:[IVX]+|A|HBW)\.[A-Z]?\d+)\b")


def pieces(text: str, here: str) -> Iterator[Piece]:
    """Yields the pieces of a text, with the addresses of the pages that they name, except `here`.

    Names between commas are linked where the text has nothing else.
    """
    known = _addresses()
    names = text.split(", ")
    if all(each in known for each in names):
        for number, each in enumerate(names):
            if number:
                yield ", ", "", False
            yield each, known[each] if known[each] != here else "", False
        return
    at = 0
    for found in _NAMED.finditer(text):
        name = found[1] or found[0]
        address = known.get(name, "")
        yield text[at : found.start()], "", False
        yield name, address if address != here else "", found[1] is not None
        at = found.end()
    yield text[at:], "", False


@cache
def _templates() -> Environment:
    """Returns the templates with what all pages of the site have."""
    made = environment().overlay()
    made.globals = {**made.globals, "kinds": FOLDERS, "version": version(), "linked": linked}
    return made
