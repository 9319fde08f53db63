"""Remarks on a valid spec, and the reasons why a problem has no finite bound (`reasons`)."""

from __future__ import annotations

from dpcompose.report.findings.records import (
    APART,
    RECORD_CODES,
    REWRITTEN,
    BudgetsSeen,
    of_record,
    other_units,
)
from dpcompose.report.findings.remarks import FINDING_CODES as _REMARKS
from dpcompose.report.findings.remarks import Finding, findings
from dpcompose.report.findings.sense import SENSE_CODES, AskedNumbers, nonsense

#: The codes of all remarks with their meanings.
FINDING_CODES = {**_REMARKS, **SENSE_CODES, **RECORD_CODES}

__all__ = [
    "APART",
    "FINDING_CODES",
    "REWRITTEN",
    "AskedNumbers",
    "BudgetsSeen",
    "Finding",
    "findings",
    "nonsense",
    "of_record",
    "other_units",
]
