"""Words about mechanisms: what is released, and what each guarantees."""

from __future__ import annotations

from dpcompose.handbook.entry import Topic

ENTRIES = (
    Topic(
        words=("mechanisms", "name", "reads", "guarantees"),
        about="A mechanism is what is released. It `reads` a dataset, one block (`name.block`) or "
        "every block (`name.*`: a copy on each), and either states a guarantee (`notion`) or says "
        "what noise it draws (`mechanism`). `guarantees` lists several that all hold; the "
        "tightest bound uses whichever serves best.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.1}
  - {name: mean, reads: trips, mechanism: laplace, scale: 10, sensitivity: 1}
  - name: median
    reads: trips
    guarantees: [{notion: pure, epsilon: 0.5}, {notion: zcdp, rho: 0.02}]""",
        theorems=("V.2", "V.3"),
        see=("notion", "mechanism", "count", "post_processes"),
    ),
    Topic(
        words=("count",),
        about="So many independent copies are released, each with fresh noise. Below a sample each "
        "copy reads a fresh sample.",
        example="""\
mechanisms:
  - name: daily
    reads: trips
    notion: pure
    epsilon: 0.01
    count: 30""",
        theorems=("II.5",),
        see=("sample", "reads"),
    ),
    Topic(
        words=("stated_on",),
        about="Whose neighbours a guarantee speaks of. Without it these are neighbours of the "
        "dataset that is read, such as one block; with `stated_on` an ancestor, they are those of "
        "the whole table, though the mechanism sees only its block. The difference decides "
        "whether a bound is finite: under `bounded`, guarantees for the blocks themselves say "
        "nothing about a row that leaves one block for another.",
        example="""\
protect: bounded
datasets:
  ambulances: {}
  district:
    from: ambulances
    partition: {by: value, blocks: [north, south, east]}
mechanisms:
  - name: count
    reads: district.*
    notion: pure
    epsilon: {north: 0.5, south: 0.7, east: 1}
    stated_on: ambulances""",
        theorems=("IV.10", "IV.11", "IV.13", "II.9"),
        see=("relation", "partition", "bounded"),
    ),
    Topic(
        words=("post_processes",),
        about="What is computed from released outputs alone costs nothing, however often it is "
        "done. It stands in place of `reads`, and names the mechanisms whose outputs it uses.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.1}
  - {name: rounded, post_processes: [total]}""",
        theorems=("VII.1",),
        see=("reads",),
    ),
    Topic(
        words=("because",),
        about="Why something that is declared is true. The report shows it beside what it assumes, "
        "settings may require it (`require-because`), and no tool checks it.",
        example="""\
datasets:
  trips: {}
  month:
    from: trips
    partition: {by: value, blocks: 12}
    because: a trip has one date
mechanisms: [{name: by month, reads: month.*, notion: pure, epsilon: 0.5}]""",
        see=("partition", "mechanisms"),
    ),
)

