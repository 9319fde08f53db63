"""Words on the nodes of a pipeline that all its drawings share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from dpcompose.render.words.headlines import in_few_words, is_bounded, neighbours
from dpcompose.render.words.numbers import share_text, short_text
from dpcompose.report import PipelineNode, Report

#: Text in backquotes, as sentences of a report have names.
_NAMED = re.compile("`([^`]*)`")


def heading(report: Report) -> str:
    """Returns the title of a spec; its file where it has none."""
    return " ".join(report.title.split()) or report.label


def result_line(report: Report) -> str:
    """Returns the bound and what it protects: `ε = 1.7 for 1 row replaced (bounded neighbours)`."""
    if report.status not in ("ok", "no-guarantee"):
        return in_few_words(report)
    bound = in_few_words(report) if is_bounded(report) else "no finite guarantee"
    return f"{bound} for {protected(report)}"


def protected(report: Report) -> str:
    """Returns the protected change and the relation: `1 row replaced (bounded neighbours)`."""
    around = neighbours(report)
    return quoted_names(f"{report.protects} ({around})" if report.protects else around)


def costs(report: Report) -> dict[int, str]:
    """Returns what each mechanism loses for the worst change, by its number in the pipeline.

    `ε = 1, 59 %`; without a bound in one notion the ε of the mechanism alone.
    """
    shares = {each.mechanism: each for each in report.shares}
    names = Counter(each.name for each in report.pipeline if each.kind == "mechanism")
    found: dict[int, str] = {}
    for index, node in enumerate(report.pipeline):
        if node.kind != "mechanism" or not node.reached:
            continue
        share = shares.get(node.name) if names[node.name] == 1 else None
        if node.cost is not None:
            text = short_text(node.cost)
            if share is not None and share.of_whole is not None:
                text += f", {share_text(share.of_whole)}"
            found[index] = text
        elif share is not None:
            found[index] = f"alone {short_text(share.bound)}"
    return found


def quoted_names(words: str) -> str:
    """Returns words with names in quotation marks in place of backquotes."""
    return _NAMED.sub("“\\1”", words)


def described(node: PipelineNode, cost: str) -> str:
    """Returns all that is known of a node in one line, for whom a short name is not enough."""
    kind = {"block": "block", "more": ""}.get(node.kind, node.kind)
    parts = [f"{kind} {node.name}".strip()]
    parts += [each for each in (node.via, node.says) if each]
    if node.change:
        parts.append(f"the worst change here: {node.change}")
    if cost:
        parts.append(f"costs {cost}")
    if node.span is not None:
        parts.append(f"line {node.span.line}")
    return quoted_names("; ".join(parts))


def children_of(report: Report) -> Mapping[int | None, list[int]]:
    """Returns the numbers of the nodes below each node; those of the roots for None."""
    found: dict[int | None, list[int]] = {}
    for index, node in enumerate(report.pipeline):
        found.setdefault(node.above, []).append(index)
    return found
