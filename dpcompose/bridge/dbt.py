"""Projects of dbt and their manifests. Nothing of Jinja is ever run: a few words are read.

Models and sources stand in queries as tables of the schemas `dbt` and `dbt_source`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from dpcompose.bridge.bigquery import Policy
from dpcompose.bridge.relations import DBT, SOURCE, TEST, Project, SqlModel
from dpcompose.bridge.sql import models_of, parsed
from dpcompose.bridge.sql_answers import Answers
from dpcompose.bridge.values import Item, Unconvertible, from_json
from dpcompose.errors import InvalidSpec, quoted
from dpcompose.source import load

MOST_MODELS = 5000
_OLDEST = 10
_COMPILE = "run `dbt compile`, and give target/manifest.json"
_OPENS = re.compile(r"\{[{%#]")
#: Texts in a tag, and the signs that may end it.
_PARTS = re.compile(r"\"[^\"]*\"|'[^']*'|[{}]|%(?=\})")
_CALL = re.compile(
    r"(ref|source)\(\s*((?:'[^']*'|\"[^\"]*\")(?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))?)\s*\)"
)
#: Words of queries that draw noise, or hide that they do not.
_NOISE = re.compile(r"differential_privacy|anonymization|aggregation_threshold|noisy_", re.I)
_WORDS = {"true": "True", "false": "False", "none": "None"}


def is_of(files: Mapping[str, str]) -> bool:
    """Returns whether files are a manifest, a project of dbt, or models of one."""
    for name, text in files.items():
        if name.endswith("dbt_project.yml") or '"dbt_schema_version"' in text[:4096]:
            return True
        if name.endswith(".sql") and re.search(r"\{\{-?\s*(ref|source|config)\s*\(|\{%", text):
            return True
    return False


def read_files(files: Mapping[str, str], dialect: str, found: Project) -> Project:
    """Reads a manifest or a folder of dbt into a project. Raises Unconvertible."""
    manifests = [
        name
        for name, text in files.items()
        if name.endswith(".json") and "dbt_schema_version" in text
    ]
    if manifests:
        nodes = list(_of_manifest(manifests[0], files[manifests[0]], found))
        dialect = dialect or found.dialect
    else:
        nodes = list(_of_folder(files, found))
        _refuse_unknown(nodes)
    if len(nodes) > MOST_MODELS:
        raise Unconvertible("", f"there are more than {MOST_MODELS} models")
    for node in nodes:
        found.within_time()
        _add(node, dialect, found)
    return found


def _refuse_unknown(nodes: list[DbtNode]) -> None:
    """Refuses models that read one which is not here, such as one of a package."""
    known = {each.name for each in nodes}
    for node in nodes:
        missing = [name for schema, name in node.relations.values() if schema == DBT]
        missing = [name for name in missing if name not in known]
        if missing and not isinstance(node.sql, Unconvertible):
            says = f"there is no model {quoted(missing[0])} here; those of packages are not read"
            node.sql = Unconvertible(f"{node.file}:1", says, _COMPILE)


class DbtNode:
    """A model, seed or snapshot of dbt. `sql`: its query, in which tables are named as this module
    says, or why that is not known."""

    def __init__(self, name: str, file: str, kind: str) -> None:
        self.name, self.file, self.kind = name, file, kind
        self.sql: str | Unconvertible = ""
        self.hooks: list[str] = []
        self.readers: list[str] = []
        self.released: bool | None = None
        self.tests: dict[str, list[str]] = {}
        self.relations: dict[tuple[str, ...], tuple[str, str]] = {}
        self.own_output = False


def _add(node: DbtNode, dialect: str, found: Project) -> None:
    """Adds the model of a node to a project."""
    model = SqlModel(node.name, None, node.file, node.kind, dialect, key=(DBT, node.name), dbt=True)
    model.schema, model.own_output, model.tests = DBT, node.own_output, node.tests
    model.readers = list(dict.fromkeys(node.readers))
    model.released = found.answers.of("released", node.name)
    model.released = node.released if model.released is None else model.released
    model.public = node.kind == "seed" or bool(found.answers.of("public", node.name))
    found.models.append(model)
    if model.public:
        return
    try:
        if isinstance(node.sql, Unconvertible):
            raise node.sql
        statements = parsed(node.sql, dialect, lambda line: f"{node.file}:{line}")
        if len(statements) != 1 or not isinstance(statements[0][0], exp.Query | exp.Subquery):
            raise Unconvertible(f"{node.file}:1", "a model is one query")
        model.query, model.clauses = statements[0][0], statements[0][1]
        _name_tables(model, node)
    except Unconvertible as error:
        model.error = error
        model.query = exp.select("*")
        hides = isinstance(node.sql, Unconvertible) or _NOISE.search(node.sql)
        if hides:
            found.refusals.append(error)
    for hook in node.hooks:
        _hook(hook, node.name, f"{node.file}:1", dialect, found)


def _hook(hook: str, name: str, where: str, dialect: str, found: Project) -> None:
    """Adds the policies that a hook sets; another one that may read rows is refused."""
    text = re.sub(r"\{\{-?\s*this\s*-?\}\}", f"{DBT}.{name}", hook)
    if _OPENS.search(text):
        macros = re.findall(r"(\w+)\s*\(", text)
        says = f"a hook runs the macro {quoted(macros[0])}, which may set a policy" if macros else (
            f"the hook {quoted(hook[:80])} is not read"
        )  # fmt: skip
        found.refusals.append(Unconvertible(where, says, "write the statement in the hook"))
        return
    try:
        models, policies = models_of(text, where.rpartition(":")[0], name, dialect or "bigquery")
    except Unconvertible as error:
        found.refusals.append(Unconvertible(where, f"a hook: {error.message}"))
        return
    found.policies += [Policy(each.view, each.item, where, None) for each in policies]
    if models:
        says = f"the hook {quoted(hook[:80])} runs a query: how often it is run is not counted"
        found.refusals.append(Unconvertible(where, says, "make it a model"))


def _name_tables(model: SqlModel, node: DbtNode) -> None:
    """Gives the tables of a query the names of this module; ephemeral models leave WITH."""
    assert model.query is not None
    for each in list(model.query.find_all(exp.CTE)):
        if each.alias.startswith("__dbt__cte__"):
            parent = each.parent
            each.pop()
            if isinstance(parent, exp.With) and not parent.expressions:
                parent.pop()
    for table in model.query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        parts = tuple(each.name.lower() for each in table.parts)
        named = node.relations.get(parts)
        if table.name.startswith("__dbt__cte__"):
            named = (DBT, table.name.removeprefix("__dbt__cte__"))
        if named is not None:
            alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
            table.set("catalog", None)
            table.set("db", exp.to_identifier(named[0]))
            table.set("this", exp.to_identifier(named[1], quoted=True))
            table.set("alias", alias)


# --- manifests -----------------------------------------------------------------------------------


def _of_manifest(name: str, text: str, found: Project) -> Iterator[DbtNode]:
    """Yields the nodes of a manifest. Raises Unconvertible."""
    tree = Item(from_json(text))
    version = re.search(r"/v(\d+)\.json", tree.at("metadata").at("dbt_schema_version").text())
    if version is None or int(version[1]) < _OLDEST:
        raise Unconvertible(
            name, f"the manifest is older than version {_OLDEST}", "dbt 1.6 and later write it"
        )
    adapter = tree.at("metadata").find("adapter_type")
    found.dialect = (
        str(adapter.value) if adapter is not None and adapter.value in _dialects() else ""
    )
    relations: dict[tuple[str, ...], tuple[str, str]] = {}
    exposed = {str(each) for one in _mapping(tree, "exposures").values() for each in _nodes_of(one)}
    for each in _mapping(tree, "macros").values():
        found.macros[str(each.get("name"))] = str(each.get("macro_sql"))
    for each in _mapping(tree, "sources").values():
        full = f"{each.get('source_name')}__{each.get('name')}"
        _relate(relations, each.get("relation_name"), (SOURCE, full))
        _answer(found.answers, full, each, name)
    nodes: dict[str, DbtNode] = {}
    tests: list[Mapping[str, Any]] = []
    for key, each in _mapping(tree, "nodes").items():
        kind = each.get("resource_type")
        if kind == "test":
            tests.append(each)
        if kind == "operation":
            file = str(each.get("original_file_path") or name).replace("\\", "/")
            hook = str(each.get("compiled_code") or each.get("raw_code") or "")
            _hook(hook, "", f"{file.removeprefix('./')}:1", found.dialect, found)
        config = each.get("config") or {}
        if kind not in ("model", "seed", "snapshot") or config.get("enabled") is False:
            continue
        file = str(each.get("original_file_path") or name).replace("\\", "/")
        node = DbtNode(
            str(each.get("name")),
            file,
            "seed" if kind == "seed" else str(config.get("materialized") or "view"),
        )
        nodes[key] = node
        _relate(relations, each.get("relation_name"), (DBT, node.name))
        _answer(found.answers, node.name, each, file)
        raw = str(each.get("raw_code") or "")
        node.own_output = "is_incremental" in raw and "this" in raw
        node.sql = str(each.get("compiled_code") or "") or Unconvertible(
            f"{file}:1", f"{node.name} is not compiled", "run `dbt compile` first"
        )
        if each.get("language") not in (None, "sql"):
            node.sql = Unconvertible(f"{file}:1", f"{node.name} is no SQL")
        node.hooks = [
            str(one.get("sql") if isinstance(one, Mapping) else one)
            for word in ("post-hook", "pre-hook")
            for one in config.get(word) or ()
        ]
        node.released = True if key in exposed else None
        node.relations = relations
    for test in tests:
        _test(test, nodes, tree, found.answers, name)
    yield from nodes.values()


def _mapping(tree: Item, key: str) -> dict[str, dict[str, Any]]:
    """Returns the entries of a part of a manifest."""
    item = tree.find(key)
    value = {} if item is None else item.value
    return (
        {name: each for name, each in value.items() if isinstance(each, dict)}
        if isinstance(value, dict)
        else {}
    )


def _nodes_of(node: Mapping[str, Any]) -> list[Any]:
    """Returns the nodes that a node depends on."""
    below = node.get("depends_on")
    return list(below.get("nodes") or []) if isinstance(below, dict) else []


def _dialects() -> set[str]:
    """Returns the dialects that sqlglot reads."""
    from sqlglot.dialects.dialect import Dialects

    return {each.value for each in Dialects}


def _relate(
    relations: dict[tuple[str, ...], tuple[str, str]], name: Any, to: tuple[str, str]
) -> None:
    """Notes what a relation of the database is in dbt."""
    if isinstance(name, str):
        parts = exp.to_table(name.replace("`", '"')).parts
        relations[tuple(each.name.lower() for each in parts)] = to


def _answer(answers: Answers, relation: str, node: Mapping[str, Any], where: str) -> None:
    """Adds what the `meta` of a node answers."""
    config = node.get("config") or {}
    for meta in (config.get("meta"), node.get("meta")):
        given = meta.get("dpcompose") if isinstance(meta, Mapping) else None
        if given is None:
            continue
        if isinstance(given, Mapping) and "unit" in given:
            answers.say_unit(given["unit"], where)
            given = {key: each for key, each in given.items() if key != "unit"}
        answers.add(relation, given, where)


def _test(
    test: Mapping[str, Any], nodes: Mapping[str, DbtNode], tree: Item, answers: Answers, where: str
) -> None:
    """Notes what a test that holds says of its column: no two rows share a value, or which ones."""
    config, meta = test.get("config") or {}, test.get("test_metadata") or {}
    if config.get("enabled") is not False:
        code = str(test.get("compiled_code") or test.get("raw_code") or "")
        if _NOISE.search(code):
            says = f"{TEST}{test.get('name')} draws noise: how often it is run is not counted"
            raise Unconvertible(f"{test.get('original_file_path') or where}:1", says)
        for each in _nodes_of(test):
            if each in nodes:
                nodes[each].readers.append(f"{TEST}{test.get('name')}")
    if (
        str(config.get("severity", "error")).lower() != "error"
        or config.get("where")
        or config.get("limit")
        or config.get("enabled") is False
    ):
        return
    on = test.get("attached_node")
    node = nodes.get(str(on))
    column = test.get("column_name")
    if not isinstance(column, str):
        return
    if meta.get("name") == "unique":
        sources = _mapping(tree, "sources")
        if node is not None:
            answers.found_unique(node.name, column)
        for each in _nodes_of(test):
            if node is None and str(each) in sources:
                answers.found_unique(
                    f"{sources[each].get('source_name')}__{sources[each].get('name')}", column
                )
    if meta.get("name") == "accepted_values" and node is not None:
        values = (meta.get("kwargs") or {}).get("values")
        node.tests[column] = [str(each) for each in values] if isinstance(values, list) else []


# --- folders -------------------------------------------------------------------------------------


def _of_folder(files: Mapping[str, str], found: Project) -> Iterator[DbtNode]:
    """Yields the nodes of a project without a manifest. Raises Unconvertible."""
    settings: dict[str, Any] = {}
    tree: dict[str, Any] = {}
    for name, text in files.items():
        if name.endswith("dbt_project.yml"):
            settings = _yaml(text, name)
    base = next((name for name in files if name.endswith("dbt_project.yml")), "")
    places = {word: _paths(settings, word, base) for word in ("model", "macro", "test")}
    _refuse_elsewhere(settings, files, base, places["model"], found)
    tests: dict[str, list[str]] = {}
    said: dict[str, tuple[dict[str, Any], str]] = {}
    for name, text in files.items():
        if name.endswith((".yml", ".yaml")) and not name.endswith("dbt_project.yml"):
            tree = _yaml(text, name)
            for kind in ("models", "seeds", "snapshots"):
                for each in tree.get(kind) or []:
                    said[str(each.get("name"))] = (each, name)
                    _answer(found.answers, str(each.get("name")), each, name)
                    if kind != "models":
                        _columns(each, str(each.get("name")), None, found.answers)
            for source in tree.get("sources") or []:
                for each in source.get("tables") or []:
                    full = f"{source.get('name')}__{each.get('name')}"
                    _answer(found.answers, full, each, name)
                    _columns(each, full, None, found.answers)
            for each in tree.get("exposures") or []:
                for below in each.get("depends_on") or []:
                    called = _CALL.fullmatch(str(below).strip())
                    if called is not None and called[1] == "ref":
                        said.setdefault(f"exposed {_names(called[2])[-1]}", ({}, name))
    for name, text in files.items():
        stem = name.rpartition("/")[2].rpartition(".")[0]
        if name.endswith(".csv"):
            yield DbtNode(stem, name, "seed")
        if not name.endswith(".sql"):
            continue
        if name.startswith(places["macro"]):
            for macro in re.split(r"\{%-?\s*macro\s+", text)[1:]:
                found.macros[macro.partition("(")[0].strip()] = macro
        if name.startswith(places["test"]):
            if _NOISE.search(text):
                says = f"{TEST}{stem} draws noise: how often it is run is not counted"
                found.refusals.append(Unconvertible(f"{name}:1", says))
            for call in _CALL.finditer(text):
                tests.setdefault(_names(call[2])[-1], []).append(f"{TEST}{stem}")
            found.notes.append(f"{name}:1: {TEST}{stem} is exact; shown, it has no guarantee")
    for name, text in files.items():
        stem = name.rpartition("/")[2].rpartition(".")[0]
        if not name.endswith(".sql") or name.startswith((*places["macro"], *places["test"])):
            continue
        own, where = said.get(stem, ({}, name))
        folder, inner = _folder_config(settings, name), dict[str, Any]()
        node = DbtNode(stem, name, "view")
        try:
            node.sql = _without_jinja(text, node, inner)
        except Unconvertible as error:
            node.sql = error
        levels = (folder, own, own.get("config") or {}, inner)
        config = {**folder, **levels[2], **inner}
        if config.get("enabled") is False:
            continue
        node.kind = str(config.get("materialized") or "view")
        node.hooks = [hook for each in levels for hook in _hooks(each)]
        node.readers = tests.get(stem, [])
        node.released = True if f"exposed {stem}" in said else None
        _answer(found.answers, stem, {"meta": config.get("meta")}, where)
        _columns(own, stem, node, found.answers)
        yield node
    for name, text in files.items():
        lists = name.rpartition("/")[2] in ("packages.yml", "dependencies.yml")
        if lists and _yaml(text, name).get("packages"):
            says = "models of packages are not read: target/manifest.json has them"
            found.notes.append(f"{name}:1: {says}")
    for word in ("on-run-start", "on-run-end"):
        for hook in _as_list(settings.get(word)):
            _hook(hook, "", f"{base}:1", "", found)


def _as_list(value: Any) -> list[str]:
    """Returns the texts of a setting of dbt that is one or a list; of a mapping, its `sql`."""
    several = value if isinstance(value, list | tuple) else [value]
    return [str(each.get("sql") if isinstance(each, dict) else each) for each in several if each]


def _hooks(config: Mapping[str, Any]) -> list[str]:
    """Returns the hooks of a configuration."""
    words = ("pre_hook", "pre-hook", "post_hook", "post-hook")
    return [each for word in words for each in _as_list(config.get(word))]


def _paths(settings: Mapping[str, Any], word: str, base: str) -> tuple[str, ...]:
    """Returns how the names of files begin in the folders of a kind that a project has."""
    given = settings.get(f"{word}-paths") or [f"{word}s"]
    front = base.removesuffix("dbt_project.yml")
    return tuple(f"{front}{each}".rstrip("/") + "/" for each in _as_list(given))


def _refuse_elsewhere(
    settings: Mapping[str, Any], files: Mapping[str, str], base: str, places: tuple[str, ...],
    found: Project,
) -> None:  # fmt: skip
    """Refuses models that are not read: those in Python, and those of other folders."""
    for name in files:
        if name.endswith(".py") and name.startswith(places):
            found.refusals.append(Unconvertible(f"{name}:1", "a model in Python is not read"))
    for path in places if settings.get("model-paths") else ():
        if not any(name.startswith(path) for name in files):
            says = f"nothing is read of the folder {quoted(path)} of `model-paths`"
            hint = "give the folder of the project, or target/manifest.json"
            found.refusals.append(Unconvertible(f"{base}:1", says, hint))


def _yaml(text: str, name: str) -> dict[str, Any]:
    """Returns the mapping in a YAML file of dbt. Raises Unconvertible."""
    try:
        tree = load(text, name).value
    except InvalidSpec as error:
        first = error.diagnostics[0]
        line = f":{first.span.line}" if first.span else ""
        raise Unconvertible(f"{name}{line}", first.message, _COMPILE) from None
    return tree if isinstance(tree, dict) else {}


def _folder_config(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Returns what dbt_project.yml says of a model by the folders that it is in."""
    level: Any = settings.get("models")
    found: dict[str, Any] = {}
    for each in (None, str(settings.get("name")), *name.partition("models/")[2].split("/")[:-1]):
        level = level if each is None else level.get(each) if isinstance(level, dict) else None
        for key, value in level.items() if isinstance(level, dict) else ():
            plain = not isinstance(value, dict) or key.startswith("+")
            found |= {key.removeprefix("+"): value} if plain else {}
    return found


