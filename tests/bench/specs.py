"""The specs that are measured, as text."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

HEAD = """\
dpcompose: 1
title: {title}
protect: {protect}
datasets:
  patients: {{}}
  hospital: {{from: patients, partition: {partition}}}
mechanisms:
"""


def _spec(title: str, protect: str, partition: str, mechanisms: list[str]) -> str:
    head = HEAD.format(title=title, protect=protect, partition=f"{{{partition}}}")
    return head + "\n".join(f"  - {{{each}}}" for each in mechanisms) + "\n"


def many_pure(mechanisms: int, blocks: int = 5000) -> str:
    """Mechanisms spread evenly over disjoint blocks, each with its own ε."""
    rng = Random(0)
    written = [
        f"name: query {n}, reads: hospital.{n % blocks}, notion: pure, "
        f"epsilon: {rng.randint(1, 9999) / 10000}"
        for n in range(mechanisms)
    ]
    title = f"{mechanisms} mechanisms over {blocks} blocks by value"
    return _spec(title, "unbounded", f"by: value, blocks: {blocks}", written)


def many_zcdp(mechanisms: int, blocks: int = 5000) -> str:
    """The same with ρ where a replaced row is in many blocks, before and after."""
    rng = Random(0)
    written = [
        f"name: query {n}, reads: hospital.{n % blocks}, notion: zcdp, relation: unbounded, "
        f"rho: {rng.randint(1, 9999) / 100000}"
        for n in range(mechanisms)
    ]
    partition = f"by: membership, blocks: {blocks}, max_blocks: {min(365, blocks)}"
    title = f"{mechanisms} mechanisms over {blocks} blocks by membership"
    return _spec(title, "bounded", partition, written)


def many_common(mechanisms: int, blocks: int = 5000) -> str:
    """(ε, δ) of every mechanism stated on the whole table, for a replaced row."""
    rng = Random(0)
    written = [
        f"name: query {n}, reads: hospital.{n % blocks}, notion: approx, stated_on: patients, "
        f"epsilon: {rng.randint(1, 9999) / 10000}, delta: {rng.randint(1, 99)}e-12"
        for n in range(mechanisms)
    ]
    title = f"{mechanisms} mechanisms over {blocks} blocks, stated on the whole table"
    return _spec(title, "bounded", f"by: value, blocks: {blocks}", written)


def equal_blocks(blocks: int) -> str:
    """Blocks with identical content, written as a number: ten lines whatever the number."""
    partition = f"by: membership, blocks: {blocks}, max_blocks: {min(365, blocks)}"
    written = [
        f"name: query {n}, reads: hospital.*, notion: pure, epsilon: 0.0{n + 1}" for n in range(3)
    ]
    return _spec(f"{blocks} equal blocks", "unbounded", partition, written)


FAMILIES: dict[str, Callable[[int], str]] = {
    "pure, value": many_pure,
    "zcdp, membership": many_zcdp,
    "approx, common": many_common,
}
