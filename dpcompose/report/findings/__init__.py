"""Remarks on a valid spec, and the reasons why a problem has no finite bound (`reasons`)."""

from __future__ import annotations

from dpcompose.report.findings.remarks import FINDING_CODES as _REMARKS
from dpcompose.report.findings.remarks import Finding, findings
from dpcompose.report.findings.sense import (
    APART,
    RECORD_CODES,
    REWRITTEN,
    SENSE_CODES,
    UNCONFIRMED,
    BudgetsSeen,
    nonsense,
    of_record,
    other_units,
)

#: The codes of all remarks with their meanings.
FINDING_CODES = {**_REMARKS, **SENSE_CODES, **RECORD_CODES}

__all__ = [
    "APART",
    "FINDING_CODES",
    "REWRITTEN",
    "UNCONFIRMED",
    "BudgetsSeen",
    "Finding",
    "findings",
    "nonsense",
    "of_record",
    "other_units",
]
