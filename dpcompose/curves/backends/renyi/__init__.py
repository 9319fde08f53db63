"""Rényi divergences: they add up order by order, and are converted once."""
