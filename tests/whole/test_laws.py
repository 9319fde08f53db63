"""Laws that hold whatever the theory says: each changes many specs and compares the bounds.

The specs are those of seeded draws, some turned into (ε, δ), and the ones kept in the repository,
so that every kind of map, partition, relation and notion takes part. A law that does not apply to
a spec leaves it out; each law says on how many specs it must at least have been tried.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from conftest import LIBRARY
from oracle.generate import random_spec

from dpcompose.core.notions.notion import Notion
from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.layout import Style
from dpcompose.report import Report

pytestmark = pytest.mark.slow

Spec = dict[str, Any]
Change = Callable[[Spec, Random], Spec | None]
Pairs = list[tuple[Fraction, Fraction]]

HERE = Path(__file__).parents[1]
#: Copies below a sample read draws of their own, so that they are no repeats, and a statement above
#: a sample holds for one release alone: other laws are for those.
KEPT = sorted(
    each
    for each in [*(HERE / "acceptance").glob("*.yaml"), *LIBRARY.values()]
    if not each.stem.startswith("sample-")
)
SEEDS = range(1000, 1045)
PARAMETERS = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}
#: A root that is rounded up may differ by this much, relatively, from the same root made elsewhere.
ROUNDING = 1 + Fraction(1, 10**35)


# --- specs ---------------------------------------------------------------------------------------


def drawn(seed: int) -> Spec:
    """A random spec; every third of those in pure DP is given δ's, some of them 0."""
    spec, rng = random_spec(seed), Random(seed)
    if seed % 3 == 0:
        for said in statements(spec):
            if said["notion"] == "pure":
                said.update(notion="approx", delta=rng.choice(["1e-6", "1e-5", "1/300000", "0"]))
    return spec


def kept(path: Path) -> Spec:
    """A spec of the repository as plain data; numbers that need their text are texts already."""
    spec: Spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    return spec


@cache
def whole() -> list[Spec]:
    """Every valid spec."""
    found = [kept(path) for path in KEPT if path.stem != "expected"]
    found += [drawn(seed) for seed in SEEDS]
    return [spec for spec in found if report(bare(spec)).status != "invalid"]


@cache
def specs() -> list[Spec]:
    """Every valid spec that the laws are tried on."""
    return [bare(spec) for spec in whole()]


def bare(spec: Spec) -> Spec:
    """A spec without the δ's for which an ε is looked for, which no law here is about."""
    found = {key: value for key, value in spec.items() if key != "budget"}
    asked = {key: value for key, value in spec.get("report", {}).items() if key == "notion"}
    return {**found, "report": asked} if asked else without(found, "report")


def without(spec: Spec, key: str) -> Spec:
    return {other: value for other, value in spec.items() if other != key}


@cache
def _analysed(text: str) -> Report:
    return analyze(text, "law")


def report(spec: Spec) -> Report:
    """The analysis of a spec, done once. JSON is YAML as well."""
    return _analysed(json.dumps(spec))


def statements(spec: Spec) -> Iterator[dict[str, Any]]:
    """Every stated guarantee, where it is written."""
    for mechanism in spec["mechanisms"]:
        if "reads" in mechanism:
            yield from mechanism.get("guarantees", [mechanism])


def all_stated(spec: Spec) -> bool:
    """Whether every mechanism states its guarantees, in one number each."""
    return all(said.get("notion") in PARAMETERS for said in statements(spec))


def pairs(spec: Spec) -> Pairs:
    """The undominated bounds, as (ε, ρ or μ; δ); none without a guarantee."""
    found = report(spec)
    if found.bound is None:
        return []
    others = [each.bound for each in found.alternatives if each.theorem is None and each.bound]
    bounds = [found.bound, *(each for each in others if each.notion is found.bound.notion)]
    return [(each.value, each.delta or Fraction(0)) for each in bounds]


def notion(spec: Spec) -> Notion | None:
    """The notion of the answer, None without a guarantee."""
    bound = report(spec).bound
    return None if bound is None else bound.notion


def covers(better: Pairs, worse: Pairs) -> bool:
    """Whether every bound of `worse` follows from one of `better`."""
    return all(
        any(value <= other * ROUNDING and delta <= bound * ROUNDING for value, delta in better)
        for other, bound in worse
    )


