"""A project of SQL as one spec: what is released of it, how often, and what is not counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeVar

from sqlglot import exp

from dpcompose.bridge import dbt, sql
from dpcompose.bridge.bigquery import claim, release_policies
from dpcompose.bridge.open_spec import COUNTED, OpenSpec
from dpcompose.bridge.relations import TEST, Project, SqlModel, World, parts_of
from dpcompose.bridge.sql import aggregate_of, is_released, release_aggregates, release_budget
from dpcompose.bridge.sql_answers import OF_TABLES, Answers
from dpcompose.bridge.sql_queries import read_query
from dpcompose.bridge.sql_reader import QueryReader
from dpcompose.bridge.sql_units import find_unit
from dpcompose.bridge.values import Unconvertible
from dpcompose.bridge.writer import name as name_in_yaml
from dpcompose.errors import nearest, quoted
from dpcompose.spec.reading import OPEN as TODO


def read_project(
    files: Mapping[str, str], origin: str | None, dialect: str, answers: Answers
) -> Project:
    """Returns what a format reads in files, whose texts are given by their names. The format is
    recognised by their content where `origin` does not say it. Raises Unconvertible."""
    found = Project(answers=answers)
    if origin == "dbt" or (origin is None and dbt.is_of(files)):
        return dbt.read_files(files, dialect, found)
    if origin == "bigquery" or (origin is None and not dialect and sql.clauses_in(files)):
        dialect = dialect or "bigquery"
    return sql.read_files(files, dialect, found)


class WrittenSpec(NamedTuple):
    """A spec that was written: its text, its open questions, what was not counted, and the places
    that the parts of the spec are from. `exact`: the notes on models whose exact aggregates are not
    counted, by the models' names."""

    text: str
    questions: list[str]
    notes: list[str]
    places: Mapping[tuple[str | int, ...], str]
    exact: Mapping[str, str]


class RefusedSql(Exception):
    """All that has no sound word in specs: `refusals`, each with its place."""

    def __init__(self, refusals: Iterable[Unconvertible]) -> None:
        self.refusals = list(refusals)
        super().__init__("\n".join(map(str, self.refusals)))


T = TypeVar("T")
#: How often what is drawn, by how a model is stored; others are run.
_COUNTED = {"view": "reads", "materialized_view": "refreshes"}


def write(
    project: Project,
    only: Collection[str] = (),
    deltas: Iterable[object] = (),
    step: Callable[[], object] = lambda: None,
    compared: bool = False,
) -> WrittenSpec:
    """Returns the spec of a project. Raises RefusedSql, and TimeoutError beyond `MOST_SECONDS`.

    `only`: the names of the models that are released, all where it is empty; `step`: called after
    each; `compared`: whether the spec is only compared, so that it may have no mechanism.
    """
    spec = OpenSpec(unit_from="all rows of one unit are added or removed")
    models = {each.key: each for each in project.models if each.key}
    policies = {each.view: each for each in project.policies}
    world = World(spec, project.answers, models, policies, read_query, claim)
    wanted = [each for each in project.models if not only or each.name in only]
    _link(project, world)
    refusals = [*project.refusals, *_unknown(only, project), *_written_twice(project)]
    refusals += [*_tests_of_noise(project), *_ambiguous(project, world)]
    released: list[tuple[SqlModel, Counter[int]]] = []

    def release(model: SqlModel) -> None:
        """Makes the mechanisms of a model."""
        project.within_time()
        drawn = _release(world, model)
        released.extend([(model, drawn)] if drawn else [])
        step()

    def finish() -> str:
        """Writes the spec, once all mechanisms are known."""
        if refusals:
            return ""
        _count(world, released)
        _share_samples(world, released)
        spec.forget_schemas(world.people)
        empty = compared and world.exact and not spec.mechanisms
        return "dpcompose: 1\nprotect: user\n" if empty else spec.text(deltas)

    set_by = [each for each in project.policies if not only or each.view[-1] in only]
    _attempt(lambda: find_unit(world, wanted, project), refusals, wanted)
    if not refusals or project.answers.unit or world.unit:
        for model in wanted:
            _attempt(partial(release, model), refusals, [model])
    _attempt(lambda: release_policies(world, set_by), refusals)
    for each in project.budgets:
        release_budget(world, each)
    known = _relations(project) | spec.datasets.keys()
    _attempt(lambda: project.answers.know(known), refusals)
    text = _attempt(finish, refusals) or ""
    refusals += world.refusals
    if refusals:
        unique = {(each.where, each.message): each for each in refusals}
        raise RefusedSql(unique.values())
    notes = [*project.notes, *world.notes]
    return WrittenSpec(text, spec.questions, notes, spec.places, world.exact)


