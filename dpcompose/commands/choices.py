"""The words that options of commands take, such as the formats of each command."""

from __future__ import annotations

from enum import StrEnum

#: By what a bound is also asked for, beside what a spec protects.
By = StrEnum("By", "ATTRIBUTE")
#: The formats of `diff`.
DiffFormat = StrEnum("DiffFormat", "TEXT JSON MARKDOWN GITHUB SARIF")
#: The formats of `total`.
TotalFormat = StrEnum("TotalFormat", "TEXT JSON MARKDOWN HTML")
#: The formats of `fit` and `savings`.
PlanFormat = StrEnum("PlanFormat", "TEXT JSON")
#: The formats of `graph`.
GraphFormat = StrEnum("GraphFormat", "TREE SVG MERMAID DOT")
#: What `registry` does, and its formats.
RegistryTask = StrEnum("RegistryTask", "CHECK")
RegistryFormat = StrEnum("RegistryFormat", "TEXT JSON GITHUB SARIF")
#: The notions in which a filter counts a budget, where parameters are chosen along the way.
FilterKind = StrEnum("FilterKind", "PURE APPROX ZCDP GDP")
#: The formats of the theorem book.
BookFormat = StrEnum("BookFormat", "TEXT JSON JSONL")
#: The formats, of other libraries and of SQL, from which a spec is made.
Origin = StrEnum(
    "Origin",
    {
        "EVENT": "event",
        "OPACUS": "opacus",
        "OPENDP": "opendp",
        "SUMMARY": "opendp-summary",
        "DBT": "dbt",
        "BIGQUERY": "bigquery",
        "SQL": "sql",
    },
)
#: The formats of `import --check`.
CheckFormat = StrEnum("CheckFormat", "TEXT JSON GITHUB")
#: The documents whose JSON Schema can be asked for.
SchemaOf = StrEnum(
    "SchemaOf", "SPEC RESULT DIFF TOTAL FIT SAVINGS REGISTRY ASSUMPTIONS CERTIFICATE"
)
#: The drafts of JSON Schema in which it can be.
Draft = StrEnum("Draft", {"NEWEST": "2020-12", "SEVEN": "7"})
#: The shells with a completion script.
Shell = StrEnum("Shell", "BASH ZSH FISH")
#: The least level of a finding that makes a run fail.
FailOn = StrEnum("FailOn", "ERROR WARNING NOTE")
#: When output is coloured.
Color = StrEnum("Color", "AUTO ALWAYS NEVER")