def judged(spec: Spec) -> tuple[Any, ...]:
    """What must not depend on how a spec is written."""
    found = report(spec)
    compared = {(each.theorem, each.bound) for each in found.alternatives}
    return found.status, found.bound, found.theorem, found.distance, compared


def tried(change: Change, law: Callable[[Spec, Spec], bool], least: int) -> None:
    """Hold a law between each spec and what a change makes of it."""
    count = 0
    for number, spec in enumerate(specs()):
        changed = change(copy.deepcopy(spec), Random(number))
        if changed is None or report(changed).status == "invalid":
            continue
        count += 1
        assert law(spec, changed), f"{json.dumps(spec)}\n{json.dumps(changed)}"
    assert count >= least, f"the law was tried on {count} specs only"


def same(spec: Spec, changed: Spec) -> bool:
    """The same answer, theorems compared included."""
    return judged(spec) == judged(changed)


def same_bound(spec: Spec, changed: Spec) -> bool:
    """The same bounds, whatever they are called."""
    return report(spec).status == report(changed).status and pairs(spec) == pairs(changed)


def no_lower(spec: Spec, changed: Spec) -> bool:
    """What changed has no lower bound, in one notion."""
    if notion(spec) is None or notion(changed) is None:
        return notion(changed) is None
    return notion(spec) is not notion(changed) or covers(pairs(spec), pairs(changed))


def no_higher(spec: Spec, changed: Spec) -> bool:
    """What changed has no higher bound."""
    return no_lower(changed, spec)


# --- how a spec is written -----------------------------------------------------------------------


def reordered(spec: Spec, rng: Random) -> Spec:
    """Mechanisms, datasets, blocks, kinds, guarantees and mappings in another order."""

    def mixed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: mixed(each) for key, each in rng.sample([*value.items()], len(value))}
        if isinstance(value, list):
            return [mixed(each) for each in rng.sample(value, len(value))]
        return value

    changed: Spec = mixed(spec)
    return changed


def renamed(spec: Spec, rng: Random) -> Spec:
    """Every name replaced by another that sorts elsewhere and holds odd characters."""
    known: dict[str, str] = {}

    def new(name: Any) -> Any:
        if not isinstance(name, str) or name in {"*", "other"} or name.isdigit():
            return name
        if name not in known:
            known[name] = f"{rng.randrange(10**6)} [é]:{name[::-1]}"
        return known[name]

    def reference(text: str) -> str:
        return ".".join(new(part) for part in text.split("."))

    def relation(written: Any) -> Any:
        if not isinstance(written, dict):
            return new(written) if written in spec.get("relations", {}) else written
        columns(written)
        return {**written, "relation": relation(written["relation"])}

    def parameters(said: dict[str, Any]) -> None:
        for key in ("epsilon", "delta", "rho", "mu"):
            if isinstance(said.get(key), dict):
                said[key] = {new(block): value for block, value in said[key].items()}
        if "relation" in said:
            said["relation"] = relation(said["relation"])
        if "stated_on" in said:
            said["stated_on"] = reference(said["stated_on"])

    def columns(body: Any) -> None:
        for key in ("column", "by", "per", "unit", "order"):
            if key in body and (key != "by" or "kind" in body):
                body[key] = new(body[key])
        if "keeps" in body:
            body["keeps"] = [new(column) for column in body["keeps"]]

    for dataset in spec["datasets"].values():
        columns(dataset)
        if "from" in dataset:
            dataset["from"] = reference(dataset["from"])
        if isinstance(dataset.get("map"), dict):
            columns(dataset["map"])
        partition = dataset.get("partition", {})
        columns(partition)
        if isinstance(partition.get("blocks"), list):
            partition["blocks"] = [new(block) for block in partition["blocks"]]
        if "kinds" in partition:
            kinds = partition["kinds"].items()
            partition["kinds"] = {new(kind): [new(x) for x in fed] for kind, fed in kinds}
    spec["datasets"] = {new(name): each for name, each in spec["datasets"].items()}
    for mechanism in spec["mechanisms"]:
        mechanism["name"] = new(mechanism["name"])
        if "reads" in mechanism:
            mechanism["reads"] = reference(mechanism["reads"])
        if "post_processes" in mechanism:
            mechanism["post_processes"] = [new(name) for name in mechanism["post_processes"]]
    for said in statements(spec):
        parameters(said)
    spec["protect"] = relation(spec["protect"])
    if "relations" in spec:
        spec["relations"] = {new(name): each for name, each in spec["relations"].items()}
    spec["title"] = "Renamed"
    return spec


