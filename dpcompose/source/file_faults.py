"""The faults of a file: all of them counted, the first of them listed; and those of its syntax, in
words that are the same for both of PyYAML's parsers."""

import re
from typing import Any, NamedTuple, NoReturn

from dpcompose.errors import Diagnostic, quoted
from dpcompose.source.events import MarkedYAMLError
from dpcompose.source.limits import MAX_COUNTED, MAX_FAULTS
from dpcompose.source.positions import Lines, Marks
from dpcompose.source.scalars import Value


class Stop(Exception):
    """Raised where reading cannot go on; the reason is recorded."""


class Misplaced:
    """A placeholder for a refused key, so that the numbers of nodes still follow the text."""

    __slots__ = ("name",)

    def __init__(self, name: str | None = None) -> None:
        self.name = name


class FileFaults:
    """Gathers the faults of one file."""

    def __init__(self, lines: Lines, marks: Marks) -> None:
        self._lines = lines
        self._marks = marks
        self._faults: list[Diagnostic] = []
        self._found = 0  # faults, duplicate keys included, which are listed last
        self._duplicates: dict[int, dict[Any, Value]] = {}  # number of a mapping that has some

    def __bool__(self) -> bool:
        return self._found > 0

    def add(
        self, code: str, message: str, at: tuple[int, int] | int, hint: str | None = None
    ) -> None:
        """Records a fault at a node, given by its number, or between two offsets."""
        self._count()
        if len(self._faults) >= MAX_FAULTS:
            return
        if isinstance(at, int):
            at = self._marks.starts[at], self._marks.ends[at]
        self._faults.append(Diagnostic(code, message, self._lines.span(*at), hint))

    def add_duplicate(self, number: int, mapping: dict[Any, Value], key: str) -> Misplaced:
        """Records a key that the mapping with this number has already, and returns the placeholder
        for it."""
        self._duplicates[number] = mapping
        refused = Misplaced(key)
        mapping[refused] = None  # now, since its value may be what ends the reading
        self._count()
        return refused

    def add_last(self, code: str, message: str, at: int, hint: str | None) -> None:
        """Records the fault that ends the reading, however many faults there are already."""
        self._found += 1
        self._faults.append(Diagnostic(code, message, self._lines.span(at, at + 1), hint))

    def stop(self, code: str, message: str, at: int, hint: str | None = None) -> NoReturn:
        """Records the fault that ends the reading, and raises Stop."""
        self.add_last(code, message, at, hint)
        raise Stop

    def all(self) -> list[Diagnostic]:
        """Returns every fault found, and a note where there are more than are listed."""
        for number, mapping in self._duplicates.items():
            if len(self._faults) < MAX_FAULTS:
                self._list_duplicates(number, mapping)
        unlisted = self._found - len(self._faults)
        if unlisted <= 0:
            return self._faults
        note = f"{unlisted} or more further faults are not listed"
        return [*self._faults, Diagnostic("DPC017", note, None, level="note")]

    def _count(self) -> None:
        """Counts a fault. Raises Stop at the limit."""
        self._found += 1
        if self._found >= MAX_COUNTED:
            raise Stop

    def _list_duplicates(self, number: int, mapping: dict[Any, Value]) -> None:
        """Lists the faults of keys that a mapping has twice."""
        first: dict[str, int] = {}
        for key, at in self._marks.keys(number, mapping).items():
            if not isinstance(key, Misplaced):
                first[key] = self._marks.starts[at]
            elif key.name is not None and len(self._faults) < MAX_FAULTS:
                place = self._lines.span(first[key.name], first[key.name])
                message = (
                    f"the key {quoted(key.name)} is given twice; "
                    f"the first is at line {place.line}, column {place.column}"
                )
                span = self._lines.span(self._marks.starts[at], self._marks.ends[at])
                end = first[key.name] + len(key.name)
                label = "given here first" if place.line != span.line else ""
                related = ((self._lines.span(first[key.name], end), label),)
                dash = key.name.startswith("-")
                hint = "a blank stands after the `-` of an item" if dash else "keep one of them"
                found = Diagnostic("DPC010", message, span, hint, related=related)
                self._faults.append(found)


# --- syntax ---------------------------------------------------------------------------------------

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
