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
from dpcompose.commands.choices import Draft, SchemaOf, Shell
from dpcompose.commands.exits import complain
from dpcompose.commands.writing.output import guard, print_out

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

    --delta, --at-epsilon and --risk ask for numbers in addition to those that the spec asks for
    (`report:`, or a budget with a δ).

    --by attribute reports who learns what: for each column of a root (`columns:`) the bound for a
    row that is replaced in this column only. Questions about several columns are written in the
    spec (`report: {questions: …}`).

    --quiet prints one line per file, with names and rounded up: `epsilon=1.7`, `rho=0.12`,
    `epsilon=6 delta=6e-5`; `inf` without a finite bound, `invalid` for an invalid spec. With
    several files each line starts with `FILE: `. With --delta or --at-epsilon the line has the
    numbers that these ask for: `epsilon=2.459 delta=1e-5`, or `delta=3e-7 at_epsilon=1`; with
    --risk `advantage=0.38`, then each `hits=0.09 false_alarms=0.01` and
    `success=0.27 baseline=0.1`.

    --bare prints one number without a name: the bound, if it is a single number, or the number that
    an option asks for. The bounds of several files must then be in one notion.

    A report ends with declarations about the data, the maps and the noise that would lower the
    bound if they hold: the five that lower it most, each analysed; --advise prints all.

    --recheck runs the stand-alone checker (`python -m dpcompose.checker`, one file that imports
    nothing from dpcompose) on the certificate of the bounds. It derives every claim again from its
    premises, from the stated guarantees to the bound. If it refuses a certificate, dpcompose stops
    with an internal fault and prints no bound. An ε at a δ is confirmed to a tolerance, which the
    report names. A number that the checker does not confirm, for want of a rule, is an error
    (DPC214, exit code 1), which says why. --certificate FILE writes the certificate.

    --fix corrects invalid specs where the correction is certain: a synonym of a word, a number in
    another notation, a misspelt key. It shows the corrections, asks on a terminal (elsewhere it
    writes only with --yes), and continues with the corrected files.

    --watch prints everything again when a file is saved, until Ctrl-C (exit code 130).
    """
    if run.watch:
        from dpcompose.commands.watch import watch

        return watch(run, analyze)
    from dpcompose.commands.analysis import analyze_files

    return analyze_files(run)


@command(ANALYSE, "Write a page for people who do not use a terminal.", of.REPORT)
def report(run: "Run") -> int:
    """Write a page (HTML) that shows the result of each spec to people who decide about budgets.

    FILE is what `analyze` takes. The page is one file: it loads nothing, runs no script, and can be
    printed or sent. It shows the verdict, what an attacker gains, where the budget goes, the proof
    with its theorems, what is assumed, and the lines of the spec. Several specs have an overview.

    -o report.html names the file. `analyze`, `check` and others write the same page with
    -o html=FILE beside their own output.
    """
    from dpcompose.commands.analysis import write_page

    return write_page(run)


@command(ANALYSE, "Compare each spec with its budget.", of.CHECK)
def check(run: "Run") -> int:
    """Compare each spec with its budget: what is spent, on what, and what is left.

    FILE is a spec, a folder (its *.yaml and *.yml files that have the key `dpcompose`, and those of
    the folders below), a pattern such as 'specs/**/*.yaml', or - for standard input; without one
    the working folder is taken. A file may hold several specs, with --- between them.

    The budget is that of the options, of the spec (`budget:`), or of the settings, in this order.
    The `max-budget` of the settings applies in addition.

    --certificate, --fix and --watch work as in `analyze`. With --recheck the stand-alone checker
    must confirm that budgets are met; other numbers are not asked of it.

    --ledger FOLDER adds FILE to the releases of its population in FOLDER, under the budget of all
    of them, as in `total`. It reports what is spent and left before and after, and fails if the
    release would exceed the budget. With --changed-since REV it also fails if a release of FOLDER
    was removed or weakened since REV (DPC223), and counts the release as it was; FILE may then be
    omitted.
    """
    if run.watch:
        from dpcompose.commands.watch import watch

        return watch(run, check)
    if run.ledger is not None:
        from dpcompose.commands.ledger.total import join_ledger

        return join_ledger(run, run.ledger)
    from dpcompose.commands.analysis import analyze_files

    return analyze_files(run, checking=True)


@command(ANALYSE, "Serve an editor while specs are written.", of.LSP)
def lsp(run: "Run") -> int:
    """Run the language server: the problems, costs and words of specs in your editor.

    Your editor starts it. It speaks the Language Server Protocol on standard input and output, and
    needs pygls: python -m pip install 'dpcompose[lsp]'. It answers about files *.dp.yaml, and about
    YAML files whose top level has the key `dpcompose`.

    Problems are shown as you type, with the corrections of --fix; the cost of each mechanism and
    the bound beside them; `explain` on a word under the pointer; and the words, datasets and blocks
    that may stand at the cursor. The settings around each file apply.
    """
    from dpcompose.commands.editor import serve

    return serve(run)


@command(ANALYSE, "Draw the pipeline and the worst change.", of.GRAPH)
def graph(run: "Run") -> int:
    """Draw the pipeline of a spec: datasets, partitions, mechanisms, and where the worst change
    goes.

    FILE is a spec, or - for standard input. The path of the worst change is marked: heavy lines in
    a tree, thick edges elsewhere. It says what the change becomes at each dataset, and what it
    costs each mechanism. Blocks that are alike are one box; below each node at most twelve of a
    kind are drawn, those that the change reaches first, and the others are counted.

    svg is a picture for light and dark pages, without links, scripts or fonts. mermaid is for
    Markdown that draws it, dot for Graphviz. A spec without a finite bound is drawn without a
    path, and the exit code is 1.
    """
    from dpcompose.commands.one_spec import graph_of_file

    return graph_of_file(run)


@command(REVIEW, "Report what a change does to the bound.", of.DIFF)
def diff(run: "Run") -> int:
    """Report how a change of specs changes their bounds, by how much and why.

    `diff OLD NEW` compares two files. `diff --against REV FILE...` compares files, folders and
    patterns with a git revision, and follows renames; a removed spec is a decrease. Entries are
    matched by name, so lines may move.

    --fail-on names the events that exit with 1, separated by commas: `increase`, a bound that is
    larger, also at another δ, about some column or for an attacker, or that cannot be compared
    (another protected relation or notion); `new-assumption`, which
    includes post-processing that is declared free; `budget-raised`, a budget of the spec that is
    larger or removed; `population-changed`; `removed-spec`; `settings-changed`. New findings are
    listed from warnings on, and exit with 1 as in `analyze` (--fail-on error, warning or note). The
    settings of the new file apply.
    """
    from dpcompose.commands.diff import diff_files

    return diff_files(run)


@command(PLAN, "Add up releases on the same people.", of.TOTAL)
def total(run: "Run") -> int:
    """Add up the cost of several releases on the same people.

    FILE is a spec, a folder, a pattern, or - for standard input. Specs with the same `population:`
    are added up. Within a population, datasets with the same name and declaration are the same
    dataset, except for what each release draws at random. The budget of a population is that of the
    options, or `total-budget` of the settings; `budget:` applies to one spec only.

    A later release may depend on the results of an earlier one. The budget is therefore counted by
    a filter: the budget is the guarantee as long as no release exceeds it; without a budget there
    is no guarantee. --fixed REASON declares that all parameters were fixed before the first output.

    --over-time lists releases under version control in the order of the commits that added them; a
    commit that removed or weakened a release is an error (DPC223). --as-of REV adds up the releases
    of a revision, under the present settings.
    """
    from dpcompose.commands.ledger.total import total_of

    return total_of(run)


@command(REVIEW, "Write the assumptions of specs for review.", of.ACCEPT)
def accept(run: "Run") -> int:
    """Write the assumptions of specs, which no program can check, to a file for review.

    `check --assumptions FILE` then fails if a spec assumes anything else. Each entry has a hash of
    its declaration, the person who accepted it and the date. Entries that are already in the file
    keep their person and date; entries that the specs no longer have are removed. Of a file with
    an invalid spec nothing changes there, and the exit code is 3; the others are written.
    """
    from dpcompose.commands.accept import accept_files

    return accept_files(run)


def import_spec(run: "Run") -> int:
    """Write a spec of what another library, or SQL, says of a release.

    FILE is recognised by its content; - is standard input. It is the JSON of a tree of DpEvents
    (dp_accounting, jax_privacy, TensorFlow Privacy), the history of an Opacus accountant
    (`state_dict()` as JSON), a measurement as OpenDP's `dp.serialize` writes it, or a table of
    OpenDP's `query.summarize()` in JSON or CSV.

    Of SQL it is a project of dbt or its target/manifest.json, files or a folder of .sql (queries
    with BigQuery's differential privacy clause, view policies, plain aggregates), or the JSON of
    `bq show --format=prettyjson`. This needs sqlglot: python -m pip install 'dpcompose[sql]'.

    Every line of the spec has a comment that says where it comes from; see that the data are
    yours. What has no word in specs is refused by name, and nothing is dropped. Without -o the
    spec is printed. What SQL does not say is an open question: TODO stands in the spec, and no
    other command takes it until it is answered there, in --answers, or in `meta: {dpcompose: …}`
    of dbt.

    --check SPEC writes nothing: it compares a committed spec with what SQL says now, for CI.

    Exit codes of SQL: 0 complete, or in step with SPEC; 1 written with open questions, or not in
    step; 2 a bad call, a file that cannot be read or is too large, or sqlglot is missing; 3 refused
    by name, and nothing is written.

    In Python `dpcompose.bridge.from_event`, `from_opacus`, `from_opendp` and `from_summary` read
    live objects as well.
    """
    from dpcompose.commands.import_spec import import_file

    return import_file(run)


import_spec.__name__ = "import"  # which is no name of a function
command(PLAN, "Write a spec of what another library or SQL says.", of.IMPORT)(import_spec)


@command(REVIEW, "Check entries of the registry of DP deployments.", of.REGISTRY)
def registry(run: "Run") -> int:
    """Check entries of the registry of DP deployments (OpenDP), also against a spec.

    ENTRY is a YAML file of the registry, or - for standard input. `registry check` reports a
    variant that does not fit the parameters, a δ that is no number below 1, sums in the texts that
    do not add up, composition in parallel without a bound on contributions, and what is still to be
    written. An entry that does not fit the registry's schema is invalid (exit code 3).

    --spec SPEC also compares the parameters, the relation and the unit with what the spec
    certifies: a parameter below that is an error, be it by rounding alone.

    `dpcompose analyze --format registry` writes an entry.
    """
    from dpcompose.commands.check_entries import registry_check

    return registry_check(run)


@command(PLAN, "Scale a spec to its budget.", of.FIT)
def fit(run: "Run") -> int:
    """Write the spec with the largest common scale of its parameters that keeps the budget.

    FILE is a spec, or - for standard input. The budget is that of the options, of the spec
    (`budget:`), or of the settings.

    fit multiplies the ε, ρ and μ of stated guarantees by the scale, and divides the noise of
    concrete mechanisms by it; δ stays. If a constant is used only in such numbers, fit scales the
    constant. Comments and layout stay. The budget of the options replaces that of the spec. The
    changes are printed on standard error; --format json prints them with the spec in one document.
    """
    from dpcompose.commands.one_spec import fit_file

    return fit_file(run)


@command(PLAN, "Report what halving each mechanism saves.", of.SAVINGS)
def savings(run: "Run") -> int:
    """Report how much half the ε, ρ or μ of a mechanism, or twice its noise, lowers the bound.

    FILE is a spec, or - for standard input. The bound is the ε at the δ of the budget, or at the
    first δ that the spec asks for; without a δ the bound itself. A mechanism that the worst change
    does not reach saves nothing. The noise is doubled as stated: a scale, σ, or the variance of
    Skellam noise.
    """
    from dpcompose.commands.one_spec import savings_of_file

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


_WORDS = of.argument("words", list[str] | None, None, metavar="WORD", autocompletion=_complete)


@command(
    LEARN,
    "Explain a theorem, a code, or a word of the spec language.",
    (_WORDS, of.SITE, of.COLOR, of.WIDTH),
)
def explain(run: "Run") -> int:
    """Explain a theorem, an example of the paper, the code of a finding, or a word of a spec.

    WORD is any key or value of the spec language, such as cap, stated_on, zcdp or adaptivity (what
    it means and where it stands, an example with what it gives, and the theorems behind it); a
    theorem such as IV.13 (its statement, hypotheses and bound); an example that the paper prints,
    such as IV.14 (how to write it as a spec); or a code such as DPC010 (why it matters, what to
    write instead, what may silence it). `language` lists every word.

    theorem:, example:, code: or word: before it says which is meant.

    --site DIR writes everything that can be explained as HTML pages into DIR, which is created if
    it is missing: index.html lists and searches them, also from a disk. Existing pages are
    replaced. With `site = "https://…"` in the settings (or DPCOMPOSE_SITE), SARIF and terminals in
    colour link codes and theorems to the pages below this address.
    """
    from dpcompose.commands.explain import explain_words

    return explain_words(run)


def _complete_example(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yields the names of example specs with their titles, for shell completion."""
    from dpcompose.commands.starter import examples as known

    for titles in known().values():
        yield from (each for each in titles.items() if each[0].startswith(incomplete))


_EXAMPLE = of.argument("words", str | None, None, metavar="NAME", autocompletion=_complete_example)


@command(
    LEARN,
    "List or print the specs that come with dpcompose.",
    (_EXAMPLE, of.COLOR, of.WIDTH),
)
def examples(run: "Run") -> int:
    """List the specs that come with dpcompose, or print the one of that NAME.

    Templates to fill in; real releases, with what was published of them and where; audits of
    published numbers that are wrong; patterns; and examples of the paper, also by their number
    (IV.14). Comments say what each shows, with its bound at the end. specs/README.md has them in
    a table.
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
    draft: Annotated[Draft, typer.Option(help="The draft of JSON Schema.")] = Draft.NEWEST,
) -> None:
    """Print the JSON Schema of the spec language, for editors, or of what a command prints.

    `result` describes the output of `analyze` and `check` with --format json or jsonl; `diff`,
    `total`, `fit`, `savings` and `registry` describe the output of these commands with --format
    json, and `assumptions` the file that `accept` writes.

    --draft 7 prints the same schema for editors that do not know draft 2020-12.
    """
    from dpcompose.commands.explain import print_schema

    print_schema(of, draft)


@app.command(
    short_help="Write a commented starter spec.", cls=HelpfulCommand, rich_help_panel=LEARN
)
def init(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)] = "pipeline.dp.yaml",
    name: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="Start from a copy of this example; --list has their names.",
            autocompletion=_complete_example,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what to start from.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write a commented starter spec, and beside it the JSON Schema that editors check it with.

    FILE is `pipeline.dp.yaml` by default; - prints the starter. An existing file is not changed.

    --from NAME writes a copy of an example in its place: a template such as training,
    capped-group-by, levels-and-queries or local-reports, a real release, or an example of the
    paper by its number, such as IV.14.
    """
    from dpcompose.commands.starter import list_examples, write_starter
    from dpcompose.commands.writing.output import Look

    if listed:
        list_examples(Look())
    else:
        write_starter(file, force, name)


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
