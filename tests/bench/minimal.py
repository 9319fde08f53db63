"""The yardstick of a cold start: a typer program that prints one small report through rich.

It imports what dpcompose is made of, reads a spec with the plain parser, and computes nothing.
"""

from typing import Annotated

import pydantic  # noqa: F401
import typer
import yaml
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.tree import Tree

app = typer.Typer()


@app.command()
def analyze(
    file: str,
    delta: Annotated[str | None, typer.Option(help="A number.")] = None,
    quiet: Annotated[bool, typer.Option(help="Print little.")] = False,
    form: Annotated[str, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Read a spec, and print a panel, a tree and a table of its names."""
    with open(file, "rb") as stream:
        spec = yaml.safe_load(stream)
    console = Console()
    console.print(Panel(str(spec.get("title", "")), title=file))
    tree = Tree("datasets")
    for name in spec["datasets"]:
        tree.add(name)
    console.print(tree)
    table = Table("mechanism", "reads")
    for each in spec["mechanisms"]:
        table.add_row(str(each.get("name")), str(each.get("reads")))
    console.print(table)


@app.command()
def check() -> None:
    """Do nothing."""


app()
