"""The options of the commands: each is declared once, with its help text and its panel."""

# No `from __future__ import annotations`: typer would parse them as text at each start.

from inspect import Parameter
from typing import Annotated, Any

import typer

from dpcompose.commands.exits import FailOn
from dpcompose.commands.output import Color
from dpcompose.commands.outputs import BookFormat, By, DiffFormat, FilterKind, Format, TotalFormat

#: The panels of options on a help page.
OUTPUT, FILES, FAILS, SETTINGS, LIMITS = "Output", "Files", "What fails", "Settings", "Limits"

_TEXT, _TEXTS = str | None, list[str] | None


def argument(field: str, kind: Any, default: Any = Parameter.empty, **more: Any) -> Parameter:
    """Returns an argument that sets a field of `Run`; help pages do not list it."""
    info = typer.Argument(hidden=True, **more)
    return Parameter(
        field, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def option(
    field: str,
    kind: Any,
    text: str,
    panel: str | None = None,
    *,
    flags: str = "",
    default: Any = None,
    **more: Any,
) -> Parameter:
    """Returns an option that sets a field of `Run`, with its help text.

    `flags`: separated by blanks; if empty, the one that is called like the field.
    """
    names = flags.split() or [f"--{field.replace('_', '-')}"]
    info = typer.Option(*names, help=text, rich_help_panel=panel, **more)
    return Parameter(
        field, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def flag(field: str, text: str, panel: str | None = None, **more: Any) -> Parameter:
    """Returns an option without a value."""
    return option(field, bool, text, panel, default=False, **more)


def number(field: str, text: str, kind: Any = _TEXT, **more: Any) -> Parameter:
    """Returns an option whose value is an exact number, or several such numbers."""
    return option(field, kind, text, metavar="NUMBER", **more)


SPECS = argument("files", _TEXTS, None, metavar="FILE")
SPEC = argument("file", str, metavar="FILE")

# --- what is computed ----------------------------------------------------------------------------

AT_EPSILON = number("at_epsilon", "State the least δ at this ε; repeatable.", _TEXTS)
RISK = flag("risk", "State what an attacker gains: hits, success, advantage.")


def _budget(epsilon: str, delta: str) -> tuple[Parameter, ...]:
    """Returns the options that give a budget; the help texts of the first two differ."""
    return (
        number("epsilon", epsilon),
        number("delta", delta),
        number("rho", "A budget in ρ (zCDP)."),
        number("mu", "A budget in μ (GDP)."),
        number("advantage", "A budget in an attacker's advantage: 0.1."),
        number("success", "One in its chance of success, from a --baseline."),
        number("baseline", "Its chance without the data, or with another record."),
    )


# --- how it is printed ---------------------------------------------------------------------------


def _form(default: Any, text: str) -> Parameter:
    """Returns the option --format, with the formats of `default`."""
    return option("form", type(default), text, OUTPUT, flags="--format", default=default)


_WRITE = "Write results there, complete or not at all"
TOLD = _form(TotalFormat.TEXT, "How results are printed.")
PATH = option("path", _TEXT, f"{_WRITE}.", OUTPUT, flags="--output -o", metavar="FILE")
OUTPUTS = option(
    "output",
    _TEXTS,
    f"{_WRITE}; FORMAT=FILE, repeatable, does so beside what is printed.",
    OUTPUT,
    flags="--output -o",
    metavar="[FORMAT=]FILE",
)
COLOR = option(
    "color",
    Color,
    "auto: on a terminal, minding NO_COLOR and FORCE_COLOR.",
    OUTPUT,
    default=Color.AUTO,
)
_WIDTH = "Columns; those of the terminal, 100 in a pipe."
WIDTH = option("width", int | None, _WIDTH, OUTPUT, metavar="N")
FULL = flag("full", "Everything, in sentences too; of several specs each report.", OUTPUT)
WHOLE = flag("whole", "Of several specs list those that are fine too.", OUTPUT, flags="--all")

# --- what is read, and what is asked of it -------------------------------------------------------

FILES_FROM = option(
    "files_from", _TEXT, "Read names of files there, one a line.", FILES, metavar="FILE"
)
STDIN_FILENAME = option(
    "stdin_filename", _TEXT, "What to call standard input.", FILES, metavar="FILE"
)
ALLOW_EMPTY = flag("allow_empty", "Accept folders and patterns without a spec.", FILES)
MOST = (
    option(
        "max_seconds",
        float | None,
        "How long a spec may take; one that takes longer is invalid.",
        LIMITS,
        metavar="N",
        envvar="DPCOMPOSE_MAX_SECONDS",
    ),
    option(
        "max_memory",
        int | None,
        "How much memory a spec may take, beside the program's own; likewise.",
        LIMITS,
        metavar="MB",
        envvar="DPCOMPOSE_MAX_MEMORY",
    ),
)
_ISOLATED = "Leave settings files alone that no option names."
SOURCES = (
    flag("isolated", _ISOLATED, SETTINGS, envvar="DPCOMPOSE_ISOLATED"),
    option(
        "settings",
        _TEXTS,
        "Ask for what this settings file asks for as well; repeatable.",
        SETTINGS,
        metavar="FILE",
    ),
    option(
        "settings_from",
        _TEXT,
        "Ask for what the settings files of this git revision ask for as well.",
        SETTINGS,
        metavar="REV",
    ),
)
STRICT = flag("strict", "Exit with 2 where files of folders have no result.", FAILS)

# --- the options of each command, in the order of its help page -----------------------------------

_BOUNDS = (
    _form(Format.TEXT, "How results are printed."),
    *(OUTPUTS, COLOR, WIDTH),
    flag("brief", "Of a report the panel alone.", OUTPUT),
    *(FULL, WHOLE, FILES_FROM, STDIN_FILENAME, ALLOW_EMPTY),
    option(
        "jobs",
        int | None,
        "How many processes may work; 0 for as many as there are cores, which is usual.",
        LIMITS,
        flags="--jobs -j",
        metavar="N",
        envvar="DPCOMPOSE_JOBS",
    ),
    *MOST,
    option("fail_on", FailOn | None, "The least level of a finding that exits with 1.", FAILS),
    flag("exit_zero", "Exit with 0 in place of 1; 2 and 3 stay.", FAILS),
    option(
        "require_relation",
        _TEXTS,
        "A relation to protect; repeatable: one of them.",
        FAILS,
        metavar="NAME",
    ),
    number("require_delta", "The largest δ of budgets and bounds.", panel=FAILS),
    STRICT,
    *SOURCES,
    flag("show_settings", "Print what is set for each spec, and where; end.", SETTINGS),
    option("changed_since", _TEXT, "Leave files that are as in REV of git.", FILES, metavar="REV"),
    flag("recheck", "Have the stand-alone checker go through each certificate."),
    option(
        "certificate",
        _TEXT,
        "Write the claims that prove the bounds there, for the stand-alone checker.",
        OUTPUT,
        metavar="FILE",
    ),
    flag("fix", "Show the certain corrections, and make them where that is agreed."),
    flag("yes", "Agree to --fix without being asked."),
)
_QUIET = "Print the bound alone: `epsilon=1.7`, or `epsilon=6 delta=6e-5`."
_DELTAS = "State the least ε at this δ, as in 1e-6; repeatable."
_BY = "`attribute`: say what is learnt of each column that a root lists, by itself."
_ADVISE = (
    "Say all that would make the bound less if it is true, or nothing of it; otherwise what saves "
    "most."
)
ANALYZE = (
    SPECS,
    number("deltas", _DELTAS, _TEXTS, flags="--delta --at-delta"),
    *(AT_EPSILON, RISK),
    option("by", By | None, _BY),
    flag("quiet", _QUIET, flags="--quiet -q"),
    flag("bare", "Print one number alone: `1.7`. Its notion is yours."),
    option("advise", bool | None, _ADVISE, flags="--advise/--no-advise", show_default=False),
    *_BOUNDS,
)
_ASSUMPTIONS = "Assume nothing but what `dpcompose accept` wrote there."
_LEDGER = "Whether FILE may join the releases there, under the budget of all."
CHECK = (
    SPECS,
    *_budget("The budget's ε: 2, 0.5 or 17/10.", "Its δ, as in 1e-6."),
    number("at_delta", "State the least ε at this δ as well; repeatable.", _TEXTS),
    *(AT_EPSILON, RISK),
    option("assumptions", _TEXT, _ASSUMPTIONS, metavar="FILE"),
    *_BOUNDS,
    option("ledger", _TEXT, _LEDGER, metavar="FOLDER"),
)
DIFF = (
    SPECS,
    option("against", _TEXT, "Compare each FILE with this git revision.", metavar="REV"),
    option(
        "events",
        _TEXTS,
        "Exit with 1 at an increase, a new-assumption, budget-raised, population-changed, "
        "removed-spec, settings-changed; or at a new finding of a level; repeatable.",
        flags="--fail-on",
        metavar="EVENT,...",
    ),
    flag("fail_on_increase", "The same as --fail-on increase."),
    flag("allow_new", "Compare a named FILE that REV lacks with nothing."),
    number("deltas", "Compare ε at this δ; repeatable.", _TEXTS, flags="--delta"),
    _form(DiffFormat.TEXT, "How changes are printed."),
    *(OUTPUTS, COLOR, WIDTH),
    flag("brief", "Only how the bounds moved.", OUTPUT),
    flag("full", "Also the reasons in sentences, and what is as before.", OUTPUT),
    *(WHOLE, FILES_FROM, ALLOW_EMPTY, *SOURCES, STRICT, *MOST),
)
_FIXED = "All parameters were fixed before the first output; the reason is told."
TOTAL = (
    SPECS,
    *_budget("A budget's ε.", "Its δ."),
    number("at_delta", "State ε at this δ; repeatable.", _TEXTS),
    flag("everything", "Add up all specs, whatever population they name.", flags="--all"),
    flag("apart", "Take no dataset of two specs for the same because of its name."),
    option("fixed", _TEXT, _FIXED, metavar="REASON"),
    option("filter", FilterKind | None, "The notion in which the budget is counted."),
    flag("remaining", "Say what one more mechanism may have."),
    option("as_of", _TEXT, "Add up the files of a revision of git.", metavar="REV"),
    flag("over_time", "Tell what was spent and left after each release."),
    *(TOLD, PATH, COLOR, WIDTH, FILES_FROM, STDIN_FILENAME, ALLOW_EMPTY),
    *(*SOURCES, STRICT, *MOST),
)
_ACCEPTED = "Where accepted claims are."
ACCEPT = (
    SPECS,
    option("path", str, _ACCEPTED, flags="--output -o", default="assumptions.lock", metavar="FILE"),
    option("person", _TEXT, "Who accepts; the user by default.", flags="--by", metavar="NAME"),
    option("day", _TEXT, "When; today by default.", flags="--on", metavar="DATE"),
    *(FILES_FROM, ALLOW_EMPTY),
)
_FREE = "Scale this mechanism, times its weight, and no other; repeatable."
FIT = (
    SPEC,
    *_budget("The budget's ε.", "Its δ."),
    option("free", _TEXTS, _FREE, metavar="NAME[=WEIGHT]"),
    *(PATH, COLOR, WIDTH, *SOURCES, *MOST),
)
SAVINGS = (
    SPEC,
    number("deltas", "Look at the ε at this δ.", _TEXTS, flags="--delta"),
    option("tried", int, "Try so many mechanisms.", flags="--most", default=100, min=1),
    *(TOLD, PATH, COLOR, WIDTH, FULL, *SOURCES, *MOST),
)
_BOOK = "How the book is printed."
THEOREMS = (
    argument("words", _TEXTS, None, metavar="WORD"),
    option("form", BookFormat, _BOOK, flags="--format", default=BookFormat.TEXT),
    *(COLOR, WIDTH),
)
