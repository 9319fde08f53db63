"""Words that people write for those of the spec language, and what to write: one table for all.

Numbers in other notations are in `dpcompose.core.numbers.other_notation`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from dpcompose.core.notions.notion import SIGNS
from dpcompose.errors import folded, meant


class Word(NamedTuple):
    """What to write for a word: one thing for certain, or (`says`) one of several."""

    write: str | None
    says: str = ""


def _table(words: Mapping[str, str]) -> dict[str, str]:
    """Returns the legal word for each synonym, in folded spelling."""
    return {folded(each): word for word, others in words.items() for each in others.split()}


def _several(words: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Returns all legal words that each synonym may stand for, in folded spelling."""
    found: dict[str, tuple[str, ...]] = {}
    for word, others in words.items():
        for each in map(folded, others.split()):
            found[each] = (*found.get(each, ()), word)
    return found


_RELATIONS = _table(
    {
        "unbounded": "add-remove add-or-remove add-remove-one add-or-remove-one unbounded-dp "
        "add-one-remove-one addremove plus-minus-one add-delete insert-delete",
        "bounded": "replace-one replace replacement change-one change substitute substitution "
        "substitute-one replace-one-record change-one-row bounded-dp hamming",
        "zero-out": "zeroed-out zero-one zero-out-one null-out zeroout",
        "edge": "edge-level edge-dp edge-adjacency",
        "euclidean": "euclidean-distance",
    }
)
_RELATIONS_OF_SEVERAL = {
    "swap": "a swap that changes one row for another is `bounded`",
    **dict.fromkeys(
        ("event-level", "event", "row-level", "row", "item-level", "record-level", "record"),
        "one row: `unbounded` where it is added or removed, `bounded` where it is replaced",
    ),
    **dict.fromkeys(
        ("user-level", "person-level", "person", "individual", "client-level", "client", "unit"),
        "`user` where all rows of one unit are added or removed, which the `unit` of a root names",
    ),
    **dict.fromkeys(
        ("node-level", "node-dp", "vertex", "vertex-level"),
        "`node` where the edges of one vertex are removed or added, `node-rewired` where they are "
        "replaced",
    ),
}
_NOTIONS = _table(
    {
        "pure": "pure-dp epsilon eps ε epsilon-dp eps-dp ε-dp pure-differential-privacy",
        "approx": "approximate approximate-dp approx-dp epsilon-delta eps-delta (ε,δ) ε-δ "
        "(ε,δ)-dp (eps,delta) (epsilon,delta) epsilon-delta-dp adp",
        "zcdp": "concentrated zero-concentrated zero-concentrated-dp rho-zcdp ρ-zcdp rho z-cdp",
        "gdp": "gaussian-dp mu-gdp μ-gdp gaussian-differential-privacy",
        "rdp": "renyi rényi renyi-dp rényi-dp",
        "profile": "privacy-profile privacy-curve",
    }
)
_NOTIONS_OF_SEVERAL = {
    "f-dp": "`gdp` where f is the curve of a Gaussian, else `profile` with points of its (ε, δ)",
    "fdp": "`gdp` where f is the curve of a Gaussian, else `profile` with points of its (ε, δ)",
    "dp": "`pure` with `epsilon`, or `approx` with `epsilon` and `delta`",
    "cdp": "`zcdp` with `rho` where it is the zero-concentrated one",
    "tcdp": "`rdp` with its points [α, ε]",
}
_MECHANISMS = _table(
    {
        "laplace": "lap laplacian laplace-mechanism laplace-noise",
        "gaussian": "gauss normal gaussian-mechanism gaussian-noise analytic-gaussian",
        "geometric": "two-sided-geometric discrete-laplace geometric-mechanism double-geometric",
        "discrete-gaussian": "dgauss discrete-gauss dgaussian",
        "exponential": "exponential-mechanism exp-mech exp em",
        "randomized-response": "rr randomised-response warner k-rr krr",
        "sparse-vector": "svt sparse-vector-technique above-threshold abovethreshold",
        "noisy-max": "report-noisy-max rnm noisy-argmax report-noisy-argmax noisymax",
        "permute-and-flip": "permute-flip pf",
        "top-k": "topk noisy-top-k gumbel-top-k peeling",
        "noisy-histogram": "threshold-histogram thresholded-histogram stability-histogram "
        "laplace-threshold gaussian-threshold noisy-threshold",
        "key-selection": "partition-selection keyset-selection group-selection",
        "tree": "tree-aggregation binary-tree binary-mechanism tree-mechanism dp-ftrl ftrl",
        "select": "private-selection tuning hyperparameter-tuning repeat-and-select tune "
        "select-private-candidate liu-talwar papernot-steinke best-of",
        "matrix": "matrix-mechanism matrix-factorization matrix-factorisation mf dp-mf bandmf "
        "banded-matrix-factorization",
    }
)
_MAPS = _table(
    {
        "filter": "where subset filtered",
        "row": "map-rows per-row rowwise row-by-row each-row",
        "columns": "select project projection select-columns column-selection features attributes",
        "flatten": "explode flat-map flatmap unnest",
        "group": "group-by groupby",
        "cap": "truncate bound-contributions contribution-bound cap-contributions per-user-cap",
        "sample": "subsample sampling subsampling",
        "batches": "epochs minibatches mini-batches shuffled-batches fixed-batches batching loader",
        "allocate": "allocation random-allocation balls-in-bins balls-and-bins bins-and-balls",
        "shuffle": "shuffler shuffling shuffled permute",
        "opaque": "black-box udf",
    }
)
_MAPS_OF_SEVERAL = dict.fromkeys(
    ("join", "left-join", "inner-join", "lookup", "merge", "enrich"),
    "`join-public` where the other table is public; two tables of private rows are `opaque`",
)
_PARTITIONS = _table(
    {"value": "values row content", "membership": "member members", "kinds": "kind"}
)
_ADAPTIVITY = _table(
    {
        "parameters": "fully-adaptive full-adaptivity fully-adaptive-composition ledger remaining "
        "adaptive-parameters odometer privacy-odometer privacy-filter along-the-way",
        "adaptive": "fixed fixed-parameters planned",
        "independent": "non-adaptive nonadaptive",
    }
)
_KEYS = _table(
    {
        "dpcompose": "version spec-version schema-version",
        "title": "name description desc heading",
        "protect": "neighbours neighbors neighbouring neighboring neighbouring-relation "
        "neighboring-relation neighbour-relation neighbor-relation adjacency "
        "adjacency-relation privacy-relation protects",
        "constants": "params parameters variables vars definitions let",
        "datasets": "tables table sources source data dataset inputs data-sources",
        "mechanisms": "queries query releases release measurements measures outputs statistics "
        "mechanism analyses computations",
        "budget": "privacy-budget limit max-budget total-budget privacy-limit",
    }
)
#: Of mechanisms, datasets, maps, partitions and budgets: each may have several meanings, of which
#: the first counts that is a key where it stands.
_INNER_KEYS = _several(
    {
        "name": "id title label",
        "reads": "dataset datasets data table source input inputs on from of reading",
        "from": "source parent input of base dataset table reads",
        "count": "steps iterations repeat repeats repetitions times copies num-steps n-steps",
        "relation": "neighbours neighbors neighbouring-relation neighboring-relation adjacency "
        "protect",
        "notion": "guarantee definition privacy-notion dp-type",
        "epsilon": f"eps ϵ epsilons {SIGNS['epsilon']}",
        "delta": f"deltas {SIGNS['delta']}",
        "rho": SIGNS["rho"],
        "mu": SIGNS["mu"],
        "alpha": "α order",
        "sigma": "σ std stddev std-dev standard-deviation noise-std noise-stddev sd",
        "scale": "b noise-scale λ",
        "sensitivity": "sens global-sensitivity",
        "unit": "privacy-unit unit-column id-column user-column user-id-column",
        "because": "reason why justification rationale",
        "group": "tag label category",
        "stated_on": "stated-for stated-at",
        "post_processes": "post-process post-processing postprocess",
        "rows": "max-rows limit max-contributions at-most",
        "max_rows": "rows limit at-most",
        "per": "column by key of",
        "blocks": "groups parts cells number n values names",
        "column": "key columns col field on",
        "by": "kind type",
        "kind": "type name",
        "map": "maps mapping transform transformation",
        "partition": "partition-by partitions split split-by partitioned",
        "distance": "steps hops group-size",
        "keep": "keeps",
        "keeps": "keep kept",
        "columns": "attributes features fields variables schema",
        "only": "select columns keep keeps attributes features project",
        "uses": "depends-on depends based-on looks-at features attributes select",
        "changes": "differs differ changing differs-in attributes",
        "questions": "attributes ask asks",
        "domain": "type kind",
        "max_degree": "degree max-deg",
        "points": "curve pairs",
        "risk": "risks attack attacks attacker membership-inference mia",
        "advantage": "membership-advantage attack-advantage privacy-advantage adv "
        "total-variation tv",
        "success": "attack-success success-rate attack-success-rate success-probability "
        "reconstruction-success posterior",
        "baseline": "baselines base-rate prior chance kappa κ",
        "baselines": "baseline base-rates priors chances kappa κ",
        "false_alarms": "false-alarm false-alarm-rate false-positives false-positive-rate fpr "
        "fprs tpr tpr-at-fpr hits",
    }
)

