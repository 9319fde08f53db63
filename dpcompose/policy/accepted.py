"""The file of accepted assumptions: each claim with its hash, who accepted it, and when.

The hash is of the file of the spec, the number of the document in it, the entry and what the entry
declares; it is computed again when the file is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from typing import Any

from dpcompose.errors import Diagnostic, printable, quoted
from dpcompose.policy.codes import NOT_ACCEPTED, STALE
from dpcompose.policy.settings import BadSettings
from dpcompose.report import Report
from dpcompose.report.declared_assumptions import Vouched, difference
from dpcompose.source import Source

VERSION = 1
#: Characters of a line: what stands further to the right is not read in a review.
LONGEST_LINE = 1000
_HEAD = "dpcompose_assumptions"
_TEXTS = ("spec", "of", "hash", "by", "on")
_KEYS = ("spec", "document", "of", "claim", "hash", "by", "on")


@dataclass(frozen=True, slots=True)
class AcceptedClaim:
    """A claim that somebody accepted: of a document of a spec, `by` whom and `on` which day."""

    spec: str
    document: int
    of: str
    claim: Mapping[str, Any]
    by: str
    on: str

    @property
    def hash(self) -> str:
        """Returns the hash of the claim and its place."""
        told = json.dumps([self.spec, self.document, self.of, self.claim], sort_keys=True)
        return f"sha256:{sha256(told.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The accepted claims of a file that is called `name`; specs are named from its `folder`."""

    name: str
    folder: str
    entries: tuple[AcceptedClaim, ...] = ()

    def spec(self, file: str) -> str:
        """Returns the name of a spec in the file."""
        if file.startswith("<"):  # standard input
            return file
        return os.path.relpath(os.path.abspath(file), self.folder).replace(os.sep, "/")

    def gone(self) -> list[str]:
        """Returns the specs that have entries and no longer exist."""
        named = dict.fromkeys(each.spec for each in self.entries)
        return [each for each in named if not os.path.lexists(os.path.join(self.folder, each))]

    def findings(self, source: Source, report: Report, document: int) -> Iterator[Diagnostic]:
        """Yields findings for claims that are not accepted, and accepted ones that are gone.

        `report`: that of the spec, with what its entries declare.
        """
        place = self.spec(report.file), document
        known = [each for each in self.entries if (each.spec, each.document) == place]
        hashes = {each.hash for each in known}
        by_name = {each.of: each for each in known}
        seen = set()
        for claim in report.vouched:
            seen.add(claim.of)
            entry = AcceptedClaim(*place, claim.of, claim.content, "", "")
            if entry.hash not in hashes:
                old = by_name.get(claim.of)
                known_claim = None if old is None else Vouched(old.of, dict(old.claim), ())
                says, path = difference(claim, known_claim)
                says = f"nobody has accepted {says}"
                hint = f"`dpcompose accept` writes it to {self.name}, for its authors to vouch for"
                yield Diagnostic(NOT_ACCEPTED, says, source.span(path, True), hint)
        for each in known:
            if each.of not in seen:
                says = f"{quoted(each.of)} was accepted by {quoted(each.by)} and is gone"
                hint = f"`dpcompose accept` takes it out of {self.name}"
                yield Diagnostic(STALE, says, source.span(()), hint, "note")


# --- the file ------------------------------------------------------------------------------------


def accepted(name: str, data: bytes) -> Accepted:
    """Returns the accepted claims in a file. Raises BadSettings."""

    def bad(why: str) -> BadSettings:
        """Returns the error with the name of the file."""
        return BadSettings(f"{printable(name)}: {why}")

    try:
        text = data.decode().replace("\r\n", "\n")
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise bad("it is no JSON") from error
    if not isinstance(document, dict) or document.get(_HEAD) != VERSION:
        raise bad(f"no assumptions of version {VERSION} are there, as `dpcompose accept` writes")
    listed = document.get("accepted")
    if document.keys() != {_HEAD, "accepted"} or not isinstance(listed, list):
        raise bad(f"it holds `{_HEAD}` and a list `accepted`, and nothing else")
    entries = []
    for number, each in enumerate(listed):
        entry = _entry(each)
        if entry is None:
            raise bad(f"accepted[{number}] is no accepted assumption")
        if entry.hash != each["hash"]:
            raise bad(f"accepted[{number}]: the hash is not that of what is said there")
        entries.append(entry)
    found = Accepted(name, os.path.dirname(os.path.abspath(name)), tuple(entries))
    long = next((at for at, e in enumerate(text.split("\n"), 1) if len(e) > LONGEST_LINE), None)
    if long is not None:
        raise bad(f"line {long} has more than {LONGEST_LINE} characters, out of sight of a reader")
    # Of a repeated key JSON takes the last one, and blanks push text out of sight.
    pairs = zip_longest(text.split("\n"), written(found).split("\n"))
    other = next((at for at, (line, due) in enumerate(pairs, 1) if line != due), None)
    if other is not None:
        raise bad(f"line {other} is not as `dpcompose accept` writes it: write the file with that")
    return found


def _entry(found: Any) -> AcceptedClaim | None:
    """Returns the claim in an entry of the file; None if it is no such entry."""
    if not isinstance(found, dict) or found.keys() != set(_KEYS):
        return None
    texts = all(isinstance(found[key], str) for key in _TEXTS)
    number = type(found["document"]) is int and found["document"] >= 1
    if not texts or not number or not isinstance(found["claim"], dict):
        return None
    return AcceptedClaim(**{key: found[key] for key in _KEYS if key != "hash"})


def updated(
    old: Accepted, specs: Mapping[str, Iterable[tuple[int, Sequence[Vouched]]]], by: str, on: str
) -> Accepted:
    """Returns the accepted claims with those of `specs` (by file, each with the number of its
    document) replaced.

    A claim that is there already keeps who accepted it and when; entries of specs that no longer
    exist are removed.
    """
    known = {each.hash: each for each in old.entries}
    taken = {old.spec(file) for file in specs} | {*old.gone()}
    entries = [each for each in old.entries if each.spec not in taken]
    for file, documents in specs.items():
        for number, declared in documents:
            for claim in declared:
                entry = AcceptedClaim(old.spec(file), number, claim.of, claim.content, by, on)
                entries.append(known.get(entry.hash, entry))
    entries.sort(key=lambda each: (each.spec, each.document, each.of, each.hash))
    return replace(old, entries=tuple(entries))


def written(found: Accepted) -> str:
    """Returns the text of the file: sorted, one value a line, so that reviews can read changes."""
    listed: list[dict[str, Any]] = [
        {key: getattr(each, key) for key in _KEYS} for each in found.entries
    ]
    for each in listed:
        each["claim"] = json.loads(json.dumps(each["claim"], sort_keys=True))
    document = {_HEAD: VERSION, "accepted": listed}
    text = json.dumps(document, indent=1, sort_keys=False, ensure_ascii=False)
    # What cannot be seen, or turns the direction of a line, is written out.
    seen = (c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return "".join([*seen, "\n"])
