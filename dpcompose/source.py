"""Text to plain tree and positions: the only module that knows PyYAML.

A spec may come from a stranger, so everything is bounded and nothing recurses deeper than the
nesting limit. Scalars follow the core schema of YAML 1.2, not PyYAML's YAML 1.1. The parser's
event stream is read instead of its node graph: composing nodes takes longer than all of this
module, and recurses in C without a limit.
"""

import gc
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, NoReturn, overload

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from dpcompose.errors import Diagnostic, InvalidSpec, Path, Span, quoted

MAX_BYTES = 64 * 2**20
MAX_BYTES_WITHOUT_LIBYAML = 4 * 2**20  # PyYAML's own parser is many times slower
MAX_DEPTH = 100
MAX_NODES = 5_000_000
MAX_ALIASED_NODES = 100_000  # what all aliases of a file may expand to
MAX_NAME = 10_000  # characters of a key or an unquoted text
MAX_FAULTS = 100  # listed in one go; the rest are counted,
MAX_COUNTED = 10_000  # until there are so many that reading stops
MAX_TAG_DIRECTIVES = 100  # libyaml takes quadratic time over them


class Number(str):
    """A plain scalar that YAML 1.2 reads as a number, kept as its source text.

    Forms such as ``010``, ``0x10`` and ``.inf`` are numbers here too: ``core.exact_expr`` makes a
    fraction of the text, or says what was probably meant.
    """

    __slots__ = ()


Value = None | bool | str | list["Value"] | dict[str, "Value"]
"""A tree of a spec. Parts that an alias repeats are shared: do not change it."""


# --- positions -----------------------------------------------------------------------------------


class Lines(Sequence[str]):
    """The lines of a text, without their line ends, cut out when asked for.

    Newlines are counted once per block of the text, so that neither a file of blank lines costs
    memory nor a file of one long line costs time.
    """

    __slots__ = ("_before", "_count", "_starts", "text")
    _BLOCK = 1024

    def __init__(self, text: str) -> None:
        self.text = text
        self._before = array("I")  # newlines before each block
        self._starts = array("I")  # where the line begins that runs into each block
        lines = start = 0
        for offset in range(0, len(text) + 1, self._BLOCK):
            self._before.append(lines)
            self._starts.append(start)
            end = offset + self._BLOCK
            lines += text.count("\n", offset, end)
            start = text.rfind("\n", offset, end) + 1 or start
        self._count = lines + 1

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        line = index + len(self) if index < 0 else index
        if not 0 <= line < len(self):
            raise IndexError(index)
        start = self._start(line)
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def _start(self, line: int) -> int:
        if line == 0:
            return 0
        block = bisect_left(self._before, line) - 1
        at = block * self._BLOCK
        for _ in range(line - self._before[block]):
            at = self.text.index("\n", at) + 1
        return at

    def _position(self, offset: int) -> tuple[int, int]:
        block, at = divmod(offset, self._BLOCK)
        at = offset - at
        line = self._before[block] + self.text.count("\n", at, offset)
        start = self.text.rfind("\n", at, offset) + 1 or self._starts[block]
        return line + 1, offset - start + 1

    def span(self, start: int, end: int) -> Span:
        """The span from one offset of the text to another, blanks at its end left out."""
        start = min(start, len(self.text))
        end = start + len(self.text[start:end].rstrip())
        return Span(*self._position(start), *self._position(end))