#: Names of sensitivities that say in which norm they are, with the noise whose norm it is.
NORMS = {
    **dict.fromkeys(
        (
            "l2-sensitivity",
            "l2-norm-clip",
            "l2-clip",
            "max-grad-norm",
            "clip-norm",
            "clipping-norm",
            "clip",
            "clipping",
            "max-norm",
        ),
        ("gaussian", "discrete-gaussian"),
    ),
    "l1-sensitivity": ("laplace", "geometric"),
}


#: Words of the field for which the language has a key, an entry, or a way to write them.
_FIELD = _table(
    {
        "sigma": "noise-multiplier noise_multiplier noise standard-deviation",
        "sample": "dp-sgd dpsgd dp-adam private-training sampling-rate sample-rate batch-size "
        "minibatch lot-size poisson-sampling secret-sample amplification",
        "count": "epochs epoch steps iterations rounds num-steps",
        "sensitivity": "clip clipping clip-norm l2-norm-clip max-grad-norm clipping-norm",
        "unit": "privacy-unit unit-of-privacy user-id privacy-id",
        "value": "histogram contingency-table crosstab group-by-and-aggregate",
        "points": "privacy-profile",
        "post_processes": "post-processing postprocessing",
        "parameters": "odometer privacy-filter",
    }
)
_FIELD_OF_SEVERAL = {
    "group-by": "one result for each group is a `partition` with `by: value`; one row for each "
    "group is a map of kind `group`",
    "groupby": "one result for each group is a `partition` with `by: value`; one row for each "
    "group is a map of kind `group`",
    **dict.fromkeys(
        ("tuning", "hyperparameter-tuning", "hyperparameters", "hyperparameter", "model-selection"),
        "what picks among runs by their results is a mechanism of its own: state the guarantee of "
        "its paper (Liu and Talwar 2019; Papernot and Steinke 2022: ε at Rényi orders, "
        "`notion: rdp` with `points`), and not those of the runs beside it",
    ),
    **dict.fromkeys(
        ("worst-change", "worst-case"),
        "the change of the protected kind that costs most; a report shows how it travels from the "
        "root through maps and blocks to each mechanism, and `--full` says it in sentences",
    ),
    "neighbours": "two tables that differ by one change of the kind that `protect` names",
    "neighbors": "two tables that differ by one change of the kind that `protect` names",
}


