"""What a report reasons with: the worst change, its proof, what was compared, assumed."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

from dpcompose.core.notions.guarantee import Bound
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Span


class Touch(NamedTuple):
    """A mechanism that feels the worst change, and what it adds there.

    `copies`: how many copies or blocks of it are touched; `each` is the loss of one of them and
    `total` of all, both in the notion's own parameter (ε; ρ; μ) as text-free numbers.
    """

    mechanism: str
    dataset: str
    copies: int
    each: Bound
    total: Bound
    span: Span | None


class WorstChange(NamedTuple):
    """The worst neighbouring change: one sentence for each thing that happens, then the touches.

    `datasets`: the datasets it changes. `omitted`: how many further touches are not listed.
    """

    says: tuple[str, ...]
    datasets: tuple[str, ...]
    touches: tuple[Touch, ...]
    omitted: int = 0


class Line(NamedTuple):
    """One numbered step of the reasoning: `inputs` are the numbers of earlier lines."""

    number: int
    theorem: str | None
    says: str
    inputs: tuple[int, ...]
    bound: Bound | None
    spans: tuple[Span, ...]


NodeKind = Literal["dataset", "partition", "mechanism", "more", "free", "sum", "theorem", "reading"]


class Node(NamedTuple):
    """One numbered line of the proof tree, which is the worst change and the reasoning in one.

    `depth`: how many lines it hangs below a root. `kind`: what the line is about: what reaches a
    `dataset` or a `partition`, what a `mechanism` costs there, `more` touches of the same kind,
    what is `free`; then what they come to together (`sum`), the `theorem` that says the same of
    such releases, and the `reading` of the number that was asked for. `name`: the dataset or the
    mechanism. `theorem`: its id in the book.
    """

    number: int
    depth: int
    kind: NodeKind
    name: str
    says: str
    bound: Bound | None = None
    theorem: str | None = None
    spans: tuple[Span, ...] = ()


class Alternative(NamedTuple):
    """A theorem that was compared: its bound, or None and the hypothesis that fails.

    `theorem` may be None for a further bound that the same theorem certifies (an undominated
    (ε, δ), or another notion).
    """

    theorem: str | None
    bound: Bound | None
    why: str


class FilterRecord(NamedTuple):
    """What a filter has counted of a record of releases: facts, of which none is a guarantee.

    `notion`: what it counts in; `named`: by the spec. `limit`, `spent`, `left`: parameters by their
    names in specs, the limit and what is left rounded down, what is spent rounded up (None: not
    finite); `exact`: whether that is not rounded. `at_delta`: at a δ, the ε of all that the limit
    admits. `cost`: at a δ, the ε of what is spent, and what it would be if all parameters had been
    fixed before the first output.
    """

    notion: Notion
    named: bool
    limit: tuple[tuple[str, Fraction], ...]
    spent: tuple[tuple[str, Fraction], ...] | None
    left: tuple[tuple[str, Fraction], ...]
    exact: bool = True
    at_delta: tuple[tuple[Fraction, Fraction], ...] = ()
    cost: tuple[Fraction, Fraction, Fraction] | None = None

    @property
    def share(self) -> Fraction:
        """Returns how much of the limit is spent, of the parameter of which most is; above 1:
        passed."""
        if self.spent is None:
            return Fraction(2)
        parts = [
            spent / limit if limit else Fraction(2 if spent else 0)
            for (_, spent), (_, limit) in zip(self.spent, self.limit, strict=True)
        ]
        return max(parts)


class Assumption(NamedTuple):
    """Something the result rests on and the tool cannot check; the standing ones have no `span`.

    `because`: why it holds, in the words of the spec's author. `of`: the part of the spec that it
    is about, such as `datasets`. `shortly`: the same in few words, where there are any; empty
    where another one says it too.
    """

    says: str
    span: Span | None
    because: str | None = None
    of: str = ""
    shortly: str | None = None
