"""Text to plain tree and positions.

A spec may come from a stranger, so everything is bounded and nothing recurses deeper than the
nesting limit. Scalars follow the core schema of YAML 1.2, not PyYAML's YAML 1.1.
"""

from dpcompose.source.detection import is_spec as is_spec
from dpcompose.source.documents import Document as Document
from dpcompose.source.documents import documents as documents
from dpcompose.source.limits import MAX_BYTES as MAX_BYTES
from dpcompose.source.limits import MAX_FAULTS as MAX_FAULTS
from dpcompose.source.positions import Lines as Lines
from dpcompose.source.positions import Source as Source
from dpcompose.source.reader import load as load
from dpcompose.source.scalars import Number as Number
from dpcompose.source.scalars import Value as Value