class _Marks:
    """Where every node of a file stands, nodes being numbered in the order of the text.

    A key is a node, and its value the next one, so a tree and its numbers can be walked together:
    nothing needs to be kept per path.
    """

    __slots__ = ("_numbers", "ends", "skip", "starts", "target")
    _WORTH_KEEPING = 32

    def __init__(self) -> None:
        self.starts = array("I")
        self.ends = array("I")
        self.skip: dict[int, int] = {}  # collection: the first number after all it holds
        self.target: dict[int, int] = {}  # alias: the node it repeats
        self._numbers: dict[int, Any] = {}

    def items(self, number: int, sequence: list[Value]) -> Sequence[int]:
        """Numbers of the items of the list with this number."""
        return array("I", self._walk(number, len(sequence), 1))

    def keys(self, number: int, mapping: dict[Any, Value]) -> dict[Any, int]:
        """Numbers of the keys of the mapping with this number."""
        return dict(zip(mapping, self._walk(number, len(mapping), 2), strict=True))

    def _walk(self, number: int, count: int, step: int) -> Iterator[int]:
        skip, at = self.skip, number + 1
        for _ in range(count):
            yield at
            for _ in range(step):
                at = skip.get(at, at + 1)

    def find(self, root: int, tree: Value, path: Path) -> tuple[int, int]:
        """Numbers of the value at ``path`` and of its key, or of the nearest ancestor's."""
        value = key = root
        for step in path:
            inside = self.target.get(value, value)
            if isinstance(tree, dict) and isinstance(step, str) and step in tree:
                key = self._kept(inside, tree, self.keys)[step]
                value, tree = key + 1, tree[step]
            elif isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree):
                key = value = self._kept(inside, tree, self.items)[step]
                tree = tree[step]
            else:
                break
        return value, key

    def _kept(self, number: int, tree: Any, number_all: Callable[[int, Any], Any]) -> Any:
        """The numbers in a collection, kept only where walking it again would be slow."""
        numbers = self._numbers.get(number)
        if numbers is None:
            numbers = number_all(number, tree)
            if len(tree) > self._WORTH_KEEPING:
                self._numbers[number] = numbers
        return numbers


@dataclass(frozen=True, slots=True)
class Source:
    """A document: its plain tree, and the place in the text of every part of it."""

    name: str
    value: Value
    lines: Lines
    _marks: _Marks = field(repr=False)
    _root: int = field(repr=False)

    def span(self, path: Path, key: bool = False) -> Span:
        """Where the value at ``path`` stands, or its key; else those of its nearest ancestor.

        A list item has no key: its value is meant. What an alias repeats stands where it was
        written, the alias itself where it is.
        """
        value, own_key = self._marks.find(self._root, self.value, path)
        number = own_key if key else value
        return self.lines.span(self._marks.starts[number], self._marks.ends[number])


# --- entry points --------------------------------------------------------------------------------


def load(data: bytes | str, name: str) -> Source:
    """The one document that ``data`` holds; ``name`` is what faults call the file.

    Raises InvalidSpec with every fault that could be found.
    """
    return _read(data, name, several=False)[0]


def load_all(data: bytes | str, name: str) -> list[Source]:
    """All documents that ``data`` holds, at least one; spans count from the top of the file.

    Raises InvalidSpec with every fault that could be found in any of them.
    """
    return _read(data, name, several=True)


def _read(data: bytes | str, name: str, several: bool) -> list[Source]:
    text = _decoded(data, name)
    lines = Lines(text)
    reader = _Reader(lines, several)
    if reader.check_text():
        with _no_garbage_collection():
            reader.read()
    faults = reader.all_faults()
    if faults:
        raise InvalidSpec(faults, name, lines)
    return [Source(name, value, lines, reader.marks, root) for root, value in reader.documents]


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Collecting while a big tree grows walks it over and over, and finds nothing to free."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- bytes to text -------------------------------------------------------------------------------


def _decoded(data: bytes | str, name: str) -> str:
    limit = MAX_BYTES if yaml.__with_libyaml__ else MAX_BYTES_WITHOUT_LIBYAML
    if len(data) > limit:
        message = f"the file is larger than {limit / 2**20:g} MiB"
        hint = "say `count: n` or `reads: name.*` for repeated mechanisms"
        raise InvalidSpec([Diagnostic("DPC001", message, None, hint)], name)
    try:
        text = data.decode() if isinstance(data, bytes) else str(data)
    except UnicodeDecodeError as error:
        lines = Lines(_normal(str(error.object, errors="replace")))
        raise InvalidSpec([_not_utf8(error)], name, lines) from None
    return _normal(text)