def _attempt(
    action: Callable[[], T], refusals: list[Unconvertible], models: Iterable[SqlModel] = ()
) -> T | None:
    """Returns what an action does, None where it is refused, which is noted. `models`: those that
    it reads."""
    try:
        return action()
    except Unconvertible as error:
        refusals.append(error)
    except RecursionError:
        where = next((each.where() for each in models), "")
        refusals.append(Unconvertible(where, "the query is nested too deep"))
    return None


def _link(project: Project, world: World) -> None:
    """Notes in each model what reads it, how often at least, and whether it draws noise. Raises
    RefusedSql where models read each other in a circle."""
    order = TopologicalSorter[SqlModel]()
    for model in project.models:
        project.within_time()
        order.add(model)
        if model.released is None:
            model.released = project.answers.of("released", model.name)
        model.draws_noise = bool(model.clauses)
        for table in model.tables():
            other = world.model_of(parts_of(table))
            if other is not None and other is not model:
                other.read_by[model] += 1
                order.add(model, other)
    try:
        sources_first = list(order.static_order())
    except CycleError as error:
        circle: list[SqlModel] = error.args[1]
        says = f"models read each other in a circle: {', '.join(each.name for each in circle)}"
        raise RefusedSql([Unconvertible(circle[0].where(circle[0].query), says)]) from None
    for model in sources_first:
        if model.kind == "ephemeral" and model.draws_noise:
            for reader in model.read_by:
                reader.draws_noise = True
    for model in reversed(sources_first):
        # A test reads a model once at least, and so does a build that nobody counts.
        model.reads = sum(each.startswith(TEST) for each in model.readers)
        for reader, times in model.read_by.items():
            given = int(project.answers.of("releases", reader.name) or 0)
            passes_on = reader.kind in ("view", "ephemeral")
            runs = max(given, reader.reads) if passes_on else given or 1
            model.reads += 0 if reader.public else times * runs
        model.readers += [each.name for each in model.read_by if each.name not in model.readers]


def _unknown(only: Collection[str], project: Project) -> list[Unconvertible]:
    """Returns what is wrong with the names of models that a call gives."""
    known = {each.name for each in project.models}
    found = []
    for each in only:
        if each not in known:
            near = nearest(each, known)
            hint = f"did you mean {near}?" if near else None
            found.append(Unconvertible("--only", f"there is no model {quoted(each)}", hint))
    return found


def _written_twice(project: Project) -> list[Unconvertible]:
    """Returns the refusals of relations that several queries write."""
    times = Counter(each.key for each in project.models if each.key)
    says = "is written twice: which rows a reader sees is not known"
    return [
        Unconvertible(each.where(each.query), f"{each.name} {says}")
        for each in project.models
        if times[each.key] > 1 and not each.inserted
    ]


def _tests_of_noise(project: Project) -> list[Unconvertible]:
    """Returns the refusals of tests of ephemeral models, each of which draws their noise anew."""
    found = []
    for model in project.models:
        tests = [each for each in model.readers if each.startswith(TEST)]
        if tests and model.kind == "ephemeral" and model.draws_noise:
            says = f"{tests[0]} draws noise of {model.name}, which is ephemeral: it is not counted"
            hint = "test a table that holds it"
            found.append(Unconvertible(f"{model.file}:1", says, hint))
    return found


def _ambiguous(project: Project, world: World) -> list[Unconvertible]:
    """Returns what is wrong with answers that several tables of one name would share."""
    found: dict[str, set[str]] = {}
    for parts in (parts_of(each) for model in project.models for each in model.tables()):
        if len(parts) > 1 and world.model_of(parts) is None:
            found.setdefault(parts[-1], set()).add(".".join(parts[-2:]))
    refusals = []
    for plain, names in found.items():
        answers = (project.answers.of(key, plain) for key in OF_TABLES)
        if len(names) > 1 and any(each is not None for each in answers):
            says = f"the answers of {quoted(plain)} fit {' and '.join(sorted(names))}"
            refusals.append(Unconvertible("", says, "name the schema"))
    return refusals


def _relations(project: Project) -> set[str]:
    """Returns all names by which answers may speak of relations."""
    found: set[str] = set()
    for model in project.models:
        found |= {model.name, ".".join(model.key)}
        for each in () if model.query is None else model.query.find_all(exp.Table, exp.CTE):
            if isinstance(each, exp.CTE):
                found.add(each.alias)
            elif isinstance(each, exp.Table):
                parts = [part.name for part in each.parts]
                found |= {parts[-1], ".".join(parts), ".".join(parts[-2:])}
                found |= {parts[-1].partition("__")[2], parts[-1].replace("__", ".", 1)}
    for policy in project.policies:
        found |= {policy.view[-1], ".".join(policy.view)}
    for budget in project.budgets:
        found |= set(budget.tables)
    return found


