"""The options of the commands: each is declared once, with its help text and its panel."""

# No `from __future__ import annotations`: typer would parse them as text at each start.

from inspect import Parameter
from typing import Annotated, Any

import typer

from dpcompose.commands.choices import (
    BookFormat,
    By,
    CheckFormat,
    Color,
    DiffFormat,
    FailOn,
    FilterKind,
    GraphFormat,
    Origin,
    PlanFormat,
    RegistryFormat,
    RegistryTask,
    TotalFormat,
)
from dpcompose.render import Format

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

AT_EPSILON = number("at_epsilon", "Report the smallest δ at this ε; repeatable.", _TEXTS)
RISK = flag("risk", "Report what an attacker gains: hits, success, advantage.")
ACCURACY = option(
    "accuracy",
    _TEXT,
    "Report how far from the true answers the noise is at most, with this chance, such as 95%.",
    metavar="LEVEL",
)
PLOT = flag("plot", "Draw the trade-off curve and the privacy profile in the terminal.")


def _budget(epsilon: str, delta: str) -> tuple[Parameter, ...]:
    """Returns the options that give a budget; the help texts of the first two differ."""
    return (
        number("epsilon", epsilon),
        number("delta", delta),
        number("rho", "A budget in ρ (zCDP)."),
        number("mu", "A budget in μ (GDP)."),
        number("advantage", "A budget as the advantage of an attacker: 0.1."),
        number("success", "A budget as the chance that an attack succeeds; needs --baseline."),
        number("baseline", "The chance that the attack succeeds without the person's data."),
    )


# --- how it is printed ---------------------------------------------------------------------------


def _form(default: Any, text: str) -> Parameter:
    """Returns the option --format, with the formats of `default`."""
    return option("form", type(default), text, OUTPUT, flags="--format", default=default)


_WRITE = "Write results to FILE, complete or not at all"
TOLD = _form(TotalFormat.TEXT, "The output format.")
PLANNED = _form(PlanFormat.TEXT, "The output format.")
PATH = option("path", _TEXT, f"{_WRITE}.", OUTPUT, flags="--output -o", metavar="FILE")
OUTPUTS = option(
    "output",
    _TEXTS,
    f"{_WRITE}; FORMAT=FILE (repeatable) writes one format in addition to the output.",
    OUTPUT,
    flags="--output -o",
    metavar="[FORMAT=]FILE",
)
SITE = option(
    "site_folder", _TEXT, "Write all pages as HTML into DIR.", flags="--site", metavar="DIR"
)
COLOR = option(
    "color",
    Color,
    "When to use colours; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
    OUTPUT,
    default=Color.AUTO,
)
_WIDTH = "The page width in columns; default: the terminal's, or 100 in a pipe."
WIDTH = option("width", int | None, _WIDTH, OUTPUT, metavar="N")
FULL = flag(
    "full", "Print all details, and the proof in sentences; one report for each spec.", OUTPUT
)
WHOLE = flag("whole", "Also list the specs without problems.", OUTPUT, flags="--all")

# --- what is read, and what is asked of it -------------------------------------------------------

FILES_FROM = option(
    "files_from", _TEXT, "Read file names from FILE, one per line.", FILES, metavar="FILE"
)
STDIN_FILENAME = option(
    "stdin_filename", _TEXT, "The file name to report for standard input.", FILES, metavar="FILE"
)
ALLOW_EMPTY = flag("allow_empty", "Accept folders and patterns that contain no spec.", FILES)
MOST = (
    option(
        "max_seconds",
        float | None,
        "Seconds that one spec may take; a spec that takes longer is invalid.",
        LIMITS,
        metavar="N",
        envvar="DPCOMPOSE_MAX_SECONDS",
    ),
    option(
        "max_memory",
        int | None,
        "Memory that one spec may take, in addition to that of the program itself.",
        LIMITS,
        metavar="MB",
        envvar="DPCOMPOSE_MAX_MEMORY",
    ),
)
_ISOLATED = "Ignore settings files that no option names."
SOURCES = (
    flag("isolated", _ISOLATED, SETTINGS, envvar="DPCOMPOSE_ISOLATED"),
    option(
        "settings",
        _TEXTS,
        "Also apply this settings file; repeatable.",
        SETTINGS,
        metavar="FILE",
    ),
    option(
        "settings_from",
        _TEXT,
        "Also apply the settings files of this git revision.",
        SETTINGS,
        metavar="REV",
    ),
)
STRICT = flag("strict", "Exit with 2 if some file of a folder has no result.", FAILS)

# --- the options of each command, in the order of its help page -----------------------------------