def synonyms() -> Iterator[tuple[str, str]]:
    """Yields the words that people write, each with the one word of the language that it means."""
    for table in (
        _RELATIONS,
        _NOTIONS,
        _MECHANISMS,
        _MAPS,
        _PARTITIONS,
        _ADAPTIVITY,
        _KEYS,
        _FIELD,
    ):
        yield from table.items()


def field_word(word: str) -> Word | None:
    """Returns the word of the spec language for a term of the field; None if it is unknown."""
    name = folded(word)
    if name in _FIELD_OF_SEVERAL:
        return Word(None, _FIELD_OF_SEVERAL[name])
    if name in _FIELD:
        return Word(_FIELD[name])
    return next(
        filter(None, (find(name) for find in (relation, notion, mechanism, map_kind))), None
    )


def relation(word: str) -> Word | None:
    """Returns the neighbouring relation that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _RELATIONS, _RELATIONS_OF_SEVERAL)


def notion(word: str) -> Word | None:
    """Returns the notion of privacy that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _NOTIONS, _NOTIONS_OF_SEVERAL)


def mechanism(word: str) -> Word | None:
    """Returns the concrete mechanism that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _MECHANISMS)


def map_kind(word: str) -> Word | None:
    """Returns the kind of map that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _MAPS, _MAPS_OF_SEVERAL)


def partition_kind(word: str) -> Word | None:
    """Returns the kind of partition (`by`) that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _PARTITIONS)


def adaptivity(word: str) -> Word | None:
    """Returns the value of `adaptivity` that a synonym stands for; None if it is no synonym."""
    return _synonym_of(word, _ADAPTIVITY)


def _synonym_of(
    word: str, table: Mapping[str, str], several: Mapping[str, str] | None = None
) -> Word | None:
    """Returns the word that a synonym stands for, by a table; from `several` an explanation; else
    None."""
    key = folded(word)
    if key in table:
        return Word(table[key])
    says = (several or {}).get(key)
    return None if says is None else Word(None, says)


def key(
    word: str,
    legal: Collection[str],
    top: bool,
    noise: str | None = None,
    given: object = None,
) -> str | None:
    """Returns the legal key that an unknown key certainly stands for; None if that is not certain.

    `legal`: the keys that may stand there; `top`: it stands at the top of the spec. `noise`: the
    concrete mechanism that it belongs to. `given`: the value at the key.
    """
    name = folded(word)
    same = meant(word, legal, closed=False)
    if same is not None:
        return same
    if top and name == "relation":  # declared ones are mappings
        return "protect" if isinstance(given, str) else "relations"
    if not top and name in NORMS and "sensitivity" in legal:
        return "sensitivity" if noise in NORMS[name] else None
    possible = (_KEYS[name],) if top and name in _KEYS else _INNER_KEYS.get(name, ())
    found = next((each for each in possible if each in legal), None)
    return found or meant(word, legal, closed=True)
