"""Formats of others: what people already have becomes a spec, and a report an entry elsewhere.

Nothing of these libraries is imported: plain data is read, and live objects by their attributes.
"""

from dpcompose.bridge.dp_events import from_event as from_event
from dpcompose.bridge.opacus import from_opacus as from_opacus
from dpcompose.bridge.opendp import from_opendp as from_opendp
from dpcompose.bridge.recognition import spec_of_text as spec_of_text
from dpcompose.bridge.summaries import from_summary as from_summary
from dpcompose.bridge.to_event import to_event as to_event
from dpcompose.bridge.values import Unconvertible as Unconvertible
