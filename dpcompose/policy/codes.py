"""The codes of policies and of comments that ignore findings."""

from __future__ import annotations

from dpcompose.report.findings import APART, FINDING_CODES, REWRITTEN, UNCONFIRMED

RELATION, DELTA, BECAUSE, FORBIDDEN = "DPC310", "DPC311", "DPC312", "DPC313"
CEILING, POPULATION, NOT_ACCEPTED, STALE = "DPC314", "DPC315", "DPC316", "DPC317"
NO_REASON, UNUSED, NOT_IGNORABLE = "DPC320", "DPC321", "DPC322"

#: The codes of this package with their meanings.
POLICY_CODES = {
    "DPC310": "The settings require another neighbouring relation.",
    "DPC311": "A δ is above the one that the settings require.",
    "DPC312": "The settings require a `because:` that is missing, or says nothing.",
    "DPC313": "The settings forbid what the spec declares.",
    "DPC314": "The bound is above the one that the settings allow, whatever the spec's budget.",
    "DPC315": "The settings require another population, or that one is named.",
    "DPC316": "The spec assumes what nobody has accepted.",
    "DPC317": "Something was accepted that the spec no longer assumes.",
    "DPC320": "A comment ignores a finding without a reason.",
    "DPC321": "A comment ignores a finding that is not there.",
    "DPC322": "A comment to ignore findings is not understood, or names what cannot be ignored.",
}

#: Findings that a comment can ignore: remarks, which say nothing against the bound. A release that
#: is gone or says less is withdrawn by settings alone: the comment would stand in its own spec; and
#: so is what depends on the other specs of a call, and what `--recheck` asks for.
IGNORABLE = frozenset(FINDING_CODES) - {REWRITTEN, APART, UNCONFIRMED}
#: Findings that settings can turn off, and those whose level they can set.
REMOVABLE = IGNORABLE | {REWRITTEN, APART, UNCONFIRMED, UNUSED, STALE}
#: What stands for `--recheck` among the keys of settings, of which it is none.
RECHECKED = "--recheck"
#: The keys of settings that require a finding, by its code.
REQUIRED_BY = {
    RELATION: ("require-relation",),
    DELTA: ("require-delta",),
    BECAUSE: ("require-because",),
    FORBIDDEN: ("forbid",),
    CEILING: ("max-budget",),
    POPULATION: ("populations", "require-population"),
    UNCONFIRMED: (RECHECKED,),
}
ADJUSTABLE = REMOVABLE | REQUIRED_BY.keys()
