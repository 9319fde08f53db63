"""Grid sizes, truncation and search tolerances of the lattice backend.

Bounds hold whatever these are: they trade tightness for time. What a proof needs (margins of
rounding, nodes of a quadrature) stands beside the proof.
"""

from __future__ import annotations

#: No law has more grid points, and none is put on a finer grid than this many points allow.
MAX_POINTS = 1 << 22
#: About the most points of a law of which there are many, or which is slow to make.
MOST_POINTS = 1 << 17
#: Points of a fine grid for one standard deviation, of the curve of a test, and of a law that only
#: chooses a tilt. Also the length of the blocks in which long arrays are processed, which fit into
#: the processor's cache.
FINE = 1 << 14
#: Points of the first, coarse answer; of a thinned curve for each factor e; of a curve for each
#: standard deviation of what is read through a sample. Also the number of different parts above
#: which parts are merged.
FEW = 1 << 11
#: Places at which a curve is read that takes a sum or a search at each.
PLACES = 1 << 9

#: So many grids, and so many composed laws on each, are kept of parts of which many questions are
#: asked.
KEPT = 2

#: Tails of less than about this mass are moved to infinity (above) or to the end (below).
TAIL = 1e-65
#: Standard deviations beyond which a normal law has about TAIL on either side.
NORMAL_TAIL = 17.0
#: A tilted chance of e^-NATS is nothing beside those that decide the answer: so much is left out
#: beyond a window, frequencies at which a characteristic function is below that count as 0, and
#: e^-step counts as nothing beside 1 on a grid that is wider.
NATS = 40.0
#: No e to more than this is computed, so that sums of such powers are doubles; e to minus this is
#: nothing.
MOST_LOG = 600.0

#: How much a pessimistic grid may add to an ε, relatively, by the spread of what it splits.
TOLERANCE = 1e-7
