"""The command line: parses options, calls `dpcompose.commands`, and ends with the exit code."""

# No `from __future__ import annotations`: typer would parse them as text at each start.

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcompose.cli import options as of
from dpcompose.cli.help_pages import ANALYSE, LEARN, PLAN, REVIEW, Commands, HelpfulCommand
from dpcompose.commands.exits import complain
from dpcompose.commands.output import print_out
from dpcompose.commands.outputs import SchemaOf, Shell
from dpcompose.commands.streams import guard

if TYPE_CHECKING:
    from dpcompose.commands.run import Run

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


def command(
    panel: str | None, short: str, given: Sequence[Parameter], hidden: bool = False
) -> Callable[[Callable[["Run"], int]], Callable[["Run"], int]]:
    """Returns a decorator that makes a command of a function from a Run to an exit code.

    `panel`: where the list of commands shows it, with `short`. `given`: its options, in the order
    of its help page.
    """

    def declare(function: Callable[["Run"], int]) -> Callable[["Run"], int]:
        """Adds the command to the program, and returns the function as it is."""

        def called(**values: Any) -> None:
            """Runs the command with the values of its options, and ends with its exit code."""
            from dpcompose.commands.run import Run

            present = {name: value for name, value in values.items() if value is not None}
            raise typer.Exit(function(Run(**present)))

        called.__name__, called.__doc__ = function.__name__, function.__doc__
        called.__signature__ = Signature(given)  # type: ignore[attr-defined]
        app.command(short_help=short, cls=HelpfulCommand, rich_help_panel=panel, hidden=hidden)(
            called
        )
        return function

    return declare


@command(ANALYSE, "Certify the tightest bound of each spec.", of.ANALYZE)
def analyze(run: "Run") -> int:
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
    from dpcompose.commands.analysis import analyze_files

    return analyze_files(run)


@command(ANALYSE, "Compare each spec with its budget.", of.CHECK)
def check(run: "Run") -> int:
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
    if run.ledger is not None:
        from dpcompose.commands.join import join_ledger

        return join_ledger(run, run.ledger)
    from dpcompose.commands.analysis import analyze_files

    return analyze_files(run, checking=True)


@command(REVIEW, "Say what a change does to the bound.", of.DIFF)
def diff(run: "Run") -> int:
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
    from dpcompose.commands.diff import diff_files

    return diff_files(run)


@command(PLAN, "Add up releases on the same people.", of.TOTAL)
def total(run: "Run") -> int:
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
    from dpcompose.commands.total import total_of

    return total_of(run)


@command(REVIEW, "Write what the authors of specs vouch for.", of.ACCEPT)
def accept(run: "Run") -> int:
    """Write what the authors of specs vouch for, and nothing can check, to FILE.

    `check --assumptions FILE` then fails where a spec assumes anything else. Each entry of a spec
    has a hash of what it declares, wherever it stands, and who accepted it when. What is there
    already keeps both; entries of the specs that are named, and of specs that are gone, are those
    of now.
    """
    from dpcompose.commands.accept import accept_files

    return accept_files(run)


@command(PLAN, "Scale a spec to its budget.", of.FIT)
def fit(run: "Run") -> int:
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

    return fit_file(run)


@command(PLAN, "Say what halving each mechanism saves.", of.SAVINGS)
def savings(run: "Run") -> int:
    """Say what halving the ε, ρ or μ of each mechanism, or doubling its noise, takes off the bound.

    FILE is a spec, - is standard input. The number is the ε at the δ of the budget, or at the first
    δ that the spec asks for; without one the bound. What is not in the worst change saves nothing.
    Doubled is the noise as it is stated: a scale, σ, or the variance of Skellam noise.
    """
    from dpcompose.commands.fit import savings_of_file

    return savings_of_file(run)


def sensitivity(run: "Run") -> int:
    """Runs `savings` by the name that it had until October 2026."""
    complain("`sensitivity` is called `savings` now; this name goes at the end of 2027")
    return savings(run)


sensitivity.__doc__ = savings.__doc__  # what its help page prints
command(None, "", of.SAVINGS, hidden=True)(sensitivity)


@command(LEARN, "List the theorem book.", of.THEOREMS)
def theorems(run: "Run") -> int:
    """List the theorem book, or the entries with each WORD in their titles, bounds or uses.

    A WORD may be a notion (pure, approx, zcdp, gdp), a source (GMPS24), a part of a title
    (disjoint, sampling) or of what an entry is used for (conversion).
    """
    from dpcompose.commands.explain import list_theorems

    return list_theorems(run)


def _complete(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields what `explain` can explain, for shell completion."""
    from dpcompose.commands.explain import identifiers

    return identifiers(incomplete)


_WORDS = of.argument("words", list[str], metavar="WORD", autocompletion=_complete)


@command(
    LEARN,
    "Explain a theorem, a code, or a word of the spec language.",
    (_WORDS, of.COLOR, of.WIDTH),
)
def explain(run: "Run") -> int:
    """Explain a theorem, an example of the paper, the code of a finding, or a word of a spec.

    WORD is any key or value of the spec language, such as cap, stated_on, zcdp or adaptivity (what
    it means and where it stands, an example with what it gives, and the theorems behind it); a
    theorem such as IV.13 (its statement, hypotheses and bound); an example that the paper prints,
    such as IV.14 (how to write it as a spec); or a code such as DPC010 (why it matters, what to
    write instead, what may silence it). `language` lists every word.

    theorem:, example:, code: or word: before it says which is meant.
    """
    from dpcompose.commands.explain import explain_words

    return explain_words(run)


def _complete_example(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields the names of example specs with their titles, for shell completion."""
    from dpcompose.commands.starter import examples as known

    return ((name, title) for name, title in known().items() if name.startswith(incomplete))


_EXAMPLE = of.argument("words", str | None, None, metavar="NAME", autocompletion=_complete_example)


@command(
    LEARN,
    "List or print the specs that come with dpcompose.",
    (_EXAMPLE, of.COLOR, of.WIDTH),
)
def examples(run: "Run") -> int:
    """List the specs that come with dpcompose, or print the one of that NAME.

    Each is a real or typical release with its bound in a comment at its end.
    """
    from dpcompose.commands.starter import show_examples

    return show_examples(run)


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


def run() -> None:
    """Runs the command line; ends in SystemExit."""
    guard()  # help texts are written to standard output by typer
    _build_only(sys.argv[1:2])
    app(prog_name="dpcompose")


def _build_only(wanted: list[str]) -> None:
    """Drops all commands but the one in `wanted`, since typer inspects every option of each."""
    commands = app.registered_commands
    named = [each for each in commands if [getattr(each.callback, "__name__", "")] == wanted]
    if named:  # else: a global option, a mistake, or a shell completion
        commands[:] = named
