"""The report's section on an adversary who weighs two hypotheses about one person (HBW22).

It is always shown beside the differential-privacy bound, never instead of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.hypotheses.adversary_at_delta import at_delta, sharper
from dpcompose.core.hypotheses.adversary_bounds import tell_apart
from dpcompose.core.hypotheses.beliefs import Found, Question, Rule
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.block_losses import questions
from dpcompose.core.search.solver import Solution
from dpcompose.core.theorems.applicable import for_question
from dpcompose.core.theorems.setting import Asked
from dpcompose.report import AgainstAdversary, Alternative, At, Bound, Line, Report, Route, Verdict
from dpcompose.report.outcomes import Case
from dpcompose.report.verdict import deltas_of
from dpcompose.report.wording import count_text, number, plural
from dpcompose.resolve.bind_adversary import Opponent
from dpcompose.source import Source

#: At most so many kinds of blocks are listed.
MOST_LISTED = 8

_WEAKER = "weaker than differential privacy: holds only against"
_SAME_ROW = (
    "what a block holds of the person is the same under both hypotheses, whatever other blocks "
    "they say the person is in"
)
_HOW: dict[Rule, str] = {
    "point mass": "the mean of e^ε over the sets that are held possible",
    "every outcome": "the likelihoods of every outcome of the worst mechanisms under both",
    "by size": "the likelihoods at the two extreme outcomes: with the sizes of one hypothesis all "
    "below those of the other no outcome is worse",
    "exact transport": "the best coupling of the two hypotheses, found exactly",
    "Algorithm 3": "a coupling of the two hypotheses by Algorithm 3, which need not be the best",
    "nested sets": "a coupling by size, each smaller set inside the larger one",
    "through nobody": "each hypothesis against the empty set, one after the other",
    "samples of one half": "each block has the person with chance 1/2, as if sampled: composed",
    "differential privacy": "what is differentially private is so against every hypothesis",
}


def with_adversary(report: Report, case: Case, finite: Sequence[Solution]) -> Report:
    """Returns the report of a spec that has an adversary, with the section on the adversary.

    A budget is held against this section only where the spec declares one against the adversary.
    That never replaces a budget on the differential-privacy bound: the report's verdict is then ok
    only if both budgets are met.
    """
    found = _against(report, case, finite)
    if case.against is None:
        return replace(report, adversary=found)
    decision = _verdict(case.against, found)
    if report.verdict is not None and (decision.ok or not report.verdict.ok):
        decision = report.verdict
    return replace(report, adversary=found, verdict=decision)


def _against(report: Report, case: Case, finite: Sequence[Solution]) -> AgainstAdversary:
    """Returns the section on the adversary: the least bound, what gives it, and the alternatives.

    The δ of the budget against the adversary is looked at as well. `finite`: the solutions with a
    finite bound. Without a bound the section says why.
    """
    asked = case.resolved.adversary
    assert asked is not None
    first, second = asked.words
    label = (
        f"{_WEAKER} an adversary who weighs two hypotheses about one person: {first}; or {second}"
    )
    nothing = AgainstAdversary(label, asked.words, None, None, None)
    solution = next((s for s in finite if s.notion in (Notion.PURE, Notion.APPROX)), None)
    if solution is None:
        return nothing._replace(why="some mechanism has no finite bound in ε and δ")
    posed = questions(
        case.solver, solution, asked.where, asked.partition, asked.classes, asked.beliefs
    )
    pairs = [(question, each) for question in posed for each in tell_apart(question)]
    composed = [(question, sharper(question, each)) for question, each in pairs]
    pairs += _by_dp(report, posed[0])
    if not pairs:
        return nothing._replace(why="the δ of what is told apart reaches 1")
    pairs.sort(key=lambda pair: (pair[1].epsilon, pair[1].delta))
    kept: list[tuple[Question, Found]] = []  # each δ is below all earlier ones
    for pair in pairs:
        if not kept or pair[1].delta < kept[-1][1].delta:
            kept.append(pair)
    question, best = kept[0]
    theorem = for_question(Asked(case.problem, question, best))
    found = [each for _, each in kept]
    pairs += [(question, each) for question, each in composed if each is not None]
    found += [each for _, each in composed if each is not None]
    dp = report.bound.value if report.bound is not None else None
    givens = [at.given for at in report.at_delta]
    givens += deltas_of(case.against)
    by_dp = {at.given: at.value for at in report.at_delta}
    return nothing._replace(
        bound=_bound(best),
        theorem=theorem,
        ratio=None if not dp else best.epsilon / dp,
        attained=best.attained,
        chain=tuple(_chain(asked, question, best, theorem, case.source)),
        alternatives=tuple(
            Alternative(
                for_question(Asked(case.problem, q, each)),
                _bound(each),
                _sentence_of_hypothesis(each),
            )
            for q, each in pairs
            if each is not best
        ),
        assumptions=(_SAME_ROW,) if all(b.present for b in asked.beliefs) else (),
        at_delta=tuple(
            _at(posed, given, found, by_dp.get(given)) for given in dict.fromkeys(givens)
        ),
    )


def _by_dp(report: Report, question: Question) -> list[tuple[Question, Found]]:
    """Returns the report's own differential-privacy bound as a bound against the adversary, if it
    applies.

    At most one pair. It applies where one hypothesis allows that the person is in no block: DP then
    covers every other hypothesis. It must be in ε and δ.
    """
    bound = report.bound
    sides = (question.first, question.second)
    if bound is None or bound.notion not in (Notion.PURE, Notion.APPROX):
        return []
    if all(side.present for side in sides):
        return []
    delta = bound.delta or Fraction(0)
    return [(question, Found("differential privacy", bound.value, delta))]


def _bound(found: Found) -> Bound:
    """Returns a bound against the adversary: pure where δ is 0, else approximate."""
    if not found.delta:
        return Bound(Notion.PURE, found.epsilon, None, False)
    return Bound(Notion.APPROX, found.epsilon, found.delta, False, False)


def _sentence_of_hypothesis(found: Found) -> str:
    """Returns the sentence that tells by which argument the two hypotheses were bounded."""
    pairs = f" ({plural(found.pairs, 'pair')} of sets)" if found.pairs else ""
    return _HOW[found.rule] + pairs


# ---------------------------------------------------------------------------------------------
# The reasoning, line by line


def _chain(
    asked: Opponent, question: Question, best: Found, theorem: str, source: Source
) -> Iterator[Line]:
    """Yields the numbered reasoning: losses of the blocks, the two hypotheses, then the bound."""
    texts = [*_blocks(asked, question)]
    if any(question.beside):
        texts.append(
            "everything else that sees the person loses at most "
            f"{_amount(*question.beside)}, which is added to every case"
        )
    place = (source.span(asked.partition.path),)
    for n, text in enumerate(texts, 1):
        yield Line(n, None, text, (), None, place)
    start = len(texts)
    spans = (source.span(("adversary",)),)
    for n, words in enumerate(asked.words, 1):
        yield Line(start + n, None, f"hypothesis {n}: {words}", (), None, spans)
    given = tuple(range(1, start + 3))
    text = f"told apart by at most: {_sentence_of_hypothesis(best)}"
    if best.delta and best.rule == "point mass":
        text += (
            "; δ is the larger of the mean δ of the sets and of that mean weighted by e^-ε, "
            "since both directions must hold"
        )
    yield Line(start + 3, theorem, text, given, _bound(best), ())


def _blocks(asked: Opponent, question: Question) -> Iterator[str]:
    """Yields one sentence for each kind of block: what it loses for a row of the person in it."""
    seen: dict[tuple[str, Fraction, Fraction], int] = {}
    for (index, _), block in zip(asked.classes, question.blocks, strict=True):
        key = asked.partition.classes[index].dataset.name, block.epsilon, block.delta
        seen[key] = seen.get(key, 0) + block.count
    for (name, epsilon, delta), count in list(seen.items())[:MOST_LISTED]:
        which = f"each of {count_text(count)} blocks `{name}`" if count > 1 else f"`{name}`"
        yield f"{which} loses at most {_amount(epsilon, delta)} for a row of the person in it"
    if len(seen) > MOST_LISTED:
        yield f"{len(seen) - MOST_LISTED} more kinds of blocks are not listed"


def _amount(epsilon: Fraction, delta: Fraction) -> str:
    """Returns `ε = 0.5`, or `ε = 0.5, δ = 1e-6` where there is a δ."""
    return f"ε = {number(epsilon)}" + (f", δ = {number(delta)}" if delta else "")


# ---------------------------------------------------------------------------------------------
# The ε at a chosen δ, and the verdict


def _at(posed: list[Question], given: Fraction, known: list[Found], by_dp: Fraction | None) -> At:
    """Returns the least ε against the adversary at a chosen δ, with the arguments compared.

    `known`: bounds that hold already; `by_dp`: the ε of differential privacy at this δ.
    """
    found = [each for question in posed for each in at_delta(question, given, known, by_dp)]
    found.sort(key=lambda each: each.epsilon)
    if not found:
        return At("delta", given, None, None, "", "no finite ε is known at this δ")
    best, *others = found
    routes = tuple(Route(each.rule, each.epsilon, _HOW[each.rule]) for each in others)
    return At("delta", given, best.epsilon, None, best.rule, _HOW[best.rule], routes)


def _verdict(limit: Budget, found: AgainstAdversary) -> Verdict:
    """Returns the verdict of the bound against the adversary on a budget against that adversary.

    The least ε whose δ fits is compared: one of the bounds, or the number at the budget's δ.
    """
    asked = dict(limit.parameters)
    allowed = asked.get("delta", Fraction(0))
    if found.bound is None:
        return Verdict(limit, False, None, found.why, of_adversary=True)
    bounds = [found.bound, *(each.bound for each in found.alternatives if each.bound)]
    fitting = [each for each in bounds if (each.delta or Fraction(0)) <= allowed]
    least = min(fitting, key=lambda each: each.value, default=None)
    at = next((a for a in found.at_delta if a.given == allowed and a.value is not None), None)
    if at is not None and at.value is not None and (least is None or at.value < least.value):
        slack = asked["epsilon"] - at.value
        return Verdict(limit, slack >= 0, slack, at=at, of_adversary=True)
    why = "δ is above the budget's δ" if least is None else None
    by = least or found.bound
    slack = asked["epsilon"] - by.value
    return Verdict(limit, why is None and slack >= 0, slack, why, by, of_adversary=True)
