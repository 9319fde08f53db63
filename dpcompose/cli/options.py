"""The options that several commands share, each with its help text and its panel."""

# No `from __future__ import annotations`: typer would parse them as text at each start.

from typing import Annotated

import typer

from dpcompose.commands.exits import FailOn
from dpcompose.commands.formats import Planned, Reviewed, Told
from dpcompose.commands.output import Color
from dpcompose.commands.outputs import Format

#: The panels of options on a help page.
FILES, OUTPUT, FAILS, SETTINGS, LIMITS = "Files", "Output", "What fails", "Settings", "Limits"

_JOBS = "How many processes may work; 0 for as many as there are cores, which is usual."

FormatOption = Annotated[
    Format,
    typer.Option("--format", help="How results are printed.", rich_help_panel=OUTPUT),
]
ReviewedOption = Annotated[
    Reviewed,
    typer.Option("--format", help="How changes are printed.", rich_help_panel=OUTPUT),
]
ToldOption = Annotated[
    Told,
    typer.Option("--format", help="How results are printed.", rich_help_panel=OUTPUT),
]
PlannedOption = Annotated[
    Planned,
    typer.Option("--format", help="How results are printed.", rich_help_panel=OUTPUT),
]
AtEpsilonOption = Annotated[
    list[str] | None,
    typer.Option(
        "--at-epsilon",
        metavar="NUMBER",
        help="State the least δ at this ε; repeatable.",
    ),
]
RiskOption = Annotated[
    bool,
    typer.Option("--risk", help="State what an attacker gains: hits, success, advantage."),
]
AdvantageOption = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="A budget in an attacker's advantage: 0.1."),
]
SuccessOption = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="One in its chance of success, from a --baseline."),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Its chance without the data, or with another record."),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write results there, complete or not at all.",
        rich_help_panel=OUTPUT,
    ),
]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT=]FILE",
        help="Write results there, complete or not at all; FORMAT=FILE, repeatable, does so "
        "beside what is printed.",
        rich_help_panel=OUTPUT,
    ),
]
# Hidden from the list of arguments: the help text above says all about it.
Specs = Annotated[list[str] | None, typer.Argument(metavar="FILE", hidden=True)]
FilesFromOption = Annotated[
    str | None,
    typer.Option(
        "--files-from",
        metavar="FILE",
        help="Read names of files there, one a line.",
        rich_help_panel=FILES,
    ),
]
StdinFilenameOption = Annotated[
    str | None,
    typer.Option(
        "--stdin-filename",
        metavar="FILE",
        help="What to call standard input.",
        rich_help_panel=FILES,
    ),
]
AllowEmptyOption = Annotated[
    bool,
    typer.Option(
        "--allow-empty", help="Accept folders and patterns without a spec.", rich_help_panel=FILES
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", envvar="DPCOMPOSE_JOBS", help=_JOBS, rich_help_panel=LIMITS
    ),
]
MaxSecondsOption = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        metavar="N",
        envvar="DPCOMPOSE_MAX_SECONDS",
        help="How long a spec may take; one that takes longer is invalid.",
        rich_help_panel=LIMITS,
    ),
]
MaxMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--max-memory",
        metavar="MB",
        envvar="DPCOMPOSE_MAX_MEMORY",
        help="How much memory a spec may take, beside the program's own; likewise.",
        rich_help_panel=LIMITS,
    ),
]
FailOnOption = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on", help="The least level of a finding that exits with 1.", rich_help_panel=FAILS
    ),
]
RequireRelationOption = Annotated[
    list[str] | None,
    typer.Option(
        "--require-relation",
        metavar="NAME",
        help="A relation to protect; repeatable: one of them.",
        rich_help_panel=FAILS,
    ),
]
RequireDeltaOption = Annotated[
    str | None,
    typer.Option(
        "--require-delta",
        metavar="NUMBER",
        help="The largest δ of budgets and bounds.",
        rich_help_panel=FAILS,
    ),
]
IsolatedOption = Annotated[
    bool,
    typer.Option(
        "--isolated",
        envvar="DPCOMPOSE_ISOLATED",
        help="Leave settings files alone that no option names.",
        rich_help_panel=SETTINGS,
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Ask for what this settings file asks for as well; repeatable.",
        rich_help_panel=SETTINGS,
    ),
]
SettingsFromOption = Annotated[
    str | None,
    typer.Option(
        "--settings-from",
        metavar="REV",
        help="Ask for what the settings files of this git revision ask for as well.",
        rich_help_panel=SETTINGS,
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", help="Exit with 2 where files of folders have no result.", rich_help_panel=FAILS
    ),
]
RecheckOption = Annotated[
    bool,
    typer.Option("--recheck", help="Have the stand-alone checker go through each certificate."),
]
CertificateOption = Annotated[
    str | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="Write the claims that prove the bounds there, for the stand-alone checker.",
        rich_help_panel=OUTPUT,
    ),
]
ChangedSinceOption = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        metavar="REV",
        help="Leave files that are as in REV of git.",
        rich_help_panel=FILES,
    ),
]
FixOption = Annotated[
    bool,
    typer.Option("--fix", help="Show the certain corrections, and make them where that is agreed."),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Agree to --fix without being asked.")]
ShowSettingsOption = Annotated[
    bool,
    typer.Option(
        "--show-settings",
        help="Print what is set for each spec, and where; end.",
        rich_help_panel=SETTINGS,
    ),
]
ExitZeroOption = Annotated[
    bool,
    typer.Option(
        "--exit-zero", help="Exit with 0 in place of 1; 2 and 3 stay.", rich_help_panel=FAILS
    ),
]
ColorOption = Annotated[
    Color,
    typer.Option(
        "--color",
        help="auto: on a terminal, minding NO_COLOR and FORCE_COLOR.",
        rich_help_panel=OUTPUT,
    ),
]


WidthOption = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="N",
        help="Columns; those of the terminal, 100 in a pipe.",
        rich_help_panel=OUTPUT,
    ),
]
BriefOption = Annotated[
    bool, typer.Option("--brief", help="Of a report the panel alone.", rich_help_panel=OUTPUT)
]
FullOption = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Everything, in sentences too; of several specs each report.",
        rich_help_panel=OUTPUT,
    ),
]
AllOption = Annotated[
    bool,
    typer.Option(
        "--all", help="Of several specs list those that are fine too.", rich_help_panel=OUTPUT
    ),
]