def _release(world: World, model: SqlModel) -> Counter[int]:
    """Makes the mechanisms of a model, and returns how often each is drawn when it is run."""
    query = model.query
    if query is None or model.public or model.kind == "ephemeral":
        return Counter()
    if model.error is not None:
        if model.clauses or model.released:
            raise model.error
        world.notes.append(f"{model.error}; the model is not counted")
        return Counter()
    world.drawn = Counter()
    reader = QueryReader(world, model, model.name)
    found = aggregate_of(reader, query)
    if found is not None:
        if is_released(model) or world.answers.of("noise", model.name) is not None:
            release_aggregates(found)
            return world.drawn
        shown = (each for each in found.query.expressions if each.find(exp.AggFunc))
        titles = ", ".join(each.alias_or_name for each in shown)
        says = f"{model.name} ({titles}) is exact and not counted; published, it has no guarantee"
        world.exact[model.name] = f"{model.where(query)}: {says}"
        world.notes.append(world.exact[model.name])
        return Counter()
    if model.dbt and not model.released and not model.draws_noise:
        return Counter()
    rows = reader.read_model(model)
    if rows.private and (model.kind == "query" or model.released):
        reader.refuse(query, "rows of people are shown as they are: nothing bounds that")
    return world.draws_of(model)


def _count(world: World, released: list[tuple[SqlModel, Counter[int]]]) -> None:
    """Writes each mechanism with its count: how often the models that draw it are run or read."""
    for number, draw in enumerate(world.draws):
        asks, values, says = dict(draw.asks), dict(draw.values), draw.says
        total: int | None = 0
        counted: list[str] = []
        for model, drawn in released:
            if not drawn[number]:
                continue
            times = _runs(world, model)
            if times is None:
                total = None
                how = {
                    "view": "read? each read draws fresh noise",
                    "materialized_view": "refreshed? each time draws fresh noise",
                }.get(model.kind, "run? each run draws fresh noise")
                readers = f"; known readers: {', '.join(model.readers)}" if model.readers else ""
                asks["count"] = f"how often is the {model.kind} {model.name} {how}{readers}"
            elif total is not None:
                total += times * drawn[number]
                if world.answers.of("releases", model.name) is None:
                    says += "; assumed: run once"
            if model.kind != "query":
                times_of = _COUNTED.get(model.kind, "runs")
                counted.append(f"{times_of} of the {model.kind} {model.name}")
        if total is None:
            values["count"] = TODO
        elif total != 1:
            values["count"] = str(total)
        if counted:
            values["because"] = name_in_yaml(f"{COUNTED}{' and '.join(counted)}")
        world.spec.release(draw.name, values, says, draw.where, asks)


def _share_samples(world: World, released: list[tuple[SqlModel, Counter[int]]]) -> None:
    """Writes samples as filters where the mechanisms that read them draw neither one fresh sample
    each nor all the same one.

    Copy i of every mechanism reads the i-th sample of a dataset. A stored sample is drawn once for
    each build, and one that several queries evaluate is drawn by each of them. Given the draws, a
    sample is a filter, so that a filter is sound for any of them: nothing is amplified.
    """
    mechanisms = world.spec.mechanisms.values()
    for name, home in world.samples.items():
        if name not in world.spec.datasets:
            continue
        reads = [each[0] for each in mechanisms if name in world.spec.below(str(each[0]["reads"]))]
        draws = [
            number
            for number, each in enumerate(world.draws)
            if name in world.spec.below(str(each.values["reads"]))
        ]
        models = [model for model, drawn in released if any(drawn[number] for number in draws)]
        stored = home.kind not in ("view", "ephemeral", "query") and models != [home]
        once = all(str(each.get("count", "1")) == "1" for each in reads)
        of_policies = len(reads) > len(draws)
        together = len(draws) == 1 or not any("notion" in each for each in reads)
        if not of_policies and len(models) < 2 and together and (once or not stored):
            continue
        values, says, where, asks = world.spec.datasets[name]
        kind = values["map"]
        if stored and not of_policies and _runs(world, home) == 1:
            assert isinstance(kind, Mapping)
            kind = {**kind, "draws": "one"}
            says += f"; {home.name} is stored: all read the same sample"
        else:
            kind = "filter"
            says += "; not amplified: how many reads share one sample is not known"
        world.spec.datasets[name] = ({**values, "map": kind}, says, where, asks)


def _runs(world: World, model: SqlModel) -> int | None:
    """Returns how often a model is run, or read if it is a view; None where that is not known."""
    given = world.answers.of("releases", model.name)
    if given is not None:
        if model.kind == "view" and int(given) < model.reads:
            says = f"`releases` is {given}, but the view {model.name} is read {model.reads} times"
            says += f" at least, by {', '.join(model.readers)}"
            raise Unconvertible(world.answers.place("releases", model.name), says)
        return int(given)
    return 1 if not model.dbt and model.kind in ("query", "table") else None
