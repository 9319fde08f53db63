"""The file format: types and ranges only. What a spec means is worked out in `resolve`.

The only home of pydantic. Each mapping of the language is a model, which says its keys once
(`model`, `datasets`, `guarantees`, `mechanisms`, `asked`); the models of kinds are made from their
forms (`fields`). `reading` holds a spec against them. `pydantic_faults` reports what does not fit:
unknown keys (`unknown_keys`), mappings of no known kind (`unions`), values of a wrong type. What
editors and `explain` ask is read off the models (`allowed`, `vocabulary`). Words that people write
for those of the language are in `synonyms` and `training`.
"""

from dpcompose.spec.model import Spec, json_schema
from dpcompose.spec.reading import read

__all__ = ["Spec", "json_schema", "read"]
