"""Remarks on a valid spec, and the reasons why there is no finite bound (`reasons`)."""

from __future__ import annotations

from dpcompose.report.findings.remarks import FINDING_CODES, Finding, findings

__all__ = ["FINDING_CODES", "Finding", "findings"]
