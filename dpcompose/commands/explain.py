"""The commands `theorems`, `explain` and `schema`, which need no spec."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from importlib import import_module

from dpcompose.commands.choices import BookFormat, Draft, SchemaOf
from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import deliver, print_out, style_for
from dpcompose.core.theorem import Theorem
from dpcompose.errors import folded, nearest, quoted
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Part, Section, printed
from dpcompose.render.words.theorem_text import in_short, matching, shape
from dpcompose.report.wording import listing

#: The identifier of the page that lists all words.
LANGUAGE = "language"
#: A word is offered for another one that is so much alike.
_ALIKE = 0.75


def list_theorems(run: Run) -> ExitCode:
    """Runs the command `theorems`. Raises BadCall where no theorem contains all of the words."""
    look, entries = run.look, matching(" ".join(run.words))
    if not entries:
        raise BadCall(f"no theorem has all of {', '.join(map(quoted, run.words))} in what it says")
    if run.form == BookFormat.TEXT:
        from dpcompose.render.help.pages import theorem_table

        style = style_for(None, look)
        print_out(printed(theorem_table(entries, style), style))
        return ExitCode.FINE
    from dpcompose.render.json import dumped

    shapes, one = shape(entries), run.form == BookFormat.JSON
    print_out(dumped(shapes, indent=2) if one else "".join(map(dumped, shapes)))
    return ExitCode.FINE


def explain_words(run: Run) -> ExitCode:
    """Runs the command `explain`. Raises BadCall for an unknown identifier, or without any.

    `theorem:`, `example:`, `code:` or `word:` before it says which of them is meant.
    """
    if run.site_folder is not None:
        return _write_site(run.site_folder, run.words)
    if not run.words:
        raise BadCall("no WORD is given: a word of a spec, a theorem, a code, or `language`")
    identifier = " ".join(run.words)
    page = page_of(identifier, style_for(None, run.look))
    if page is None:
        known = [title for each in _kinds(identifier) or _PAGES for title in _titles_of_kind(each)]
        raise BadCall(_unknown(identifier, known))
    print_out(page)
    return ExitCode.FINE


def page_of(identifier: str, style: Style) -> str | None:
    """Returns the page of an identifier, which may start with its kind; None where it is
    unknown."""
    name = identifier.strip().casefold().rpartition(":")[2].strip()
    pages = (_PAGES[each](name, style) for each in _kinds(identifier))
    found = next((each for each in pages if each is not None), None)
    return None if found is None else printed(found, style)


def _kinds(identifier: str) -> list[str]:
    """Returns the kinds that an identifier may be of."""
    kind = identifier.strip().casefold().rpartition(":")[0]
    return [each for each in _PAGES if kind in ("", each)]


def _write_site(folder: str, words: Sequence[str]) -> ExitCode:
    """Writes all pages as HTML into a folder, through no links in it. Raises BadCall, and
    SystemExit where writing fails."""
    if words or not folder:
        raise BadCall("--site writes all pages into a folder: it takes DIR, and no WORD")
    from dpcompose.commands.writing.replace import Unwritable, make_folder
    from dpcompose.pipeline import analyze
    from dpcompose.render.html.site_pages import FOLDERS, site_files

    try:
        make_folder(folder)
        for each in FOLDERS:
            make_folder(os.path.join(folder, each))
    except Unwritable as error:
        complain(str(error))
        return ExitCode.USAGE
    for name, text in site_files(analyze):
        deliver([text], os.path.join(folder, name), raw=True)
    complain(f"wrote {os.path.join(folder, 'index.html')}, and the pages that it lists")
    return ExitCode.FINE


def _theorem(name: str, style: Style) -> Section | list[Part] | None:
    """Returns the page of the theorem of that id or place (`corollary iv.13`), the table of several
    (`vi.*`), the page of a source (`cks20`), else None."""
    from dpcompose.handbook import whole_book
    from dpcompose.render.help.pages import source_page, theorem_page, theorem_table

    entries = whole_book().values()
    ids = {entry.id.casefold(): entry for entry in entries}
    places = {entry.place.casefold(): entry for entry in entries}
    entry = ids.get(name) or places.get(name) or _by_another_name(name, ids)
    if entry is not None:
        return theorem_page(entry, style)
    if name.endswith(".*"):
        some = [each for key, each in ids.items() if key.startswith(name[:-1])]
        return theorem_table(some, style) if some else None
    some = [each for each in entries if each.source.casefold() == name]
    return source_page(some, style) if some else None


def _by_another_name(name: str, known: Mapping[str, Theorem]) -> Theorem | None:
    """Returns the theorem with another name than its id: that of a route (`exact gaussian`) or of a
    place (`cks20 cor 13`) as reports print it, or a word of the field; None if there is none.

    `name`: in small letters.
    """
    word = folded(name)
    for entry in known.values():
        routes = [route.casefold() for route in entry.routes]
        if name in routes or word in entry.words or in_short(entry.id).casefold() == name:
            return entry
    return None


def _example(name: str, style: Style) -> Section | list[Part] | None:
    """Returns the page of an example that the paper prints, else None."""
    from dpcompose.handbook import printed_examples

    number = name.removeprefix("example ").upper()
    if number not in printed_examples():
        return None
    from dpcompose.pipeline import analyze
    from dpcompose.render.help.language_pages import example_page

    return example_page(number, printed_examples()[number], analyze, style)


def _code(name: str, style: Style) -> Section | list[Part] | None:
    """Returns the page of a code of a finding, else None."""
    from dpcompose.render.help.code_text import codes

    code, meanings = name.upper(), codes()
    if code not in meanings:
        return None
    from dpcompose.render.help.pages import code_page

    return code_page(code, meanings[code], style)


def _word(name: str, style: Style) -> Section | list[Part] | None:
    """Returns the page of a word of the spec language, else None.

    `-` and `_` are the same, and a sign such as ε stands for its name.
    """
    from dpcompose.pipeline import analyze
    from dpcompose.render.help.language_pages import field_page, language_page, word_page
    from dpcompose.spec.synonyms import field_word, meaning
    from dpcompose.spec.vocabulary import vocabulary

    if name == LANGUAGE:
        return language_page(style)
    name = name.removesuffix(" neighbours").removesuffix(" neighbors")
    wanted = _SIGNS.get(name, name.replace("_", "-").replace(" ", "-"))
    found = next((word for word in vocabulary() if word.replace("_", "-") == wanted), None)
    if found is None and (meant := meaning("adaptivity", wanted)) is not None:
        found = meant.write
    if found is not None:
        return word_page(found, analyze, style)
    meant = field_word(name)
    return None if meant is None else field_page(name, meant, analyze, style)


#: Symbols of parameters, which stand for their names.
_SIGNS = {"ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu", "α": "alpha", "σ": "sigma"}
#: The functions that return the page of a name, by the kinds of identifiers; a kind and a colon
#: before a name select among equal ones.
_PAGES: Mapping[str, Callable[[str, Style], Section | list[Part] | None]]
_PAGES = {"theorem": _theorem, "example": _example, "code": _code, "word": _word}


def _titles_of_kind(kind: str) -> dict[str, str]:
    """Returns everything of a kind that can be explained, each with its title."""
    match kind:
        case "theorem":
            from dpcompose.handbook import whole_book

            return {key: entry.title for key, entry in whole_book().items()}
        case "example":
            from dpcompose.handbook import printed_examples

            return {key: example.title for key, example in printed_examples().items()}
        case "code":
            from dpcompose.render.help.code_text import codes

            return codes()
        case _:
            from dpcompose.spec.vocabulary import vocabulary

            words = {word: meanings[0].says for word, meanings in vocabulary().items()}
            return {LANGUAGE: "Every word of the spec language.", **words}


def identifiers(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields what `explain` can explain, each with a title, for shell completion."""
    start = incomplete.casefold()
    known = {key: says for kind in _PAGES for key, says in _titles_of_kind(kind).items()}
    return ((key, says) for key, says in known.items() if key.casefold().startswith(start))


