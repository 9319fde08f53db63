"""The handbook of codes: why each matters, what gives it, and what to write instead.

What a code means in one sentence stands where the code is given. This table is for readers alone,
and is loaded when one asks.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpcompose.handbook.advice import REMARKS
from dpcompose.handbook.entry import CodeEntry
from dpcompose.handbook.files import FILES
from dpcompose.handbook.forms import FORMS
from dpcompose.handbook.meaning import MEANING
from dpcompose.handbook.names import NAMES
from dpcompose.handbook.verdicts import VERDICTS

__all__ = ["HANDBOOK", "CodeEntry"]

#: Every code with what there is to know about it.
HANDBOOK: Mapping[str, CodeEntry] = {
    **FILES,
    **FORMS,
    **NAMES,
    **MEANING,
    **REMARKS,
    **VERDICTS,
}
