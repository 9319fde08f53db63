"""The lattice: privacy loss distributions on an even grid, convolved by a tilted transform.

To be read in this order: `masses` is one loss on a grid, `loss_distribution` says which law each
part of a composition has. Laws come from closed forms (`closed_laws`, with `from_points` for stated
(ε, δ)), from an integral (`sampled_gaussian`, `allocated`), or from curves (`profiles` makes masses
of a δ(ε), `powers` mixes power functions; `samples` and `several_rows` use both). `components` is
what is composed, with its tilts; `lattice` composes it by one Fourier transform; `law` answers for
the composed loss. `grids` chooses the grid for a question, of the width that `sizes` suggests, and
`engine` the tilt. `fewer_losses` puts very many different parts together, `normal` holds the normal
tail, and `tuning` every size and tail that could as well be another.
"""