def _columns(
    entry: Mapping[str, Any], relation: str, node: DbtNode | None, answers: Answers
) -> None:
    """Notes what tests say of the columns of a model or a source, and that they read it."""
    readers = [] if node is None else node.readers
    for level in (entry, *(entry.get("columns") or [])):
        for number, test in enumerate(level.get("data_tests") or level.get("tests") or [], 1):
            called = next(iter(test)) if isinstance(test, dict) and test else test
            on = relation if level is entry else f"{relation}.{level.get('name')}"
            readers.append(f"{TEST}{called} of {on} ({number})")
    for column in entry.get("columns") or []:
        for test in column.get("data_tests") or column.get("tests") or []:
            if test == "unique":
                answers.found_unique(relation, str(column.get("name")))
            if (
                isinstance(test, dict)
                and node is not None
                and isinstance(test.get("accepted_values"), dict)
            ):
                values = (
                    test["accepted_values"].get("values")
                    or (test["accepted_values"].get("arguments") or {}).get("values")
                    or []
                )
                node.tests[str(column.get("name"))] = [str(each) for each in values]


def _names(text: str) -> list[str]:
    """Returns the texts in quotation marks."""
    return [one or two for one, two in re.findall(r"'([^']*)'|\"([^\"]*)\"", text)]


