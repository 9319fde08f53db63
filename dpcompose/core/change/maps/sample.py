"""Samples: secret random choices of rows. Amplification by them is a rule of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpcompose.core.change.effects import MapOutcome, anything, one, same
from dpcompose.core.change.kind_form import Contradiction, Declared, Form, Refusal, excluded
from dpcompose.core.change.maps.kind import (
    Above,
    Gives,
    Map,
    MapTraits,
    Readers,
    RowByRow,
    RowSelection,
)
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import NEW_END, OLD_END, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import FormKey, Need, Sort
from dpcompose.curves.rounding import ONE, capped, count_text, listing, number, plural


@dataclass(frozen=True, slots=True)
class Sample(Map):
    """One secret random sample of the rows of a table.

    Poisson: each row independently with probability `rate`, and `size` is None. Without
    replacement: `size` rows of `of`, which is the public number of rows or a public lower bound of
    it; then `rate` is size/of. A Poisson sample of rate 1 is `AllRows`. `shared`: all copies of a
    mechanism read the same sample; else copy i of every mechanism that reads it, or what is made
    from it, reads the i-th fresh sample. `cycle`: of so many groups of rows, copy i draws from
    group i mod `cycle`, so that a row meets only each `cycle`-th copy; counts are those of one
    group. `at_most`: of a larger Poisson sample so many rows are kept, uniformly, and `of` is the
    public number of rows. `replacement`: `size` rows are drawn one by one, each of all `of`.
    """

    rate: Fraction
    size: int | None = None
    of: int | None = None
    shared: bool = False
    cycle: int = 1
    at_most: int | None = None
    replacement: bool = False

    @property
    def plain(self) -> bool:
        """Returns whether rows are drawn by themselves with chance `rate`, or sets of `size` rows
        all alike."""
        return self.at_most is None and not self.replacement

    def then(self, after: Map) -> Map | None:
        """Returns one Poisson sample in place of two in a row, drawn alike, with the product of the
        rates; else None."""
        if not isinstance(after, Sample) or self.shared != after.shared:
            return None
        if not (self.plain and after.plain):
            return None
        if self.size is not None or after.size is not None or self.cycle + after.cycle > 2:
            return None
        return replace(self, rate=capped(self.rate * after.rate))

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        """Returns the same unit of change; of a replaced row both ends may be drawn, or one of
        them.

        Of groups in turn, only a row that comes or goes is known to be in one group.
        """
        if self.cycle > 1 and leaf.kind is not Kind.SINGLE:
            return [anything(leaf)]
        if leaf.kind is Kind.PAIR:
            return [same(leaf), one(OLD_END), one(NEW_END)]
        return [same(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the same traits with the sample's number of rows, public only without
        replacement."""
        if self.size is None:
            return traits._replace(fixed=False, size=None, free=False, nulls=False)
        if self.replacement:
            traits = traits._replace(ordered=False, rows_are_units=False)
        return traits._replace(fixed=True, size=self.size, most=self.size, free=False, nulls=False)

    def conduct(self) -> MapTraits:
        # The kernel's rule for samples handles rows that are not drawn. Drawn once: two specs that
        # name it mean the same draw.
        return MapTraits(False, self.shared, random="sample", picks=RowSelection.SAMPLE)

    def refused(self, above: Above) -> Iterator[Refusal]:
        """Yields errors for one draw (`shared`) where each copy has its own table, and for a wrong
        `of`."""
        if self.shared:
            way_out = " too, or leave it out here"
            yield from drawn_afresh(above, "draws", "so that this is not drawn once", way_out)
        if self.cycle > 1:
            yield from _several_of_a_row(above)
        if self.at_most is not None:
            yield from self._cut_of_unknown(above)
        else:
            yield from self._of_unknown(above)

    def _of_unknown(self, above: Above) -> Iterator[Refusal]:
        """Yields an error if `of` is not the table's public number of rows, or is larger than
        it."""
        traits = above.traits
        if self.of is None:
            return
        if traits.nulls:
            says = "a sample of a fixed size is not followed where a row becomes a null"
            hint = "write `poisson: q`, or protect a row replaced: `bounded`"
            yield Refusal("DPC155", ("size",), says, hint)
        elif not traits.fixed:
            says = f"`of` must be a public number of rows, and that of {above.name} is not public"
            hint = (
                "write `poisson: q`; or, if it is public, `domain: fixed-size-table` "
                f"at {above.root}"
                if above.is_root
                else "write `poisson: q`; or draw the sample above, from a table of public size"
            )
            yield Refusal("DPC155", ("of",), says, hint)
        elif (fewer := above.too_few("of", self.of)) is not None:
            hint = f"write `of: {traits.most}`, or a public lower bound"
            if traits.size is None:
                hint = "write a public lower bound of its number of rows"
            yield Refusal("DPC155", ("of",), fewer, hint)

    def _cut_of_unknown(self, above: Above) -> Iterator[Refusal]:
        """Yields an error, for a sample cut to a size, if a row may come or go without a null, or
        `of` is wrong."""
        traits = above.traits
        if not (traits.nulls or traits.fixed):
            says = (
                f"{above.name} may have more rows or fewer, and with that the chance changes that "
                "a row is cut off by `at_most`"
            )
            hint = "protect a row of a table of public size: `protect: zero-out`, at the root"
            yield Refusal("DPC155", ("at_most",), says, hint)
        elif (part := _part_of_root(above)) is not None:
            says = (
                f"{part} has some of the rows of {above.root} alone, and it is not known how many"
            )
            hint = f"draw the sample from {above.root} itself, or leave `at_most` out"
            yield Refusal("DPC155", ("at_most",), says, hint)
        elif traits.most is not None and self.of != traits.most:
            says = f"`of` is {self.of}, and {above.name} has {plural(traits.most, 'row')}"
            hint = f"how often a sample is cut depends on it: write `of: {traits.most}`"
            yield Refusal("DPC155", ("of",), says, hint)

    def rows_needed(self, below: int) -> int:
        """Returns `of`, the number of rows drawn from; 0 for a Poisson sample."""
        return self.of or 0

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        if self.size is None:
            how = f"each row by itself with chance {number(self.rate)}"
            if self.at_most is not None:
                how += (
                    f", of {count_text(self.of or 0)} rows in all, and of more than {self.at_most} "
                    "drawn so many are kept, every set of them with the same chance"
                )
        else:
            rows, of = plural(self.size, "row"), count_text(self.of or 0)
            how = f"{rows} of at least {of} {self._again}"
        drawn = ""
        if readers.copies > 1 and self.shared:
            drawn = ", once for all copies of what reads it"
        elif readers.copies > 1 and len(readers.names) == 1:
            copies = count_text(readers.copies)
            drawn = f", afresh for each of the {copies} copies of {listing(readers.names)}"
        elif readers.copies > 1:
            times = count_text(readers.copies)
            drawn = f", {times} times: copy i of each mechanism reads the i-th draw"
        groups = ""
        if self.cycle > 1:
            groups = (
                f"; rows are in {self.cycle} groups by a rule on the row alone, and copy i draws "
                f"from group i mod {self.cycle}"
            )
        yield f"the sample `{name}` is drawn at random, {how}{drawn}, and stays secret{groups}", ()

    @property
    def _again(self) -> str:
        return f"{'with' if self.replacement else 'without'} replacement"

    def describe(self) -> str:
        if self.size is None:
            turn = f", from {self.cycle} groups in turn" if self.cycle > 1 else ""
            cut = "" if self.at_most is None else f", at most {count_text(self.at_most)} rows"
            return f"a Poisson sample of rate {number(self.rate)}{turn}{cut}"
        of = count_text(self.of or 0)
        return f"a sample of {count_text(self.size)} of {of} rows {self._again}"


