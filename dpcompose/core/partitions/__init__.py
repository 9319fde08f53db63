"""Partitions: how one change spreads over their blocks (theory, section 5)."""