NOTIONS = (
    Topic(
        words=("notion",),
        about="The privacy notion of a stated guarantee: `pure` with `epsilon`, `approx` with "
        "`epsilon` and `delta`, `zcdp` with `rho`, `gdp` with `mu`, `rdp` and `profile` with "
        "`points`. Guarantees of several notions are read in one that they have in common, or are "
        "composed as privacy losses at a chosen δ. Parameters are exact and without a unit, in "
        "natural logarithms; where `reads` ends in `.*`, one may be given by block: "
        "`{north: 0.5, south: 1}`.",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.1}
  - {name: mean, reads: trips, notion: zcdp, rho: 0.02}
budget: {rho: 0.05}""",
        theorems=("pure-to-zcdp", "pure-to-gdp", "gdp-to-zcdp"),
        see=("pure", "approx", "zcdp", "gdp", "rdp", "profile", "mechanism"),
    ),
    Topic(
        words=("pure", "epsilon"),
        about="The chance of each outcome changes by a factor of at most e^ε. ε adds up over "
        "mechanisms and over the steps of a path (group privacy).",
        example="""\
mechanisms:
  - {name: total, reads: trips, notion: pure, epsilon: 0.5, count: 2}""",
        theorems=("II.7", "III.3", "V.3"),
        see=("approx", "zcdp", "budget", "laplace"),
    ),
    Topic(
        words=("approx", "delta"),
        about="As pure DP, but for an additional chance of at most δ. ε and δ add up each by "
        "itself; at one chosen δ the optimal composition gives a smaller ε. δ is a probability, "
        "below 1, and far below one over the number of people.",
        example="""\
mechanisms:
  - name: total
    reads: trips
    notion: approx
    epsilon: 0.1
    delta: 1e-9
    count: 50
report: {delta: 1e-6}""",
        theorems=("VI.3", "VI.4", "VI.5", "optimal-composition"),
        see=("pure", "profile", "report", "budget"),
    ),
    Topic(
        words=("zcdp", "rho"),
        about="The Rényi divergence of every order α is at most α·ρ. ρ adds up, and grows with the "
        "square of the number of steps. At a chosen δ it gives an ε.",
        example="""\
mechanisms: [{name: total, reads: trips, notion: zcdp, rho: 0.05, count: 4}]
report: {delta: 1e-6}""",
        theorems=("VI.12", "VI.13", "VI.15", "zcdp-at-delta"),
        see=("gdp", "rdp", "gaussian", "discrete-gaussian"),
    ),
    Topic(
        words=("gdp", "mu"),
        about="No easier to tell apart than two normal distributions of variance 1 whose means "
        "differ by μ. The squares of μ add up, and μ grows with the number of steps. Gaussian "
        "noise has μ = sensitivity/sigma.",
        example="""\
mechanisms: [{name: total, reads: trips, notion: gdp, mu: 0.3, count: 4}]
report: {delta: 1e-6}""",
        theorems=("VI.20", "VI.21", "VI.23", "gaussian-curve"),
        see=("gaussian", "zcdp", "budget"),
    ),
    Topic(
        words=("rdp", "points", "alpha"),
        about="Bounds of the Rényi divergence at some orders: `points: [[α, ε], …]`, or one "
        "`alpha` with its `epsilon`. They add up as a curve, which gives an ε at a chosen δ; the "
        "result has no number without one. `points` of notion `profile` are pairs of ε and δ.",
        example="""\
mechanisms:
  - name: model
    reads: trips
    notion: rdp
    points: [[2, 0.1], [8, 0.5], [32, 2.5]]
report: {delta: 1e-6}""",
        theorems=("renyi-at-delta",),
        see=("zcdp", "profile", "report"),
    ),
    Topic(
        words=("profile",),
        about="Several pairs of ε and δ that all hold at once, `points: [[ε, δ], …]`. They are "
        "composed as a privacy loss distribution, at a chosen δ.",
        example="""\
mechanisms:
  - name: model
    reads: trips
    notion: profile
    points: [[0.1, 1e-4], [0.5, 1e-7]]
report: {delta: 1e-6}""",
        theorems=("dominating-pairs",),
        see=("approx", "rdp", "report"),
    ),
)

FAMILIES = (
    Topic(
        words=("mechanism", "sensitivity"),
        about="A mechanism known by its noise says more than an ε: how its privacy loss is "
        "distributed. `sensitivity` is how far one row moves what is released, before the noise: "
        "a number is for one row added or removed, `{unbounded: …, bounded: …}` says both kinds "
        "of step, and a row that is replaced costs two steps where `bounded` is left out. Of a "
        "vector it is the L2 norm for Gaussian and discrete Gaussian noise, else the L1 norm. "
        "Along a path sensitivities add up. `sensitivity`, `scale` and `sigma` are in the unit of "
        "what is released, `variance` in its square; ε, δ, ρ and μ have none. The `sensitivity` of "
        "a map of kind `value` is how far one row moves the point.",
        example="""\
protect: bounded
mechanisms:
  - name: histogram
    reads: trips
    mechanism: laplace
    scale: 2
    sensitivity: {unbounded: 1, bounded: 2}""",
        see=("laplace", "gaussian", "geometric", "exponential", "randomized-response", "notion"),
    ),
    Topic(
        words=("l1", "l2", "l2_squared", "dimension"),
        about="The norm of a sensitivity, said by name: the sum over all coordinates, the root of "
        "the sum of squares, or that sum itself, as a histogram has 2 where a row is replaced. A "
        "plain number is in L1 for Laplace, geometric and Skellam noise, in L2 for Gaussian and "
        "discrete Gaussian noise. A bound in L1 is one in L2; the other way it takes `dimension`, "
        "how many coordinates one row moves, or whole numbers.",
        example="""\
protect: bounded
mechanisms:
  - name: histogram
    reads: trips
    mechanism: gaussian
    sigma: 4
    sensitivity: {unbounded: {l1: 1}, bounded: {l2_squared: 2}}
  - name: sums
    reads: trips
    mechanism: laplace
    scale: 20
    sensitivity: {bounded: {l2: 1, dimension: 4}}""",
        see=("sensitivity", "gaussian", "discrete-gaussian", "laplace"),
    ),
    Topic(
        words=("one_hot",),
        about="The sensitivity of a vector to one coordinate of which each row adds a number from "
        "0 to this, and nothing to the others: a histogram, given as one vector. It says every "
        "norm, for rows that come or go and for rows replaced. One row replaced leaves a "
        "coordinate and enters another: for `one_hot: c` that is 2c in L1 and √2·c in L2, where "
        "two steps are 2c; and at a chosen δ two losses moved by c each are less than one moved by "
        "2c. `dimension` adds nothing to it.",
        example="""\
protect: bounded
mechanisms:
  - name: histogram
    reads: trips
    mechanism: gaussian
    sigma: 5
    sensitivity: {one_hot: 1}""",
        see=("sensitivity", "l2", "gaussian", "laplace", "value"),
    ),
    Topic(
        words=("laplace", "scale"),
        about="Laplace noise of scale b on numbers is pure DP with ε = sensitivity/scale, in the "
        "L1 norm. Composed at a chosen δ, its privacy loss gives less than that ε says.",
        example="""\
mechanisms:
  - name: mean
    reads: trips
    mechanism: laplace
    scale: 10
    sensitivity: 1
    count: 20
report: {delta: 1e-6}""",
        theorems=("laplace-zcdp", "laplace-gdp"),
        see=("geometric", "gaussian", "sensitivity"),
    ),
    Topic(
        words=("gaussian", "sigma"),
        about="Normal noise of standard deviation sigma on numbers is Gaussian DP with "
        "μ = sensitivity/sigma, in the L2 norm.",
        example="""\
mechanisms:
  - {name: sum, reads: trips, mechanism: gaussian, sigma: 20, sensitivity: 5}
report: {delta: 1e-6}""",
        theorems=("VI.21", "gaussian-curve"),
        see=("discrete-gaussian", "gdp", "laplace", "sensitivity"),
    ),
    Topic(
        words=("geometric",),
        about="The noise of Laplace on whole numbers: pure DP with ε = sensitivity/scale. The "
        "sensitivity is a whole number, of a vector in all coordinates together.",
        example="""\
mechanisms:
  - name: trips
    reads: trips
    mechanism: geometric
    scale: 2
    sensitivity: 1""",
        theorems=("geometric-zcdp", "geometric-gdp"),
        see=("laplace", "skellam", "discrete-gaussian"),
    ),
    Topic(
        words=("discrete-gaussian",),
        about="Normal noise on whole numbers; as zCDP, ρ is that of the normal noise of the same "
        "sigma.",
        example="""\
mechanisms:
  - name: trips
    reads: trips
    mechanism: discrete-gaussian
    sigma: 10
    sensitivity: 1
report: {delta: 1e-6}""",
        theorems=("zcdp-at-delta",),
        see=("gaussian", "skellam", "zcdp"),
    ),
    Topic(
        words=("skellam", "variance"),
        about="The difference of two Poisson counts, on whole numbers: noise that adds up to noise "
        "of the same family, as secure aggregation needs.",
        example="""\
mechanisms:
  - name: steps
    reads: trips
    mechanism: skellam
    variance: 400
    sensitivity: 1
report: {delta: 1e-6}""",
        theorems=("skellam-zcdp",),
        see=("discrete-gaussian", "geometric"),
    ),
    Topic(
        words=("exponential",),
        about="Chooses an outcome with weights e^(ε·score/(2·sensitivity)), where one row moves "
        "each score by at most `sensitivity`. Its range is ε, which says more than pure DP does.",
        example="""\
mechanisms:
  - name: best
    reads: trips
    mechanism: exponential
    epsilon: 0.5
    sensitivity: 1""",
        theorems=("bounded-range", "exponential-zcdp", "exponential-gdp"),
        see=("sensitivity", "pure"),
    ),
    Topic(
        words=("randomized-response", "k"),
        about="Every row answers by itself, with one of k values: the true one with odds e^ε to "
        "each other. There is no sensitivity, and the guarantee is for one row replaced.",
        example="""\
protect: bounded
mechanisms:
  - name: smokers
    reads: trips
    mechanism: randomized-response
    epsilon: 1
    k: 2""",
        theorems=("randomized-response-zcdp", "randomized-response-gdp"),
        see=("bounded", "exponential"),
    ),
)