def blocks_of(spec: Spec, dataset: str) -> list[str]:
    """The names of the blocks of a partition; none of what is no partition."""
    partition = spec["datasets"].get(dataset, {}).get("partition", {})
    if "kinds" in partition:
        return list(dict.fromkeys(block for fed in partition["kinds"].values() for block in fed))
    blocks = partition.get("blocks", [])
    return [str(n) for n in range(blocks)] if isinstance(blocks, int) else [str(b) for b in blocks]


def numbers_as_names(spec: Spec, rng: Random) -> Spec | None:
    """Blocks written as a number, named one by one."""
    numbered = {
        name: dataset["partition"]
        for name, dataset in spec["datasets"].items()
        if isinstance(dataset.get("partition", {}).get("blocks"), int)
        and dataset["partition"]["blocks"] <= 400
    }
    for name, partition in numbered.items():
        partition["blocks"] = blocks_of(spec, name)
    return spec if numbered else None


def blocks_written_out(spec: Spec, rng: Random) -> Spec | None:
    """What reads every block of a partition, as one mechanism for each block."""
    written: list[dict[str, Any]] = []
    for mechanism in spec["mechanisms"]:
        dataset, _, block = mechanism.get("reads", "").partition(".")
        blocks = blocks_of(spec, dataset)
        if block != "*" or not 0 < len(blocks) <= 12:
            written.append(mechanism)
            continue
        for each in blocks:
            single = copy.deepcopy(mechanism)
            single.update(name=f"{mechanism['name']} on {each}", reads=f"{dataset}.{each}")
            for said in single.get("guarantees", [single]):
                for key in ("epsilon", "delta", "rho", "mu"):
                    if isinstance(said.get(key), dict):
                        said[key] = {str(k): v for k, v in said[key].items()}[each]
            written.append(single)
    if len(written) == len(spec["mechanisms"]):
        return None
    spec["mechanisms"] = written
    return without_post_processing(spec)


def without_post_processing(spec: Spec) -> Spec:
    """A spec whose mechanisms may have other names now."""
    spec["mechanisms"] = [each for each in spec["mechanisms"] if "reads" in each]
    return spec


def repeated(written_out: bool) -> Change:
    """One mechanism released four times: by `count`, or as four mechanisms."""

    def change(spec: Spec, rng: Random) -> Spec:
        spec = without_post_processing(spec)
        mechanism = rng.choice(spec["mechanisms"])
        copies = 4 * mechanism.pop("count", 1)
        if written_out and copies <= 40:
            others = [{**mechanism, "name": f"copy {n}"} for n in range(1, copies)]
            spec["mechanisms"] += others
        else:
            mechanism["count"] = copies
        return spec

    return change


def test_the_order_of_everything_is_irrelevant() -> None:
    tried(reordered, same, 70)


def test_names_are_irrelevant() -> None:
    tried(renamed, same, 70)


def test_blocks_written_as_a_number_are_the_same_blocks_named() -> None:
    tried(numbers_as_names, same, 15)


def test_reading_every_block_is_one_mechanism_for_each_block() -> None:
    tried(blocks_written_out, same_bound, 30)


def test_copies_are_repeats() -> None:
    by_count, written_out = repeated(written_out=False), repeated(written_out=True)
    for number, spec in enumerate(specs()):
        if "allocate" in json.dumps(spec):
            continue  # what reads it is released in each step, without a count
        counted = by_count(copy.deepcopy(spec), Random(number))
        listed = written_out(copy.deepcopy(spec), Random(number))
        assert counted is not None and listed is not None
        assert same_bound(counted, listed), json.dumps(counted)


# --- more, or less, than before ------------------------------------------------------------------


