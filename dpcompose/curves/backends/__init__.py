"""Backends: the ways in which a curve is evaluated; each gives certified numbers."""
