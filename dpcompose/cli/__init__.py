"""The command line: parses options, calls `dpcompose.commands`, and ends with the exit code."""

# No `from __future__ import annotations`: typer would parse them as text at each start.

import os
import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from typer.models import CommandInfo

from dpcompose.cli.help_pages import ANALYSE, LEARN, PLAN, REVIEW, Commands, HelpfulCommand
from dpcompose.cli.options import (
    OUTPUT,
    AdvantageOption,
    AllOption,
    AllowEmptyOption,
    AtEpsilonOption,
    BaselineOption,
    BriefOption,
    CertificateOption,
    ChangedSinceOption,
    ColorOption,
    ExitZeroOption,
    FailOnOption,
    FilesFromOption,
    FixOption,
    FormatOption,
    FullOption,
    IsolatedOption,
    JobsOption,
    MaxMemoryOption,
    MaxSecondsOption,
    OutputOption,
    OutputsOption,
    PlannedOption,
    RecheckOption,
    RequireDeltaOption,
    RequireRelationOption,
    ReviewedOption,
    RiskOption,
    SettingsFromOption,
    SettingsOption,
    ShowSettingsOption,
    Specs,
    StdinFilenameOption,
    StrictOption,
    SuccessOption,
    ToldOption,
    WidthOption,
    YesOption,
)
from dpcompose.commands.bounds import most_of
from dpcompose.commands.formats import FilterKind, Planned, Reviewed, Told
from dpcompose.commands.output import Color, look_of, print_out
from dpcompose.commands.outputs import BookFormat, By, Format, SchemaOf, Shell, outputs_of
from dpcompose.commands.streams import guard

#: The environment variable by which a shell asks for completions, or for the completion script.
_COMPLETE = "_DPCOMPOSE_COMPLETE"

