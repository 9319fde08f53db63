"""The lattice: privacy loss distributions on an even grid, convolved by a tilted transform."""
