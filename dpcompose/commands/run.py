"""The command-line options of a call, and what they mean."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpcompose.commands.choices import By, Color, FailOn, FilterKind, Origin
from dpcompose.commands.exits import BadCall
from dpcompose.commands.parallel.bounds import Most, limits_of
from dpcompose.commands.writing.output import MOST_COLUMNS, NARROWEST, Look
from dpcompose.core.notions.guarantee import FORMS, LIMITS, RISKS, Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import quoted
from dpcompose.render import Format

if TYPE_CHECKING:  # what reads specs is imported by the commands that do
    from dpcompose.commands.reading.gather import Gathering
    from dpcompose.commands.reading.policies import Policies
    from dpcompose.commands.repository.revision import Past
    from dpcompose.policy.settings import Settings


#: The seconds that are left where the time is over.
_INSTANT = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run:
    """The options of a call, each as it was given; those that a command lacks have their defaults.

    The properties and methods return what the options mean, and raise BadCall where they mean
    nothing.
    """

    # Inputs, and how many processes read them.
    files: Sequence[str] = ()
    file: str = ""
    words: Sequence[str] = ()
    files_from: str | None = None
    stdin_filename: str | None = None
    allow_empty: bool = False
    changed_since: str | None = None
    against: str | None = None
    allow_new: bool = False
    as_of: str | None = None
    ledger: str | None = None
    fix: bool = False
    yes: bool = False
    watch: bool = False
    stdio: bool = False
    origin: Origin | None = None
    relation: str | None = None
    contributions: int | None = None
    sensitivities: Sequence[str] = ()
    dialect: str | None = None
    unit: str | None = None
    answers: str | None = None
    only: Sequence[str] = ()
    check: str | None = None
    jobs: int | None = None
    max_seconds: float | None = None
    max_memory: int | None = None
    until: float | None = None

    # What is computed.
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    mu: str | None = None
    advantage: str | None = None
    success: str | None = None
    baseline: str | None = None
    deltas: Sequence[str] = ()
    at_delta: Sequence[str] = ()
    at_epsilon: Sequence[str] = ()
    risk: bool = False
    plot: bool = False
    accuracy: str | None = None
    accuracies: Sequence[str] = ()
    by: By | None = None
    advise: bool | None = None
    recheck: bool = False
    everything: bool = False
    apart: bool = False
    fixed: str | None = None
    filter: FilterKind | None = None
    remaining: bool = False
    over_time: bool = False
    free: Sequence[str] = ()
    tried: int = 0
    person: str | None = None
    day: str | None = None
    spec: str | None = None
    registry_from: str | None = None
    task: str = ""

    # What makes it fail.
    fail_on: FailOn | None = None
    events: Sequence[str] = ()
    fail_on_increase: bool = False
    exit_zero: bool = False
    strict: bool = False
    require_relation: Sequence[str] = ()
    require_delta: str | None = None
    assumptions: str | None = None
    isolated: bool = False
    settings: Sequence[str] = ()
    settings_from: str | None = None
    show_settings: bool = False

    # What is printed and written.
    form: StrEnum = Format.TEXT
    site_folder: str | None = None
    output: Sequence[str] = ()
    path: str | None = None
    certificate: str | None = None
    quiet: bool = False
    bare: bool = False
    color: Color = Color.AUTO
    width: int | None = None
    brief: bool = False
    full: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        """Raises BadCall for a bad value, and where files are named from a working folder that is
        gone, before anything is read."""
        if self.files or self.file or self.files_from is not None:
            try:
                os.getcwd()
            except OSError as error:
                raise BadCall(
                    "the working folder was removed: change to one that is there"
                ) from error
        _ = self.look, self.limit, self.asked_deltas, self.asked_epsilons, self.resources
        _ = self.level

    @cached_property
    def limit(self) -> Budget | None:
        """Returns the budget that the flags give, None without any."""
        given = {
            name: (_probability if name in ("delta", *RISKS) else _number)(name, text)
            for name in LIMITS
            if (text := getattr(self, name)) is not None
        }
        if not given:
            return None
        names = " and ".join(f"--{name}" for name in given)
        if list(given) == ["delta"]:
            raise BadCall(
                "--delta is the budget's δ and needs --epsilon (to state ε at a δ: --at-delta)"
            )
        if len({"success", "baseline"} & given.keys()) == 1 and len(given) == 1:
            raise BadCall("--success is a chance from a --baseline: a budget needs both")
        if tuple(given) not in FORMS:
            raise BadCall(f"{names} are budgets in different notions: give one of them")
        if "baseline" in given and not 0 < given["baseline"] <= given["success"]:
            raise BadCall("--baseline is above 0, and not above --success")
        return Budget(tuple(given.items()))

    @cached_property
    def asked_deltas(self) -> tuple[Fraction, ...]:
        """Returns the δ's in [0, 1) to state an ε at."""
        flag = "at-delta" if self.at_delta else "delta"
        return tuple(_probability(flag, text) for text in self.at_delta or self.deltas)

    def deltas_under(self, settings: Settings) -> tuple[Fraction, ...]:
        """Returns the δ's to state an ε at: those of the flags, then the one that settings
        require."""
        required = () if settings.delta is None else (settings.delta,)
        return tuple(dict.fromkeys((*self.asked_deltas, *required)))

    @cached_property
    def asked_epsilons(self) -> tuple[Fraction, ...]:
        """Returns the ε's ≥ 0 to state a δ at."""
        return tuple(_number("at-epsilon", text) for text in self.at_epsilon)

    @cached_property
    def level(self) -> Fraction | None:
        """Returns the chance at which the accuracy of answers is stated; None: it is not."""
        if self.accuracy is None:
            return None
        from dpcompose.pipeline import level_of

        try:
            return level_of(self.accuracy)
        except ValueError as error:
            raise BadCall(f"--{error}") from error

    @property
    def resources(self) -> Most:
        """Returns the time and memory that each spec may take; of a run that has a clock for all of
        it (`until`), the time that is left."""
        most = limits_of(self.max_seconds, self.max_memory)
        if self.until is None:
            return most
        left = max(_INSTANT, self.until - time.monotonic())
        return most._replace(seconds=left, whole=most.seconds)

    @property
    def is_over(self) -> bool:
        """Returns whether the time of the whole run is over."""
        return self.until is not None and time.monotonic() >= self.until

    def with_one_clock(self) -> Run:
        """Returns the run with one clock for all of it, from now on, in place of one for each
        spec."""
        seconds = self.max_seconds
        return self if seconds is None else replace(self, until=time.monotonic() + seconds)

    @cached_property
    def look(self) -> Look:
        """Returns how results look."""
        if self.brief and self.full:
            raise BadCall("--brief and --full: one of them")
        if self.width is not None and self.width < NARROWEST:
            raise BadCall(f"--width {self.width}: at least {NARROWEST} columns are due")
        if self.width is not None and self.width > MOST_COLUMNS:
            raise BadCall(f"--width {self.width}: at most {MOST_COLUMNS} columns make sense")
        look = Look(self.color, self.width, whole=self.whole, plot=self.plot)
        return look._replace(detail="brief" if self.brief else "full" if self.full else "usual")

    @property
    def date(self) -> str | None:
        """Returns the day of --on, or else that of SOURCE_DATE_EPOCH in UTC, or None without
        both."""
        if self.day is not None:
            with suppress(ValueError):
                if date.fromisoformat(self.day).isoformat() == self.day:
                    return self.day
            says = f"--on {quoted(self.day)}: a day of the calendar is due, such as 2026-03-31"
            raise BadCall(says)
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        try:
            return datetime.fromtimestamp(int(epoch), UTC).date().isoformat() if epoch else None
        except (ValueError, OverflowError, OSError) as error:
            raise BadCall(f"SOURCE_DATE_EPOCH is {quoted(epoch)}, no seconds since 1970") from error

    def name(self, file: str) -> str:
        """Returns what a file is called in reports; standard input as the call names it."""
        from dpcompose.commands.reading.inputs import STANDARD_INPUT, name_of_file

        named = self.stdin_filename if file == STANDARD_INPUT else None
        return named or name_of_file(file)

    def gathering(self, gone: Past | None = None) -> Gathering:
        """Returns the selected files; `gone`: a revision, whose files are selected as well."""
        from dpcompose.commands.reading.gather import Gathering
        from dpcompose.commands.reading.inputs import STANDARD_INPUT

        if not self.files and self.files_from is None:
            raise BadCall("no FILE is given: a spec, a folder, - for standard input")
        if (*self.files, self.files_from).count(STANDARD_INPUT) > 1:
            raise BadCall("standard input (-) can be read only once")
        if self.stdin_filename is not None and STANDARD_INPUT not in self.files:
            raise BadCall("--stdin-filename names standard input, which is not read: add -")
        return Gathering(tuple(self.files), self.files_from, self.allow_empty, gone, self.resources)

    def past(self) -> Past | None:
        """Returns the revision of --changed-since, None without one."""
        if self.changed_since is None:
            return None
        from dpcompose.commands.repository.revision import Past

        past = Past(self.changed_since, "--changed-since")
        past.verify()
        return past

    def processes(self, gathering: Gathering) -> int:
        """Returns the number of processes to use."""
        if self.jobs is not None and self.jobs < 0:
            raise BadCall("--jobs: a whole number from 0 is due")
        if gathering.single:
            return 1
        if self.jobs:
            return self.jobs
        from dpcompose.commands.parallel.pool import cores

        return cores()

    @cached_property
    def policies(self) -> Policies:
        """Returns the sources of settings, those of the flags first."""
        from dpcompose.commands.reading.policies import policies_of

        return policies_of(self)

    @cached_property
    def site(self) -> str:
        """Returns the address of the documentation that is set for the first file; else empty."""
        from dpcompose.policy.settings import BadSettings

        first = self.name(self.files[0]) if self.files else os.curdir
        try:
            return self.policies.of(
                os.path.join(first, "-") if os.path.isdir(first) else first
            ).site
        except (BadSettings, ValueError):  # as the report of the file says: a null byte, a bad key
            return ""

    def as_before(self, revision: str) -> Run:
        """Returns the run with the settings files of a revision, which the change under review
        cannot alter.

        The run itself if it ignores such files, or names one.
        """
        if self.isolated or self.settings_from is not None:
            return self
        return replace(self, isolated=True, settings_from=revision)


def _number(name: str, text: str) -> Fraction:
    """Returns the number ≥ 0 that a flag gives. Raises BadCall."""
    try:
        value = parse(text, {})
    except ExpressionError as error:
        raise BadCall(f"--{name} {text}: not a number: {error.message}") from error
    if value < 0:
        raise BadCall(f"--{name} {text}: a number ≥ 0 is due")
    return value


def _probability(name: str, text: str) -> Fraction:
    """Returns the number in [0, 1) that a flag gives. Raises BadCall."""
    value = _number(name, text)
    if value >= 1:
        raise BadCall(f"--{name} {text}: a probability below 1 is due")
    return value
