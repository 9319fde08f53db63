"""The reader of YAML: one pass from events to a tree, with bounded recursion."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from sys import intern
from typing import Any, NoReturn

from dpcompose.errors import InvalidSpec, quoted
from dpcompose.memory import without_garbage_collection
from dpcompose.source.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
    YAMLError,
    event_source,
)
from dpcompose.source.file_faults import NO_TAGS, FileFaults, Misplaced, Stop, syntax_fault
from dpcompose.source.limits import MAX_ALIASED_NODES, MAX_DEPTH, MAX_DOCUMENTS, MAX_NAME, MAX_NODES
from dpcompose.source.positions import Lines, Marks, Source
from dpcompose.source.scalars import (
    MAP_TAG,
    SCALAR_TAGS,
    SEQ_TAG,
    STR_TAG,
    PlainScalars,
    Value,
    encodable,
    is_fine_key,
)
from dpcompose.source.text import check_text, decode

_TAG = re.compile(r"![^\s,\[\]{}]*")


def load(data: bytes | str, name: str, lines_above: int = 0) -> Source:
    """Returns the one document in `data`, as a tree with positions. Raises InvalidSpec with all
    faults found.

    `name`: the name of the file in faults. `lines_above` is added to every line number, for a
    document cut out of a stream.
    """
    lines = Lines(decode(data, name), lines_above)
    reader = Reader(lines)
    if check_text(lines.text, reader.faults):
        with without_garbage_collection():
            reader.read()
    faults = reader.faults.all()
    if faults:
        raise InvalidSpec(faults, name, lines)
    return Source(name, reader.value, lines, reader.marks)


def _tag(tag: str) -> str:
    """Returns a tag as messages show it."""
    return quoted(tag.replace("tag:yaml.org,2002:", "!!"))


@dataclass(slots=True)
class _Anchor:
    """A named node, with the number of nodes and the nesting that an alias of it adds."""

    number: int
    value: Value = None
    nodes: int = 0
    height: int = 0
    complete: bool = False


class Reader:
    """A pass over the events of a file, which makes the tree `value` of its document, and collects
    marks and faults."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.marks = Marks()
        self.faults = FileFaults(lines, self.marks)
        self.value: Value = None
        self._anchors: dict[str, _Anchor] = {}
        self._aliased = 0  # nodes that aliases stand for
        self._depth = 0
        self._deepest = 0  # since the innermost anchor was opened
        self._flow_end = 0
        self._plain = PlainScalars(self._refuse_long)
        self._next: Callable[[], Any]  # gives the next event

    def read(self) -> None:
        """Reads the document, as far as the text allows."""
        try:
            self._next = event_source(self.lines.text)
            self._document()
        except Stop:
            pass
        except MarkedYAMLError as error:
            self.faults.add_last(*syntax_fault(error, self.lines))
        except (YAMLError, UnicodeDecodeError):
            at = self.marks.ends[-1] if self.marks.ends else 0
            message = "not valid YAML after this place: an escape stands for no character"
            self.faults.add_last("DPC006", message, at, None)

    def _document(self) -> None:
        """Reads the document, and records a fault where there is none, or a second one."""
        is_first = True
        document_start: Any = DocumentStartEvent
        while type(event := self._next()) is not StreamEndEvent:
            if type(event) is not document_start:
                continue
            at = event.start_mark.index, event.end_mark.index
            if not is_first:
                message = "a second document starts here, where one is due"
                hint = (
                    f"put each spec in a file of its own; of one at most {MAX_DOCUMENTS} are read"
                )
                self.faults.add("DPC005", message, at, hint)
                return
            is_first = False
            root = self._next()
            self.value = self._node(root)
            if isinstance(root, ScalarEvent) and not root.value and root.implicit[0]:
                self.faults.add("DPC004", "the document is empty", at)
        if is_first:
            message = "the file holds no spec: it is empty, or only comments"
            self.faults.add("DPC004", message, (0, 0))

    # nodes

    def _node(self, event: Any) -> Value:
        """Returns the value of a node, which may be an alias or have an anchor."""
        if isinstance(event, AliasEvent):
            return self._alias(event)
        number, aliased, deepest = len(self.marks.starts), self._aliased, self._deepest
        anchor = None
        if event.anchor is not None:
            anchor = self._anchors[event.anchor] = _Anchor(number)
            self._deepest = self._depth
        value: Value
        if isinstance(event, ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(event)
        else:
            value = self._sequence(event)
        if anchor is not None:
            anchor.value, anchor.complete = value, True
            anchor.nodes = len(self.marks.starts) - number + self._aliased - aliased
            anchor.height = self._deepest - self._depth
            self._deepest = max(self._deepest, deepest)
        return value

    def _add(self, event: Any) -> int:
        """Adds a node to the marks, and returns its number."""
        number = len(self.marks.starts)
        if number >= MAX_NODES:
            self._too_many(event)
        self.marks.starts.append(event.start_mark.index)
        self.marks.ends.append(event.end_mark.index)
        return number

    def _too_many(self, event: Any) -> NoReturn:
        """Ends the reading, since the file has too many nodes."""
        message = f"the file holds more than {MAX_NODES} values"
        self.faults.stop("DPC009", message, event.start_mark.index)

    def _scalar(self, event: Any) -> Value:
        """Returns the value of a scalar, with its tag checked."""
        number = self._add(event)
        text: str = event.value
        plain, is_quoted = event.implicit
        if plain:
            return self._plain[text]
        if not encodable(text):
            self.faults.add("DPC003", "half of a surrogate pair is not a character", number)
        if is_quoted:
            return text
        value = text if event.tag == STR_TAG else self._plain[text]
        fits = SCALAR_TAGS.get(event.tag)
        if fits is None:
            self._unknown_tag(event.tag, number)
        elif not fits(value):
            self.faults.add("DPC013", f"the tag {_tag(event.tag)} does not fit this value", number)
        return value

    def _refuse_long(self) -> None:
        """Records that the last scalar is too long."""
        message = f"a text without quotation marks longer than {MAX_NAME} characters"
        self.faults.add("DPC015", message, len(self.marks.starts) - 1)

    def _unknown_tag(self, tag: str, number: int) -> None:
        """Records a tag that is unknown."""
        start, end = self.marks.starts[number], self.marks.ends[number]
        written = _TAG.search(self.lines.text, start, max(end, start + MAX_NAME))
        at = written.span() if written else (start, end)
        self.faults.add("DPC013", f"the tag {_tag(tag)} is unknown", at, NO_TAGS)

    def _alias(self, event: Any) -> Value:
        """Returns the value that an alias repeats. Raises Stop where aliases expand too far."""
        number = self._add(event)
        anchor = self._anchors.get(event.anchor)
        name = quoted("*" + event.anchor)
        if anchor is None:
            self.faults.add("DPC014", f"the alias {name} is not defined before this place", number)
            return None
        if not anchor.complete:
            self.faults.add("DPC014", f"the alias {name} would contain itself", number)
            return None
        self._aliased += anchor.nodes - 1
        if self._aliased > MAX_ALIASED_NODES:
            message = f"aliases expand to more than {MAX_ALIASED_NODES} values"
            self.faults.stop("DPC014", message, self.marks.starts[number], "write the values out")
        self._deepen(anchor.height, number)
        self.marks.target[number] = anchor.number
        return anchor.value

    def _deepen(self, height: int, number: int) -> None:
        """Records how deep a node of some height reaches. Raises Stop at the limit."""
        depth = self._depth + height
        if depth > MAX_DEPTH:
            message = f"lists and mappings are nested more than {MAX_DEPTH} deep"
            self.faults.stop("DPC008", message, self.marks.starts[number])
        self._deepest = max(self._deepest, depth)

    # collections

    def _open(self, event: Any, tag: str) -> int:
        """Adds a collection to the marks, and returns its number."""
        number = self._add(event)
        self._deepen(1, number)
        self._depth += 1
        if event.tag is not None and event.tag != tag:
            self._unknown_tag(event.tag, number)
        return number

    def _close(self, number: int, start: Any, end: Any) -> None:
        """Records the end of a collection."""
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
        """Returns the items of a sequence."""
        number = self._open(start, SEQ_TAG)
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
        """Returns the entries of a mapping."""
        number = self._open(start, MAP_TAG)
        result: dict[Any, Value] = {}
        scalar: Any = ScalarEvent
        next_event, plain, starts = self._next, self._plain, self.marks.starts
        add_start, add_end = starts.append, self.marks.ends.append
        while type(event := next_event()) is not MappingEndEvent:
            if len(starts) >= MAX_NODES:
                self._too_many(event)
            key: Any = event.value if type(event) is scalar else None
            is_odd = key is None or event.tag is not None or event.anchor is not None
            if is_odd or key in result or not is_fine_key(key):
                key = self._odd_key(event, result, number)
            else:
                key = intern(key)  # most keys of a long spec are the same few words
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
        """Returns a key that is not plain text, or the placeholder for it if it is refused."""
        number = len(self.marks.starts)
        self._node(event)
        if not isinstance(event, ScalarEvent):
            kind = "an alias" if isinstance(event, AliasEvent) else "a list or a mapping"
            self.faults.add("DPC011", f"{kind} cannot be a key", number, "keys are plain text")
            return Misplaced()
        key: str = event.value
        is_plain = event.implicit[0]
        if not key and is_plain:
            self.faults.add("DPC011", "a key is missing", number, "write `key: value`")
        elif key == "<<" and is_plain:
            message = "merge keys are not part of YAML 1.2"
            self.faults.add("DPC012", message, number, "write out the keys that should be merged")
        elif event.tag not in {None, STR_TAG}:
            self.faults.add(
                "DPC011", f"a key cannot be {_tag(event.tag)}", number, "remove the tag"
            )
        elif key in mapping:
            return self.faults.add_duplicate(owner, mapping, key)
        elif len(key) > MAX_NAME:
            if not is_plain:  # else it is reported already
                self.faults.add("DPC015", f"a key longer than {MAX_NAME} characters", number)
        else:
            return key
        return Misplaced()
