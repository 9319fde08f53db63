"""PyYAML: the only module that imports it.

The parser's event stream is read instead of its node graph: composing nodes takes longer than all
of this package, and recurses in C without a limit.
"""

from collections.abc import Callable
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
