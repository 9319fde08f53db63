"""What is hostile, by name: a command, and the spec that it is run on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import hostile_specs
import yaml

Family = tuple[tuple[str, ...], Callable[[], str]]


def made(expression: str) -> str:
    """The spec that an expression in the functions of `hostile_specs` gives."""
    text: str = eval(expression, dict(vars(hostile_specs)))
    return text


FAMILIES: dict[str, Family] = {
    name: (tuple(command.split()), partial(made, expression))
    for command, families in yaml.safe_load(
        Path(__file__).with_suffix(".yaml").read_text("utf-8")
    ).items()
    for name, expression in families.items()
}