#: The modules and functions of schemas, where these are not among those of `render.json.schemas`.
_SCHEMAS = {
    SchemaOf.SPEC: ("spec", "json_schema"),
    SchemaOf.RESULT: ("render.json.result_schema", "result_schema"),
}


def print_schema(of: SchemaOf, draft: Draft) -> None:
    """Runs the command `schema`."""
    from dpcompose.render.json import dumped
    from dpcompose.render.json.shapes import in_draft_7

    home, name = _SCHEMAS.get(of, ("render.json.schemas", f"{of}_schema"))
    schema = getattr(import_module(f"dpcompose.{home}"), name)()
    print_out(dumped(in_draft_7(schema) if draft is Draft.SEVEN else schema, indent=2))


def _unknown(identifier: str, known: list[str]) -> str:
    """Returns the message for an unknown identifier, with the nearest known one."""
    given = identifier.strip().rpartition(":")[2]
    near = nearest(given, known)
    # What is only a little alike is another word, and no number of a theorem is meant for another.
    close = (
        near is not None
        and SequenceMatcher(None, given.casefold(), near.casefold()).ratio() >= _ALIKE
    )
    numbered = re.match(r"[ivxIVX]+\.", given) is not None
    offer = f"; did you mean {near}?" if close and not numbered else ""
    if identifier.strip().casefold().startswith("example:"):
        offer = f"; the examples are {listing(known, 20)}"
    return (
        f"{quoted(identifier)} is neither a theorem, an example of the paper, a code nor a word of "
        f"the spec language{offer} (`dpcompose theorems` lists the theorems, "
        f"`dpcompose explain {LANGUAGE}` the words)"
    )