def _part_of_root(above: Above) -> str | None:
    """Returns the name of the nearest dataset, from this one upwards, that may have fewer rows than
    the root; None if each has as many."""
    for name, made_by in above.upwards():
        if name == above.root:
            return None
        conduct = None if made_by is None else made_by.conduct()  # None: a block
        if conduct is None or conduct.gives is not Gives.ONE or conduct.may_drop:
            return name
    return None


def drawn_afresh(above: Above, key: str, so: str, way_out: str) -> Iterator[Refusal]:
    """Yields an error at `key` where the table is drawn afresh for each copy of what reads it.

    `so`: what follows, and why it is not allowed; `way_out`: what there is beside one draw for all.
    """
    name = fresh_sample(above.upwards())
    if name is not None:
        says = f"{name} is drawn afresh for each copy, {so}"
        yield Refusal("DPC156", (key,), says, f"write `draws: one` at {name}{way_out}")


def fresh_sample(upwards: Iterable[tuple[str, Map | None]]) -> str | None:
    """Returns the name of the nearest sample that is drawn afresh for each copy of what reads it;
    None if there is none. `upwards`: a dataset and its ancestors, each with its map."""
    fresh = (
        name for name, made_by in upwards if isinstance(made_by, Sample) and not made_by.shared
    )
    return next(fresh, None)


def _several_of_a_row(above: Above) -> Iterator[Refusal]:
    """Yields an error where a row may have several rows here, which may be in several groups."""
    for name, made_by in above.upwards():
        if made_by is not None and made_by.conduct().gives is not Gives.ONE:
            says = f"{name} may have several rows of one row, which may be in several groups"
            hint = "draw from groups of the rows themselves: read the root, or rows made one by one"
            yield Refusal("DPC156", ("cycle",), says, hint)
            return