def one_mechanism_less(spec: Spec, rng: Random) -> Spec | None:
    spec = without_post_processing(spec)
    if len(spec["mechanisms"]) < 2:
        return None
    spec["mechanisms"].remove(rng.choice(spec["mechanisms"]))
    return spec


def another_guarantee(spec: Spec, rng: Random) -> Spec | None:
    """One more statement on a mechanism, on the dataset read or above it."""
    if not all_stated(spec):
        return None
    mechanism = rng.choice([each for each in spec["mechanisms"] if "reads" in each])
    said = mechanism.get("guarantees")
    if said is None:
        outside = {"name", "reads", "count"}
        said = [{key: value for key, value in mechanism.items() if key not in outside}]
        mechanism = {key: value for key, value in mechanism.items() if key in outside}
        mechanism["guarantees"] = said
        spec["mechanisms"] = [
            mechanism if each["name"] == mechanism["name"] else each for each in spec["mechanisms"]
        ]
    above = [mechanism["reads"]]
    while (parent := spec["datasets"][above[-1].partition(".")[0]].get("from")) is not None:
        above.append(parent)
    first = said[0]
    more: dict[str, Any] = {"notion": first["notion"]}
    more[PARAMETERS[first["notion"]]] = rng.choice(["1/20", "3/10", "1", "0"])
    if first["notion"] == "approx":
        more["delta"] = rng.choice(["1e-7", "1e-5"])
    more["relation"] = rng.choice(["bounded", "unbounded", first.get("relation", "bounded")])
    where = rng.choice(above)
    if where != mechanism["reads"] and "*" not in where:
        more["stated_on"] = where
    said.insert(rng.randrange(len(said) + 1), more)
    return spec


def a_weaker_statement(spec: Spec, rng: Random) -> Spec | None:
    """One parameter raised."""
    if not all_stated(spec):
        return None
    said = rng.choice(list(statements(spec)))
    key = PARAMETERS[said["notion"]]
    if isinstance(said[key], dict):
        block = rng.choice(list(said[key]))
        said[key] = {**said[key], block: f"({said[key][block]}) + 1/7"}
    else:
        said[key] = f"({said[key]}) + 1/7"
    return spec


def one_step_further(spec: Spec, rng: Random) -> Spec:
    """The protected distance made larger by one."""
    protect = spec["protect"]
    wide = dict(protect) if isinstance(protect, dict) else {"relation": protect}
    wide["distance"] = wide.get("distance", 1) + 1
    return {**spec, "protect": wide}


def looser_datasets(spec: Spec) -> Iterator[Spec]:
    """Specs that allow more tables or more changes in one of the datasets."""
    for name, dataset in spec["datasets"].items():
        made = dataset.get("map", dataset.get("partition"))
        if made is None:
            if dataset.get("domain") == "graph" and "max_degree" in dataset:
                yield with_dataset(spec, name, {**dataset, "max_degree": dataset["max_degree"] + 1})
            continue
        field = "map" if "map" in dataset else "partition"
        for changed in looser(made):
            yield with_dataset(spec, name, {**dataset, field: changed})
        # A map that draws at random is no function, opaque or not.
        if field == "map" and "random" not in str(made):
            yield with_dataset(spec, name, {**dataset, "map": "opaque"})


def looser(made: Any) -> Iterator[Any]:
    """A map or a partition with one of its promises made weaker."""
    if not isinstance(made, dict):
        return
    for key in ("max_rows", "rows", "stability", "max_blocks", "max_blocks_per_unit"):
        if key in made:
            yield {**made, key: made[key] + 1}
    if "max_rows_per_block" in made:
        yield {**made, "max_rows_per_block": made["max_rows_per_block"] + 1}
    for key in ("exact", "drops"):
        if made.get(key):
            yield {other: value for other, value in made.items() if other != key}
    if made.get("keep") == "first":
        yield {key: value for key, value in made.items() if key != "order"} | {"keep": "random"}
    if made.get("by") == "value":
        yield {**made, "by": "membership", "max_blocks": 1}


def with_dataset(spec: Spec, name: str, dataset: dict[str, Any]) -> Spec:
    return {**spec, "datasets": {**spec["datasets"], name: dataset}}


