"""Help pages: `--help` has everything; `-h` the options that most people need, on one screen."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.writing.output import Look, print_out, style_for
from dpcompose.render.layout import Style

#: The panels of the commands, in their order.
ANALYSE, PLAN, REVIEW, LEARN = "Analyse", "Plan", "Review", "Learn"
_PANELS = (ANALYSE, PLAN, REVIEW, LEARN)


@cache
def examples() -> dict[str, dict[str, str]]:
    """Returns the examples of each command: what is typed, and what it does."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))


#: The options on the short page of a command; a command that is not here shows all of its own.
COMMON: dict[str, tuple[str, ...]] = {
    "analyze": (
        "--delta",
        "--risk",
        "--quiet",
        "--brief",
        "--full",
        "--recheck",
        "--fix",
        "--format",
        "--output",
    ),
    "report": ("--delta", "--by", "--output"),
    "check": ("--epsilon", "--delta", "--changed-since", "--ledger", "--format", "--output"),
    "diff": ("--against", "--fail-on", "--delta", "--brief", "--full", "--format"),
    "total": ("--epsilon", "--delta", "--all", "--over-time", "--format", "--output"),
    "fit": ("--epsilon", "--delta", "--rho", "--free", "--format", "--output"),
    "savings": ("--delta", "--most", "--format", "--output"),
    "registry": ("--spec", "--fail-on", "--format", "--output"),
}

#: Where a command keeps whether `-h`, not `--help`, was typed.
_SHORT = "dpcompose.short_help"

#: The names of commands by their former names.
_FORMER = {"sensitivity": "savings"}

#: The exit codes of a run with their meanings.
EXIT_CODES = (
    ("0", "fine"),
    (
        "1",
        "over budget (check, total, fit), no finite guarantee, a finding of level error, or what "
        "diff --fail-on names",
    ),
    ("2", "bad call, a file that cannot be read or written, or (--strict) one that is left out"),
    ("3", "invalid spec or registry entry, or a spec beyond --max-seconds or --max-memory"),
    ("70", "internal fault, with its traceback"),
)


def help_end(command: str | None, style: Style) -> str:
    """Returns the end of a help page: examples of a command, or the exit codes for None."""
    from dpcompose.render.help.pages import panel

    if command is not None:
        return panel("Examples", tuple(examples()[_FORMER.get(command, command)].items()), style)
    says = "the same for every command and format; with several files the largest code wins"
    return panel("Exit codes", EXIT_CODES, style, says)


def _print_help(command: Any, ctx: Any, name: str | None) -> None:
    """Prints a help page: the panels of typer, then our own end."""
    from typer import rich_utils

    style = style_for(None, Look())
    rich_utils.COLOR_SYSTEM = "standard" if style.colour else None
    rich_utils.FORCE_TERMINAL = style.colour
    rich_utils.MAX_WIDTH = style.width
    rich_utils.STYLE_HELPTEXT = ""
    for each in (command, *command.get_params(ctx)):
        paragraphs = [
            style.plain(" ".join(text.split())) for text in (each.help or "").split("\n\n")
        ]
        each.help = "\n\n".join(paragraphs).replace("[", r"\[")  # so that none of it is markup
        if getattr(each, "is_flag", False):
            each.metavar = ""
    rich_utils.rich_format_help(obj=command, ctx=ctx, markup_mode="rich")
    print_out(help_end(name, style))


def _print_short_help(command: Any, ctx: Any, name: str | None) -> None:
    """Prints a help page of one screen: first sentences, common options or commands, examples."""
    from dpcompose.render.parts.console import TextTable, literal, printed

    style = style_for(None, Look())
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    if name is None:
        shown = [(each, command.commands[each]) for each in command.list_commands(ctx)]
        rows = [(typed, each.short_help) for typed, each in shown if not each.hidden]
    else:
        rows = _common_options(command, name)
    pairs = [(literal(typed, style, "strong"), literal(means, style)) for typed, means in rows]
    paragraphs = (command.help or "").split("\n\n")[:2]
    parts: list[Any] = [literal(f"Usage: {usage}", style, "strong")]
    parts += [part for text in paragraphs for part in ("", literal(" ".join(text.split()), style))]
    if pairs:
        parts += ["", TextTable(pairs, style, ["fixed"])]
    if name is not None:
        parts.append("")
        for typed, means in examples().get(name, {}).items():
            parts += [literal(typed, style), literal(f"    {means}", style, "weak")]
    more = "each command's -h says what it takes" if name is None else "--help says the rest"
    print_out(printed([*parts, "", literal(more, style, "weak")], style))


def _common_options(command: Any, name: str) -> list[tuple[str, str]]:
    """Returns the options of the short page, as typed, each with its first sentence and the words
    that it takes."""
    wanted, rows = COMMON.get(name), []
    for each in command.params:
        shown = any(opt in wanted for opt in each.opts) if wanted else not each.hidden
        if each.param_type_name != "option" or not shown:
            continue
        typed = ", ".join(each.opts[:1] + each.opts[2:])
        if each.metavar and not each.is_flag:
            typed += f" {each.metavar}"
        says = re.split(r"[;:] |\. ", " ".join(each.help.split()).rstrip("."))[0]
        if isinstance(each.default, StrEnum):
            says += f": {', '.join(type(each.default))}"
        rows.append((typed, says))
    return rows


class _Helpful:
    """What has two help pages: with panels for `--help`, on one screen for `-h`."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parses arguments, and notes which help page they ask for."""
        ctx.meta[_SHORT] = "-h" in args
        return super().parse_args(ctx, args)  # type: ignore[misc]

    def format_help(self: Any, ctx: Any, _formatter: Any) -> None:
        """Prints the help page of the command, or of the program."""
        show = _print_short_help if ctx.meta.get(_SHORT) else _print_help
        show(self, ctx, None if isinstance(self, TyperGroup) else self.name)


class HelpfulCommand(_Helpful, TyperCommand):
    """A command with two help pages."""


class Commands(_Helpful, TyperGroup):
    """The group of all commands, which handles bad calls and interrupts for each of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names of the commands, grouped by panel."""
        names = super().list_commands(ctx)
        panels = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(names, key=lambda name: _PANELS.index(panels[name] or LEARN))

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; a bad call and Ctrl-C end it with an exit code, without a traceback."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise
        except BadCall as error:
            complain(str(error))
            raise typer.Exit(ExitCode.USAGE) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(ExitCode.INTERRUPTED) from error