_BOUNDS = (
    _form(Format.TEXT, "The output format."),
    *(OUTPUTS, COLOR, WIDTH),
    flag("brief", "Print only the panel of each report.", OUTPUT),
    option(
        "day",
        _TEXT,
        "The date on a label; default: that of SOURCE_DATE_EPOCH, or none.",
        OUTPUT,
        flags="--on",
        metavar="DATE",
    ),
    option(
        "registry_from",
        _TEXT,
        "Keep the prose of this entry of the registry; needs --format registry.",
        OUTPUT,
        metavar="ENTRY",
    ),
    *(FULL, WHOLE, FILES_FROM, STDIN_FILENAME, ALLOW_EMPTY),
    option(
        "jobs",
        int | None,
        "The number of processes; default 0: one per core.",
        LIMITS,
        flags="--jobs -j",
        metavar="N",
        envvar="DPCOMPOSE_JOBS",
    ),
    *MOST,
    option("fail_on", FailOn | None, "The lowest level of a finding that exits with 1.", FAILS),
    flag("exit_zero", "Exit with 0 instead of 1; 2 and 3 stay.", FAILS),
    option(
        "require_relation",
        _TEXTS,
        "Require this protected relation; repeat it to allow several.",
        FAILS,
        metavar="NAME",
    ),
    number("require_delta", "The largest δ that budgets and bounds may have.", panel=FAILS),
    STRICT,
    *SOURCES,
    flag(
        "show_settings",
        "Print the settings of each spec and where they are set, and exit.",
        SETTINGS,
    ),
    option(
        "changed_since",
        _TEXT,
        "Skip files that are unchanged since this git revision.",
        FILES,
        metavar="REV",
    ),
    flag("recheck", "Check each certificate with the stand-alone checker."),
    option(
        "certificate",
        _TEXT,
        "Write the claims that prove the bounds to FILE, for the stand-alone checker.",
        OUTPUT,
        metavar="FILE",
    ),
    flag("fix", "Show the corrections that are certain, and apply them after confirmation."),
    flag("yes", "Apply the corrections of --fix without asking."),
    flag("watch", "Print anew when a file is saved, until Ctrl-C."),
)
_QUIET = "Print only the bound: `epsilon=1.7`, or `epsilon=6 delta=6e-5`."
_DELTAS = "Report the smallest ε at this δ, such as 1e-6; repeatable."
_BY = "`attribute`: report what is learnt of each single column of a root."
_ADVISE = (
    "Print all declarations that would lower the bound if they hold, or none; default: those that "
    "lower it most."
)
ANALYZE = (
    SPECS,
    number("deltas", _DELTAS, _TEXTS, flags="--delta --at-delta"),
    *(AT_EPSILON, RISK, PLOT, ACCURACY),
    option("by", By | None, _BY),
    flag("quiet", _QUIET, flags="--quiet -q"),
    flag("bare", "Print only one number: `1.7`."),
    option("advise", bool | None, _ADVISE, flags="--advise/--no-advise", show_default=False),
    *_BOUNDS,
)
#: The options of how results look in a terminal, and of formats beside the page.
_OF_TEXT = (
    *("form", "quiet", "bare", "color", "width", "brief", "full", "whole", "risk", "plot"),
    "registry_from",
)
REPORT = tuple(each for each in ANALYZE if each.name not in _OF_TEXT)
_ASSUMPTIONS = "Fail on assumptions that are not in this file of `dpcompose accept`."
_LEDGER = "Check whether FILE may join the releases of this folder, under their budget."
CHECK = (
    SPECS,
    *_budget("The ε of the budget: 2, 0.5 or 17/10.", "The δ of the budget, such as 1e-6."),
    number("at_delta", "Also report the smallest ε at this δ; repeatable.", _TEXTS),
    *(AT_EPSILON, RISK),
    option("assumptions", _TEXT, _ASSUMPTIONS, metavar="FILE"),
    *_BOUNDS,
    option("ledger", _TEXT, _LEDGER, metavar="FOLDER"),
)
LSP = (
    flag("stdio", "Use standard input and output, which is always so; many editors say it."),
    *SOURCES,
    *MOST,
)
DIFF = (
    SPECS,
    option("against", _TEXT, "Compare each FILE with this git revision.", metavar="REV"),
    option(
        "events",
        _TEXTS,
        "Exit with 1 on these events: increase, new-assumption, budget-raised, "
        "population-changed, removed-spec, settings-changed, or a new finding of a level.",
        flags="--fail-on",
        metavar="EVENT,...",
    ),
    flag("fail_on_increase", "The same as --fail-on increase."),
    flag("allow_new", "Accept a FILE that the revision does not have, as a new spec."),
    number("deltas", "Compare the ε at this δ; repeatable.", _TEXTS, flags="--delta"),
    _form(DiffFormat.TEXT, "The output format."),
    *(OUTPUTS, COLOR, WIDTH),
    flag("brief", "Print only how the bounds changed.", OUTPUT),
    flag("full", "Also print the reasons in sentences, and what did not change.", OUTPUT),
    *(WHOLE, FILES_FROM, ALLOW_EMPTY, *SOURCES, STRICT, *MOST),
)
_FIXED = "Declare, with a reason, that all parameters were fixed before the first output."
TOTAL = (
    SPECS,
    *_budget("The ε of the budget.", "The δ of the budget."),
    number("at_delta", "Report the ε at this δ; repeatable.", _TEXTS),
    flag("everything", "Add up all specs, whichever population they name.", flags="--all"),
    flag("apart", "Do not treat datasets of different specs with the same name as one."),
    option("fixed", _TEXT, _FIXED, metavar="REASON"),
    option("filter", FilterKind | None, "The notion in which the budget is counted."),
    flag("remaining", "Report what one more mechanism may cost."),
    option("as_of", _TEXT, "Add up the files as of this git revision.", metavar="REV"),
    flag("over_time", "Report what was spent and left after each release."),
    *(TOLD, PATH, COLOR, WIDTH, FILES_FROM, STDIN_FILENAME, ALLOW_EMPTY),
    *(*SOURCES, STRICT, *MOST),
)
_ACCEPTED = "The file of accepted assumptions."
ACCEPT = (
    SPECS,
    option("path", str, _ACCEPTED, flags="--output -o", default="assumptions.lock", metavar="FILE"),
    option(
        "person", _TEXT, "The person who accepts; default: the user.", flags="--by", metavar="NAME"
    ),
    option("day", _TEXT, "The date of acceptance; default: today.", flags="--on", metavar="DATE"),
    *(FILES_FROM, ALLOW_EMPTY, *MOST),
)
_FREE = "Scale only this mechanism, with this weight; repeatable."
FIT = (
    SPEC,
    *_budget("The ε of the budget.", "The δ of the budget."),
    option("free", _TEXTS, _FREE, metavar="NAME[=WEIGHT]"),
    option(
        "accuracies",
        _TEXTS,
        "Give this mechanism the most noise that is within 50 of the true answer with this chance "
        "(95%), and scale the others; repeatable.",
        flags="--accuracy",
        metavar="'NAME ± 50 [at 95%]'",
    ),
    *(PLANNED, PATH, COLOR, WIDTH, *SOURCES, *MOST),
)
SAVINGS = (
    SPEC,
    number("deltas", "Use the ε at this δ.", _TEXTS, flags="--delta"),
    option(
        "tried", int, "The largest number of mechanisms to try.", flags="--most", default=100, min=1
    ),
    *(PLANNED, PATH, COLOR, WIDTH, FULL, *SOURCES, *MOST),
)
IMPORT = (
    argument("file", str, metavar="FILE"),
    option("origin", Origin | None, "The format of FILE; default: by its content.", flags="--from"),
    option("dialect", _TEXT, "The SQL that FILE is in, by its name in sqlglot.", metavar="NAME"),
    option("unit", _TEXT, "The column of the privacy unit in the tables of SQL.", metavar="COLUMN"),
    option("answers", _TEXT, "What SQL does not say, by relation, as YAML.", metavar="FILE"),
    option("only", _TEXTS, "Count only this model of SQL; repeatable.", metavar="MODEL"),
    option(
        "check",
        _TEXT,
        "Write nothing, and compare this spec with what SQL says.",
        FAILS,
        metavar="SPEC",
    ),
    _form(CheckFormat.TEXT, "The output format of --check."),
    option(
        "relation",
        _TEXT,
        "Protect these neighbours (unbounded, bounded, zero-out); default: those of FILE.",
        metavar="NAME",
    ),
    number(
        "deltas",
        "State the ε at this δ in the spec; repeatable; default: 1e-6, for SQL none.",
        _TEXTS,
        flags="--delta",
    ),
    option(
        "contributions",
        int | None,
        "How many rows a person has at most, as in `unit_of` of OpenDP.",
        metavar="N",
    ),
    option(
        "sensitivities",
        _TEXTS,
        "How far one row moves the aggregate of this column of an OpenDP table; repeatable.",
        flags="--sensitivity",
        metavar="COLUMN=NUMBER",
    ),
    PATH,
)
_DRAWN = "State the ε at this δ, unless a budget names another."
GRAPH = (
    SPEC,
    number("deltas", _DRAWN, _TEXTS, flags="--delta"),
    _form(GraphFormat.TREE, "The output format."),
    *(PATH, COLOR, WIDTH, *SOURCES, *MOST),
)
REGISTRY = (
    argument("task", RegistryTask, metavar="|".join(RegistryTask)),
    argument("files", list[str], metavar="ENTRY"),
    option("spec", _TEXT, "Compare the entries with this spec.", metavar="SPEC"),
    _form(RegistryFormat.TEXT, "The output format."),
    *(OUTPUTS, COLOR, WIDTH),
    option("fail_on", FailOn | None, "The lowest level of a finding that exits with 1.", FAILS),
    flag("exit_zero", "Exit with 0 instead of 1; 2 and 3 stay.", FAILS),
    *(STDIN_FILENAME, *SOURCES, *MOST),
)
_BOOK = "The output format."
THEOREMS = (
    argument("words", _TEXTS, None, metavar="WORD"),
    option("form", BookFormat, _BOOK, flags="--format", default=BookFormat.TEXT),
    *(COLOR, WIDTH),
)
