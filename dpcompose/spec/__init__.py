"""The file format: types and ranges only. What a spec means is worked out in `resolve`.

The only home of pydantic.
"""

from dpcompose.spec.model import Spec, json_schema
from dpcompose.spec.reading import Reading, read

__all__ = ["Reading", "Spec", "json_schema", "read"]