app = typer.Typer(
    cls=Commands,
    help="A type checker for privacy budgets.\n\n"
    "Reads a YAML spec of a pipeline (datasets, differentially private mechanisms, the "
    "neighbouring relation to protect) and certifies the tightest bound it can prove.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    """Prints the version and ends the run, if that is wanted."""
    if wanted:
        import dpcompose

        print_out(f"dpcompose {dpcompose.__version__}\n")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command(
    short_help="Certify the tightest bound of each spec.",
    cls=HelpfulCommand,
    rich_help_panel=ANALYSE,
)
def analyze(
    files: Specs = None,
    delta: Annotated[
        list[str] | None,
        typer.Option(
            "--delta",
            "--at-delta",
            metavar="NUMBER",
            help="State the least ε at this δ, as in 1e-6; repeatable.",
        ),
    ] = None,
    at_epsilon: AtEpsilonOption = None,
    risk: RiskOption = False,
    by: Annotated[
        By | None,
        typer.Option(
            "--by",
            help="`attribute`: say what is learnt of each column that a root lists, by itself.",
        ),
    ] = None,
    form: FormatOption = Format.TEXT,
    output: OutputsOption = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Print the bound alone: `epsilon=1.7`, or `epsilon=6 delta=6e-5`."
        ),
    ] = False,
    bare: Annotated[
        bool, typer.Option("--bare", help="Print one number alone: `1.7`. Its notion is yours.")
    ] = False,
    advise: Annotated[
        bool | None,
        typer.Option(
            "--advise/--no-advise",
            help="Say all that would make the bound less if it is true, or nothing of it; "
            "otherwise what saves most.",
            show_default=False,
        ),
    ] = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    brief: BriefOption = False,
    full: FullOption = False,
    whole: AllOption = False,
    files_from: FilesFromOption = None,
    stdin_filename: StdinFilenameOption = None,
    allow_empty: AllowEmptyOption = False,
    jobs: JobsOption = None,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
    fail_on: FailOnOption = None,
    exit_zero: ExitZeroOption = False,
    require_relation: RequireRelationOption = None,
    require_delta: RequireDeltaOption = None,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    show_settings: ShowSettingsOption = False,
    changed_since: ChangedSinceOption = None,
    strict: StrictOption = False,
    recheck: RecheckOption = False,
    certificate: CertificateOption = None,
    fix: FixOption = False,
    yes: YesOption = False,
) -> None:
    """Certify the tightest bound of each spec, with the theorem and the reasoning.

    FILE is a spec, a folder (its *.yaml and *.yml files that have the key `dpcompose`, and those of
    the folders below), a pattern such as 'specs/**/*.yaml', or - for standard input; without one
    the working folder is taken. A file may hold several specs, with --- between them.

    --delta, --at-epsilon and --risk add to what a spec asks for (`report:`, or a budget with a δ).

    --by attribute asks who learns what: for each column that a root lists (`columns:`) the bound
    where one row is replaced in it alone. Questions about several columns stand in the spec
    (`report: {questions: …}`).

    With --quiet the bound is one line a file, by name and rounded up: `epsilon=1.7`, `rho=0.12`,
    `epsilon=6 delta=6e-5`; `inf` without a finite bound, `invalid` for an invalid spec; `FILE: `
    stands before it where there are several files. With --delta or --at-epsilon the line has the
    numbers asked for in place of the bound, each with where it was asked for:
    `epsilon=2.459 delta=1e-5`, or `delta=3e-7 at_epsilon=1`; with --risk `advantage=0.38`, then
    each `hits=0.09 false_alarms=0.01` and `success=0.27 baseline=0.1`.

    With --bare the line is one number without a name: the bound, where that is one number, or the
    one that is asked for. Bounds of several files are then in one notion, or it is a bad call.

    Below a report stands what the author could say of the data, the maps and the noise to make the
    bound less, if it is true: the five that save most, each analysed, or all with --advise.

    --recheck has the stand-alone checker (`python -m dpcompose.checker`, one file that imports
    nothing of dpcompose) go through the certificate of the bounds: every claim from the stated
    guarantees up to the bound is made anew from its premises. A bound whose certificate is refused
    is never printed: it is an internal fault. An ε at a δ is confirmed to a tolerance that the
    report says; what the checker has no rule for is named as not checked, and where that is what
    meets a budget, DPC214 warns. --certificate FILE writes the certificate.

    --fix makes the corrections of invalid specs that are certain: a word for another one of the
    same meaning, a number in another notation, a misspelt key. It shows them, asks on a terminal
    (elsewhere nothing is written without --yes), and goes on with what is then in the files.
    """
    from dpcompose.commands.analysis import Selection, Strictness, analyze_files
    from dpcompose.commands.goals import points_of
    from dpcompose.commands.policies import Sources

    look = look_of(color, width, brief, full, whole)
    outputs = [*(output or ()), *([] if certificate is None else [f"certificate={certificate}"])]
    points = points_of(delta, at_epsilon, risk=risk)
    points = points._replace(attributes=by is By.ATTRIBUTE)
    most = most_of(max_seconds, max_memory)
    selection = Selection(
        files or (), files_from, stdin_filename, allow_empty, jobs, changed_since, most, fix, yes
    )
    sources = Sources(isolated, settings or (), settings_from)
    strictness = Strictness(
        fail_on,
        exit_zero,
        require_relation,
        require_delta,
        sources,
        show_settings,
        strict=strict,
        recheck=recheck,
    )
    raise typer.Exit(
        analyze_files(selection, strictness, points, form, outputs, quiet, look, advise, bare)
    )


@app.command(
    short_help="Compare each spec with its budget.", cls=HelpfulCommand, rich_help_panel=ANALYSE
)
def check(
    files: Specs = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The budget's ε: 2, 0.5 or 17/10.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Its δ, as in 1e-6.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in ρ (zCDP).")] = None,
    mu: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in μ (GDP).")] = None,
    advantage: AdvantageOption = None,
    success: SuccessOption = None,
    baseline: BaselineOption = None,
    at_delta: Annotated[
        list[str] | None,
        typer.Option(
            "--at-delta", metavar="NUMBER", help="State the least ε at this δ as well; repeatable."
        ),
    ] = None,
    at_epsilon: AtEpsilonOption = None,
    risk: RiskOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputsOption = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    brief: BriefOption = False,
    full: FullOption = False,
    whole: AllOption = False,
    files_from: FilesFromOption = None,
    stdin_filename: StdinFilenameOption = None,
    allow_empty: AllowEmptyOption = False,
    jobs: JobsOption = None,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
    fail_on: FailOnOption = None,
    exit_zero: ExitZeroOption = False,
    require_relation: RequireRelationOption = None,
    require_delta: RequireDeltaOption = None,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    show_settings: ShowSettingsOption = False,
    assumptions: Annotated[
        str | None,
        typer.Option(
            "--assumptions",
            metavar="FILE",
            help="Assume nothing but what `dpcompose accept` wrote there.",
        ),
    ] = None,
    changed_since: ChangedSinceOption = None,
    strict: StrictOption = False,
    recheck: RecheckOption = False,
    certificate: CertificateOption = None,
    fix: FixOption = False,
    yes: YesOption = False,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="FOLDER",
            help="Whether FILE may join the releases there, under the budget of all.",
        ),
    ] = None,
) -> None:
    """Compare each spec with its budget: what was spent, on what, and what is left.

    FILE is a spec, a folder (its *.yaml and *.yml files that have the key `dpcompose`, and those of
    the folders below), a pattern such as 'specs/**/*.yaml', or - for standard input; without one
    the working folder is taken. A file may hold several specs, with --- between them.

    The budget is that of the flags, of the spec (`budget:`), or else of the settings, whose
    `max-budget` holds beside each of them.

    --recheck, --certificate and --fix are those of `analyze`; with --fail-on warning a budget
    has to be met by what the checker confirms.

    With --ledger FOLDER the new FILE is added to the releases of its population there, and the
    budget is that of all, as in `total`: what is spent and left before and after; it fails where
    the release would pass it. With --changed-since REV too it fails where a release that FOLDER had
    there is gone or says less (DPC223), and counts it as it was; FILE may be left out.
    """
    from dpcompose.commands.analysis import Selection, Strictness, check_files
    from dpcompose.commands.goals import limit_of, points_of
    from dpcompose.commands.policies import Sources

    look = look_of(color, width, brief, full, whole)
    outputs = [*(output or ()), *([] if certificate is None else [f"certificate={certificate}"])]
    limit = limit_of(epsilon, delta, rho, mu, advantage, success, baseline)
    points = points_of(at_delta, at_epsilon, "at-delta", risk)
    most = most_of(max_seconds, max_memory)
    selection = Selection(
        files or (), files_from, stdin_filename, allow_empty, jobs, changed_since, most, fix, yes
    )
    sources = Sources(isolated, settings or (), settings_from)
    if ledger is not None:
        from dpcompose.commands.join import join_ledger

        others = {
            "--at-epsilon": at_epsilon,
            "--risk": risk,
            "--fail-on": fail_on,
            "--require-relation": require_relation,
            "--require-delta": require_delta,
            "--assumptions": assumptions,
            "--show-settings": show_settings,
            "--recheck": recheck,
            "--certificate": certificate,
            "--fix": fix,
            "--exit-zero": exit_zero,
        }
        unused = [name for name, given in others.items() if given]
        raise typer.Exit(
            join_ledger(
                selection, ledger, limit, points, unused, sources, strict, form, output, look
            )
        )
    strictness = Strictness(
        fail_on,
        exit_zero,
        require_relation,
        require_delta,
        sources,
        show_settings,
        assumptions,
        strict,
        recheck,
    )
    raise typer.Exit(check_files(selection, strictness, limit, points, form, outputs, look))


@app.command(
    short_help="Say what a change does to the bound.", cls=HelpfulCommand, rich_help_panel=REVIEW
)
def diff(
    files: Specs = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="REV", help="Compare each FILE with this git revision."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="EVENT,...",
            help="Exit with 1 at an increase, a new-assumption, budget-raised, population-changed, "
            "removed-spec, settings-changed; or at a new finding of a level; repeatable.",
        ),
    ] = None,
    fail_on_increase: Annotated[
        bool, typer.Option("--fail-on-increase", help="The same as --fail-on increase.")
    ] = False,
    allow_new: Annotated[
        bool,
        typer.Option("--allow-new", help="Compare a named FILE that REV lacks with nothing."),
    ] = False,
    delta: Annotated[
        list[str] | None,
        typer.Option("--delta", metavar="NUMBER", help="Compare ε at this δ; repeatable."),
    ] = None,
    form: ReviewedOption = Reviewed.TEXT,
    output: OutputsOption = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Only how the bounds moved.", rich_help_panel=OUTPUT)
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Also the reasons in sentences, and what is as before.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    whole: AllOption = False,
    files_from: FilesFromOption = None,
    allow_empty: AllowEmptyOption = False,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    strict: StrictOption = False,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
) -> None:
    """Say what a change of specs does to their bounds: by how much, and because of what.

    `diff OLD NEW` compares two files; `diff --against REV FILE...` compares files, folders and
    patterns of them with what they were in a git revision, under another name where git sees a
    rename; a spec that was removed is a decrease. Entries are told by name, so that lines may move.

    --fail-on names what exits with 1, several with commas between them: an `increase` of a bound,
    which one that cannot be compared with the one before (another relation is protected, another
    notion) counts as; a `new-assumption`, which free post-processing counts as; `budget-raised`, a
    budget of the spec that is larger or gone; `population-changed`, `removed-spec`; and
    `settings-changed`, other settings around the spec. Findings that the spec did not have before
    are listed, from warnings on, and exit with 1 where those of `analyze` would (--fail-on error,
    warning or note). The settings are those of the new file.
    """
    from dpcompose.commands.analysis import Selection
    from dpcompose.commands.diff import diff_files
    from dpcompose.commands.goals import points_of
    from dpcompose.commands.policies import Sources

    deltas = points_of(delta, None).deltas
    most = most_of(max_seconds, max_memory)
    selection = Selection(files or (), files_from, None, allow_empty, most=most)
    sources = Sources(isolated, settings or (), settings_from)
    failing = [*(fail_on or ()), *(["increase"] if fail_on_increase else [])]
    raise typer.Exit(
        diff_files(
            selection,
            against,
            deltas,
            failing,
            allow_new,
            sources,
            strict,
            outputs_of(output, form),
            look_of(color, width, brief, full, whole),
        )
    )


@app.command(
    short_help="Add up releases on the same people.", cls=HelpfulCommand, rich_help_panel=PLAN
)
def total(
    files: Specs = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget's ε.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Its δ.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in ρ (zCDP).")] = None,
    mu: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in μ (GDP).")] = None,
    advantage: AdvantageOption = None,
    success: SuccessOption = None,
    baseline: BaselineOption = None,
    at_delta: Annotated[
        list[str] | None,
        typer.Option("--at-delta", metavar="NUMBER", help="State ε at this δ; repeatable."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Add up all specs, whatever population they name.")
    ] = False,
    apart: Annotated[
        bool,
        typer.Option(
            "--apart", help="Take no dataset of two specs for the same because of its name."
        ),
    ] = False,
    fixed: Annotated[
        str | None,
        typer.Option(
            "--fixed",
            metavar="REASON",
            help="All parameters were fixed before the first output; the reason is told.",
        ),
    ] = None,
    counted: Annotated[
        FilterKind | None,
        typer.Option("--filter", help="The notion in which the budget is counted."),
    ] = None,
    remaining: Annotated[
        bool,
        typer.Option("--remaining", help="Say what one more mechanism may have."),
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="REV", help="Add up the files of a revision of git."),
    ] = None,
    over_time: Annotated[
        bool,
        typer.Option("--over-time", help="Tell what was spent and left after each release."),
    ] = False,
    form: ToldOption = Told.TEXT,
    output: OutputOption = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    files_from: FilesFromOption = None,
    stdin_filename: StdinFilenameOption = None,
    allow_empty: AllowEmptyOption = False,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    strict: StrictOption = False,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
) -> None:
    """Add up what several releases on the same people cost.

    FILE is a spec, a folder, a pattern, or - for standard input. Specs that name the same
    `population:` are added up; within it, datasets with the same name and declaration are the
    same, but for what each release draws at random. The budget of every population is that of the
    flags, or else `total-budget` of the settings; `budget:` is for one spec.

    A later release may be decided on after seeing an earlier one, so that the budget is counted by
    a filter: it is the guarantee as long as no release passes it, and without one there is none.
    --fixed REASON says that all parameters were fixed before the first output.

    Releases under version control are told --over-time in the order of the commits that added
    them, and it is an error (DPC223) if a commit took one of them out or made it less; --as-of REV
    adds up those of a revision, under the settings of now.
    """
    from dpcompose.commands.analysis import Selection
    from dpcompose.commands.goals import limit_of, points_of
    from dpcompose.commands.policies import Sources
    from dpcompose.commands.total import total_of
    from dpcompose.planning.totals import TotalAsked

    limit = limit_of(epsilon, delta, rho, mu, advantage, success, baseline)
    asked = TotalAsked(
        limit,
        points_of(at_delta, None, "at-delta").deltas,
        everything,
        apart,
        fixed,
        None if counted is None else counted.notion,
        remaining,
        over_time,
    )
    most = most_of(max_seconds, max_memory)
    selection = Selection(files or (), files_from, stdin_filename, allow_empty, most=most)
    sources = Sources(isolated, settings or (), settings_from)
    raise typer.Exit(
        total_of(selection, asked, sources, strict, form, output, look_of(color, width), as_of)
    )


@app.command(
    short_help="Write what the authors of specs vouch for.",
    cls=HelpfulCommand,
    rich_help_panel=REVIEW,
)
def accept(
    files: Specs = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where accepted claims are.")
    ] = "assumptions.lock",
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who accepts; the user by default.")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="DATE", help="When; today by default.")
    ] = None,
    files_from: FilesFromOption = None,
    allow_empty: AllowEmptyOption = False,
) -> None:
    """Write what the authors of specs vouch for, and nothing can check, to FILE.

    `check --assumptions FILE` then fails where a spec assumes anything else. Each entry of a spec
    has a hash of what it declares, wherever it stands, and who accepted it when. What is there
    already keeps both; entries of the specs that are named, and of specs that are gone, are those
    of now.
    """
    from dpcompose.commands.accept import accept_files
    from dpcompose.commands.analysis import Selection

    selection = Selection(files or (), files_from, None, allow_empty)
    raise typer.Exit(accept_files(selection, output, by, on))


@app.command(short_help="Scale a spec to its budget.", cls=HelpfulCommand, rich_help_panel=PLAN)
def fit(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="The budget's ε.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Its δ.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in ρ (zCDP).")] = None,
    mu: Annotated[str | None, typer.Option(metavar="NUMBER", help="A budget in μ (GDP).")] = None,
    advantage: AdvantageOption = None,
    success: SuccessOption = None,
    baseline: BaselineOption = None,
    free: Annotated[
        list[str] | None,
        typer.Option(
            "--free",
            metavar="NAME[=WEIGHT]",
            help="Scale this mechanism, times its weight, and no other; repeatable.",
        ),
    ] = None,
    form: PlannedOption = Planned.TEXT,
    output: OutputOption = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
) -> None:
    """Write the spec with the largest common scale of its parameters that keeps the budget.

    FILE is a spec, - is standard input. The budget is that of the flags, of the spec (`budget:`),
    or else of the settings.

    Scaled are ε, ρ and μ of stated guarantees, and the noise of concrete mechanisms is divided by
    the scale; a δ stays. A constant that stands for such numbers alone is scaled in their place.
    Comments and layout stay as they are. The budget of the flags is written into the spec, in place
    of its own. What was changed is told on standard error; with --format json it stands in one
    document with the spec.
    """
    from dpcompose.commands.fit import fit_file
    from dpcompose.commands.goals import limit_of
    from dpcompose.commands.policies import Sources

    limit = limit_of(epsilon, delta, rho, mu, advantage, success, baseline)
    most = most_of(max_seconds, max_memory)
    sources = Sources(isolated, settings or (), settings_from)
    raise typer.Exit(
        fit_file(file, limit, free or [], sources, form, output, look_of(color, width), most)
    )


@app.command(
    short_help="Say what halving each mechanism saves.", cls=HelpfulCommand, rich_help_panel=PLAN
)
def savings(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="NUMBER", help="Look at the ε at this δ.")
    ] = None,
    tried: Annotated[int, typer.Option("--most", min=1, help="Try so many mechanisms.")] = 100,
    form: PlannedOption = Planned.TEXT,
    output: OutputOption = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
    full: FullOption = False,
    isolated: IsolatedOption = False,
    settings: SettingsOption = None,
    settings_from: SettingsFromOption = None,
    max_seconds: MaxSecondsOption = None,
    max_memory: MaxMemoryOption = None,
) -> None:
    """Say what halving the ε, ρ or μ of each mechanism, or doubling its noise, takes off the bound.

    FILE is a spec, - is standard input. The number is the ε at the δ of the budget, or at the first
    δ that the spec asks for; without one the bound. What is not in the worst change saves nothing.
    Doubled is the noise as it is stated: a scale, σ, or the variance of Skellam noise.
    """
    from dpcompose.commands.exits import complain
    from dpcompose.commands.fit import savings as run_savings
    from dpcompose.commands.goals import points_of
    from dpcompose.commands.policies import Sources

    if context.info_name == "sensitivity":
        complain("`sensitivity` is called `savings` now; this name goes at the end of 2027")
    deltas = points_of([delta] if delta is not None else None, None).deltas
    at = deltas[0] if deltas else None
    most = most_of(max_seconds, max_memory)
    sources = Sources(isolated, settings or (), settings_from)
    raise typer.Exit(
        run_savings(
            file, at, tried, sources, form, output, look_of(color, width, False, full), most
        )
    )


#: The name of `savings` until October 2026.
app.command("sensitivity", hidden=True, cls=HelpfulCommand)(savings)


@app.command(
    short_help="List the theorem book.",
    cls=HelpfulCommand,
    rich_help_panel=LEARN,
)
def theorems(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD", hidden=True)] = None,
    form: Annotated[
        BookFormat, typer.Option("--format", help="How the book is printed.")
    ] = BookFormat.TEXT,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
) -> None:
    """List the theorem book, or the entries with each WORD in their titles, bounds or uses.

    A WORD may be a notion (pure, approx, zcdp, gdp), a source (GMPS24), a part of a title
    (disjoint, sampling) or of what an entry is used for (conversion).
    """
    from dpcompose.commands.explain import list_theorems

    list_theorems(words or [], form, look_of(color, width))


def _complete(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields what `explain` can explain, for shell completion."""
    from dpcompose.commands.explain import identifiers

    return identifiers(incomplete)


def _complete_example(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields the names of example specs with their titles, for shell completion."""
    from dpcompose.commands.starter import examples as known

    return ((name, title) for name, title in known().items() if name.startswith(incomplete))


@app.command(
    short_help="Explain a theorem, a code, or a word of the spec language.",
    cls=HelpfulCommand,
    rich_help_panel=LEARN,
)
def explain(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORD", autocompletion=_complete, hidden=True),
    ],
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
) -> None:
    """Explain a theorem, an example of the paper, the code of a finding, or a word of a spec.

    WORD is any key or value of the spec language, such as cap, stated_on, zcdp or adaptivity (what
    it means and where it stands, an example with what it gives, and the theorems behind it); a
    theorem such as IV.13 (its statement, hypotheses and bound); an example that the paper prints,
    such as IV.14 (how to write it as a spec); or a code such as DPC010 (why it matters, what to
    write instead, what may silence it). `language` lists every word.

    theorem:, example:, code: or word: before it says which is meant.
    """
    from dpcompose.commands.explain import explain as show

    show(" ".join(words), look_of(color, width))


@app.command(short_help="Print a completion script.", cls=HelpfulCommand, rich_help_panel=LEARN)
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", hidden=True)],
) -> None:
    """Print the script that completes commands, options and ids in bash, zsh or fish.

    `dpcompose --install-completion` puts it where your shell finds it.
    """
    os.environ[_COMPLETE] = f"source_{shell.value}"
    try:
        app(prog_name="dpcompose")
    finally:
        del os.environ[_COMPLETE]


@app.command(short_help="Print a JSON Schema.", cls=HelpfulCommand, rich_help_panel=LEARN)
def schema(
    of: Annotated[
        SchemaOf, typer.Argument(metavar="|".join(SchemaOf), hidden=True)
    ] = SchemaOf.SPEC,
) -> None:
    """Print the JSON Schema of the spec language, for editors, or of what a command prints.

    `result` is what `analyze` and `check` print with --format json or jsonl; `diff`, `total`, `fit`
    and `savings` are what the commands of these names print with --format json, `assumptions` what
    `accept` writes.
    """
    from dpcompose.commands.explain import print_schema

    print_schema(of)


@app.command(
    short_help="Write a commented starter spec.", cls=HelpfulCommand, rich_help_panel=LEARN
)
def init(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)] = "pipeline.dp.yaml",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write a commented starter spec, and beside it the JSON Schema that editors check it with.

    FILE is `pipeline.dp.yaml` unless named, - prints the starter. A file that is there already is
    left alone.
    """
    from dpcompose.commands.starter import write_starter

    write_starter(file, force)


@app.command(
    short_help="List or print the specs that come with dpcompose.",
    cls=HelpfulCommand,
    rich_help_panel=LEARN,
)
def examples(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", autocompletion=_complete_example, hidden=True)
    ] = None,
    color: ColorOption = Color.AUTO,
    width: WidthOption = None,
) -> None:
    """List the specs that come with dpcompose, or print the one of that NAME.

    Each is a real or typical release with its bound in a comment at its end.
    """
    from dpcompose.commands.starter import list_examples, print_example

    if name is None:
        list_examples(look_of(color, width))
    else:
        print_example(name)


def run() -> None:
    """Runs the command line; ends in SystemExit."""
    guard()  # help texts are written to standard output by typer
    _build_only(sys.argv[1:2])
    app(prog_name="dpcompose")


def _build_only(wanted: list[str]) -> None:
    """Drops all commands but the one in `wanted`, since typer inspects every option of each."""
    named = [each for each in app.registered_commands if [_name(each)] == wanted]
    if named:  # else: a global option, a mistake, or a shell completion
        app.registered_commands[:] = named


def _name(command: CommandInfo) -> str | None:
    """Returns the name by which a command is called."""
    return command.name or (command.callback and command.callback.__name__)
