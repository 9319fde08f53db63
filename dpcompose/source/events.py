"""PyYAML: the only module that imports it.

The parser's event stream is read instead of its node graph: composing nodes takes longer than all
of this package, and recurses in C without a limit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import MarkedYAMLError as MarkedYAMLError
from yaml import YAMLError as YAMLError
from yaml.events import AliasEvent as AliasEvent
from yaml.events import DocumentStartEvent as DocumentStartEvent
from yaml.events import MappingEndEvent as MappingEndEvent
from yaml.events import MappingStartEvent as MappingStartEvent
from yaml.events import ScalarEvent as ScalarEvent
from yaml.events import SequenceEndEvent as SequenceEndEvent
from yaml.events import SequenceStartEvent as SequenceStartEvent
from yaml.events import StreamEndEvent as StreamEndEvent


def has_libyaml() -> bool:
    """Returns whether PyYAML has its fast parser."""
    return bool(yaml.__with_libyaml__)


def parsed(text: str) -> Any:
    """Returns the content of a YAML text of this package; specs are read by their events."""
    return yaml.load(text, yaml.CSafeLoader if has_libyaml() else yaml.SafeLoader)


def event_source(text: str) -> Callable[[], Any]:
    """Returns the function that gives the next event of `text`."""
    if has_libyaml():
        next_event: Callable[[], Any] = yaml.CSafeLoader(text).get_event
        return next_event
    slow_event: Callable[[], Any] = yaml.SafeLoader(text).get_event

    def guarded() -> Any:
        """Returns the next event of the slow parser. Raises YAMLError."""
        try:
            return slow_event()
        except (ValueError, OverflowError) as error:  # chr() of "\UFFFFFFFF"
            raise yaml.YAMLError(str(error)) from None

    return guarded


#: The most entries of a collection that are kept.
_MOST_SAID = 100_000


@dataclass(slots=True)
class Level:
    """A YAML collection that is still open: `at` is the key or the number of the current value,
    `said` its first entries so far."""

    is_mapping: bool
    said: dict[str, str] = field(default_factory=dict)
    at: str | int = -1
    at_key: bool = True

    def add(self, text: str) -> None:
        """Adds a node, which is a key or a value."""
        if isinstance(self.at, int) and not self.is_mapping:
            self.at += 1
        elif self.at_key:
            self.at, self.at_key = text, False
            if len(self.said) < _MOST_SAID:
                self.said[text] = ""
        else:
            self.at_key = True
            if self.at in self.said:
                self.said[str(self.at)] = text


def walk(text: str) -> Iterator[tuple[Any, list[Level]]]:
    """Yields the event of each node of a text, with the collections that are open before it.

    Raises YAMLError.
    """
    stack: list[Level] = []
    next_event = event_source(text)
    while type(event := next_event()) is not StreamEndEvent:
        if isinstance(event, DocumentStartEvent):
            stack.clear()
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            stack.pop()
        elif isinstance(event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)):
            yield event, stack
            if stack:
                stack[-1].add(event.value if isinstance(event, ScalarEvent) else "")
            if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                stack.append(Level(isinstance(event, MappingStartEvent)))
