"""Messages for faults of syntax, the same for both of PyYAML's parsers."""

import re
from typing import NamedTuple

from dpcompose.errors import quoted
from dpcompose.source.events import MarkedYAMLError
from dpcompose.source.positions import Lines

NO_TAGS = "specs need no tags: remove it"
_INDENT = re.compile(r"[ \t]*")
#: A key and a value without a blank between them; `//` is that of an address.
_JOINED = re.compile(r" *(?:- +)*(?P<key>[A-Za-z_]\w*:)(?P<value>(?!//)[\w\[{\"'.+-][ -~]*)")
_LONGEST_SHOWN = 60


class _Reworded(NamedTuple):
    """The message for a fault of syntax, whose words differ between PyYAML's two parsers."""

    pattern: str  # in "context: problem"; compiled when a fault asks for it
    message: str  # with {char}, what stands at the fault, and {opened}, the place of its context
    hint: str | None = None
    code: str = "DPC006"
    at_context: str = ""  # said there instead, where the file ends too early or message is empty


_SYNTAX = tuple(
    _Reworded(pattern, *rest)
    for pattern, *rest in (
        ("tab character", "a tab stands where indentation is due", "indent with spaces", "DPC007"),
        (
            "undefined tag handle",
            "the tag starts with a handle that is not declared",
            NO_TAGS,
            "DPC013",
        ),
        (
            "mapping values are not allowed",
            "a `:` cannot start a value here",
            "indent this line like its neighbours, or quote a text that holds `: `",
        ),
        (
            # PyYAML's own limit, which it meets first where nothing but brackets is read.
            "exceeded maximum nesting depth",
            "lists and mappings are nested too deep",
            None,
            "DPC008",
        ),
        (
            "(block )?sequence entries are not allowed",
            "a `-` item cannot start here",
            "start the list on a line of its own",
        ),
        (
            "simple key: could not find expected ':'",
            "",
            "is a `:` or a closing quotation mark missing?",
            "DPC006",
            "this line is not `key: value`",
        ),
        (
            "flow (mapping|sequence): .*expected ','",
            "expected `,` or a closing bracket before {char}, in the bracket opened at {opened}",
            "close the bracket, or quote a text that holds brackets or commas",
            "DPC006",
            "the bracket {char} is never closed",
        ),
        (
            "quoted scalar: found unexpected (end of stream|document)",
            "a quotation that starts at {opened} is never closed",
            "a quotation mark inside '...' is written twice",
            "DPC006",
            "the quotation mark {char} is never closed",
        ),
        (
            "unknown escape character|escape sequence of|invalid Unicode character escape",
            "an unknown escape in a text with double quotation marks",
            "write the text in '...', where a backslash means itself",
        ),
        (
            "block mapping: (did not find expected key|expected <block end>)",
            "{word} does not continue the mapping that starts at {opened}",
            "check the indentation, and quote a text that holds quotation marks",
        ),
        (
            "block collection: (did not find|expected)",
            "{word} does not continue the list that starts at {opened}",
            "items of a list start with `- ` and are indented alike; a key of the item above is "
            "indented as its first key",
        ),
        (
            "expected '?<document start>",
            "{char} stands after the end of the document",
            "is a `key: value` or a bracket broken above?",
        ),
        ("expected (the )?node content", "a value is missing before {char}"),
        (
            "cannot start any token",
            "{char} cannot start a text without quotation marks",
            "put the text in quotation marks",
        ),
        (
            "scanning an (alias|anchor):",
            "{char} cannot stand in the name of an alias or an anchor",
            "quote a text that starts with `*` or `&`",
        ),
        (
            "block scalar: .*(comment or line break|indicators)",
            "{char} cannot follow the `|` or `>` of a block of text",
            "start the text on the next line",
        ),
        ("incompatible YAML document", "the %YAML directive asks for another version", "remove it"),
        (
            "directive|duplicate tag handle",
            "not a YAML directive",
            "quote a text that starts with `%`",
        ),
    )
)


#: A key, as far as it can be told without reading the file as YAML.
_WORD = re.compile(r"\w[\w-]*")


def syntax_fault(error: MarkedYAMLError, lines: Lines) -> tuple[str, str, int, str | None]:
    """Returns the code, the message, the offset and the hint for an error of PyYAML."""
    text = lines.text
    context = getattr(error.context_mark, "index", None)
    problem = getattr(error.problem_mark, "index", context or 0)
    start = text.rfind("\n", 0, problem) + 1
    indent = _INDENT.match(text, start)
    if indent and "\t" in indent[0]:
        at = start + indent[0].index("\t")
        return "DPC007", "a tab is used for indentation", at, "indent with spaces"
    said = f"{error.context or ''}: {error.problem or ''}"
    known = next((each for each in _SYNTAX if re.search(each.pattern, said)), None)
    if known is None:
        return "DPC006", f"not valid YAML: {error.problem or error}", problem, None
    at, message, opened = problem, known.message, ""
    if context is not None:
        place = lines.span(context, context)
        opened = f"line {place.line}, column {place.column}"
        if known.at_context and not (known.message and text[problem:].strip()):
            at, message = context, known.at_context
    joined = _JOINED.match(text, text.rfind("\n", 0, at) + 1)
    if joined and known.at_context and not known.message:
        key, value = joined["key"], joined["value"]
        hint = f"write `{key} {value}`" if len(key + value) < _LONGEST_SHOWN else None
        return known.code, f"a blank is missing after {quoted(key)}", joined.end("key"), hint
    if text[at - 1 : at + 1] == "${":
        name = text[at + 1 :].partition("}")[0].splitlines()
        hint = f"write `{name[0]}`" if name and _WORD.fullmatch(name[0]) else None
        return known.code, "a constant stands by its name alone, without `${…}`", at - 1, hint
    char = quoted(text[at]) if at < len(text) else "the end of the file"
    word = _WORD.match(text, at)
    found = quoted(word[0]) if word else char
    return known.code, message.format(char=char, word=found, opened=opened), at, known.hint