def _normal(text: str) -> str:
    """``text`` without a byte order mark, its line ends all newlines, as YAML reads them."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_SAVE = "save the file as UTF-8"


def _not_utf8(error: UnicodeDecodeError) -> Diagnostic:
    data = error.object
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Diagnostic("DPC002", "the file is UTF-16", Span(1, 1, 1, 1), _SAVE)
    before = _normal(data[: error.start].decode())
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
    return Diagnostic("DPC002", message, Span(line, column, line, column + 1), _SAVE)


# --- scalars -------------------------------------------------------------------------------------

_CONSTANTS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))"
    r"|0x[0-9a-fA-F]+|0o[0-7]+|\.(?:nan|NaN|NAN)"
)
_NUMBER_START = frozenset("+-.0123456789")
_FORBIDDEN = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
    "\U00010000-\U0010ffff]"
)
# YAML would allow these: line ends of YAML 1.1 only, byte order marks, and what reorders the text
# that people see.
_MISLEADING = re.compile("[\x85\u2028-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_CHARACTERS = 10  # forbidden ones that are listed: a binary file has too many
_ALLOWED_ASCII = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


class _PlainScalars(dict[str, Value]):
    """What each plain scalar means by the core schema of YAML 1.2, worked out when first met."""

    __slots__ = ("_too_long",)
    _MOST_KEPT = 1_000_000

    def __init__(self, too_long: Callable[[], None]) -> None:
        super().__init__(_CONSTANTS)
        self._too_long = too_long

    def __missing__(self, text: str) -> Value:
        if len(text) > MAX_NAME:
            self._too_long()
            return text
        if len(self) > self._MOST_KEPT:
            self.clear()
            self.update(_CONSTANTS)
        number = text[0] in _NUMBER_START and _NUMBER.fullmatch(text)
        value = self[text] = Number(text) if number else text
        return value


class _FineKeys(dict[str, str | None]):
    """Keys that are fine wherever they are new; None for those that need a closer look.

    Each is kept once, since most keys of a long spec are the same few words.
    """

    def __missing__(self, text: str) -> str | None:
        if text in {"", "<<"} or len(text) > MAX_NAME or not _encodable(text):
            return None
        self[text] = text
        return text


def _encodable(text: str) -> bool:
    # PyYAML's own parser lets "\uD800" through, which no output could encode.
    return text.isascii() or not _SURROGATE.search(text)


_STR_TAG = "tag:yaml.org,2002:str"
_SEQ_TAG = "tag:yaml.org,2002:seq"
_MAP_TAG = "tag:yaml.org,2002:map"
_SCALAR_TAGS: dict[str, Callable[[Value], bool]] = {
    _STR_TAG: lambda value: True,
    "tag:yaml.org,2002:null": lambda value: value is None,
    "tag:yaml.org,2002:bool": lambda value: isinstance(value, bool),
    "tag:yaml.org,2002:int": lambda value: isinstance(value, Number) and "." not in value,
    "tag:yaml.org,2002:float": lambda value: isinstance(value, Number),
}


# --- PyYAML's words and ours ---------------------------------------------------------------------

_NO_TAGS = "specs need no tags: remove it"
_INDENT = re.compile(r"[ \t]*")
_TAG = re.compile(r"![^\s,\[\]{}]*")


class _Reworded(NamedTuple):
    """What to say for a fault of syntax, whose words differ between PyYAML's two parsers."""

    pattern: re.Pattern[str]  # in "context: problem"
    message: str  # with {char}, what stands at the fault, and {opened}, the place of its context
    hint: str | None = None
    code: str = "DPC006"
    at_context: str = ""  # said there instead, where the file ends too early or message is empty