@dataclass(frozen=True, slots=True)
class AllRows(RowByRow):
    """A Poisson sample of rate 1, which keeps every row."""

    def becomes(self, leaf: ChangeUnit, traits: Traits) -> list[MapOutcome]:
        return [same(leaf)]

    def traits_after(self, traits: Traits) -> Traits:
        """Returns the same traits without the number of rows: guarantees on a sample hold for
        any."""
        return traits._replace(fixed=False, size=None, nulls=False)

    def declares(self, name: str, readers: Readers) -> Iterator[Declared]:
        yield f"the sample `{name}` is drawn with chance 1: it has every row", ()

    def describe(self) -> str:
        return "a Poisson sample of rate 1: every row"


RATE = Need(
    "above 0 and at most 1",
    "DPC114",
    "it is the chance that a row is in the sample",
    lambda value: 0 < value <= 1,
)


def _sample_from_keys(
    poisson: Fraction | None,
    size: int | None,
    of: int | None,
    draws: Literal["each", "one"],
    cycle: int | None,
    at_most: int | None,
    replacement: bool,
) -> Sample | AllRows:
    """Returns the sample that the keys of a map declare; `Contradiction` if they conflict or are
    incomplete.

    A Poisson sample of rate 1 is `AllRows`.
    """
    shared = draws == "one"
    if cycle is not None and (poisson is None or shared):
        other = "size" if poisson is None else "draws"
        hint = "each copy draws anew, by Poisson sampling, from the next group of rows"
        raise excluded("cycle", other, "cycle", hint)
    if at_most is not None and (poisson is None or cycle is not None):
        other = "size" if poisson is None else "cycle"
        hint = "it cuts a Poisson sample of all rows: `poisson`, `at_most` and `of`"
        raise excluded("at_most", other, "at_most", hint)
    if poisson is not None:
        given = {"replacement": replacement or None, "size": size, "of": None if at_most else of}
        extra = next((key for key, value in given.items() if value is not None), None)
        if extra is not None:
            hint = "a Poisson sample is of random size; one of fixed size has `size` and `of`"
            raise excluded("poisson", extra, extra, hint)
        if at_most is not None:
            if of is None:
                says = "a sample with `at_most` needs `of`, the public number of rows"
                hint = "how often a sample is cut depends on it: `of: 60000`"
                raise Contradiction("DPC102", None, says, hint)
            if at_most < of:
                return Sample(poisson, of=of, shared=shared, at_most=at_most)
        if poisson == 1 and cycle is None:
            return AllRows()
        return Sample(poisson, shared=shared, cycle=cycle or 1)
    if size is None or of is None:
        missing = "`of` with `size`" if size is not None else "`size` with `of`"
        if size is None and of is None:
            missing = "`poisson`, or `size` and `of`"
        says = f"a map of kind `sample` needs {missing}"
        hint = "write `poisson: q`, or `size: m` and `of: n` for a sample without replacement"
        raise Contradiction("DPC102", None, says, hint)
    if replacement:
        return Sample(min(Fraction(size, of), ONE), size, of, shared, replacement=True)
    if size > of:
        says = f"`size` is {size}, more than `of`, which is {of}"
        hint = "`size` rows are drawn of `of`, none of them twice"
        raise Contradiction("DPC106", "size", says, hint, of_key=False)
    return Sample(Fraction(size, of), size, of, shared)


FORM = Form(
    "sample",
    Sample,
    "One secret random sample of the rows.",
    (
        FormKey(
            "poisson",
            Sort.NUMBER,
            "Poisson sampling: the chance of each row, by itself.",
            None,
            need=RATE,
        ),
        FormKey("size", Sort.WHOLE, "A sample of fixed size: how many rows are drawn.", None),
        FormKey(
            "of",
            Sort.WHOLE,
            "With `size`: the public number of rows, or a public lower bound of it. "
            "With `at_most`: the public number of rows.",
            None,
        ),
        FormKey(
            "draws",
            Sort.CHOICE,
            "Whether each copy of a mechanism reads a fresh sample, "
            "or all copies read the same one.",
            "each",
            ("each", "one"),
        ),
        FormKey(
            "cycle",
            Sort.WHOLE,
            "With `poisson`: of so many groups of rows, copy i draws from group i mod `cycle`.",
            None,
        ),
        FormKey(
            "at_most",
            Sort.WHOLE,
            "With `poisson` and `of`: of a larger sample so many rows are kept, at random.",
            None,
        ),
        FormKey(
            "replacement",
            Sort.FLAG,
            "With `size`: each row drawn is put back, so that it may be drawn again.",
            False,
        ),
    ),
    _sample_from_keys,
    elsewhere=(("drops", "a sample leaves out rows by chance, not by what they are"),),
    other=AllRows,
)
