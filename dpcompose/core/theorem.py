"""The types of the theorem book: an entry, its hypotheses, and the roles in which it is used.

A theorem that computes is a function of plain numbers, entered with what decides where it is used:
its roles, and the hypotheses that are checked there. What readers are told beside is data of the
handbook.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from dpcompose.core.notions.guarantee import Bound
    from dpcompose.core.notions.notion import Notion
    from dpcompose.errors import Path, Span


class Refused(Exception):
    """Raised where a theorem or a rule does not apply; the message says why, in words for
    people."""


#: Returns where a hypothesis holds of a subject, and raises `Refused` where it does not.
Test = Callable[[Any], object]


class Role(StrEnum):
    """What a theorem of the book is used for, from the most special use to the most general one."""

    WORST_BLOCK = "the worst block, by guarantees on the blocks"
    WORST_BLOCK_COMMON = "the worst block, by guarantees on the whole table"
    TWO_BLOCKS = "the two worst blocks"
    SAMPLE_REPLACED = "a replaced row through a Poisson sample"
    SAMPLE = "a Poisson sample"
    SAMPLE_ADDED = "a row added to a Poisson sample"
    SAMPLE_OF_SIZE = "a sample without replacement"
    ALLOCATED = "a row in one of several steps"
    CUT_OFF = "a Poisson sample that is cut to a size"
    DRAWN_AGAIN = "a sample with replacement"
    JOINT = "values that move together by a bound"
    CONCURRENT = "interactive mechanisms at the same time"
    CONCURRENT_FILTER = "interactive mechanisms under a filter"
    DISPLACED = "a row of each key drawn at random"
    FAMILY = "a concrete mechanism in another notion"
    CONVERSION = "another notion"
    PADDING = "a bounded guarantee for rows that come and go"
    CLOSEST = "a guarantee stated above"
    CHAIN = "one mechanism behind several maps"
    MAP = "one mechanism behind a map"
    GROUP = "group privacy"
    RELATION = "another relation"
    SEQUENTIAL = "sequential composition"
    COMMON = "composition of guarantees on the whole table"
    GENERAL = "composition"
    PROFILES_ON_BLOCKS = "privacy losses as distributions on disjoint blocks"
    PROFILES = "composition of privacy losses as distributions"
    FILTER = "a budget for parameters that are chosen along the way"
    POST_PROCESSING = "post-processing"
    KEPT = "what depends on columns that a replacement keeps"
    CONVERSE = "what a guarantee of all says of each"
    HYPOTHESES = "an adversary with two hypotheses"
    ALL_HYPOTHESES = "an adversary with any two hypotheses"


#: What an entry may be used on: a release as a whole, a step of its derivation where one mechanism
#: feels a change, or two hypotheses that an adversary tells apart.
Subject = Literal["release", "touch", "question"]


class Assumption(NamedTuple):
    """An assumption that a report lists: fresh noise, disjoint blocks, a stated sensitivity.

    `says`: the sentence; in the one of a family, `{}` stands for its mechanisms. `path`: what
    declares it in the spec; None for what every report assumes. `shortly`: the same in few words;
    None where the sentence is short, and empty where another assumption says it too. `kind`: the
    sensitivity of mechanisms; an entry of the spec with a reason and nothing else to tell; or what
    the data do meanwhile, which stands beside every number that counts the worst block alone.
    `span`: the position of `path`, and `because`: why it holds, in the author's words; both are
    filled in when the spec is at hand.
    """

    says: str
    path: Path | None = None
    shortly: str | None = None
    kind: Literal["sensitivity", "entry", "meanwhile"] | None = None
    span: Span | None = None
    because: str | None = None


class Hypothesis(NamedTuple):
    """A condition of a theorem.

    `checked`: by `test`, wherever the theorem is used. `declared`: the author of the spec vouches
    for it; a test then sees what the spec says.
    """

    name: str
    says: str
    how: Literal["checked", "declared"] = "checked"
    test: Test | None = None

    def refusal(self, subject: Any) -> str | None:
        """Returns why the condition does not hold of `subject`; None where it does, or where
        nothing checks it."""
        if self.test is None:
            return None
        try:
            self.test(subject)
        except Refused as refused:
            return str(refused)
        return None


_Subject = TypeVar("_Subject")


def checked(
    kind: type[_Subject],
    name: str,
    says: str,
    holds: Callable[[_Subject], object],
    why: str,
    how: Literal["checked", "declared"] = "checked",
) -> Hypothesis:
    """Returns the hypothesis that `holds` is true of what it is checked on, which is of a `kind`.

    `says`: the condition in words; `why`: the reason that is given where it is not met, a format
    string for the subject.
    """

    def refuse_unless(subject: Any) -> None:
        if not holds(subject):
            raise Refused(why.format(subject))

    return Hypothesis(name, says, how, refuse_unless)


class Use(NamedTuple):
    """One use of a theorem: its role, and when it applies in it.

    `on`: the kind of subject; None for what other code asks for by role alone. `hypotheses`: what
    has to hold there beside the hypotheses of the theorem. `run`: computes the bound for a subject
    by the theorem's own function; None where only the right to a step is at stake. `told`: readers
    look for it, so that they are told why it does not hold. `methods`: the methods of a bound that
    it justifies.
    """

    role: Role
    on: Subject | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    run: Callable[[Any, Callable[..., Any]], Any] | None = None
    told: bool = False
    methods: tuple[str, ...] = ()


class Example(NamedTuple):
    """A worked example: the arguments of the bound, the result, and the same in words.

    `digits`: to so many significant digits, rounded up; None where it is exact.
    """

    arguments: tuple[Any, ...]
    result: Any
    says: str
    digits: int | None = None


class Theorem(NamedTuple):
    """An entry of the theorem book.

    `bound` is None for an entry that no function computes. `place` is how the source names it
    ("Corollary IV.13"), `source` its short name ("GMPS24"). `formula` is the bound in one line.
    `specialises` lists the theorems that it is a case of. `notion`, `adaptive`: what it is about,
    None for any notion, or for mechanisms that see each other's outputs as well as for those that
    do not. `routes`: the names of the routes to a number at a chosen δ or ε that rest on it.

    For readers, from the handbook alone: all `hypotheses`, where the code has those that are
    checked. `spec` is an example spec that uses it, or None. `departs` says where the entry departs
    from the print, and why. `for_readers`: why no bound of dpcompose is computed by its function.
    `words`: how readers of other sources may call it, in lower case.
    """

    id: str
    title: str
    formula: str
    place: str
    source: str = "GMPS24"
    hypotheses: tuple[Hypothesis, ...] = ()
    specialises: tuple[str, ...] = ()
    notion: Notion | None = None
    adaptive: bool | None = None
    uses: tuple[Use, ...] = ()
    routes: tuple[str, ...] = ()
    bound: Callable[..., Any] | None = None
    statement: str = ""
    example: Example | None = None
    spec: str | None = None
    departs: str | None = None
    for_readers: str | None = None
    words: tuple[str, ...] = ()

    def checks(self, use: Use) -> tuple[Hypothesis, ...]:
        """Returns the hypotheses that are checked in a use, in the order of checking."""
        return tuple(each for each in (*use.hypotheses, *self.hypotheses) if each.test is not None)

    def how(self, hypothesis: Hypothesis) -> str:
        """Returns how a condition of the theorem stands: checked, declared, or (of what is not
        used) stated only."""
        if hypothesis.how == "checked" and self.for_readers and not self.uses:
            return "stated"
        return hypothesis.how


class Alternative(NamedTuple):
    """A theorem that was compared: its bound, or None and the hypothesis that fails (`why`).

    `theorem` is None for a further bound that the same theorem certifies (an undominated (ε, δ), or
    another notion).
    """

    theorem: str | None
    bound: Bound | None
    why: str


#: Every entry by id, in the order in which the files of entries are imported.
ENTERED: dict[str, Theorem] = {}

_Bound = TypeVar("_Bound", bound=Callable[..., Any] | None)


def theorem(
    identifier: str,
    *,
    title: str,
    formula: str,
    place: str = "",
    source: str = "GMPS24",
    hypotheses: tuple[Hypothesis, ...] = (),
    specialises: tuple[str, ...] = (),
    notion: Notion | None = None,
    adaptive: bool | None = None,
    uses: tuple[Use, ...] = (),
    routes: tuple[str, ...] = (),
) -> Callable[[_Bound], _Bound]:
    """Returns the function that enters a theorem with its bound into the book, and returns the
    bound.

    The bound is a function, or None for an entry that is cited and computes nothing. `hypotheses`:
    those that are checked; other parameters: see `Theorem`. `place`: empty for the theorem of that
    number. Raises ValueError if the id is taken.
    """
    entry = Theorem(
        identifier,
        title,
        formula,
        place or f"Theorem {identifier}",
        source,
        hypotheses,
        specialises,
        notion,
        adaptive,
        uses,
        routes,
    )

    def enter(bound: _Bound) -> _Bound:
        """Enters the theorem under its identifier and returns the function unchanged; `ValueError`
        if the identifier is taken."""
        if identifier in ENTERED:
            raise ValueError(f"theorem {identifier} is entered twice")
        ENTERED[identifier] = entry._replace(bound=bound)
        return bound

    return enter