def any_looser_dataset(spec: Spec, rng: Random) -> Spec | None:
    found = list(looser_datasets(spec))
    return rng.choice(found) if found else None


def test_a_mechanism_less_never_raises_a_bound() -> None:
    tried(one_mechanism_less, no_higher, 40)


def test_a_further_guarantee_never_raises_a_bound() -> None:
    tried(another_guarantee, no_higher, 50)


def test_a_weaker_statement_never_lowers_a_bound() -> None:
    tried(a_weaker_statement, no_lower, 70)


def test_protecting_larger_groups_never_lowers_a_bound() -> None:
    tried(one_step_further, no_lower, 60)


def test_looser_maps_and_partitions_never_lower_a_bound() -> None:
    tried(any_looser_dataset, no_lower, 50)


def test_a_statement_for_any_replacement_covers_those_that_keep_columns(long: bool) -> None:
    for seed in range(300 if long else 150):
        spec = random_spec(seed)
        if "keeps" not in (spec["protect"] if isinstance(spec["protect"], dict) else {}):
            continue
        plain = copy.deepcopy(spec)
        for said in statements(plain):
            said.setdefault("relation", "bounded")
        assert no_higher(spec, plain), json.dumps(spec)
        wider = {**plain, "protect": {**spec["protect"]}}
        del wider["protect"]["keeps"]
        assert report(wider).status == "invalid" or no_lower(plain, wider), json.dumps(spec)


def test_bounds_scale_with_the_parameters() -> None:
    def four_times(spec: Spec, rng: Random) -> Spec | None:
        if not all_stated(spec) or len({said["notion"] for said in statements(spec)}) > 1:
            return None
        maps = [each.get("map") for each in spec["datasets"].values()]
        drawn = [each for each in maps if isinstance(each, dict) and each.get("keep") == "random"]
        if any(each["rows"] == 1 for each in drawn):
            return None  # which row is drawn amplifies: no multiple
        for said in statements(spec):
            key = PARAMETERS[said["notion"]]
            if isinstance(said[key], dict):
                said[key] = {block: f"4*({value})" for block, value in said[key].items()}
            else:
                said[key] = f"4*({said[key]})"
        return None if notion(spec) is Notion.APPROX else spec

    def scaled(spec: Spec, changed: Spec) -> bool:
        four = [(4 * value, delta) for value, delta in pairs(spec)]
        return covers(four, pairs(changed)) and covers(pairs(changed), four)

    tried(four_times, scaled, 50)


# --- what a report says --------------------------------------------------------------------------


def test_no_theorem_compared_has_a_bound_below_the_one_reported() -> None:
    for spec in specs():
        found = report(spec)
        if found.bound is None:
            assert all(each.bound is None for each in found.alternatives)
            continue
        least = (found.bound.value, found.bound.delta or Fraction(0))
        for each in found.alternatives:
            if each.theorem is None or each.bound is None:
                continue
            assert each.bound.notion is found.bound.notion
            other = (each.bound.value, each.bound.delta or Fraction(0))
            assert covers([least], [other]) or not covers([other], [least])
        assert found.proof is not None
        (named, *_) = (*found.proof.of_bound, None)
        same = [each for each in found.alternatives if each.theorem == named and named is not None]
        # The same theorem may be there for every block, or for the bound beside a number at a δ.
        assert all(each.bound is not None for each in same)
        assert found.chain[-1].theorem == named
        assert found.chain[-1].bound == found.bound


RUN = """
import json, sys
from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.layout import Style
texts = json.load(sys.stdin)
for format in ("json", "text"):
    sys.stdout.writelines(renderer(format)((analyze(text, "law") for text in texts), Style()))
"""


def test_runs_are_byte_identical() -> None:
    chosen = whole()[::4]
    expected = "".join(
        piece
        for form in ("json", "text")
        for piece in renderer(form)([report(spec) for spec in chosen], Style())
    )
    for hash_seed in ("0", "4294967295"):  # and that of this process
        again = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", RUN],
            input=json.dumps([json.dumps(spec) for spec in chosen]),
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            timeout=600,
            check=True,
        )
        assert again.stdout == expected