def _without_jinja(text: str, node: DbtNode, config: dict[str, Any]) -> str:
    """Returns SQL, on the same lines, in which the words of Jinja that are read here stand for
    tables or nothing. `config`: what `config(…)` sets is added. Raises Unconvertible."""
    pieces, at, blocks = [], 0, 0
    for start, end in _tags(text, node.file):
        tag = text[start:end]
        inner = tag[2:-2].strip("-+ \t\r\n")
        new = ""
        call = _CALL.fullmatch(inner)
        if tag.startswith("{#"):
            pass
        elif tag.startswith("{%") and inner in ("if is_incremental()", "endif"):
            blocks += 1 if inner != "endif" else -1
        elif tag.startswith("{{") and inner == "this":
            new = f"{DBT}.{node.name}"
        elif call is not None and tag.startswith("{{"):
            names = _names(call[2])
            node.relations[
                (
                    DBT if call[1] == "ref" else SOURCE,
                    "__".join(names) if call[1] == "source" else names[-1],
                )
            ] = (DBT, names[-1]) if call[1] == "ref" else (SOURCE, "__".join(names))
            new = f"{DBT}.{names[-1]}" if call[1] == "ref" else f"{SOURCE}.{'__'.join(names)}"
            if not all(re.fullmatch(r"\w+", each) for each in names):
                raise Unconvertible(
                    f"{node.file}:{text.count(chr(10), 0, start) + 1}",
                    f"the name {quoted(names[-1])} is not read here",
                    _COMPILE,
                )
        elif tag.startswith("{{") and inner.startswith("config(") and _config(inner, config):
            pass
        else:
            blocks = -1
        if blocks < 0:
            line = text.count("\n", 0, start) + 1
            raise Unconvertible(
                f"{node.file}:{line}", f"Jinja is not run: {quoted(inner[:60])}", _COMPILE
            )
        pieces += [text[at:start], new, "\n" * tag.count("\n")]
        at = end
    rest = "".join([*pieces, text[at:]])
    if blocks or "{%" in rest or "{{" in rest:
        raise Unconvertible(f"{node.file}:1", "a block of Jinja is not closed", _COMPILE)
    return rest