_SYNTAX = tuple(
    _Reworded(re.compile(pattern), *rest)
    for pattern, *rest in (
        (
            "tab character",
            "a tab stands where indentation is due",
            "indent with spaces",
            "DPC007",
        ),
        (
            "undefined tag handle",
            "the tag starts with a handle that is not declared",
            _NO_TAGS,
            "DPC013",
        ),
        (
            "mapping values are not allowed",
            "a `:` cannot start a value here",
            "indent this line like its neighbours, or quote a text that holds `: `",
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
            "{char} does not continue the mapping that starts at {opened}",
            "check the indentation, and quote a text that holds quotation marks",
        ),
        (
            "block collection: (did not find|expected)",
            "{char} does not continue the list that starts at {opened}",
            "items of a list start with `- ` and are indented alike",
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


def _event_source(text: str) -> Callable[[], Any]:
    """The function that gives the next event of ``text``."""
    if yaml.__with_libyaml__:
        next_event: Callable[[], Any] = yaml.CSafeLoader(text).get_event
        return next_event
    slow_event: Callable[[], Any] = yaml.SafeLoader(text).get_event

    def guarded() -> Any:
        try:
            return slow_event()
        except (ValueError, OverflowError) as error:  # chr() of "\UFFFFFFFF"
            raise yaml.YAMLError(str(error)) from None

    return guarded


def _tag(tag: str) -> str:
    return quoted(tag.replace("tag:yaml.org,2002:", "!!"))


# --- events to tree ------------------------------------------------------------------------------


class _Stop(Exception):
    """Reading cannot go on; the reason is recorded."""


class _Misplaced:
    """Stands for a key that was refused, so that numbering still follows the text."""

    __slots__ = ("name",)

    def __init__(self, name: str | None = None) -> None:
        self.name = name


@dataclass(slots=True)
class _Anchor:
    """A named node: what an alias of it adds in nodes and nesting, once it is complete."""

    number: int
    value: Value = None
    nodes: int = 0
    height: int = 0
    complete: bool = False


class _Reader:
    """One pass over the events of a file, collecting documents, marks and faults."""

    def __init__(self, lines: Lines, several: bool) -> None:
        self.lines = lines
        self.marks = _Marks()
        self.documents: list[tuple[int, Value]] = []  # number of the root, tree
        self._several = several
        self._faults: list[Diagnostic] = []
        self._found = 0  # faults, duplicate keys included, which are listed last
        self._duplicates: dict[int, dict[Any, Value]] = {}  # number of a mapping that has some
        self._anchors: dict[str, _Anchor] = {}
        self._aliased = 0  # nodes that aliases stand for
        self._depth = 0
        self._deepest = 0  # since the innermost anchor was opened
        self._flow_end = 0
        self._keys = _FineKeys()
        self._plain = _PlainScalars(self._refuse_long)
        self._next: Callable[[], Any]  # gives the next event

    # faults

    def _fault(
        self, code: str, message: str, at: tuple[int, int] | int, hint: str | None = None
    ) -> None:
        """Record a fault at a node, given by its number, or between two offsets."""
        self._count()
        if len(self._faults) >= MAX_FAULTS:
            return
        if isinstance(at, int):
            at = self.marks.starts[at], self.marks.ends[at]
        self._faults.append(Diagnostic(code, message, self.lines.span(*at), hint))

    def _count(self) -> None:
        self._found += 1
        if self._found >= MAX_COUNTED:
            raise _Stop

    def all_faults(self) -> list[Diagnostic]:
        """Every fault found, and a note where there are more than are listed."""
        for number, mapping in self._duplicates.items():
            if len(self._faults) < MAX_FAULTS:
                self._list_duplicates(number, mapping)
        unlisted = self._found - len(self._faults)
        if unlisted <= 0:
            return self._faults
        note = f"{unlisted} or more further faults are not listed"
        return [*self._faults, Diagnostic("DPC017", note, None, level="note")]

    def _list_duplicates(self, number: int, mapping: dict[Any, Value]) -> None:
        first: dict[str, int] = {}
        for key, at in self.marks.keys(number, mapping).items():
            if not isinstance(key, _Misplaced):
                first[key] = self.marks.starts[at]
            elif key.name is not None and len(self._faults) < MAX_FAULTS:
                place = self.lines.span(first[key.name], first[key.name])
                message = (
                    f"the key {quoted(key.name)} is given twice; "
                    f"the first is at line {place.line}, column {place.column}"
                )
                span = self.lines.span(self.marks.starts[at], self.marks.ends[at])
                self._faults.append(Diagnostic("DPC010", message, span, "keep one of them"))

    # the whole text

    def check_text(self) -> bool:
        """Refuse characters that YAML forbids, or that mislead, and what makes libyaml slow."""
        text = self.lines.text
        if not (text.isascii() and not text.encode().translate(None, _ALLOWED_ASCII)):
            for match in islice(_FORBIDDEN.finditer(text), _MOST_CHARACTERS):
                misleads = _MISLEADING.match(match[0])
                why = "lets a file look like another" if misleads else "is not allowed in YAML"
                self._fault("DPC003", f"the character U+{ord(match[0]):04X} {why}", match.span())
        if text.count("%TAG") > MAX_TAG_DIRECTIVES:
            message = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
            at = text.index("%TAG")
            self._fault("DPC016", message, (at, at + 4), _NO_TAGS)
        return not self._faults

    def read(self) -> None:
        """Read all documents, as far as the text allows."""
        try:
            self._next = _event_source(self.lines.text)
            self._documents()
        except _Stop:
            pass
        except yaml.MarkedYAMLError as error:
            self._syntax(error)
        except (yaml.YAMLError, UnicodeDecodeError):
            at = self.marks.ends[-1] if self.marks.ends else 0
            message = "not valid YAML after this place: an escape stands for no character"
            self._stop_at("DPC006", message, at, None)

    def _documents(self) -> None:
        document_start: Any = DocumentStartEvent
        while type(event := self._next()) is not StreamEndEvent:
            if type(event) is document_start:
                at = event.start_mark.index, event.end_mark.index
                if self.documents and not self._several:
                    self._fault(
                        "DPC005",
                        "a second document starts here, where one is due",
                        at,
                        "put each spec in a file of its own",
                    )
                    raise _Stop
                self._document(at)
        if not self.documents:
            self._fault("DPC004", "the file holds no spec: it is empty, or only comments", (0, 0))

    def _document(self, at: tuple[int, int]) -> None:
        self._anchors.clear()
        root = len(self.marks.starts)
        event = self._next()
        value = self._node(event)
        if isinstance(event, ScalarEvent) and not event.value and event.implicit[0]:
            self._fault("DPC004", "the document is empty", at)
        self.documents.append((root, value))

    # nodes

    def _node(self, event: Any) -> Value:
        if isinstance(event, AliasEvent):
            return self._alias(event)
        if event.anchor is None:
            return self._unnamed(event)
        anchor = self._anchors[event.anchor] = _Anchor(len(self.marks.starts))
        nodes, deepest = anchor.number + self._aliased, self._deepest
        self._deepest = self._depth
        anchor.value = self._unnamed(event)
        anchor.nodes = len(self.marks.starts) + self._aliased - nodes
        anchor.height = self._deepest - self._depth
        anchor.complete = True
        self._deepest = max(self._deepest, deepest)
        return anchor.value

    def _unnamed(self, event: Any) -> Value:
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if isinstance(event, MappingStartEvent):
            return self._mapping(event)
        return self._sequence(event)

    def _add(self, event: Any) -> int:
        """Number a node."""
        number = len(self.marks.starts)
        if number >= MAX_NODES:
            self._too_many(event)
        self.marks.starts.append(event.start_mark.index)
        self.marks.ends.append(event.end_mark.index)
        return number

    def _too_many(self, event: Any) -> NoReturn:
        at = event.start_mark.index
        self._stop_at("DPC009", f"the file holds more than {MAX_NODES} values", at, None)
        raise _Stop

    def _scalar(self, event: Any) -> Value:
        number = self._add(event)
        text: str = event.value
        plain, is_quoted = event.implicit
        if plain:
            return self._plain[text]
        if not _encodable(text):
            self._fault("DPC003", "half of a surrogate pair is not a character", number)
        if is_quoted:
            return text
        value = text if event.tag == _STR_TAG else self._plain[text]
        fits = _SCALAR_TAGS.get(event.tag)
        if fits is None:
            self._unknown_tag(event.tag, number)
        elif not fits(value):
            self._fault("DPC013", f"the tag {_tag(event.tag)} does not fit this value", number)
        return value

    def _refuse_long(self) -> None:
        message = f"a text without quotation marks longer than {MAX_NAME} characters"
        self._fault("DPC015", message, len(self.marks.starts) - 1)

    def _unknown_tag(self, tag: str, number: int) -> None:
        start, end = self.marks.starts[number], self.marks.ends[number]
        written = _TAG.search(self.lines.text, start, max(end, start + MAX_NAME))
        at = written.span() if written else (start, end)
        self._fault("DPC013", f"the tag {_tag(tag)} is unknown", at, _NO_TAGS)

    def _alias(self, event: Any) -> Value:
        number = self._add(event)
        anchor = self._anchors.get(event.anchor)
        name = quoted("*" + event.anchor)
        if anchor is None:
            self._fault("DPC014", f"the alias {name} is not defined before this place", number)
            return None
        if not anchor.complete:
            self._fault("DPC014", f"the alias {name} would contain itself", number)
            return None
        self._aliased += anchor.nodes - 1
        if self._aliased > MAX_ALIASED_NODES:
            message = f"aliases expand to more than {MAX_ALIASED_NODES} values"
            self._stop_at("DPC014", message, self.marks.starts[number], "write the values out")
            raise _Stop
        self._deepen(anchor.height, number)
        self.marks.target[number] = anchor.number
        return anchor.value

    def _deepen(self, height: int, number: int) -> None:
        depth = self._depth + height
        if depth > MAX_DEPTH:
            message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
            self._stop_at("DPC008", message, self.marks.starts[number], None)
            raise _Stop
        self._deepest = max(self._deepest, depth)

    # collections

    def _open(self, event: Any, tag: str) -> int:
        number = self._add(event)
        self._deepen(1, number)
        self._depth += 1
        if event.tag is not None and event.tag != tag:
            self._unknown_tag(event.tag, number)
        return number

    def _close(self, number: int, start: Any, end: Any) -> None:
        marks = self.marks
        if start.flow_style:
            self._flow_end = end.end_mark.index
            marks.ends[number] = self._flow_end
        else:  # a block's own end mark is where the next thing starts
            marks.ends[number] = max(marks.ends[-1], self._flow_end)
        marks.skip[number] = len(marks.starts)
        self._depth -= 1

    # Nearly all the time of reading a file goes into the two loops below. They do for common
    # scalars what _node would do, without its calls.

    def _sequence(self, start: Any) -> list[Value]:
        number = self._open(start, _SEQ_TAG)
        result: list[Value] = []
        scalar: Any = ScalarEvent
        next_event, plain, starts = self._next, self._plain, self.marks.starts
        add_start, add_end = starts.append, self.marks.ends.append
        while type(event := next_event()) is not SequenceEndEvent:
            if len(starts) >= MAX_NODES:
                self._too_many(event)
            if type(event) is scalar and event.implicit[0] and event.anchor is None:
                add_start(event.start_mark.index)
                add_end(event.end_mark.index)
                result.append(plain[event.value])
            else:
                result.append(self._node(event))
        self._close(number, start, event)
        return result

    def _mapping(self, start: Any) -> dict[str, Value]:
        number = self._open(start, _MAP_TAG)
        result: dict[Any, Value] = {}
        scalar: Any = ScalarEvent
        next_event, plain, keys, starts = self._next, self._plain, self._keys, self.marks.starts
        add_start, add_end = starts.append, self.marks.ends.append
        while type(event := next_event()) is not MappingEndEvent:
            if len(starts) >= MAX_NODES:
                self._too_many(event)
            key: Any = None
            if type(event) is scalar and event.tag is None and event.anchor is None:
                key = keys[event.value]
            if key is None or key in result:
                key = self._odd_key(event, result, number)
            else:
                add_start(event.start_mark.index)
                add_end(event.end_mark.index)
            event = next_event()
            if type(event) is scalar and event.implicit[0] and event.anchor is None:
                add_start(event.start_mark.index)
                add_end(event.end_mark.index)
                result[key] = plain[event.value]
            else:
                result[key] = self._node(event)
        self._close(number, start, event)
        return result

    def _odd_key(self, event: Any, mapping: dict[Any, Value], owner: int) -> Any:
        """A key that needs a closer look: itself, or what stands for it if it is refused."""
        number = len(self.marks.starts)
        self._node(event)
        if not isinstance(event, ScalarEvent):
            kind = "an alias" if isinstance(event, AliasEvent) else "a list or a mapping"
            self._fault("DPC011", f"{kind} cannot be a key", number, "keys are plain text")
            return _Misplaced()
        key: str = event.value
        is_plain = event.implicit[0]
        if not key and is_plain:
            self._fault("DPC011", "a key is missing", number, "write `key: value`")
        elif key == "<<" and is_plain:
            message = "merge keys are not part of YAML 1.2"
            self._fault("DPC012", message, number, "write out the keys that should be merged")
        elif event.tag not in {None, _STR_TAG}:
            self._fault("DPC011", f"a key cannot be {_tag(event.tag)}", number, "remove the tag")
        elif key in mapping:
            self._duplicates[owner] = mapping
            refused = _Misplaced(key)
            mapping[refused] = None  # now, since its value may be what ends the reading
            self._count()
            return refused
        elif len(key) > MAX_NAME:
            if not is_plain:  # else it is reported already
                self._fault("DPC015", f"a key longer than {MAX_NAME} characters", number)
        else:
            return key
        return _Misplaced()

    # syntax

    def _syntax(self, error: yaml.MarkedYAMLError) -> None:
        text = self.lines.text
        context = getattr(error.context_mark, "index", None)
        problem = getattr(error.problem_mark, "index", context or 0)
        start = text.rfind("\n", 0, problem) + 1
        indent = _INDENT.match(text, start)
        if indent and "\t" in indent[0]:
            at = start + indent[0].index("\t")
            self._stop_at("DPC007", "a tab is used for indentation", at, "indent with spaces")
            return
        said = f"{error.context or ''}: {error.problem or ''}"
        known = next((each for each in _SYNTAX if each.pattern.search(said)), None)
        if known is None:
            self._stop_at("DPC006", f"not valid YAML: {error.problem or error}", problem, None)
            return
        at, message, opened = problem, known.message, ""
        if context is not None:
            place = self.lines.span(context, context)
            opened = f"line {place.line}, column {place.column}"
            if known.at_context and not (known.message and text[problem:].strip()):
                at, message = context, known.at_context
        char = quoted(text[at]) if at < len(text) else "the end of the file"
        self._stop_at(known.code, message.format(char=char, opened=opened), at, known.hint)

    def _stop_at(self, code: str, message: str, at: int, hint: str | None) -> None:
        """Record what ended the reading, however many faults there are already."""
        self._found += 1
        self._faults.append(Diagnostic(code, message, self.lines.span(at, at + 1), hint))
