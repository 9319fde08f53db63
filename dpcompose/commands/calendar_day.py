"""The day that a run is dated, as the caller or the environment gives it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, date, datetime

from dpcompose.commands.exits import BadCall
from dpcompose.errors import quoted


def given_day(on: str | None) -> str | None:
    """Returns the day of --on, or else that of SOURCE_DATE_EPOCH in UTC, or None without both.

    Raises BadCall.
    """
    if on is not None:
        with suppress(ValueError):
            if date.fromisoformat(on).isoformat() == on:
                return on
        raise BadCall(f"--on {quoted(on)}: a day of the calendar is due, such as 2026-03-31")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date().isoformat() if epoch else None
    except (ValueError, OverflowError, OSError) as error:
        raise BadCall(f"SOURCE_DATE_EPOCH is {quoted(epoch)}, no seconds since 1970") from error