def _tags(text: str, file: str) -> Iterator[tuple[int, int]]:
    """Yields where each tag of Jinja begins and ends. Raises Unconvertible without an end."""
    found = _OPENS.search(text)
    while found is not None:
        end = text.find("#}", found.end()) if found[0] == "{#" else -1
        depth = 0
        for part in _PARTS.finditer(text, found.end()) if found[0] != "{#" else ():
            closes = "}}" if found[0] == "{{" else "%}"
            if not depth and text.startswith(closes, part.start()):
                end = part.start()
                break
            depth += (part[0] == "{") - (part[0] == "}")
        if end < 0:
            line = text.count("\n", 0, found.start()) + 1
            raise Unconvertible(f"{file}:{line}", "a tag of Jinja is not closed", _COMPILE)
        yield found.start(), end + 2
        found = _OPENS.search(text, end + 2)


def _config(call: str, config: dict[str, Any]) -> bool:
    """Adds the literals of `config(…)`; returns whether it has nothing else."""
    if len(call) > 20_000:
        return False
    try:
        tree = ast.parse(call, mode="eval").body
        if (
            not isinstance(tree, ast.Call)
            or tree.args
            or any(each.arg is None for each in tree.keywords)
        ):
            return False
        for each in tree.keywords:
            if isinstance(each.value, ast.Name) and each.value.id in _WORDS:
                each.value = ast.Constant(ast.literal_eval(_WORDS[each.value.id]))
            config[str(each.arg)] = ast.literal_eval(each.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
