"""What people answer about their SQL: in a file, or in the `meta` of dbt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dpcompose.bridge.values import Item, Unconvertible
from dpcompose.errors import InvalidSpec, nearest, quoted
from dpcompose.source import load

#: What can be answered of a relation.
KEYS = (
    "public unique max_rows max_rows_per_unit releases max_groups groups bounds noise never_empty "
    "released"
).split()
#: What is answered of tables.
OF_TABLES = ("public", "unique", "max_rows", "max_rows_per_unit")


class Answers:
    """Answers by the name of a relation and their key.

    `unit`: the column of the privacy unit, None where nobody says it.
    """

    def __init__(self) -> None:
        self.unit: str | None = None
        self._given: dict[str, dict[str, tuple[Any, str]]] = {}
        self._tested: dict[str, list[list[str]]] = {}

    def add_file(self, data: bytes, name: str) -> None:
        """Adds the answers of a file. Raises Unconvertible."""
        try:
            source = load(data, name)
        except InvalidSpec as error:
            first = error.diagnostics[0]
            line = f":{first.span.line}" if first.span else ""
            raise Unconvertible(f"{name}{line}", first.message, first.hint) from None
        tree = source.value
        if not isinstance(tree, dict):
            raise Unconvertible(name, "answers are a mapping from relations to what is known")
        for relation, values in tree.items():
            if relation == "unit":
                self.say_unit(values, name)
            else:
                self.add(str(relation), values, f"{name}:{source.span((relation,)).line}")

    def say_unit(self, value: Any, where: str) -> None:
        """Notes the column of the privacy unit. Raises Unconvertible where another one was said."""
        unit = Item(value, f"{where}: unit").text()
        if self.unit not in (None, unit):
            says = f"the unit is {quoted(unit)} here and {quoted(str(self.unit))} elsewhere"
            raise Unconvertible(where, says, "one spec has one unit: --only makes two specs")
        self.unit = unit

    def add(self, relation: str, values: Any, where: str) -> None:
        """Adds the answers of one relation. Raises Unconvertible for what is unknown or differs."""
        if not isinstance(values, Mapping):
            raise Unconvertible(where, f"the answers of {quoted(relation)} are a mapping")
        for key, value in values.items():
            if key not in KEYS:
                near = nearest(str(key), KEYS)
                hint = f"did you mean {near}?" if near else f"possible: {', '.join(KEYS)}"
                says = f"{quoted(str(key))} is no answer of {quoted(relation)}"
                raise Unconvertible(where, says, hint)
            self._check(key, Item(value, f"{where}: {relation}.{key}"))
            old = self._given.setdefault(relation, {}).setdefault(key, (value, where))
            if old[0] != value:
                says = f"the answer {quoted(key)} of {quoted(relation)} differs from {old[1]}"
                raise Unconvertible(where, says)

    def _check(self, key: str, item: Item) -> None:
        """Raises Unconvertible for an answer of the wrong type."""
        if key in ("public", "never_empty", "released") and not isinstance(item.value, bool):
            item.fail("true or false is due")
        if key in ("max_rows", "max_rows_per_unit", "releases", "max_groups"):
            item.integer()
        if key == "releases" and int(item.value) < 1:
            item.fail("what is never run is left out of the project: a count from 1 on is due")
        if key in ("unique", "groups") and not (
            key == "groups" and isinstance(item.value, str | int)
        ):
            names = [each.text() for each in item.items()]
            if not names or len(set(names)) < len(names):
                item.fail("different names are due")
        elif key == "groups":
            item.integer()
        if key in ("bounds", "noise") and not isinstance(item.value, Mapping):
            item.fail("a mapping from columns is due")
        for column, values in item.value.items() if key == "bounds" else ():
            low, high = (
                each.signed() for each in (*Item(values, item.path).items(), *[item] * 2)[:2]
            )
            if len(values) != 2 or low > high:
                Item(values, f"{item.path}.{column}").fail("[lowest, highest] is due")

    def found_unique(self, relation: str, column: str) -> None:
        """Notes that a test says that no two rows of a relation share a value of a column."""
        self._tested.setdefault(relation, []).append([column])

    def keys_of(self, *names: str) -> list[list[str]]:
        """Returns sets of columns that no two rows of a relation share, by all of its names."""
        given = self.of("unique", *names)
        tested = [each for name in names for each in self._tested.get(name, [])]
        return [*([given] if given else []), *tested]

    def of(self, key: str, *names: str) -> Any:
        """Returns an answer of a relation, by the first of its names that has it; else None."""
        found = (self._given.get(name, {}).get(key) for name in names)
        return next((each[0] for each in found if each is not None), None)

    def place(self, key: str, name: str) -> str:
        """Returns where an answer is given."""
        return self._given.get(name, {}).get(key, (None, ""))[1]

    def know(self, relations: Collection[str]) -> None:
        """Raises Unconvertible for answers of a relation that SQL does not have."""
        for name, values in self._given.items():
            if name not in relations:
                where = next(iter(values.values()))[1] if values else ""
                near = nearest(name, relations)
                hint = f"did you mean {near}?" if near else None
                raise Unconvertible(where, f"no relation is called {quoted(name)}", hint)
