"""Closed forms: Gaussians, stated pairs, and one part that reads a whole curve."""
